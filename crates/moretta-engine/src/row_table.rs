//! Rows of codes with a number, a count and a position each, of any width.
//!
//! Guarantee: equal rows get equal row numbers, counted from 0 without gaps in order of first sight; a row keeps the
//! earliest position it was met.
//!
//! Structure: a hash table of row numbers and 32 bits of hash over one arena of fixed-width entries; a row's codes, count
//! and first position lie side by side. Rows are looked up many at a time, first all in the table, then all in the arena, so
//! that their cache misses overlap. Cost: two cache misses, overlapped, for each row. Where rows are only counted,
//! [`crate::row_counter`] gets by with one as long as they are narrow.

use hashbrown::HashTable;

use crate::dictionary::folded_multiply;

/// Folds the codes of a row two at a time, down to 32 bits.
#[inline]
fn hash_codes(codes: &[u32]) -> u32 {
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

/// The table wants its bits at both ends of a word.
#[inline]
fn spread(tag: u32) -> u64 {
    folded_multiply(u64::from(tag))
}

/// Distinct rows of codes with a count and the first position they were met.
#[derive(Debug)]
pub(crate) struct RowTable {
    width: usize,
    /// Row numbers and hashes.
    table: HashTable<(u32, u32)>,
    /// `width` codes, then the count and the first position as two halves each.
    entries: Vec<u32>,
    rows: usize,
    /// Where rows that are looked up together might be.
    candidates: Vec<(u32, u32)>,
}

/// Count and first position take this many more cells of an entry.
const TAIL_WORDS: usize = 4;

/// No row.
const NO_ROW: u32 = u32::MAX;

impl RowTable {
    /// No rows of `width` codes.
    pub(crate) fn new(width: usize) -> Self {
        Self { width, table: HashTable::new(), entries: Vec::new(), rows: 0, candidates: Vec::new() }
    }

    #[inline]
    fn codes(&self, row: u32) -> &[u32] {
        let at = row as usize * (self.width + TAIL_WORDS);
        &self.entries[at..at + self.width]
    }

    /// A row with this hash, most likely the one that is looked for.
    #[inline]
    fn candidate(&self, tag: u32) -> u32 {
        self.table.find(spread(tag), |entry| entry.1 == tag).map_or(NO_ROW, |entry| entry.0)
    }

    #[inline]
    fn find_tagged(&self, codes: &[u32], tag: u32) -> Option<u32> {
        self.table.find(spread(tag), |entry| entry.1 == tag && self.codes(entry.0) == codes).map(|entry| entry.0)
    }

    /// Counts one record for each of some rows of codes, met at `position` and the positions after it.
    pub(crate) fn add_each(&mut self, codes: &[u32], records: usize, position: u64) {
        let width = self.width;
        let row_of = |record: usize| &codes[record * width..(record + 1) * width];
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.clear();
        candidates.extend((0..records).map(|record| {
            let tag = hash_codes(row_of(record));
            (self.candidate(tag), tag)
        }));
        for (record, &(candidate, tag)) in candidates.iter().enumerate() {
            let row = row_of(record);
            if candidate != NO_ROW && same(self.codes(candidate), row) {
                self.count(candidate, 1, position + record as u64);
            } else {
                self.add_tagged(row, tag, 1, position + record as u64);
            }
        }
        self.candidates = candidates;
    }

    /// Counts `count` more records of a row, met first at `position`.
    pub(crate) fn add(&mut self, codes: &[u32], count: u64, position: u64) {
        self.add_tagged(codes, hash_codes(codes), count, position);
    }

    fn add_tagged(&mut self, codes: &[u32], tag: u32, count: u64, position: u64) {
        match self.find_tagged(codes, tag) {
            Some(row) => self.count(row, count, position),
            None => {
                self.entries.extend_from_slice(codes);
                let ((a, b), (c, d)) = (split(count), split(position));
                self.entries.extend_from_slice(&[a, b, c, d]);
                self.table.insert_unique(spread(tag), (self.rows as u32, tag), |entry| spread(entry.1));
                self.rows += 1;
            }
        }
    }

    #[inline]
    fn position(&self, row: u32) -> u64 {
        let at = row as usize * (self.width + TAIL_WORDS) + self.width;
        join(self.entries[at + 2], self.entries[at + 3])
    }

    #[inline]
    fn count(&mut self, row: u32, count: u64, position: u64) {
        let at = row as usize * (self.width + TAIL_WORDS) + self.width;
        let tail = &mut self.entries[at..at + TAIL_WORDS];
        (tail[0], tail[1]) = split(join(tail[0], tail[1]) + count);
        if position < join(tail[2], tail[3]) {
            (tail[2], tail[3]) = split(position);
        }
    }

    /// Calls `each` with the number and the position of each of some rows of codes, if it is there.
    pub(crate) fn find_each(&self, codes: &[u32], records: usize, mut each: impl FnMut(usize, Option<(u32, u64)>)) {
        const BATCH_ROWS: usize = 64;
        let width = self.width;
        let row_of = |record: usize| &codes[record * width..(record + 1) * width];
        let mut candidates = [(NO_ROW, 0); BATCH_ROWS];
        for first in (0..records).step_by(BATCH_ROWS) {
            let candidates = &mut candidates[..BATCH_ROWS.min(records - first)];
            for (at, candidate) in candidates.iter_mut().enumerate() {
                let tag = hash_codes(row_of(first + at));
                *candidate = (self.candidate(tag), tag);
            }
            for (at, &(candidate, tag)) in candidates.iter().enumerate() {
                let row = row_of(first + at);
                let right = candidate != NO_ROW && same(self.codes(candidate), row);
                let found = if right { Some(candidate) } else { self.find_tagged(row, tag) };
                each(first + at, found.map(|row| (row, self.position(row))));
            }
        }
    }

    /// Codes, count and first position of every row.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[u32], u64, u64)> {
        let width = self.width;
        self.entries.chunks_exact(width + TAIL_WORDS).map(move |entry| {
            let tail = &entry[width..];
            (&entry[..width], join(tail[0], tail[1]), join(tail[2], tail[3]))
        })
    }

    /// How many rows there are.
    pub(crate) fn len(&self) -> usize {
        self.rows
    }

    /// Bytes held.
    pub(crate) fn size(&self) -> u64 {
        (self.table.allocation_size() + self.entries.capacity() * 4) as u64
    }
}

/// Rows are short: a loop is faster than a call.
#[inline]
fn same(one: &[u32], two: &[u32]) -> bool {
    one.iter().zip(two).fold(0, |differ, (one, two)| differ | (one ^ two)) == 0
}

#[inline]
fn join(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

#[inline]
fn split(value: u64) -> (u32, u32) {
    (value as u32, (value >> 32) as u32)
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
        let all: Vec<_> = rows.iter().map(|(codes, count, position)| (codes.to_vec(), count, position)).collect();
        assert_eq!(all, [(vec![1, 2, 3], 3, 7), (vec![1, 2, 4], u64::from(u32::MAX) + 3, 5)]);
        let mut found = Vec::new();
        rows.find_each(&[1, 2, 4, 0, 0, 0], 2, |record, row| found.push((record, row)));
        assert_eq!(found, [(0, Some((1, 5))), (1, None)]);
        rows.add_each(&[1, 2, 4, 0, 0, 0, 0, 0, 0], 3, 3);
        let all: Vec<_> = rows.iter().map(|(_, count, position)| (count, position)).collect();
        assert_eq!(all, [(3, 7), (u64::from(u32::MAX) + 4, 3), (2, 4)]);
    }

    #[test]
    fn a_key_of_no_columns_is_one_row() {
        let mut rows = RowTable::new(0);
        rows.add(&[], 1, 0);
        rows.add(&[], 1, 1);
        assert_eq!((rows.len(), rows.iter().count()), (1, 1));
    }
}
