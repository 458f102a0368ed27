//! Counts distinct rows of codes: the in-memory `GROUP BY` of one thread.
//!
//! Guarantee: [`RowCounter`] keeps, for each distinct row, the number of records that have it and the position of the
//! first one. The result does not depend on the order of calls. Merged counters of several threads count all records.
//!
//! How: while the codes of a row fit into 64 bits, with as many bits per column as its dictionary needs, a row is one
//! `u64` key of a [`PackedCounter`]:
//!
//! ```text
//! column          age      sex     city
//! dictionary      90       2       3000      distinct values so far
//! bits            7        1       12        20 bits in total
//! row             36       1       2017      codes
//! key             2017 << 8 | 1 << 7 | 36
//! ```
//!
//! When a dictionary outgrows its bits, the column gets more bits and all keys are rebuilt. That happens rarely,
//! because a column gets one bit to spare and each bit doubles the values it can hold. When a row no longer fits into
//! 64 bits, all rows move to a [`RowTable`], which takes rows of any width.
//!
//! Counters of several threads are merged in parts: each of as many threads goes through all rows and takes those whose
//! hash belongs to its part.
//!
//! Cost: one overlapped cache miss per record while rows are packed, two afterwards; one pass over the distinct rows
//! per rebuild.

use crate::{
    dictionary::folded_multiply,
    ordered_pool::map_each,
    packed_counter::{BATCH_KEYS, KeyLayout, PackedCounter},
    row_table::{RowTable, hash_codes},
};

/// Distinct rows of codes, each with its count and first position.
#[derive(Debug)]
pub(crate) struct RowCounter {
    width: usize,
    layout: KeyLayout,
    packed: PackedCounter,
    /// All rows, once they need more than 64 bits; `packed` is then empty.
    wide: Option<RowTable>,
    /// Scratch space.
    keys: Vec<u64>,
    /// Scratch space, row-major.
    codes: Vec<u32>,
}

impl RowCounter {
    /// An empty counter of rows of `width` codes.
    pub(crate) fn new(width: usize) -> Self {
        let layout = KeyLayout::new(width);
        Self { width, layout, packed: PackedCounter::default(), wide: None, keys: Vec::new(), codes: Vec::new() }
    }

    /// Counts one record for each of `records` rows, at `position` and the positions after it. `codes` is column-major;
    /// the codes of column `c` are below `sizes[c]`.
    pub(crate) fn add_each(&mut self, codes: &[u32], records: usize, sizes: &[usize], position: u64) {
        if records == 0 {
            return;
        }
        self.make_room(sizes);
        let Some(wide) = &mut self.wide else {
            self.layout.pack_each(codes, records, &mut self.keys);
            for (keys, position) in self.keys.chunks(BATCH_KEYS).zip((position..).step_by(BATCH_KEYS)) {
                self.packed.add_each(keys, position);
            }
            return;
        };
        for first in (0..records).step_by(BATCH_KEYS) {
            let chunk = BATCH_KEYS.min(records - first);
            self.codes.resize(chunk * self.width, 0);
            for (column, codes) in codes.chunks_exact(records).enumerate() {
                let cells = self.codes.iter_mut().skip(column).step_by(self.width);
                cells.zip(&codes[first..]).for_each(|(cell, &code)| *cell = code);
            }
            wide.add_each(&self.codes, chunk, position + first as u64);
        }
    }

    /// Merges the counters of several threads. `maps[t][c]` maps the codes of column `c` of thread `t` to common codes,
    /// which are below `sizes[c]`. The result has about the same rows in every part, each row in one of them.
    pub(crate) fn merged(counters: &[Self], maps: &[Vec<Vec<u32>>], sizes: &[usize], parts: usize) -> Vec<Self> {
        let width = sizes.len();
        let largest = counters.iter().map(Self::len).max().unwrap_or(0);
        let part = |part| {
            let mut merged = Self::new(width);
            merged.make_room(sizes);
            if merged.wide.is_none() {
                merged.packed.reserve(largest / parts);
            }
            for (counter, maps) in counters.iter().zip(maps) {
                merged.merge(counter, maps, (part, parts));
            }
            merged
        };
        map_each((0..parts).collect(), parts, part)
    }

    /// Adds the rows of one of some parts of another thread's rows. `maps[c]` maps its codes of column `c` to those of
    /// this counter, for which there is room.
    fn merge(&mut self, other: &Self, maps: &[Vec<u32>], (part, parts): (usize, usize)) {
        let mut mapped = vec![0; self.width];
        let mut counted = Vec::with_capacity(BATCH_KEYS);
        self.keys.clear();
        other.for_each(|codes, count, position| {
            for ((to, &code), map) in mapped.iter_mut().zip(codes).zip(maps) {
                *to = map[code as usize];
            }
            if let Some(wide) = &mut self.wide {
                if hash_codes(&mapped) as usize % parts == part {
                    wide.add(&mapped, count, position);
                }
                return;
            }
            let key = self.layout.pack(&mapped);
            if folded_multiply(key) as usize % parts != part {
                return;
            }
            self.keys.push(key);
            counted.push((count, position));
            if counted.len() == BATCH_KEYS {
                self.packed.add_counted(&self.keys, &counted);
                self.keys.clear();
                counted.clear();
            }
        });
        if !counted.is_empty() {
            self.packed.add_counted(&self.keys, &counted);
        }
    }

    /// Widens the keys, or moves all rows to a [`RowTable`], if codes below `sizes` do not fit the key layout.
    fn make_room(&mut self, sizes: &[usize]) {
        if self.wide.is_some() || self.layout.fits(sizes) {
            return;
        }
        let Some(layout) = self.layout.widened(sizes) else {
            let mut wide = RowTable::new(self.width);
            self.for_each(|codes, count, position| wide.add(codes, count, position));
            self.packed = PackedCounter::default();
            self.wide = Some(wide);
            return;
        };
        let mut packed = self.packed.empty_like();
        self.for_each(|codes, count, position| packed.add_counted(&[layout.pack(codes)], &[(count, position)]));
        self.packed = packed;
        self.layout = layout;
    }

    /// Calls `each` with the codes, count and first position of every row, in no particular order.
    pub(crate) fn for_each(&self, mut each: impl FnMut(&[u32], u64, u64)) {
        if let Some(wide) = &self.wide {
            return wide.iter().for_each(|(codes, count, position)| each(codes, count, position));
        }
        let mut codes = vec![0; self.width];
        for (key, count, position) in self.packed.iter() {
            self.layout.unpack(key, &mut codes);
            each(&codes, count, position);
        }
    }

    /// Number of distinct rows.
    pub(crate) fn len(&self) -> usize {
        self.wide.as_ref().map_or(self.packed.len(), RowTable::len)
    }

    /// Allocated bytes.
    pub(crate) fn size(&self) -> u64 {
        let scratch = self.keys.capacity() * size_of::<u64>() + self.codes.capacity() * size_of::<u32>();
        self.packed.size() + self.wide.as_ref().map_or(0, RowTable::size) + scratch as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    type Naive = BTreeMap<Vec<u32>, (u64, u64)>;

    /// Batches of rows whose codes grow as those of dictionaries do. The position of a batch may be before that of the
    /// last.
    #[derive(Debug, Clone)]
    struct Case {
        width: usize,
        /// Bits of a key.
        limit: u32,
        /// Maximum number of codes, high half of the position, and random numbers for codes.
        batches: Vec<(u32, u64, Vec<u64>)>,
    }

    fn case() -> impl Strategy<Value = Case> {
        let batch = (1..2000u32, 0..5u64, prop::collection::vec(any::<u64>(), 0..900));
        (0..5usize, 0..40u32, prop::collection::vec(batch, 0..8)).prop_map(|(width, limit, batches)| Case {
            width,
            limit,
            batches,
        })
    }

    fn counted(case: &Case, naive: &mut Naive) -> (RowCounter, Vec<usize>) {
        let mut counter = RowCounter::new(case.width);
        counter.layout = counter.layout.with_limit(case.limit);
        let mut sizes = vec![0; case.width];
        for (max_codes, position, random) in &case.batches {
            let code = |record: usize, column: usize| {
                (random[record] >> (column * 11)) as u32 % (max_codes >> (2 * column)).max(1)
            };
            let codes: Vec<u32> =
                (0..case.width).flat_map(|column| (0..random.len()).map(move |record| code(record, column))).collect();
            for (column, size) in sizes.iter_mut().enumerate() {
                *size = (0..random.len()).map(|record| code(record, column) as usize + 1).fold(*size, usize::max);
            }
            let position = position << 32;
            for record in 0..random.len() {
                let row = (0..case.width).map(|column| code(record, column)).collect();
                let at = position + record as u64;
                let (count, first) = naive.entry(row).or_insert((0, at));
                *count += 1;
                *first = at.min(*first);
            }
            counter.add_each(&codes, random.len(), &sizes, position);
        }
        (counter, sizes)
    }

    fn all(counter: &RowCounter) -> Naive {
        let mut all = Naive::new();
        counter.for_each(|codes, count, position| assert_eq!(all.insert(codes.to_vec(), (count, position)), None));
        assert_eq!(counter.len(), all.len());
        all
    }

    proptest! {
        #[test]
        fn counts_are_those_of_a_map(case in case()) {
            let mut naive = Naive::new();
            let (counter, _) = counted(&case, &mut naive);
            prop_assert_eq!(all(&counter), naive);
        }

        #[test]
        fn merged_counts_are_those_of_a_map(one in case(), two in case(), turn in 0..2000u32, parts in 1..4usize) {
            let two = Case { width: one.width, ..two };
            let mut naive = Naive::new();
            let (counter, mut sizes) = counted(&one, &mut naive);
            let mut theirs = Naive::new();
            let (other, other_sizes) = counted(&two, &mut theirs);
            let map = |code: u32, size: usize| (code + turn) % size as u32;
            let maps: Vec<Vec<u32>> =
                other_sizes.iter().map(|&size| (0..size as u32).map(|code| map(code, size)).collect()).collect();
            for (row, (count, position)) in theirs {
                let row = row.iter().zip(&other_sizes).map(|(&code, &size)| map(code, size)).collect();
                let (known, first) = naive.entry(row).or_insert((0, position));
                *known += count;
                *first = position.min(*first);
            }
            sizes.iter_mut().zip(&other_sizes).for_each(|(size, &other)| *size = other.max(*size));
            let identity: Vec<Vec<u32>> = sizes.iter().map(|&size| (0..size as u32).collect()).collect();
            let merged = RowCounter::merged(&[counter, other], &[identity, maps], &sizes, parts);
            let mut all_rows = Naive::new();
            for (row, counted) in merged.iter().flat_map(all) {
                prop_assert_eq!(all_rows.insert(row, counted), None);
            }
            prop_assert_eq!(all_rows, naive);
        }
    }

    #[test]
    fn large_tables_merge() {
        let rows = 200_000;
        let tables: Vec<RowCounter> = (0..2)
            .map(|table| {
                let mut counter = RowCounter::new(2);
                let codes: Vec<u32> = (0..rows).chain((0..rows).map(|_| table)).collect();
                counter.add_each(&codes, rows as usize, &[rows as usize, 2], 0);
                counter
            })
            .collect();
        let same: Vec<Vec<u32>> = vec![(0..rows).collect(), vec![0, 1]];
        let all = RowCounter::merged(&tables, &[same.clone(), same], &[rows as usize, 2], 2);
        assert_eq!(all.iter().map(RowCounter::len).sum::<usize>(), 2 * rows as usize);
        // Parts are of about the same size.
        assert!(all.iter().all(|part| part.len() > rows as usize / 10 * 9));
        assert!(all.iter().map(RowCounter::size).sum::<u64>() > 24 * 2 * u64::from(rows));
    }

    #[test]
    fn all_bits_of_a_key_can_be_used() {
        let mut counter = RowCounter::new(4);
        let sizes = [1 << 32, 1 << 16, 1 << 16, 1];
        for position in [3, 1] {
            counter.add_each(&[u32::MAX, 0, 0xFFFF, 1, 0xFFFF, 2, 0, 0], 2, &sizes, position);
        }
        assert!(counter.wide.is_none());
        let rows = [(vec![0, 1, 2, 0], (2, 2)), (vec![u32::MAX, 0xFFFF, 0xFFFF, 0], (2, 1))];
        assert_eq!(all(&counter), Naive::from(rows));
    }
}
