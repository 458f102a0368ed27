//! Hash table of rows of codes of any width: numbers, counts and looks up distinct rows.
//!
//! Guarantee: equal rows get the same row number, counted from 0 without gaps in order of insertion. A row has a count
//! and a 64-bit payload, which is the minimum of all payloads added for it. The first pass uses the table as a counter
//! of rows that are too wide for [`crate::packed_counter`]; the payload is the first position. The second pass uses it
//! as an index of the rows of a rewrite; the payload is the row's group.
//!
//! How: the hash table holds row numbers and 32 bits of hash (the tag); all rows are in one array of fixed-width
//! entries.
//!
//! ```text
//! table       (row 2, tag)  (row 0, tag)  (row 1, tag)
//! entries     │ codes of row 0 │ count │ payload │ codes of row 1 │ count │ payload │ codes of row 2 │ ...
//!               width words      2 words 2 words
//! ```
//!
//! Rows are looked up in batches, first all in the table and then all in the entries, so that their cache misses
//! overlap. The first row of equal tag is almost always the right one; if not, the row is looked up again by its codes.
//!
//! Cost: two overlapped cache misses per row.

use hashbrown::HashTable;

use crate::dictionary::folded_multiply;

/// Hashes the codes of a row, two at a time, to 32 bits.
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

/// Hash of a tag: `hashbrown` uses the high and the low bits of a 64-bit hash.
#[inline]
fn spread(tag: u32) -> u64 {
    folded_multiply(u64::from(tag))
}

/// Distinct rows of codes, each with a count and its smallest payload.
#[derive(Debug)]
pub(crate) struct RowTable {
    width: usize,
    /// Row number and tag of each row.
    table: HashTable<(u32, u32)>,
    /// Per row: `width` codes, then count and payload, each as low and high word.
    entries: Vec<u32>,
    rows: usize,
    /// Scratch space: candidate row and tag of each row of a batch.
    candidates: Vec<(u32, u32)>,
}

/// Words of an entry after the codes: count and payload.
const TAIL_WORDS: usize = 4;

/// Stands for "no candidate" in place of a row number.
const NO_ROW: u32 = u32::MAX;

impl RowTable {
    /// An empty table of rows of `width` codes.
    pub(crate) fn new(width: usize) -> Self {
        Self { width, table: HashTable::new(), entries: Vec::new(), rows: 0, candidates: Vec::new() }
    }

    #[inline]
    fn codes(&self, row: u32) -> &[u32] {
        let at = row as usize * (self.width + TAIL_WORDS);
        &self.entries[at..at + self.width]
    }

    /// The first row with this tag, or [`NO_ROW`]. Its codes are not compared.
    #[inline]
    fn candidate(&self, tag: u32) -> u32 {
        self.table.find(spread(tag), |entry| entry.1 == tag).map_or(NO_ROW, |entry| entry.0)
    }

    #[inline]
    fn find_tagged(&self, codes: &[u32], tag: u32) -> Option<u32> {
        self.table.find(spread(tag), |entry| entry.1 == tag && self.codes(entry.0) == codes).map(|entry| entry.0)
    }

    /// Counts one record for each of `records` rows of row-major codes. Their payloads are `payload` and the numbers
    /// after it.
    pub(crate) fn add_each(&mut self, codes: &[u32], records: usize, payload: u64) {
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
                self.count(candidate, 1, payload + record as u64);
            } else {
                self.add_tagged(row, tag, 1, payload + record as u64);
            }
        }
        self.candidates = candidates;
    }

    /// Adds `count` to a row and lowers its payload to `payload` if that is smaller.
    pub(crate) fn add(&mut self, codes: &[u32], count: u64, payload: u64) {
        self.add_tagged(codes, hash_codes(codes), count, payload);
    }

    fn add_tagged(&mut self, codes: &[u32], tag: u32, count: u64, payload: u64) {
        match self.find_tagged(codes, tag) {
            Some(row) => self.count(row, count, payload),
            None => {
                self.entries.extend_from_slice(codes);
                self.entries.extend_from_slice(&split(count));
                self.entries.extend_from_slice(&split(payload));
                self.table.insert_unique(spread(tag), (self.rows as u32, tag), |entry| spread(entry.1));
                self.rows += 1;
            }
        }
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
        /// Rows per batch: enough for cache misses to overlap. Not tuned.
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
                let found = if candidate != NO_ROW && same(self.codes(candidate), row) {
                    Some(candidate)
                } else {
                    self.find_tagged(row, tag)
                };
                each(first + at, found.map(|row| (row, self.payload(row))));
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
        (self.table.allocation_size() + self.entries.capacity() * 4) as u64
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
    fn a_key_of_no_columns_is_one_row() {
        let mut rows = RowTable::new(0);
        rows.add(&[], 1, 0);
        rows.add(&[], 1, 1);
        assert_eq!((rows.len(), rows.iter().count()), (1, 1));
    }
}
