//! Index of the vids of some columns: a generalization is tried or applied by reading only the vids that it changes.
//!
//! **What.** A vid is a combination of current nodes with its number of records (`packed_vids`). Three structures refer
//! to vids by number: lists of *carriers* (for every column and node, the vids that carry the node), a hash table that
//! finds a vid by its nodes, and the vids by size (`sizes`).
//!
//! ```text
//! vid  job     sex  records    carriers by job         carriers by sex
//!  0   singer  f    3          singer -> [0, 2]        f -> [0, 1]
//!  1   dancer  f    1          dancer -> [1]           m -> [2, 3]
//!  2   singer  m    2          clerk  -> [3]
//!  3   clerk   m    2
//!
//! {singer, dancer} -> artist reads the carriers [0, 2] and [1]:
//!   0 becomes (artist, f), which is new: vid 0 stays
//!   2 becomes (artist, m), which is new: vid 2 stays
//!   1 becomes (artist, f), which is vid 0: its record moves to vid 0, and vid 1 is removed (0 records)
//! Then artist -> [0, 2]. Vid 1 is dropped from the carriers of f when that list is next read.
//! ```
//!
//! **Why.** A climb has up to one step per inner node, and every step tries several generalizations. Regrouping all
//! tuples after each step (`group_rows`) takes 2.2 times as long as the whole climb (Adult, 5,988 tuples, k = 50, one
//! thread), and 3.3 times on the enlarged table (154,151 tuples, k = 150).
//!
//! **How.** [`Index::apply`] reads the carriers of the children as above. [`Index::anonymity_after`] tries a
//! generalization without applying it. It visits vids by increasing size, looks up the vids that each would merge with,
//! and stops once the next vid is at least as large as the smallest result so far: vids never shrink. The first vid is
//! usually enough to show that a generalization does not raise the anonymity. That vid is kept as a [`Witness`]: while
//! its nodes and size are unchanged, the answer is the same, because no other vid can start to agree with it: a cut
//! never contains both a node and a descendant of it, so a step that gives other vids one of its nodes changes the
//! witness too; and in the tried column all children of the node are current values already.
//!
//! **Cost.** O(v p) to build for v vids and p columns. A step costs the carriers of the children; trying one costs at
//! most twice that. The hash table has at most 16 times as many slots as there are vids. These are the bounds of the
//! paper's TEA index (Wang, Yu, Chakraborty 2004), which links vids in a tree instead.

use hashbrown::HashTable;
use rayon::prelude::*;

use super::{
    packed_vids::{self, MIN_VIDS_PER_TASK, PackedVids},
    sizes::{SizeCounts, VidsBySize},
};
use crate::{
    ids::{NodeId, TupleId},
    profile::Profile,
    search::{
        grouping::{self, Groups, group_tuples},
        taxonomy::Taxonomy,
    },
};

/// Vids over some columns; a position is the place of a column in `columns`.
#[derive(Debug, Clone)]
pub(super) struct Index {
    columns: Vec<usize>,
    packed: PackedVids,
    /// Vids by the hash of their nodes.
    slots: HashTable<u32>,
    /// All vids in use, and some that were removed since this list was last cleaned.
    listed_vids: Vec<u32>,
    /// Number of vids in use.
    num_vids: usize,
    /// By position and node: the vids that carry the node, and some that were removed. Built when a position is first
    /// needed, because there are fewer vids by then.
    carriers: Vec<Option<Vec<Vec<u32>>>>,
    sizes: SizeCounts,
    by_size: VidsBySize,
    /// By position: the last proof that a generalization does not raise the anonymity.
    witnesses: Vec<Option<Witness>>,
    scratch: Scratch,
    /// Number of vids read so far, a measure of work.
    pub touched: u64,
}

/// A smallest vid that the generalization to `parent` leaves at its size: it does not change the vid, or changes it
/// without merging it with another one.
#[derive(Debug, Clone)]
struct Witness {
    parent: NodeId,
    vid: u32,
    records: u64,
    key: Vec<u64>,
}

impl Witness {
    fn new(packed: &PackedVids, parent: NodeId, vid: u32) -> Self {
        Self { parent, vid, records: packed.records(vid), key: packed.key(vid).to_vec() }
    }
}

/// Result of a scan over the carriers of the children of a node; reused by the next scan.
#[derive(Debug, Clone, Default)]
struct Scratch {
    vids: Vec<u32>,
    groups: Vec<MergedVid>,
    slots: HashTable<u32>,
    /// By index in `vids`, the index in `groups`.
    group_of: Vec<u32>,
}

/// Vids that a generalization would merge into one.
#[derive(Debug, Clone, Copy)]
pub(super) struct MergedVid {
    /// The first of them, which stays in use.
    pub survivor: u32,
    /// Records of all of them.
    pub records: u64,
}

impl Index {
    /// Builds the index over some of the columns, and returns the vid of each tuple. `k` is only used by
    /// [`Index::min_suppressed`].
    pub(super) fn new(profile: &Profile, taxonomies: &[Taxonomy<'_>], columns: &[usize], k: u64) -> (Self, Vec<u32>) {
        let nodes = |column: usize| taxonomies[column].tree().len();
        let mut index = Self {
            columns: columns.to_vec(),
            packed: PackedVids::new(columns.iter().map(|&column| nodes(column))),
            slots: HashTable::new(),
            listed_vids: Vec::new(),
            num_vids: 0,
            carriers: vec![None; columns.len()],
            sizes: SizeCounts::new(k),
            by_size: VidsBySize::default(),
            witnesses: vec![None; columns.len()],
            scratch: Scratch::default(),
            touched: 0,
        };
        let vids = index.fill(profile, taxonomies);
        index.num_vids = index.packed.len();
        index.listed_vids = (0..index.num_vids as u32).collect();
        for vid in index.listed_vids.iter().copied() {
            index.sizes.add(index.packed.records(vid));
            index.by_size.add(index.packed.records(vid), vid);
        }
        (index, vids)
    }

    /// Creates a vid for each distinct combination of values in the columns. Returns the vid of each tuple.
    fn fill(&mut self, profile: &Profile, taxonomies: &[Taxonomy<'_>]) -> Vec<u32> {
        let Self { columns, packed, slots, .. } = self;
        let Groups { of_row, first_rows } = group_tuples(profile, columns);
        let mut records = vec![0; first_rows.len()];
        for (tuple, &vid) in (0u32..).map(TupleId).zip(&of_row) {
            records[vid as usize] += profile.tuple_records(tuple);
        }
        let fields = packed.fields();
        let leaves = |vid: u32, key: &mut [u64]| {
            let codes = profile.codes(TupleId(first_rows[vid as usize]));
            for (field, &column) in fields.iter().zip(&*columns) {
                field.put(key, taxonomies[column].tree().leaf(codes[column]));
            }
            records[vid as usize]
        };
        let hashed = packed.fill(first_rows.len(), leaves);
        grouping::empty(slots, first_rows.len());
        for (hash, vid) in packed_vids::order_by_partition(slots, hashed) {
            slots.insert_unique(hash, vid, |&vid| packed_vids::hash(packed.key(vid)));
        }
        of_row
    }

    /// Position of a column among those of the index.
    pub(super) fn position_of(&self, column: usize) -> Option<usize> {
        self.columns.iter().position(|&known| known == column)
    }

    pub(super) fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// Number of vids in use.
    pub(super) fn len(&self) -> usize {
        self.num_vids
    }

    pub(super) fn records(&self, vid: u32) -> u64 {
        self.packed.records(vid)
    }

    /// Node of a vid in the column at a position.
    pub(super) fn node(&self, vid: u32, position: usize) -> NodeId {
        self.packed.node(vid, position)
    }

    /// The anonymity: records of the smallest vid.
    pub(super) fn anonymity(&self) -> u64 {
        self.sizes.smallest().unwrap_or(u64::MAX)
    }

    /// Minimum number of records to suppress so that every vid, and the set of suppressed records, has at least k.
    pub(super) fn min_suppressed(&self) -> u64 {
        self.sizes.min_suppressed()
    }

    /// For each column, the only node to which a generalization can raise the anonymity: the parent of the node that
    /// one of the smallest vids carries. `None` if that vid carries the root.
    pub(super) fn critical_nodes(&mut self, taxonomies: &[Taxonomy<'_>]) -> Vec<Option<NodeId>> {
        let Some(size) = self.sizes.smallest() else { return vec![None; self.columns.len()] };
        let vids = self.by_size.with_size(size);
        while vids.first().is_some_and(|&vid| self.packed.records(vid) != size) {
            vids.swap_remove(0);
        }
        let vid = vids[0];
        let parent =
            |(position, &column): (usize, &usize)| taxonomies[column].tree().parent(self.packed.node(vid, position));
        self.columns.iter().enumerate().map(parent).collect()
    }

    /// Anonymity after the generalization to `parent`, at most `cap`.
    pub(super) fn anonymity_after(
        &mut self,
        position: usize,
        taxonomy: &Taxonomy<'_>,
        parent: NodeId,
        cap: u64,
    ) -> u64 {
        let Some(smallest) = self.sizes.smallest().filter(|&size| size < cap) else { return cap };
        let witness = self.witnesses[position].as_ref();
        let is_unchanged = |vid: u32, key: &[u64]| self.records(vid) == smallest && self.packed.has_key(vid, key);
        if witness.is_some_and(|w| w.parent == parent && w.records == smallest && is_unchanged(w.vid, &w.key)) {
            return smallest;
        }
        let num_carriers =
            |child: NodeId| self.carriers[position].as_ref().map(|carriers_of| carriers_of[child.index()].len());
        let carried_children = || taxonomy.tree().children(parent).filter(|&child| num_carriers(child) != Some(0));
        let mut children = Vec::new();
        let mut lowest = cap;
        // Lookups that are worth as much as a full scan of the carriers.
        let mut budget = carried_children().map(num_carriers).sum::<Option<usize>>().unwrap_or(self.num_vids);
        let mut size = Some(smallest);
        while let Some(current) = size.filter(|&size| size < lowest) {
            let vids = self.by_size.with_size(current);
            let mut next = 0;
            while next < vids.len() && current < lowest {
                let vid = vids[next];
                // The list of a size still has vids that have grown or were removed: they are dropped here.
                if self.packed.records(vid) != current {
                    vids.swap_remove(next);
                    continue;
                }
                next += 1;
                self.touched += 1;
                if taxonomy.tree().parent(self.packed.node(vid, position)) == Some(parent) {
                    if children.is_empty() {
                        children.extend(carried_children());
                    }
                    if budget < children.len() {
                        return self.full_scan_with_witness(position, taxonomy, parent).min(cap);
                    }
                    budget -= children.len();
                    let records = packed_vids::merged_records(
                        &self.packed,
                        &self.slots,
                        vid,
                        position,
                        &children,
                        &mut self.touched,
                    );
                    lowest = lowest.min(records);
                } else {
                    lowest = current;
                }
                if lowest == smallest {
                    self.witnesses[position] = Some(Witness::new(&self.packed, parent, vid));
                }
            }
            size = self.sizes.next_above(current);
        }
        lowest
    }

    /// Like [`Index::scan_anonymity_after`], and keeps the last vid that stays at the smallest size as a witness.
    /// Ties between generalizations go to the first node, so vids late in the list tend to stay unchanged longest.
    fn full_scan_with_witness(&mut self, position: usize, taxonomy: &Taxonomy<'_>, parent: NodeId) -> u64 {
        let (smallest, after) = (self.anonymity(), self.scan_anonymity_after(position, taxonomy, parent));
        let unmerged = self.scratch.groups.iter().rfind(|group| group.records == smallest);
        if let Some(&MergedVid { survivor: vid, .. }) = unmerged {
            self.witnesses[position] = Some(Witness::new(&self.packed, parent, vid));
        }
        after
    }

    /// Anonymity after the generalization to `parent`, found by reading every vid that would change.
    pub(super) fn scan_anonymity_after(&mut self, position: usize, taxonomy: &Taxonomy<'_>, parent: NodeId) -> u64 {
        self.merge(position, taxonomy, parent);
        for &vid in &self.scratch.vids {
            self.sizes.remove(self.packed.records(vid));
        }
        let untouched = self.sizes.smallest().unwrap_or(u64::MAX);
        for &vid in &self.scratch.vids {
            self.sizes.add(self.packed.records(vid));
        }
        self.scratch.groups.iter().map(|group| group.records).fold(untouched, u64::min)
    }

    /// Vids that a generalization would change, each with the index of the merged vid that it would become.
    pub(super) fn merged(
        &mut self,
        position: usize,
        taxonomy: &Taxonomy<'_>,
        parent: NodeId,
    ) -> (Vec<(u32, u32)>, Vec<MergedVid>) {
        self.merge(position, taxonomy, parent);
        let Scratch { vids, group_of, groups, .. } = &self.scratch;
        (vids.iter().copied().zip(group_of.iter().copied()).collect(), groups.clone())
    }

    /// Applies the generalization to `parent`. Of the vids that are merged, the survivor of [`Index::merged`] stays in
    /// use.
    pub(super) fn apply(&mut self, position: usize, taxonomy: &Taxonomy<'_>, parent: NodeId) {
        self.list_carriers(position, taxonomy);
        let carriers_of = self.carriers[position].as_deref_mut().unwrap_or_default();
        let vids: Vec<u32> = taxonomy
            .tree()
            .children(parent)
            .flat_map(|child| std::mem::take(&mut carriers_of[child.index()]))
            .collect();
        let packed = &self.packed;
        let becomes = |&vid: &u32| (!packed.is_removed(vid)).then(|| (packed.hash_with(vid, position, parent), vid));
        let hashed: Vec<(u64, u32)> = vids.par_iter().with_min_len(MIN_VIDS_PER_TASK).filter_map(becomes).collect();
        self.touched += hashed.len() as u64;
        self.num_vids -= hashed.len();
        self.make_room(hashed.len(), |node| taxonomy.tree().parent(node) == Some(parent), position);
        let Self { packed, slots, sizes, by_size, .. } = self;
        for (hash, vid) in packed_vids::order_by_partition(slots, hashed) {
            packed.set_node(vid, position, parent);
            let is_equal = |&other: &u32| other != vid && packed.has_key(other, packed.key(vid));
            let into = *slots.entry(hash, is_equal, |&vid| packed_vids::hash(packed.key(vid))).or_insert(vid).get();
            if into == vid {
                continue;
            }
            let more = std::mem::take(packed.records_mut(vid));
            let before = packed.records(into);
            *packed.records_mut(into) += more;
            sizes.remove(more);
            sizes.remove(before);
            sizes.add(before + more);
            by_size.add(before + more, into);
        }
        // The order of the lists is kept, because it is that of the vids in memory.
        let remaining: Vec<u32> = vids.into_iter().filter(|&vid| !packed.is_removed(vid)).collect();
        self.num_vids += remaining.len();
        if let Some(carriers) = &mut self.carriers[position] {
            carriers[parent.index()] = remaining;
        }
    }

    /// Rebuilds the hash table if `more` entries do not fit or if it is far too large. The new table has all vids in
    /// use, except those whose node at `position` is about to change.
    fn make_room(&mut self, more: usize, changes: impl Fn(NodeId) -> bool, position: usize) {
        let (capacity, wide) = (self.slots.capacity(), 16 * self.num_vids.max(64));
        if self.slots.len() + more <= capacity && capacity <= wide {
            return;
        }
        self.listed_vids.retain(|&vid| !self.packed.is_removed(vid));
        grouping::empty(&mut self.slots, self.listed_vids.len());
        let unchanged = self.listed_vids.iter().filter(|&&vid| !changes(self.packed.node(vid, position)));
        let hashed = unchanged.map(|&vid| (packed_vids::hash(self.packed.key(vid)), vid)).collect();
        for (hash, vid) in packed_vids::order_by_partition(&self.slots, hashed) {
            self.slots.insert_unique(hash, vid, |&vid| packed_vids::hash(self.packed.key(vid)));
        }
    }

    /// Builds the carriers of a position if they do not exist yet.
    fn list_carriers(&mut self, position: usize, taxonomy: &Taxonomy<'_>) {
        if self.carriers[position].is_some() {
            return;
        }
        let mut counts = vec![0; taxonomy.tree().len()];
        self.listed_vids.retain(|&vid| !self.packed.is_removed(vid));
        for &vid in &self.listed_vids {
            counts[self.packed.node(vid, position).index()] += 1;
        }
        let mut carriers: Vec<Vec<u32>> = counts.into_iter().map(Vec::with_capacity).collect();
        for &vid in &self.listed_vids {
            carriers[self.packed.node(vid, position).index()].push(vid);
        }
        self.carriers[position] = Some(carriers);
    }

    /// Collects in `scratch` the vids that carry a child of the node.
    fn gather(&mut self, position: usize, taxonomy: &Taxonomy<'_>, parent: NodeId) {
        self.list_carriers(position, taxonomy);
        let carriers_of = self.carriers[position].as_deref_mut().unwrap_or_default();
        let vids = &mut self.scratch.vids;
        vids.clear();
        for child in taxonomy.tree().children(parent) {
            let carriers = &mut carriers_of[child.index()];
            carriers.retain(|&vid| !self.packed.is_removed(vid));
            vids.extend_from_slice(carriers);
        }
        self.touched += vids.len() as u64;
    }

    /// Collects in `scratch` the vids that carry a child of the node, grouped by their nodes in the other columns.
    fn merge(&mut self, position: usize, taxonomy: &Taxonomy<'_>, parent: NodeId) {
        self.gather(position, taxonomy, parent);
        let packed = &self.packed;
        let Scratch { vids, groups, slots, group_of } = &mut self.scratch;
        grouping::empty(slots, vids.len());
        groups.clear();
        group_of.clear();
        for &vid in &*vids {
            let merged = |&group: &u32| groups[group as usize].survivor;
            let hash = |vid: u32| packed.hash_with(vid, position, parent);
            let is_equal = |group: &u32| packed.equal_except(position, merged(group), vid);
            let next = groups.len() as u32;
            let group = *slots.entry(hash(vid), is_equal, |group| hash(merged(group))).or_insert(next).get();
            if group == next {
                groups.push(MergedVid { survivor: vid, records: 0 });
            }
            groups[group as usize].records += packed.records(vid);
            group_of.push(group);
        }
    }
}
