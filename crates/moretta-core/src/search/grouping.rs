//! Groups rows that have equal values in every column. Every search does this for each recoding that it tries.
//!
//! Each row gets the number of its group. Groups are numbered in the order of their first rows, so that nothing depends
//! on a hash; keys are compared in full, so that a hash collision cannot merge two groups.
//!
//! How: as many columns as fit are combined into one 64-bit key, a number in mixed radix with one digit per column. The
//! rows are partitioned by this key. If columns are left, the group number becomes the first digit of the next key, and
//! the partition is refined:
//!
//! ```text
//! rows (age, sex, town)    sizes 100, 2, 50           key = (age * 2 + sex) * 50 + town
//! 21 F 7                   (21 * 2 + 0) * 50 + 7      2107  -> group 0
//! 24 M 7                   (24 * 2 + 1) * 50 + 7      2457  -> group 1
//! 21 F 7                                              2107  -> group 0
//! more columns:            next key = group * (sizes of these columns) + (their digits)
//! ```
//!
//! If there are few possible keys, their groups are looked up in an array with one slot per key, otherwise in a hash
//! table.
//!
//! Cost: one pass over the rows per 64 bits of their values; in practice one pass.
//!
//! Methods that prepare keys themselves call [`KeyNumbers`] (sweep) or [`Partitioner`] (genetic search); bottom-up
//! generalization merges groups in place (`index.rs`). The reasons are given there. All hash tables are hashbrown's:
//! custom tables with slots of 4, 8 and 16 bytes were within 4 % of its speed. `released/grouping.rs` and
//! `recoding/suppress.rs` have their own grouping on purpose: they verify the results of searches and must not share a
//! bug with them.

use hashbrown::HashTable;

use crate::{ids::TupleId, profile::Profile};

/// Maximum number of possible keys for which [`Partitioner`] uses an array (16 MiB); more are hashed.
pub(super) const MAX_PLACES: u64 = 1 << 22;

/// Numbers distinct keys in the order of their first occurrence.
#[derive(Debug, Default)]
pub(super) struct KeyNumbers {
    slots: HashTable<u32>,
    /// By number.
    keys: Vec<u64>,
}

impl KeyNumbers {
    /// Removes all keys and reserves room for `max_keys`.
    pub(super) fn reset(&mut self, max_keys: usize) {
        empty(&mut self.slots, max_keys);
        self.keys.clear();
    }

    /// Returns the number of a key; a new key gets the next one.
    #[inline]
    pub(super) fn number(&mut self, key: u64) -> u32 {
        let Self { slots, keys } = self;
        let next = keys.len() as u32;
        let known =
            slots.entry(hash(key), |&number| keys[number as usize] == key, |&number| hash(keys[number as usize]));
        let number = *known.or_insert(next).get();
        if number == next {
            keys.push(key);
        }
        number
    }
}

/// Fibonacci hashing. hashbrown takes the slot from the low bits and the tag from the high ones, so both must depend on
/// the whole key.
fn hash(key: u64) -> u64 {
    let product = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    product ^ product >> 32
}

/// Empties a table and reserves room. A table more than 8 times too large is replaced: clearing it takes time linear in
/// its capacity.
pub(super) fn empty(slots: &mut HashTable<u32>, entries: usize) {
    if slots.capacity() < entries || slots.capacity() > 8 * entries.max(64) {
        *slots = HashTable::with_capacity(entries + entries / 2);
    } else {
        slots.clear();
    }
}

/// Refines partitions of rows; the buffers are reused by the next refinement.
#[derive(Debug, Default)]
pub(super) struct Partitioner {
    /// By key: the number of its group plus 1, or 0 if it has none yet. All 0 between calls.
    places: Vec<u32>,
    /// By row: its key, to reset `places`.
    used: Vec<u32>,
    numbers: KeyNumbers,
}

impl Partitioner {
    /// Splits each group by key. `groups` has the group of each row, a number below `before`; keys are below
    /// `num_keys`, and the product of both must fit 64 bits. Returns the new number of groups.
    pub(super) fn refine(
        &mut self,
        groups: &mut [u32],
        keys: impl Iterator<Item = u64>,
        (before, num_keys): (u64, u64),
    ) -> u64 {
        match before.checked_mul(num_keys).filter(|&all| all <= MAX_PLACES) {
            Some(all) => self.by_place(groups, keys, num_keys, all as usize),
            None => self.by_hash(groups, keys, num_keys),
        }
    }

    /// Looks groups up in an array. Without a branch on whether a group is new, which the processor could not predict.
    fn by_place(&mut self, groups: &mut [u32], keys: impl Iterator<Item = u64>, num_keys: u64, all: usize) -> u64 {
        if self.places.len() < all {
            self.places = vec![0; all.next_power_of_two()];
        }
        let places = &mut self.places[..all];
        self.used.resize(groups.len(), 0);
        let mut count = 0u32;
        for ((group, used), key) in groups.iter_mut().zip(&mut self.used).zip(keys) {
            let key = u64::from(*group) * num_keys + key;
            *used = key as u32;
            let place = &mut places[key as usize];
            let is_new = *place == 0;
            count += u32::from(is_new);
            *place = if is_new { count } else { *place };
            *group = *place - 1;
        }
        self.used.iter().for_each(|&key| places[key as usize] = 0);
        u64::from(count)
    }

    fn by_hash(&mut self, groups: &mut [u32], keys: impl Iterator<Item = u64>, num_keys: u64) -> u64 {
        self.numbers.reset(groups.len());
        for (group, key) in groups.iter_mut().zip(keys) {
            *group = self.numbers.number(u64::from(*group) * num_keys + key);
        }
        self.numbers.keys.len() as u64
    }
}

/// Result of grouping rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Groups {
    /// By row: its group.
    pub of_row: Vec<u32>,
    /// By group: its first row.
    pub first_rows: Vec<u32>,
}

/// Groups rows that have the same value in every column. `value(row, column)` must be below `sizes[column]`.
pub(super) fn group_rows(rows: usize, sizes: &[usize], value: impl Fn(usize, usize) -> u32) -> Groups {
    let base = |column: usize| sizes[column].max(1) as u64;
    let mut partitioner = Partitioner::default();
    let mut of_row = vec![0; rows];
    let (mut groups, mut done) = (1, 0);
    while done < sizes.len() {
        let (mut num_keys, first) = (base(done), done);
        done += 1;
        // Group and value have 32 bits each, so one column always fits.
        while let Some(more) = (done < sizes.len()).then(|| num_keys.checked_mul(base(done))).flatten()
            && more.checked_mul(groups).is_some()
        {
            (num_keys, done) = (more, done + 1);
        }
        let digit = |key, row, column| key * base(column) + u64::from(value(row, column));
        let key = |row| (first..done).fold(0, |key, column| digit(key, row, column));
        // An array that is used once is worth its allocation only if rows use a good part of it.
        groups = match groups.checked_mul(num_keys).filter(|&all| all <= 4 * rows as u64) {
            Some(all) => partitioner.by_place(&mut of_row, (0..rows).map(key), num_keys, all as usize),
            None => partitioner.by_hash(&mut of_row, (0..rows).map(key), num_keys),
        };
    }
    let mut first_rows = Vec::new();
    for (row, &group) in (0u32..).zip(&of_row) {
        if group as usize == first_rows.len() {
            first_rows.push(row);
        }
    }
    Groups { of_row, first_rows }
}

/// Groups the tuples of a profile that have equal values in some columns.
pub(super) fn group_tuples(profile: &Profile, columns: &[usize]) -> Groups {
    // Tuples differ in at least one column: with all columns, each is its own group.
    if columns.len() == profile.columns().len() {
        let each: Vec<u32> = (0..profile.tuples() as u32).collect();
        return Groups { of_row: each.clone(), first_rows: each };
    }
    let sizes: Vec<usize> = columns.iter().map(|&column| profile.columns()[column].domain.len()).collect();
    let code = |tuple: usize, index: usize| profile.codes(TupleId::from_index(tuple))[columns[index]];
    group_rows(profile.tuples(), &sizes, code)
}

/// Rows sorted by key with a counting sort; rows with equal keys keep their order.
#[derive(Debug, Clone, Default)]
pub(super) struct Buckets {
    /// By key: the start of its rows in `rows`; one more entry for the end.
    starts: Vec<u32>,
    rows: Vec<u32>,
}

impl Buckets {
    /// `keys` has a key for each row, below `num_keys`.
    pub(super) fn new(num_keys: usize, keys: impl Iterator<Item = u32> + Clone) -> Self {
        let mut starts = vec![0; num_keys + 1];
        keys.clone().for_each(|key| starts[key as usize + 1] += 1);
        for key in 0..num_keys {
            starts[key + 1] += starts[key];
        }
        let mut next = starts.clone();
        let mut rows = vec![0; starts[num_keys] as usize];
        for (row, key) in (0u32..).zip(keys) {
            let place = &mut next[key as usize];
            rows[*place as usize] = row;
            *place += 1;
        }
        Self { starts, rows }
    }

    /// The rows with a key from `first` to `last`.
    pub(super) fn rows(&self, first: u32, last: u32) -> &[u32] {
        &self.rows[self.starts[first as usize] as usize..self.starts[last as usize + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use hashbrown::HashMap;
    use proptest::prelude::*;

    use super::*;

    /// Groups with a hash map of whole rows.
    fn reference<K: std::hash::Hash + Eq>(keys: impl Iterator<Item = K>) -> Groups {
        let (mut known, mut first_rows) = (HashMap::new(), Vec::new());
        let mut group = |(row, key): (u32, K)| {
            *known.entry(key).or_insert_with(|| {
                first_rows.push(row);
                first_rows.len() as u32 - 1
            })
        };
        let of_row = (0u32..).zip(keys).map(&mut group).collect();
        Groups { of_row, first_rows }
    }

    /// Columns with few values and with many, so that keys are looked up in an array, hashed, or need several passes.
    fn tables() -> impl Strategy<Value = (Vec<usize>, Vec<Vec<u32>>)> {
        let size = prop_oneof![1usize..5, 1usize..3000, Just(u32::MAX as usize)];
        prop::collection::vec(size, 0..7).prop_flat_map(|sizes| {
            // Only the first and the last few values, so that many rows are equal.
            let value = |&size: &usize| prop_oneof![0..size.min(3) as u32, (size - size.min(3)) as u32..size as u32];
            let row: Vec<_> = sizes.iter().map(value).collect();
            (Just(sizes), prop::collection::vec(row, 0..200))
        })
    }

    proptest! {
        #[test]
        fn groups_equal_those_by_a_map_of_rows((sizes, rows) in tables()) {
            let groups = group_rows(rows.len(), &sizes, |row, column| rows[row][column]);
            prop_assert_eq!(groups, reference(rows.iter()));
        }

        #[test]
        fn buckets_equal_a_stable_sort(keys in prop::collection::vec(0u32..9, 0..100), ends in (0u32..9, 0u32..9)) {
            let (first, last) = (ends.0.min(ends.1), ends.0.max(ends.1));
            let mut expected: Vec<u32> = (0..keys.len() as u32).collect();
            expected.retain(|&row| (first..=last).contains(&keys[row as usize]));
            expected.sort_by_key(|&row| keys[row as usize]);
            let buckets = Buckets::new(9, keys.iter().copied());
            prop_assert_eq!(buckets.rows(first, last), expected);
        }

        #[test]
        fn refined_partitions_equal_those_of_pairs(
            pairs in prop::collection::vec((0u32..9, 0u64..50), 0..300),
            scales in (prop_oneof![Just(1u64), Just(1 << 20)], prop_oneof![Just(1u64), Just(1 << 20)]),
        ) {
            // One partitioner for both calls, so that the second fails if the first does not clean up.
            let mut partitioner = Partitioner::default();
            for scale in [scales.0, scales.1] {
                let mut groups: Vec<u32> = pairs.iter().map(|pair| pair.0).collect();
                let count = partitioner.refine(&mut groups, pairs.iter().map(|pair| pair.1 * scale), (9, 50 * scale));
                let expected = reference(pairs.iter());
                prop_assert_eq!(count, expected.first_rows.len() as u64);
                prop_assert_eq!(groups, expected.of_row);
            }
        }

        #[test]
        fn keys_are_numbered_in_order_of_first_occurrence(
            keys in prop::collection::vec(prop_oneof![0u64..20, (0u64..20).prop_map(|key| key << 40), any::<u64>()], 0..300),
        ) {
            let mut numbers = KeyNumbers::default();
            for keys in [&keys[..], &keys[keys.len() / 2..]] {
                numbers.reset(keys.len());
                let numbered: Vec<u32> = keys.iter().map(|&key| numbers.number(key)).collect();
                prop_assert_eq!(numbered, reference(keys.iter()).of_row);
            }
        }
    }
}
