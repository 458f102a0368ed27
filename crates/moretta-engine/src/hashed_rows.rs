//! Counts the records of each distinct row of some columns by a hash of the row, without keeping its texts.
//!
//! Guarantee: equal rows have equal hashes. Different rows have equal hashes only by chance: a hash has 128 bits, so
//! among n distinct rows the probability of any such pair is about n² / 2^129, 10^-21 for a billion rows. Hashes do not
//! depend on the run, the format of the source or the number of threads.
//!
//! How: a text is hashed twice, with different seeds. The hash of a row is the sum of the hashes of its cells, each mixed
//! with a random word of its column (Zobrist hashing), mixed once more. A hash table has a count for each hash. A value
//! of a column that is dictionary-encoded anyway is hashed once.
//!
//! Cost: one hash per other cell, whatever the number of sets; one cache miss per record and set, which overlap; 24 bytes
//! per distinct row and set, so 32 to 64 bytes with free cells. Texts would take a dictionary per column besides, which
//! for exact numbers is larger than the table itself.

use std::{
    hash::{BuildHasher, Hasher},
    hint::black_box,
    ops::Range,
};

use foldhash::quality::FixedState;
use moretta_core::group_sizes::GroupSizes;

use crate::{
    dictionary::{Dictionary, folded_multiply},
    error::EngineError,
    ordered_pool::map_each,
    scan::PieceBatch,
};

/// Fixed seeds, so that runs are reproducible: "moretta" and its complement.
const HASHERS: [FixedState; 2] =
    [FixedState::with_seed(0x006d_6f72_6574_7461), FixedState::with_seed(!0x006d_6f72_6574_7461)];

/// Hash of a cell or of a row.
pub(crate) type RowHash = [u64; 2];

/// Numbers of records by hash: open addressing with linear probing, so that counting a known hash touches one cache line.
#[derive(Debug, Default)]
struct Table {
    /// Hash and records; free if there are none. Empty, or a power of two of cells, at most 3/4 of them used.
    cells: Vec<(RowHash, u64)>,
    used: usize,
}

impl Table {
    /// Cell at which probing starts. Taken from the high bits, so that growing keeps the order of hashes.
    #[inline]
    fn home_cell(&self, hash: RowHash) -> usize {
        ((u128::from(hash[0]) * self.cells.len() as u128) >> 64) as usize
    }

    /// Records in the home cell of a hash, to load it into the cache.
    #[inline]
    fn home_records(&self, hash: RowHash) -> u64 {
        self.cells.get(self.home_cell(hash)).map_or(0, |cell| cell.1)
    }

    /// Makes room for `more` hashes.
    fn reserve(&mut self, more: usize) {
        let needed = (self.used + more) * 4;
        if needed <= self.cells.len() * 3 {
            return;
        }
        let cells = needed.div_ceil(3).next_power_of_two().max(MIN_CELLS);
        let old = std::mem::replace(&mut self.cells, vec![([0; 2], 0); cells]);
        self.used = 0;
        old.into_iter().filter(|cell| cell.1 > 0).for_each(|(hash, records)| self.count(hash, records));
    }

    fn add(&mut self, hash: RowHash, records: u64) {
        self.reserve(1);
        self.count(hash, records);
    }

    /// Counts records; there is room for one hash more.
    #[inline]
    fn count(&mut self, hash: RowHash, records: u64) {
        let last = self.cells.len() - 1;
        let mut at = self.home_cell(hash);
        loop {
            let cell = &mut self.cells[at];
            if cell.0 == hash && cell.1 > 0 {
                cell.1 += records;
                return;
            }
            if cell.1 == 0 {
                *cell = (hash, records);
                self.used += 1;
                return;
            }
            at = (at + 1) & last;
        }
    }

    /// Adds the records of another table.
    fn merge(&mut self, other: Self) {
        // Cells are in the order of hashes: without room for all, the first ones would fill one end of the table.
        self.reserve(other.used);
        other.cells.into_iter().filter(|cell| cell.1 > 0).for_each(|(hash, records)| self.count(hash, records));
    }
}

/// Cells of the smallest table.
const MIN_CELLS: usize = 16;

/// Sum of a row without columns. Not zero, which the folded multiplication could keep.
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

/// Mixes the hash of a text with the column, so that equal texts of two columns have unrelated hashes.
#[inline]
fn in_column(hash: RowHash, column: usize) -> RowHash {
    let word = column as u64 + 1;
    [
        folded_multiply(hash[0] ^ word.wrapping_mul(0x9E37_79B9_7F4A_7C15)),
        folded_multiply(hash[1] ^ word.wrapping_mul(0xD1B5_4A32_D192_ED03)),
    ]
}

/// Adds a cell to the sum of a row.
#[inline]
fn sum(row: RowHash, cell: RowHash) -> RowHash {
    [row[0].wrapping_add(cell[0]), row[1].wrapping_add(cell[1])]
}

/// Hash of a row from the sum of its cells.
#[inline]
fn finish(row: RowHash) -> RowHash {
    row.map(folded_multiply)
}

/// Records of each distinct row of several sets of columns.
#[derive(Debug)]
pub(crate) struct HashedRows {
    /// Columns of the source that any set has, each once.
    columns: Vec<usize>,
    /// For each set, the places of its columns in `columns`.
    sets: Vec<Vec<usize>>,
    /// For each set, [`PARTS`] tables, so that several threads can merge them.
    tables: Vec<Table>,
    /// For each column, the hashes of the first values of its dictionary in this column, by code.
    known: Vec<Vec<RowHash>>,
    /// Scratch space: column-major hashes of the cells being counted, in their columns.
    cells: Vec<RowHash>,
    /// Scratch space: hashes of the rows of a set.
    rows: Vec<RowHash>,
    /// Scratch space for texts of cells.
    scratch: CellScratch,
}

/// Maximum values of a column whose hashes are kept (256 kB, so that they stay in the second-level cache). Not tuned.
const MAX_KNOWN: usize = 1 << 14;

/// Rows per batch: enough for cache misses to overlap. Not tuned.
const BATCH_ROWS: usize = 64;

/// Parts of the hashes of a set; enough for the threads of most machines.
const PARTS: usize = 64;

/// Columns of the records being counted that are dictionary-encoded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EncodedColumns<'a> {
    /// Their indices in the source.
    pub(crate) columns: &'a [usize],
    /// Column-major codes.
    pub(crate) codes: &'a [u32],
    pub(crate) dictionaries: &'a [Dictionary],
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
        let tables = (0..sets.len() * PARTS).map(|_| Table::default()).collect();
        let known = columns.iter().map(|_| Vec::new()).collect();
        Self { columns, sets, tables, known, cells: Vec::new(), rows: Vec::new(), scratch: CellScratch::default() }
    }

    /// Counts records of a batch.
    pub(crate) fn add(
        &mut self,
        batch: &PieceBatch<'_>,
        range: Range<usize>,
        encoded: EncodedColumns<'_>,
    ) -> Result<(), EngineError> {
        let records = range.len();
        if self.sets.is_empty() || records == 0 {
            return Ok(());
        }
        self.cells.resize(records * self.columns.len(), EMPTY_ROW);
        let columns = self.columns.iter().zip(&mut self.known);
        for (place, (cells, (&column, known))) in self.cells.chunks_exact_mut(records).zip(columns).enumerate() {
            let index = encoded.columns.iter().position(|&other| other == column);
            match index.filter(|&index| encoded.dictionaries[index].len() <= MAX_KNOWN) {
                Some(index) => {
                    let dictionary = &encoded.dictionaries[index];
                    let hash = |code: usize| in_column(hash_text(dictionary.value(code as u32)), place);
                    known.extend((known.len()..dictionary.len()).map(hash));
                    let codes = &encoded.codes[index * records..(index + 1) * records];
                    cells.iter_mut().zip(codes).for_each(|(cell, &code)| *cell = known[code as usize]);
                }
                None => {
                    batch.records.hash(column, range.clone(), &mut self.scratch, cells)?;
                    cells.iter_mut().for_each(|cell| *cell = in_column(*cell, place));
                }
            }
        }
        for (set, parts) in self.sets.iter().zip(self.tables.chunks_exact_mut(PARTS)) {
            self.rows.clear();
            self.rows.resize(records, EMPTY_ROW);
            for place in set {
                let cells = &self.cells[place * records..(place + 1) * records];
                self.rows.iter_mut().zip(cells).for_each(|(row, cell)| *row = sum(*row, *cell));
            }
            self.rows.iter_mut().for_each(|row| *row = finish(*row));
            // The loads of a batch overlap.
            for rows in self.rows.chunks(BATCH_ROWS) {
                let home_records = |hash: &RowHash| parts[hash[1] as usize % PARTS].home_records(*hash);
                black_box(rows.iter().fold(0, |all, hash| all ^ home_records(hash)));
                rows.iter().for_each(|hash| parts[hash[1] as usize % PARTS].add(*hash, 1));
            }
        }
        Ok(())
    }

    /// Allocated bytes.
    pub(crate) fn size(&self) -> u64 {
        self.tables.iter().map(|table| (table.cells.capacity() * size_of::<(RowHash, u64)>()) as u64).sum()
    }

    /// Sizes of the groups of each set, of the records of several threads.
    pub(crate) fn sizes(threads: Vec<Self>) -> Vec<GroupSizes> {
        let (count, sets) = (threads.len(), threads.first().map_or(0, |thread| thread.sets.len()));
        // For each set and part, the tables of all threads.
        let mut tables: Vec<Vec<Table>> = (0..sets * PARTS).map(|_| Vec::new()).collect();
        for thread in threads {
            tables.iter_mut().zip(thread.tables).for_each(|(of_threads, table)| of_threads.push(table));
        }
        let merged = |of_threads: Vec<Table>| {
            let mut of_threads = of_threads.into_iter();
            let mut all = of_threads.next().unwrap_or_default();
            of_threads.for_each(|table| all.merge(table));
            GroupSizes::of(all.cells.iter().map(|cell| cell.1))
        };
        let mut sizes = map_each(tables, count, merged).into_iter();
        (0..sets).map(|_| GroupSizes::merged(sizes.by_ref().take(PARTS))).collect()
    }
}

/// The columns of several sets, each once, ascending.
pub(crate) fn columns_of(sets: &[Vec<usize>]) -> Vec<usize> {
    let mut columns = sets.concat();
    columns.sort_unstable();
    columns.dedup();
    columns
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

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
        let hash = |row: &&[&str]| {
            let cells = row.iter().enumerate().map(|(column, cell)| in_column(hash_text(cell.as_bytes()), column));
            finish(cells.fold(EMPTY_ROW, sum))
        };
        let hashes: HashSet<RowHash> = rows.iter().map(hash).collect();
        assert_eq!(hashes.len(), rows.len());
    }

    /// Both halves of a hash are usable alone: numbers in a row, the usual content of exact columns, do not collide in
    /// either.
    #[test]
    fn consecutive_numbers_do_not_collide_in_half_a_hash() {
        let row = |n: u32| {
            let cells = [n / 300, n % 300].map(|cell| hash_text(cell.to_string().as_bytes()));
            let cells = cells.into_iter().enumerate().map(|(column, hash)| in_column(hash, column));
            finish(cells.fold(EMPTY_ROW, sum))
        };
        for half in [0, 1] {
            let hashes: HashSet<u64> = (0..200_000).map(|n| row(n)[half]).collect();
            assert_eq!(hashes.len(), 200_000, "half {half}");
        }
    }

    #[test]
    fn merged_tables_are_those_of_a_map() {
        let mut naive: HashMap<RowHash, u64> = HashMap::new();
        let mut tables = [Table::default(), Table::default(), Table::default()];
        for record in 0..30_000u32 {
            let hash = hash_text((record % 7_919 * (record % 3)).to_string().as_bytes());
            tables[record as usize % 3].add(hash, u64::from(record % 5 + 1));
            *naive.entry(hash).or_default() += u64::from(record % 5 + 1);
        }
        let [mut all, two, three] = tables;
        all.merge(two);
        all.merge(three);
        assert_eq!(all.used, naive.len());
        let counted: HashMap<RowHash, u64> = all.cells.iter().copied().filter(|cell| cell.1 > 0).collect();
        assert_eq!(counted, naive);
    }
}
