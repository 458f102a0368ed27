//! Counts the records of each distinct row of some columns by a hash of the row, without keeping its texts.
//!
//! Guarantee: equal rows have equal hashes. Different rows have equal hashes only by chance: a hash has 128 bits, so
//! among n distinct rows the probability of any such pair is about n² / 2^129, 10^-21 for a billion rows. Hashes do not
//! depend on the run, the format of the source or the number of threads.
//!
//! How: a text is hashed twice, with different seeds; the hash of a row folds the hashes of its cells, in the order of
//! the columns. A hash table has a count for each hash. Cost: one hash per cell, whatever the number of sets; one cache
//! miss per record and set; 24 bytes per distinct row and set, so 40 to 60 bytes with free entries. Texts would take a
//! dictionary per column besides, which for exact numbers is larger than the table itself.

use std::{
    hash::{BuildHasher, Hasher},
    ops::Range,
};

use foldhash::quality::FixedState;
use hashbrown::HashTable;
use moretta_core::group_sizes::GroupSizes;

use crate::{dictionary::folded_multiply, error::EngineError, scan::PieceBatch};

/// Fixed seeds, so that runs are reproducible: "moretta" and its complement.
const HASHERS: [FixedState; 2] =
    [FixedState::with_seed(0x006d_6f72_6574_7461), FixedState::with_seed(!0x006d_6f72_6574_7461)];

/// Hash of a cell or of a row.
pub(crate) type RowHash = [u64; 2];

/// Hash of a row without columns. Not zero, which the folded multiplication could keep.
const EMPTY_ROW: RowHash = [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344];

/// Hashes the text of a cell.
#[inline]
pub(crate) fn hash_text(text: &[u8]) -> RowHash {
    HASHERS.map(|state| {
        let mut hasher = state.build_hasher();
        hasher.write_usize(text.len());
        hasher.write(text);
        hasher.finish()
    })
}

/// Appends a cell to a row.
#[inline]
fn fold(row: RowHash, cell: RowHash) -> RowHash {
    [folded_multiply(row[0] ^ cell[0]), folded_multiply(row[1].rotate_left(32) ^ cell[1])]
}

/// Records of each distinct row of several sets of columns.
#[derive(Debug)]
pub(crate) struct HashedRows {
    /// Columns of the source that any set has, each once.
    columns: Vec<usize>,
    /// For each set, the places of its columns in `columns`.
    sets: Vec<Vec<usize>>,
    /// For each set, hashes and numbers of records.
    tables: Vec<HashTable<(RowHash, u64)>>,
    /// Scratch space: column-major hashes of the records being counted.
    cells: Vec<RowHash>,
    /// Scratch space for texts of cells.
    scratch: CellScratch,
}

/// Scratch space for texts of cells.
#[derive(Debug, Default)]
pub(crate) struct CellScratch {
    /// Text of a CSV cell without its quotes.
    pub(crate) unquoted: Vec<u8>,
    /// Text of an Arrow value.
    pub(crate) text: String,
}

impl HashedRows {
    /// No records. A set is a list of columns of the source.
    pub(crate) fn new(sets: &[Vec<usize>]) -> Self {
        let columns = columns_of(sets);
        let place = |column: &usize| columns.binary_search(column).unwrap_or_default();
        let sets: Vec<Vec<usize>> = sets.iter().map(|set| set.iter().map(place).collect()).collect();
        let tables = sets.iter().map(|_| HashTable::new()).collect();
        Self { columns, sets, tables, cells: Vec::new(), scratch: CellScratch::default() }
    }

    /// Counts records of a batch.
    pub(crate) fn add(&mut self, batch: &PieceBatch<'_>, range: Range<usize>) -> Result<(), EngineError> {
        let records = range.len();
        if self.sets.is_empty() || records == 0 {
            return Ok(());
        }
        self.cells.resize(records * self.columns.len(), EMPTY_ROW);
        for (cells, &column) in self.cells.chunks_exact_mut(records).zip(&self.columns) {
            batch.records.hash(column, range.clone(), &mut self.scratch, cells)?;
        }
        for (set, table) in self.sets.iter().zip(&mut self.tables) {
            for record in 0..records {
                let cells = set.iter().map(|place| self.cells[place * records + record]);
                add(table, cells.fold(EMPTY_ROW, fold), 1);
            }
        }
        Ok(())
    }

    /// Adds the records of another thread.
    pub(crate) fn merge(&mut self, other: Self) {
        for (table, other) in self.tables.iter_mut().zip(other.tables) {
            other.into_iter().for_each(|(hash, records)| add(table, hash, records));
        }
    }

    /// Allocated bytes.
    pub(crate) fn size(&self) -> u64 {
        self.tables.iter().map(|table| table.allocation_size() as u64).sum()
    }

    /// Sizes of the groups of each set.
    pub(crate) fn sizes(&self) -> Vec<GroupSizes> {
        self.tables.iter().map(|table| GroupSizes::of(table.iter().map(|entry| entry.1))).collect()
    }
}

/// The columns of several sets, each once, ascending.
pub(crate) fn columns_of(sets: &[Vec<usize>]) -> Vec<usize> {
    let mut columns = sets.concat();
    columns.sort_unstable();
    columns.dedup();
    columns
}

#[inline]
fn add(table: &mut HashTable<(RowHash, u64)>, hash: RowHash, records: u64) {
    match table.find_mut(hash[0], |entry| entry.0 == hash) {
        Some(entry) => entry.1 += records,
        None => {
            table.insert_unique(hash[0], (hash, records), |entry| entry.0[0]);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// Rows differ if their texts, the division into cells or the order of cells differs.
    #[test]
    fn different_rows_have_different_hashes() {
        let rows: &[&[&str]] = &[
            &[],
            &[""],
            &["", ""],
            &["a"],
            &["a", ""],
            &["", "a"],
            &["ab"],
            &["a", "b"],
            &["b", "a"],
            &["\0"],
            &["\0\0"],
        ];
        let hash = |row: &&[&str]| row.iter().map(|cell| hash_text(cell.as_bytes())).fold(EMPTY_ROW, fold);
        let hashes: HashSet<RowHash> = rows.iter().map(hash).collect();
        assert_eq!(hashes.len(), rows.len());
    }

    /// Both halves of a hash are usable alone: numbers in a row, the usual content of exact columns, do not collide in
    /// either.
    #[test]
    fn consecutive_numbers_do_not_collide_in_half_a_hash() {
        let row = |n: u32| {
            let cells = [n / 300, n % 300].map(|cell| hash_text(cell.to_string().as_bytes()));
            cells.into_iter().fold(EMPTY_ROW, fold)
        };
        for half in [0, 1] {
            let hashes: HashSet<u64> = (0..200_000).map(|n| row(n)[half]).collect();
            assert_eq!(hashes.len(), 200_000, "half {half}");
        }
    }
}
