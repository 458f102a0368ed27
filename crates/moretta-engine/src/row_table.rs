//! Hash table of rows of codes of any width: numbers, counts and looks up distinct rows.
//!
//! Guarantee: equal rows get the same row number, counted from 0 without gaps in order of insertion. A row has a count
//! and a 64-bit payload, which is the minimum of all payloads added for it. The first pass uses the table as a counter
//! of rows that are too wide for [`crate::packed_counter`]; the payload is the first position. The second pass uses it
//! as an index of the rows of a rewrite; the payload is the row's group.
//!
//! How: the cells of a hash table hold row numbers and 32 bits of hash (the tag), with linear probing; all rows are in one
//! array of fixed-width entries.
//!
//! ```text
//! cells       │ row 2, tag │    free    │ row 0, tag │ row 1, tag │      8 bytes each
//! entries     │ codes of row 0 │ count │ payload │ codes of row 1 │ count │ payload │ codes of row 2 │ ...
//!               width words      2 words 2 words
//! ```
//!
//! Rows are looked up in batches, first all in the cells and then all in the entries, so that their cache misses
//! overlap. The first row of equal tag is almost always the right one; if not, the row is looked up again by its codes.
//!
//! Cost: two overlapped cache misses per row.

use std::hint::black_box;

use crate::dictionary::folded_multiply;

/// Hashes the codes of a row, two at a time, to 32 bits.
#[inline]
pub(crate) fn hash_codes(codes: &[u32]) -> u32 {
    let mut hash = 0x9E37_79B9_7F4A_7C15u64;
    let mut pairs = codes.chunks_exact(2);
    for pair in &mut pairs {
        hash = folded_multiply(hash ^ (u64::from(pair[0]) | u64::from(pair[1]) << 32));
    }
    if let [last] = pairs.remainder() {
        hash = folded_multiply(hash ^ u64::from(*last));
    }
    (hash >> 32) as u32
}

/// Distinct rows of codes, each with a count and its smallest payload.
#[derive(Debug)]
pub(crate) struct RowTable {
    width: usize,
    /// Row number and tag of each row, or [`FREE`]: a power of two of cells.
    cells: Vec<(u32, u32)>,
    /// Per row: `width` codes, then count and payload, each as low and high word.
    entries: Vec<u32>,
    rows: usize,
}

/// Words of an entry after the codes: count and payload.
const TAIL_WORDS: usize = 4;

/// Rows per batch: enough for cache misses to overlap. Not tuned.
const BATCH_ROWS: usize = 64;

/// Stands for "no row" in place of a row number.
const NO_ROW: u32 = u32::MAX;

/// A cell without a row.
const FREE: (u32, u32) = (NO_ROW, 0);

/// Cells of the smallest table. At most 3/4 of the cells have a row.
const MIN_CELLS: usize = 64;

impl RowTable {
    /// An empty table of rows of `width` codes.
    pub(crate) fn new(width: usize) -> Self {
        Self { width, cells: vec![FREE; MIN_CELLS], entries: Vec::new(), rows: 0 }
    }

    /// A table of distinct rows, which are numbered in their order; row `r` is counted once and has payload `payload(r)`.
    /// Returns `None` if a row occurs twice.
    pub(crate) fn of_distinct(width: usize, codes: &[u32], payload: impl Fn(usize) -> u64) -> Option<Self> {
        let rows = codes.len() / width;
        let mut table = Self::new(width);
        table.grow((rows + rows / 3 + 1).next_power_of_two());
        table.entries.reserve_exact(rows * (width + TAIL_WORDS));
        for first in (0..rows).step_by(BATCH_ROWS) {
            let mut tags = [0; BATCH_ROWS];
            let batch = &codes[first * width..rows.min(first + BATCH_ROWS) * width];
            let tags = table.tags(batch, &mut tags);
            for (row, (codes, &tag)) in (first..).zip(batch.chunks_exact(width).zip(tags)) {
                if table.find_tagged(codes, tag).is_some() {
                    return None;
                }
                table.insert(codes, tag, 1, payload(row));
            }
        }
        Some(table)
    }

    #[inline]
    fn codes(&self, row: u32) -> &[u32] {
        let at = row as usize * (self.width + TAIL_WORDS);
        &self.entries[at..at + self.width]
    }

    /// Cell at which probing for a tag starts. Taken from the high bits, so that growing keeps the order of rows.
    #[inline]
    fn home_cell(&self, tag: u32) -> usize {
        ((u64::from(tag) * self.cells.len() as u64) >> 32) as usize
    }

    /// The first row with this tag for which `is_row` is true.
    #[inline]
    fn probe(&self, tag: u32, is_row: impl Fn(u32) -> bool) -> Option<u32> {
        let last = self.cells.len() - 1;
        let mut at = self.home_cell(tag);
        loop {
            let (row, other) = self.cells[at];
            if row == NO_ROW {
                return None;
            }
            if other == tag && is_row(row) {
                return Some(row);
            }
            at = (at + 1) & last;
        }
    }

    #[inline]
    fn find_tagged(&self, codes: &[u32], tag: u32) -> Option<u32> {
        self.probe(tag, |row| self.codes(row) == codes)
    }

    /// Moves the rows to a table of at least `cells` cells.
    fn grow(&mut self, cells: usize) {
        let old = std::mem::replace(&mut self.cells, vec![FREE; cells.max(MIN_CELLS)]);
        old.into_iter().filter(|cell| *cell != FREE).for_each(|(row, tag)| self.set(row, tag));
    }

    /// Writes a row to a free cell.
    fn set(&mut self, row: u32, tag: u32) {
        let last = self.cells.len() - 1;
        let mut at = self.home_cell(tag);
        while self.cells[at].0 != NO_ROW {
            at = (at + 1) & last;
        }
        self.cells[at] = (row, tag);
    }

    /// Computes the tags of some rows and loads their cells into the cache. The loads do not depend on each other, so
    /// they overlap.
    #[inline]
    fn tags<'t>(&self, codes: &[u32], tags: &'t mut [u32; BATCH_ROWS]) -> &'t [u32] {
        let tags = &mut tags[..codes.len() / self.width];
        tags.iter_mut().zip(codes.chunks_exact(self.width)).for_each(|(tag, codes)| *tag = hash_codes(codes));
        // A loop of its own, because the processor looks only some hundred instructions ahead.
        black_box(tags.iter().fold(0, |all, &tag| all ^ self.cells[self.home_cell(tag)].0));
        tags
    }

    /// Looks up the first row of each tag, or [`NO_ROW`], and loads their entries into the cache. Codes are not compared.
    #[inline]
    fn candidates(&self, tags: &[u32], candidates: &mut [u32; BATCH_ROWS]) {
        let candidates = &mut candidates[..tags.len()];
        for (candidate, &tag) in candidates.iter_mut().zip(tags) {
            *candidate = self.probe(tag, |_| true).unwrap_or(NO_ROW);
        }
        let words = self.width + TAIL_WORDS;
        let first_and_last = |row: u32| {
            let entry = self.entries.get(row as usize * words..).and_then(|entries| entries.get(..words));
            entry.map_or(0, |entry| entry[0] ^ entry[words - 1])
        };
        black_box(candidates.iter().fold(0, |all, &candidate| all ^ first_and_last(candidate)));
    }

    /// Counts one record for each of `records` rows of row-major codes. Their payloads are `payload` and the numbers
    /// after it.
    pub(crate) fn add_each(&mut self, codes: &[u32], records: usize, payload: u64) {
        let width = self.width;
        if width == 0 {
            return (0..records as u64).for_each(|record| self.add(&[], 1, payload + record));
        }
        for (batch, first) in codes[..records * width].chunks(BATCH_ROWS * width).zip((payload..).step_by(BATCH_ROWS)) {
            let (mut tags, mut candidates) = ([0; BATCH_ROWS], [NO_ROW; BATCH_ROWS]);
            let tags = self.tags(batch, &mut tags);
            self.candidates(tags, &mut candidates);
            let rows = batch.chunks_exact(width).zip(tags).zip(candidates);
            for (payload, ((row, &tag), candidate)) in (first..).zip(rows) {
                if candidate != NO_ROW && same(self.codes(candidate), row) {
                    self.count(candidate, 1, payload);
                } else {
                    self.add_tagged(row, tag, 1, payload);
                }
            }
        }
    }

    /// Adds `count` to a row and lowers its payload to `payload` if that is smaller.
    pub(crate) fn add(&mut self, codes: &[u32], count: u64, payload: u64) {
        self.add_tagged(codes, hash_codes(codes), count, payload);
    }

    fn add_tagged(&mut self, codes: &[u32], tag: u32, count: u64, payload: u64) {
        match self.find_tagged(codes, tag) {
            Some(row) => self.count(row, count, payload),
            None => self.insert(codes, tag, count, payload),
        }
    }

    fn insert(&mut self, codes: &[u32], tag: u32, count: u64, payload: u64) {
        self.entries.extend_from_slice(codes);
        self.entries.extend_from_slice(&split(count));
        self.entries.extend_from_slice(&split(payload));
        if (self.rows + 1) * 4 > self.cells.len() * 3 {
            self.grow(2 * self.cells.len());
        }
        self.set(self.rows as u32, tag);
        self.rows += 1;
    }

    #[inline]
    fn payload(&self, row: u32) -> u64 {
        let at = row as usize * (self.width + TAIL_WORDS) + self.width;
        join(self.entries[at + 2], self.entries[at + 3])
    }

    #[inline]
    fn count(&mut self, row: u32, count: u64, payload: u64) {
        let at = row as usize * (self.width + TAIL_WORDS) + self.width;
        let tail = &mut self.entries[at..at + TAIL_WORDS];
        [tail[0], tail[1]] = split(join(tail[0], tail[1]) + count);
        if payload < join(tail[2], tail[3]) {
            [tail[2], tail[3]] = split(payload);
        }
    }

    /// Looks up `records` rows of row-major codes. Calls `each` with the index of each and its row number and payload,
    /// or `None` if it is not in the table.
    pub(crate) fn find_each(&self, codes: &[u32], records: usize, mut each: impl FnMut(usize, Option<(u32, u64)>)) {
        let width = self.width;
        for (batch, first) in codes[..records * width].chunks(BATCH_ROWS * width).zip((0..).step_by(BATCH_ROWS)) {
            let (mut tags, mut candidates) = ([0; BATCH_ROWS], [NO_ROW; BATCH_ROWS]);
            let tags = self.tags(batch, &mut tags);
            self.candidates(tags, &mut candidates);
            let rows = batch.chunks_exact(width).zip(tags).zip(candidates);
            for (record, ((row, &tag), candidate)) in (first..).zip(rows) {
                let found = if candidate != NO_ROW && same(self.codes(candidate), row) {
                    Some(candidate)
                } else {
                    self.find_tagged(row, tag)
                };
                each(record, found.map(|row| (row, self.payload(row))));
            }
        }
    }

    /// Codes, count and payload of every row, in order of row numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[u32], u64, u64)> {
        let width = self.width;
        self.entries.chunks_exact(width + TAIL_WORDS).map(move |entry| {
            let tail = &entry[width..];
            (&entry[..width], join(tail[0], tail[1]), join(tail[2], tail[3]))
        })
    }

    /// Number of distinct rows.
    pub(crate) fn len(&self) -> usize {
        self.rows
    }

    /// Allocated bytes.
    pub(crate) fn size(&self) -> u64 {
        (self.cells.capacity() * size_of::<(u32, u32)>() + self.entries.capacity() * 4) as u64
    }
}

/// Compares rows of the same width. Rows are short: a branch-free loop is faster than the call to `memcmp` of `==`.
#[inline]
fn same(one: &[u32], two: &[u32]) -> bool {
    one.iter().zip(two).fold(0, |differ, (one, two)| differ | (one ^ two)) == 0
}

#[inline]
fn join(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

#[inline]
fn split(value: u64) -> [u32; 2] {
    [value as u32, (value >> 32) as u32]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_count_and_keep_the_earliest_place() {
        let mut rows = RowTable::new(3);
        rows.add(&[1, 2, 3], 1, 9);
        rows.add(&[1, 2, 4], u64::from(u32::MAX), 5);
        rows.add(&[1, 2, 3], 2, 7);
        rows.add(&[1, 2, 4], 3, 6 << 32);
        let all: Vec<_> = rows.iter().map(|(codes, count, payload)| (codes.to_vec(), count, payload)).collect();
        assert_eq!(all, [(vec![1, 2, 3], 3, 7), (vec![1, 2, 4], u64::from(u32::MAX) + 3, 5)]);
        let mut found = Vec::new();
        rows.find_each(&[1, 2, 4, 0, 0, 0], 2, |record, row| found.push((record, row)));
        assert_eq!(found, [(0, Some((1, 5))), (1, None)]);
        rows.add_each(&[1, 2, 4, 0, 0, 0, 0, 0, 0], 3, 3);
        let all: Vec<_> = rows.iter().map(|(_, count, payload)| (count, payload)).collect();
        assert_eq!(all, [(3, 7), (u64::from(u32::MAX) + 4, 3), (2, 4)]);
    }

    #[test]
    fn distinct_rows_are_those_added_one_by_one() {
        let codes: Vec<u32> = (0..300u32).flat_map(|row| [row / 7, row % 7]).collect();
        let table = RowTable::of_distinct(2, &codes, |row| 1_000 - row as u64).expect("distinct");
        let mut one_by_one = RowTable::new(2);
        codes.chunks(2).enumerate().for_each(|(row, codes)| one_by_one.add(codes, 1, 1_000 - row as u64));
        assert!(table.iter().eq(one_by_one.iter()));
        table.find_each(&codes, 300, |row, found| assert_eq!(found, Some((row as u32, 1_000 - row as u64))));
        let twice = [&codes[..], &[3, 4]].concat();
        assert!(RowTable::of_distinct(2, &twice, |_| 0).is_none());
    }

    #[test]
    fn a_key_of_no_columns_is_one_row() {
        let mut rows = RowTable::new(0);
        rows.add(&[], 1, 0);
        rows.add(&[], 1, 1);
        assert_eq!((rows.len(), rows.iter().count()), (1, 1));
    }
}
