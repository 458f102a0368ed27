//! The vids of some columns, indexed so that a generalization touches only those it changes.
//!
//! This has the bounds of the paper's TEA index, without its tree: for each column and node the vids that carry it are
//! listed, and a hash table finds a vid by its nodes. The vids that a generalization `{c} -> p` merges are those whose
//! other columns agree: they are found by asking the table for what each would become.
//!
//! *Applying* walks the lists of the children: every vid there either becomes one that is there already, or a new one.
//! Vids that are gone are dropped from the lists of other columns when these are next walked. The table never holds
//! more than a few times as many entries as there are vids.
//!
//! *How far a generalization raises the anonymity* ([`Index::raised`]) is found from the small vids alone: in order of
//! size, each is merged with its siblings by looking these up, and no vid that is at least as large as the smallest
//! result so far can bring a smaller one. So a generalization that brings nothing mostly costs one lookup, and what
//! it was that stayed small is remembered: as long as that vid's own nodes are the same, no other can have come to
//! agree with it. The cost is never more than twice that of the walk over all carriers.
//!
//! Regrouping all tuples after each generalization (`group_rows`) takes 2.2 times as long as the whole climb does now
//! (Adult, 5,988 tuples, k = 50, one thread), and 3.3 times on the enlarged table (154,151 tuples, k = 150).

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

/// All distinct combinations of current nodes, with their records.
#[derive(Debug, Clone)]
pub(super) struct Index {
    columns: Vec<usize>,
    packed: PackedVids,
    slots: HashTable<u32>,
    /// All vids that were there when the table was last filled.
    listed_vids: Vec<u32>,
    num_vids: usize,
    /// By place and node: all vids that carry it, and some that are gone. None before a place is first looked at:
    /// by then there are fewer vids.
    carriers: Vec<Option<Vec<Vec<u32>>>>,
    sizes: SizeCounts,
    by_size: VidsBySize,
    /// By place: what showed last that a generalization does not raise the anonymity.
    witnesses: Vec<Option<Witness>>,
    scratch: Scratch,
    /// How many vids trials and applications have looked at.
    pub touched: u64,
}

/// A vid of the smallest size that a generalization does not change, or does not merge.
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

/// What a pass over the carriers of a node's children found.
#[derive(Debug, Clone, Default)]
struct Scratch {
    vids: Vec<u32>,
    groups: Vec<MergedVid>,
    slots: HashTable<u32>,
    /// For each of `vids`, its group.
    group_of: Vec<u32>,
}

/// Vids that would become one.
#[derive(Debug, Clone, Copy)]
pub(super) struct MergedVid {
    /// The first of them, which carries on.
    pub survivor: u32,
    /// Their records.
    pub records: u64,
}

impl Index {
    /// Over some of the columns; `k` is what [`Index::least_suppressed`] goes by. Also the vid of each tuple.
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

    /// A row for each distinct tuple in the columns of the index; also the vid of each tuple.
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

    /// The place of a column among those of the index.
    pub(super) fn position_of(&self, column: usize) -> Option<usize> {
        self.columns.iter().position(|&known| known == column)
    }

    pub(super) fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// How many vids there are.
    pub(super) fn len(&self) -> usize {
        self.num_vids
    }

    pub(super) fn records(&self, vid: u32) -> u64 {
        self.packed.records(vid)
    }

    /// The node that a vid carries in the column at a place.
    pub(super) fn node(&self, vid: u32, position: usize) -> NodeId {
        self.packed.node(vid, position)
    }

    /// The anonymity: how many records the smallest vid has.
    pub(super) fn anonymity(&self) -> u64 {
        self.sizes.smallest().unwrap_or(u64::MAX)
    }

    /// How many records have to be suppressed at the least, so that no vid has fewer than k and neither do the
    /// suppressed ones together.
    pub(super) fn min_suppressed(&self) -> u64 {
        self.sizes.min_suppressed()
    }

    /// For each column, the one node to which a generalization could raise the anonymity: above what one of the
    /// smallest vids carries. None where that is the root already.
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

    /// The anonymity if the children of a node became it, or `cap` where it would be more.
    pub(super) fn anonymity_after(
        &mut self,
        position: usize,
        taxonomy: &Taxonomy<'_>,
        parent: NodeId,
        cap: u64,
    ) -> u64 {
        let Some(smallest) = self.sizes.smallest().filter(|&size| size < cap) else { return cap };
        let known =
            self.witnesses[position].as_ref().filter(|known| known.parent == parent && known.records == smallest);
        if known.is_some_and(|known| self.records(known.vid) == smallest && self.packed.has_key(known.vid, &known.key))
        {
            return smallest;
        }
        let carriers =
            |child: NodeId| self.carriers[position].as_ref().map(|carriers_of| carriers_of[child.index()].len());
        let children = || taxonomy.tree().children(parent).filter(|&child| carriers(child) != Some(0));
        let (mut known, mut lowest) = (Vec::new(), cap);
        let mut budget = children().map(carriers).sum::<Option<usize>>().unwrap_or(self.num_vids);
        let mut size = Some(smallest);
        while let Some(current) = size.filter(|&size| size < lowest) {
            let vids = self.by_size.with_size(current);
            let mut at = 0;
            while at < vids.len() && current < lowest {
                let vid = vids[at];
                // Merging makes vids larger: those of this size that went to another are dropped here.
                if self.packed.records(vid) != current {
                    vids.swap_remove(at);
                    continue;
                }
                at += 1;
                self.touched += 1;
                if taxonomy.tree().parent(self.packed.node(vid, position)) == Some(parent) {
                    if known.is_empty() {
                        known.extend(children());
                    }
                    if budget < known.len() {
                        return self.full_scan_with_witness(position, taxonomy, parent).min(cap);
                    }
                    budget -= known.len();
                    let together = packed_vids::merged_records(
                        &self.packed,
                        &self.slots,
                        vid,
                        position,
                        &known,
                        &mut self.touched,
                    );
                    lowest = lowest.min(together);
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

    /// Like [`Index::trial`], and remembers what stays of the smallest size. The last of them is the one that lasts:
    /// of generalizations that are as good, the first is taken.
    fn full_scan_with_witness(&mut self, position: usize, taxonomy: &Taxonomy<'_>, parent: NodeId) -> u64 {
        let (smallest, after) = (self.anonymity(), self.anonymity_after_full_scan(position, taxonomy, parent));
        let alone = self.scratch.groups.iter().rfind(|group| group.records == smallest);
        if let Some(&MergedVid { survivor: vid, .. }) = alone {
            self.witnesses[position] = Some(Witness::new(&self.packed, parent, vid));
        }
        after
    }

    /// The anonymity if the children of a node became it, by a look at everything that would change.
    pub(super) fn anonymity_after_full_scan(
        &mut self,
        position: usize,
        taxonomy: &Taxonomy<'_>,
        parent: NodeId,
    ) -> u64 {
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

    /// The vids that a generalization would change, each with its place in the groups that they would become.
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

    /// Makes the children of a node become it. Of the vids that become one, the first of [`Index::merged`] carries on.
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
            let (more, before) = (std::mem::take(packed.records_mut(vid)), packed.records(into));
            *packed.records_mut(into) += more;
            sizes.remove(more);
            sizes.remove(before);
            sizes.add(before + more);
            by_size.add(before + more, into);
        }
        // In the order they were in, which is that of the rows in memory.
        let staying: Vec<u32> = vids.into_iter().filter(|&vid| !packed.is_removed(vid)).collect();
        self.num_vids += staying.len();
        if let Some(carriers) = &mut self.carriers[position] {
            carriers[parent.index()] = staying;
        }
    }

    /// Fills the table anew where so many more do not fit: with those that are there, but not with those whose node at
    /// a place is about to change.
    fn make_room(&mut self, more: usize, changes: impl Fn(NodeId) -> bool, position: usize) {
        let (capacity, wide) = (self.slots.capacity(), 16 * self.num_vids.max(64));
        if self.slots.len() + more <= capacity && capacity <= wide {
            return;
        }
        self.listed_vids.retain(|&vid| !self.packed.is_removed(vid));
        grouping::empty(&mut self.slots, self.listed_vids.len());
        let staying = self.listed_vids.iter().filter(|&&vid| !changes(self.packed.node(vid, position)));
        let hashed = staying.map(|&vid| (packed_vids::hash(self.packed.key(vid)), vid)).collect();
        for (hash, vid) in packed_vids::order_by_partition(&self.slots, hashed) {
            self.slots.insert_unique(hash, vid, |&vid| packed_vids::hash(self.packed.key(vid)));
        }
    }

    /// Makes sure that the carriers at a place are listed.
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

    /// Into the scratch: which vids carry a child of the node.
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

    /// Into the scratch: which vids carry a child of the node, and which of them agree elsewhere.
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
