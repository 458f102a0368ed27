//! Groups of rows that are alike under a map for each column: what every search does for the cuts that it tries.
//!
//! Each row gets the number of its group, and groups are numbered in the order of their first rows, so that nothing
//! depends on a hash. Keys are compared in full, so a hash collision cannot merge two groups.
//!
//! How: the values of as many columns as fit become one key of 64 bits (the digits of a number, each column with a base
//! of its own). A partition of the rows is refined by those keys, and the numbers of its groups are one more digit when
//! the next columns have their turn. Few possible keys are numbered in an array with a place for each of them, more in
//! a hash table.
//!
//! Cost: one pass over the rows for every 64 bits of their values; in practice one.
//!
//! Methods that prepare keys themselves call [`KeyNumbers`] (the sweep) or [`Partitioner`] (genetic search); bottom-up
//! generalization merges groups in place (`index.rs`). Each says what it gains. All tables are hashbrown's: tables of our
//! own with slots of 4, 8 and 16 bytes, which these methods had before, were within 4 % of it. `released/grouping.rs` and
//! `recoding/suppress.rs` group on their own on purpose: they judge what searches find and must not share their mistakes.

use hashbrown::HashTable;

use crate::{ids::TupleId, profile::Profile};

/// Largest number of keys that have a place each in an array (16 MiB); more are hashed.
pub(super) const MAX_PLACES: u64 = 1 << 22;

/// Numbers distinct keys in the order of their first sight.
#[derive(Debug, Default)]
pub(super) struct KeyNumbers {
    slots: HashTable<u32>,
    /// By number.
    keys: Vec<u64>,
}

impl KeyNumbers {
    /// Forgets all keys, and makes room for as many as this.
    pub(super) fn reset(&mut self, max_keys: usize) {
        empty(&mut self.slots, max_keys);
        self.keys.clear();
    }

    /// The number of a key; a new key gets the next one.
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

/// The table takes its slot from the low bits and its tag from the high ones: both depend on the whole key.
fn hash(key: u64) -> u64 {
    let product = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    product ^ product >> 32
}

/// Empties a table and makes room in it. One that is far too large is not kept: emptying it takes as long as it is.
pub(super) fn empty(slots: &mut HashTable<u32>, entries: usize) {
    if slots.capacity() < entries || slots.capacity() > 8 * entries.max(64) {
        *slots = HashTable::with_capacity(entries + entries / 2);
    } else {
        slots.clear();
    }
}

/// Refines partitions of rows, with room that the next refinement uses again.
#[derive(Debug, Default)]
pub(super) struct Partitioner {
    /// By key, the group's number and one, or 0 where there is none yet. All 0 between calls.
    places: Vec<u32>,
    /// By row, its place.
    used: Vec<u32>,
    numbers: KeyNumbers,
}

impl Partitioner {
    /// Keeps rows together that were together and have the same key. `groups` has by row a number below the first of
    /// `counts`; keys are below the second, and the product must fit 64 bits. Returns the number of groups.
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

    /// There is no branch on whether a group is new: the processor could not foresee it.
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

/// Rows in groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Groups {
    /// By row, its group.
    pub of_row: Vec<u32>,
    /// By group, its first row.
    pub first_rows: Vec<u32>,
}

/// Groups rows that have the same value in every column. `sizes` has for each column a number that all its values are
/// below, `value` the value of a row in a column.
pub(super) fn group_rows(rows: usize, sizes: &[usize], value: impl Fn(usize, usize) -> u32) -> Groups {
    let base = |column: usize| sizes[column].max(1) as u64;
    let mut partitioner = Partitioner::default();
    let mut of_row = vec![0; rows];
    let (mut groups, mut done) = (1, 0);
    while done < sizes.len() {
        let (mut num_keys, first) = (base(done), done);
        done += 1;
        // A group and a value are numbers of 32 bits, so that one column always fits.
        while let Some(more) = (done < sizes.len()).then(|| num_keys.checked_mul(base(done))).flatten()
            && more.checked_mul(groups).is_some()
        {
            (num_keys, done) = (more, done + 1);
        }
        let digit = |key, row, column| key * base(column) + u64::from(value(row, column));
        let key = |row| (first..done).fold(0, |key, column| digit(key, row, column));
        // An array that is used once pays only where the rows reach much of it.
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

/// Groups the tuples of a profile that have the same values in some columns.
pub(super) fn group_tuples(profile: &Profile, columns: &[usize]) -> Groups {
    // Tuples are distinct in all columns together.
    if columns.len() == profile.columns().len() {
        let each: Vec<u32> = (0..profile.tuples() as u32).collect();
        return Groups { of_row: each.clone(), first_rows: each };
    }
    let sizes: Vec<usize> = columns.iter().map(|&column| profile.columns()[column].domain.len()).collect();
    let code = |tuple: usize, place: usize| profile.codes(TupleId::from_index(tuple))[columns[place]];
    group_rows(profile.tuples(), &sizes, code)
}

/// Rows by a key each, in their order where keys are equal: a counting sort.
#[derive(Debug, Clone, Default)]
pub(super) struct Buckets {
    /// By key, where its rows start; and their end.
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

    /// By a map of whole rows.
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

    /// Columns of few values and of many, so that keys have a place each, are hashed, or take several passes.
    fn tables() -> impl Strategy<Value = (Vec<usize>, Vec<Vec<u32>>)> {
        let size = prop_oneof![1usize..5, 1usize..3000, Just(u32::MAX as usize)];
        prop::collection::vec(size, 0..7).prop_flat_map(|sizes| {
            // The first and the last few values, so that many rows are alike.
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
            // One partitioner, so that what the first call leaves behind shows in the second.
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
        fn keys_are_numbered_in_order_of_first_sight(
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
