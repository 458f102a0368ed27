//! Groups of records with equal labels.
//!
//! Verification depends on this grouping. So it is a plain hash map of whole keys that shares no code with the
//! groupings of searches (`search/grouping.rs`): a defect there must be found here. Cost: one pass over the pieces.

use hashbrown::HashMap;

use crate::{
    ids::{ColumnId, TupleId, VariantId},
    profile::{Profile, VariantCount},
};

/// Groups of records with equal labels in some columns. Groups have indices `0..len`.
#[derive(Debug, Clone, Default)]
pub struct Grouping {
    pub(super) columns: usize,
    keys: Vec<u32>,
    offsets: Vec<usize>,
    members: Vec<VariantCount>,
    records: Vec<u64>,
}

impl Grouping {
    /// Number of groups.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The records of a group.
    pub fn members(&self, group: usize) -> &[VariantCount] {
        &self.members[self.offsets[group]..self.offsets[group + 1]]
    }

    /// Number of records of a group.
    pub fn records(&self, group: usize) -> u64 {
        self.records[group]
    }

    /// Size of a group: its distinct persons if the profile has persons, otherwise its records.
    pub fn size(&self, group: usize, profile: &Profile) -> u64 {
        profile.persons_of(self.members(group)).unwrap_or_else(|| self.records(group))
    }

    fn counted(mut self) -> Self {
        let of_group = |group| self.members(group).iter().map(|member| member.records).sum();
        self.records = (0..self.len()).map(of_group).collect();
        self
    }

    /// The labels of a group, one for each column of the grouping.
    pub fn key(&self, group: usize) -> &[u32] {
        &self.keys[group * self.columns..(group + 1) * self.columns]
    }

    /// Groups pieces, each a key with its members. Equal keys become one group; groups are in the order in which their
    /// keys first occur. Also returns the group of each piece.
    pub(super) fn collect<'a>(
        columns: usize,
        pieces: impl Iterator<Item = (&'a [u32], &'a [VariantCount])> + Clone,
    ) -> (Self, Vec<usize>) {
        let mut index: HashMap<&[u32], usize> = HashMap::new();
        let mut sizes: Vec<usize> = Vec::new();
        let mut keys = Vec::new();
        let mut groups_of_pieces = Vec::new();
        for (key, members) in pieces.clone() {
            let group = *index.entry(key).or_insert_with(|| {
                keys.extend(key);
                sizes.push(0);
                sizes.len() - 1
            });
            sizes[group] += members.len();
            groups_of_pieces.push(group);
        }
        let mut offsets = vec![0];
        offsets.extend(sizes.iter().scan(0, |end, size| {
            *end += size;
            Some(*end)
        }));
        let nothing = VariantCount { variant: VariantId(0), records: 0 };
        let mut filled = offsets.clone();
        let mut members = vec![nothing; filled[filled.len() - 1]];
        for (&group, (_, piece)) in groups_of_pieces.iter().zip(pieces) {
            members[filled[group]..filled[group] + piece.len()].copy_from_slice(piece);
            filled[group] += piece.len();
        }
        (Self { columns, keys, offsets, members, records: Vec::new() }.counted(), groups_of_pieces)
    }

    /// Groups of records with equal labels in the columns of `scope`.
    pub fn coarsened(&self, scope: &[ColumnId]) -> Self {
        let keys: Vec<u32> =
            (0..self.len()).flat_map(|group| scope.iter().map(move |column| self.key(group)[column.index()])).collect();
        let width = scope.len();
        let piece = |group: usize| (&keys[group * width..(group + 1) * width], self.members(group));
        Self::collect(width, (0..self.len()).map(piece)).0
    }

    /// One group per tuple of a profile: the groups of a released file, whose values are labels.
    pub fn of_tuples(profile: &Profile) -> Self {
        let tuples = (0..profile.tuples() as u32).map(TupleId);
        let mut grouping = Self { columns: profile.columns().len(), offsets: vec![0], ..Self::default() };
        for tuple in tuples {
            grouping.keys.extend(profile.codes(tuple));
            grouping.members.extend(profile.members_of(tuple));
            grouping.offsets.push(grouping.members.len());
        }
        grouping.counted()
    }
}
