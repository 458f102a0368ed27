//! Sizes of groups: of records that have equal values in some columns, or of the groups of a release.
//!
//! They say how many records an attacker finds who knows these columns: a group of one is a unique record. An engine
//! can count them without keeping the texts of the rows
//! ([`Records::group_sizes`](crate::engine::Records::group_sizes)), which matters for columns of exact numbers, where
//! nearly every row is distinct.

use std::{collections::BTreeMap, hash::BuildHasher};

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::counts::Counts;

/// Pairs of size and number of groups, small sizes first. Sizes are at least 1.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GroupSizes(Vec<(u64, u64)>);

impl GroupSizes {
    /// From the size of every group, in any order; sizes of 0 are left out.
    pub fn of(sizes: impl IntoIterator<Item = u64>) -> Self {
        // There are far fewer sizes than groups.
        let mut groups: BTreeMap<u64, u64> = BTreeMap::new();
        sizes.into_iter().filter(|&size| size > 0).for_each(|size| *groups.entry(size).or_default() += 1);
        Self(groups.into_iter().collect())
    }

    /// From pairs of size and number of groups, in any order.
    pub fn of_pairs(pairs: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let mut groups: BTreeMap<u64, u64> = BTreeMap::new();
        let pairs = pairs.into_iter().filter(|&(size, more)| size > 0 && more > 0);
        pairs.for_each(|(size, more)| *groups.entry(size).or_default() += more);
        Self(groups.into_iter().collect())
    }

    /// All groups of several lists.
    pub fn merged(lists: impl IntoIterator<Item = Self>) -> Self {
        Self::of_pairs(lists.into_iter().flat_map(|list| list.0))
    }

    /// Groups of the counted records by some of the counted columns, given by their index.
    ///
    /// Cost: O(distinct rows) time and 4 bytes per row and column.
    pub fn of_counts(counts: &Counts, columns: &[usize]) -> Self {
        if columns.len() == counts.columns.len() {
            return Self::of(counts.counts.iter().copied());
        }
        let width = columns.len();
        let codes: Vec<u32> =
            (0..counts.rows()).flat_map(|row| columns.iter().map(move |&column| counts.row(row)[column])).collect();
        let projected = |row: u32| &codes[row as usize * width..(row as usize + 1) * width];
        let hasher = DefaultHashBuilder::default();
        let hash = |row: u32| hasher.hash_one(projected(row));
        // The first row of each group, and the records of the group.
        let mut groups: HashTable<(u32, u64)> = HashTable::new();
        for row in 0..counts.rows() as u32 {
            let records = counts.counts[row as usize];
            let equals = |group: &(u32, u64)| projected(group.0) == projected(row);
            match groups.find_mut(hash(row), equals) {
                Some(group) => group.1 += records,
                None => {
                    groups.insert_unique(hash(row), (row, records), |group| hash(group.0));
                }
            }
        }
        Self::of(groups.iter().map(|group| group.1))
    }

    /// Pairs of size and number of groups, small sizes first.
    pub fn sizes(&self) -> &[(u64, u64)] {
        &self.0
    }

    /// Number of groups.
    pub fn groups(&self) -> u64 {
        self.0.iter().map(|(_, groups)| groups).sum()
    }

    /// Sum of the sizes.
    pub fn records(&self) -> u64 {
        self.0.iter().map(|(size, groups)| size * groups).sum()
    }

    /// Size of the smallest group; 0 if there is none.
    pub fn smallest(&self) -> u64 {
        self.0.first().map_or(0, |(size, _)| *size)
    }

    /// Number of records that are alone in their group.
    pub fn unique(&self) -> u64 {
        self.below(2)
    }

    /// Number of records in groups of fewer than `k` records.
    pub fn below(&self, k: u64) -> u64 {
        self.0.iter().take_while(|(size, _)| *size < k).map(|(size, groups)| size * groups).sum()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::counts::CountedColumn;

    #[test]
    fn figures_of_sizes() {
        let sizes = GroupSizes::of([1, 1, 3, 0, 3, 9]);
        assert_eq!((sizes.groups(), sizes.records(), sizes.unique()), (5, 17, 2));
        assert_eq!([0, 1, 3, 4, 9, 10].map(|k| sizes.below(k)), [0, 0, 2, 8, 8, 17]);
        assert_eq!(GroupSizes::of([]), GroupSizes::default());
        let parts = [&[1, 3][..], &[], &[9, 3, 1]].map(|sizes| GroupSizes::of(sizes.iter().copied()));
        assert_eq!(GroupSizes::merged(parts), sizes);
        assert_eq!(GroupSizes::of_pairs([(9, 1), (3, 2), (0, 4), (1, 1), (5, 0), (1, 1)]), sizes);
    }

    #[test]
    fn groups_of_counts_are_those_of_their_texts() {
        let column = |name: &str, values: &[&str]| CountedColumn {
            name: name.to_owned(),
            values: values.iter().map(|&value| value.into()).collect(),
            first_records: None,
            typed: false,
        };
        let columns = vec![column("a", &["x", "y", "z"]), column("b", &["1", "2"]), column("c", &["p", "q", "r"])];
        // Every row once, with different numbers of records.
        let rows = (0..3u32).flat_map(|a| (0..2).flat_map(move |b| (0..3).map(move |c| [a, b, c])));
        let codes: Vec<u32> = rows.flatten().collect();
        let counts: Vec<u64> = (0..18).map(|row| row * row % 5 + 1).collect();
        let counts = Counts { columns, codes, records: counts.iter().sum(), counts, first_records: None };
        for set in [&[][..], &[0], &[2, 0], &[1, 2], &[0, 1, 2]] {
            let mut naive: HashMap<Vec<&str>, u64> = HashMap::new();
            for row in 0..counts.rows() {
                let texts: Vec<&str> = counts.texts(row).collect();
                *naive.entry(set.iter().map(|&column| texts[column]).collect()).or_default() += counts.counts[row];
            }
            assert_eq!(GroupSizes::of_counts(&counts, set), GroupSizes::of(naive.into_values()), "{set:?}");
        }
    }
}
