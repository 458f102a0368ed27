//! Rows of codes with a number, a count and a place each, of any width.
//!
//! Guarantee: equal rows get equal row numbers, counted from 0 without gaps in order of first sight; a row keeps the
//! earliest place it was met.
//!
//! Structure: a hash table of row numbers and 32 bits of hash over one arena of fixed-width entries; a row's codes, count
//! and first place lie side by side. Rows are looked up many at a time, first all in the table, then all in the arena, so
//! that their cache misses overlap. Cost: two cache misses, overlapped, for each row. Where rows are only counted,
//! [`crate::counter`] gets by with one as long as they are narrow.

use crate::dictionary::fold;
use hashbrown::HashTable;

/// Folds the codes of a row two at a time, down to 32 bits.
#[inline]
fn hash_codes(codes: &[u32]) -> u32 {
    let mut hash = 0x9E37_79B9_7F4A_7C15u64;
    let mut pairs = codes.chunks_exact(2);
    for pair in &mut pairs {
        hash = fold(hash ^ (u64::from(pair[0]) | u64::from(pair[1]) << 32));
    }
    if let [last] = pairs.remainder() {
        hash = fold(hash ^ u64::from(*last));
    }
    (hash >> 32) as u32
}

/// The table wants its bits at both ends of a word.
#[inline]
fn spread(tag: u32) -> u64 {
    fold(u64::from(tag))
}

/// Distinct rows of codes with a count and the first place they were met.
#[derive(Debug)]
pub(crate) struct RowTable {
    width: usize,
    /// Row numbers and hashes.
    table: HashTable<(u32, u32)>,
    /// `width` codes, then the count and the first place as two halves each.
    entries: Vec<u32>,
    rows: usize,
    /// Where rows that are looked up together might be.
    guesses: Vec<(u32, u32)>,
}

/// Count and first place take this many more cells of an entry.
const EXTRA: usize = 4;

/// No row.
const NONE: u32 = u32::MAX;

impl RowTable {
    /// No rows of `width` codes.
    pub(crate) fn new(width: usize) -> Self {
        Self { width, table: HashTable::new(), entries: Vec::new(), rows: 0, guesses: Vec::new() }
    }

    #[inline]
    fn codes(&self, row: u32) -> &[u32] {
        let at = row as usize * (self.width + EXTRA);
        &self.entries[at..at + self.width]
    }

    /// A row with this hash, most likely the one that is looked for.
    #[inline]
    fn guess(&self, tag: u32) -> u32 {
        self.table.find(spread(tag), |entry| entry.1 == tag).map_or(NONE, |entry| entry.0)
    }

    #[inline]
    fn find_tagged(&self, codes: &[u32], tag: u32) -> Option<u32> {
        self.table.find(spread(tag), |entry| entry.1 == tag && self.codes(entry.0) == codes).map(|entry| entry.0)
    }

    /// Counts one record for each of some rows of codes, met at `place` and the places after it.
    pub(crate) fn add_each(&mut self, codes: &[u32], records: usize, place: u64) {
        let width = self.width;
        let row_of = |record: usize| &codes[record * width..(record + 1) * width];
        let mut guesses = std::mem::take(&mut self.guesses);
        guesses.clear();
        guesses.extend((0..records).map(|record| {
            let tag = hash_codes(row_of(record));
            (self.guess(tag), tag)
        }));
        for (record, &(guess, tag)) in guesses.iter().enumerate() {
            let row = row_of(record);
            if guess != NONE && same(self.codes(guess), row) {
                self.count(guess, 1, place + record as u64);
            } else {
                self.add_tagged(row, tag, 1, place + record as u64);
            }
        }
        self.guesses = guesses;
    }

    /// Counts `count` more records of a row, met first at `place`.
    pub(crate) fn add(&mut self, codes: &[u32], count: u64, place: u64) {
        self.add_tagged(codes, hash_codes(codes), count, place);
    }

    fn add_tagged(&mut self, codes: &[u32], tag: u32, count: u64, place: u64) {
        match self.find_tagged(codes, tag) {
            Some(row) => self.count(row, count, place),
            None => {
                self.entries.extend_from_slice(codes);
                let ((a, b), (c, d)) = (split(count), split(place));
                self.entries.extend_from_slice(&[a, b, c, d]);
                self.table.insert_unique(spread(tag), (self.rows as u32, tag), |entry| spread(entry.1));
                self.rows += 1;
            }
        }
    }

    #[inline]
    fn place(&self, row: u32) -> u64 {
        let at = row as usize * (self.width + EXTRA) + self.width;
        join(self.entries[at + 2], self.entries[at + 3])
    }

    #[inline]
    fn count(&mut self, row: u32, count: u64, place: u64) {
        let at = row as usize * (self.width + EXTRA) + self.width;
        let tail = &mut self.entries[at..at + EXTRA];
        (tail[0], tail[1]) = split(join(tail[0], tail[1]) + count);
        if place < join(tail[2], tail[3]) {
            (tail[2], tail[3]) = split(place);
        }
    }

    /// Calls `each` with the number and the place of each of some rows of codes, if it is there.
    pub(crate) fn find_each(&self, codes: &[u32], records: usize, mut each: impl FnMut(usize, Option<(u32, u64)>)) {
        const TOGETHER: usize = 64;
        let width = self.width;
        let row_of = |record: usize| &codes[record * width..(record + 1) * width];
        let mut guesses = [(NONE, 0); TOGETHER];
        for first in (0..records).step_by(TOGETHER) {
            let guesses = &mut guesses[..TOGETHER.min(records - first)];
            for (at, guess) in guesses.iter_mut().enumerate() {
                let tag = hash_codes(row_of(first + at));
                *guess = (self.guess(tag), tag);
            }
            for (at, &(guess, tag)) in guesses.iter().enumerate() {
                let row = row_of(first + at);
                let right = guess != NONE && same(self.codes(guess), row);
                let found = if right { Some(guess) } else { self.find_tagged(row, tag) };
                each(first + at, found.map(|row| (row, self.place(row))));
            }
        }
    }

    /// Codes, count and first place of every row.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[u32], u64, u64)> {
        let width = self.width;
        self.entries.chunks_exact(width + EXTRA).map(move |entry| {
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
        let all: Vec<_> = rows.iter().map(|(codes, count, place)| (codes.to_vec(), count, place)).collect();
        assert_eq!(all, [(vec![1, 2, 3], 3, 7), (vec![1, 2, 4], u64::from(u32::MAX) + 3, 5)]);
        let mut found = Vec::new();
        rows.find_each(&[1, 2, 4, 0, 0, 0], 2, |record, row| found.push((record, row)));
        assert_eq!(found, [(0, Some((1, 5))), (1, None)]);
        rows.add_each(&[1, 2, 4, 0, 0, 0, 0, 0, 0], 3, 3);
        let all: Vec<_> = rows.iter().map(|(_, count, place)| (count, place)).collect();
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
