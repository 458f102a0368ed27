//! Data exchanged between an engine and the core: plain tables of texts, codes and counts.
//!
//! An engine makes two passes over the records: it *groups and counts* them (and returns [`Counts`]), and it *rewrites*
//! them by a map (given as [`Rewrite`]). The core computes the map from the counts and never sees a record. Both types
//! are plain data, so that a cluster can execute each pass as one SQL statement.

use std::hint::black_box;

use crate::{memory, notation::Notation, seed::Seed};

/// The distinct rows of some columns with the number of records that carry each: one `GROUP BY`.
///
/// Codes are per column and in no particular order. [`Profile`](crate::profile::Profile) sorts them, so that results do
/// not depend on how the engine divided its work.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// The grouped columns, in the requested order.
    pub columns: Vec<CountedColumn>,
    /// Row-major: `columns.len()` codes for each distinct row; a code is an index into [`CountedColumn::values`].
    pub codes: Vec<u32>,
    /// Number of records per distinct row.
    pub counts: Vec<u64>,
    /// Number (from 1, header not counted) of the first record that carries each distinct row. `None` if records have
    /// no stable numbers, as on a cluster.
    pub first_records: Option<Vec<u64>>,
    /// Number of records read: the sum of `counts`.
    pub records: u64,
}

/// One grouped column with its distinct values, as written in the input.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CountedColumn {
    /// The column's name.
    pub name: String,
    /// Distinct texts by code. A null (Parquet) is the empty text.
    pub values: Vec<Box<str>>,
    /// Number (from 1) of the first record that carries each value; `None` if records have no numbers.
    pub first_records: Option<Vec<u64>>,
    /// Whether the source has numbers, and no texts that someone wrote: their texts are in plain notation, whatever the
    /// policy declares.
    pub typed: bool,
}

impl CountedColumn {
    /// Number (from 1) of the first record that carries a value; `None` if records have no numbers.
    pub fn first_record(&self, code: usize) -> Option<u64> {
        self.first_records.as_ref().map(|first| first[code])
    }
}

/// Rows that are loaded into the cache together: enough for cache misses to overlap. Not tuned.
pub(crate) const BATCH_ROWS: usize = 64;

impl Counts {
    /// Loads some rows, which may be anywhere in the counts, into the cache. The loads do not depend on each other, so
    /// they overlap.
    pub(crate) fn load(&self, rows: impl Iterator<Item = usize>) {
        let loaded = rows.fold(0, |all, row| {
            let code = self.codes.get(row * self.columns.len()).copied().unwrap_or(0);
            all ^ u64::from(code) ^ self.counts[row] ^ self.first_record(row).unwrap_or(0)
        });
        black_box(loaded);
    }

    /// Number of distinct rows.
    pub fn rows(&self) -> usize {
        self.counts.len()
    }

    /// The codes of one distinct row.
    pub fn row(&self, row: usize) -> &[u32] {
        let width = self.columns.len();
        &self.codes[row * width..(row + 1) * width]
    }

    /// Number (from 1) of the first record that carries a distinct row; `None` if records have no numbers.
    pub fn first_record(&self, row: usize) -> Option<u64> {
        self.first_records.as_ref().map(|first| first[row])
    }

    /// The texts of one distinct row.
    pub fn texts(&self, row: usize) -> impl Iterator<Item = &str> {
        self.row(row).iter().zip(&self.columns).map(|(&code, column)| &*column.values[code as usize])
    }

    /// Bytes of the heap that the counts take.
    pub fn bytes(&self) -> u64 {
        let column = |column: &CountedColumn| {
            let first_records = column.first_records.as_ref().map_or(0, |first| 8 * first.len() as u64);
            memory::texts(column.values.iter().map(|value| &**value)) + first_records
        };
        let row_bytes = 4 * self.columns.len() + 8 + if self.first_records.is_some() { 8 } else { 0 };
        self.columns.iter().map(column).sum::<u64>() + (self.rows() * row_bytes) as u64
    }

    /// Number of records per value of a column, by code.
    pub fn records_of(&self, column: usize) -> Vec<u64> {
        let mut records = vec![0; self.columns[column].values.len()];
        for row in 0..self.rows() {
            records[self.row(row)[column] as usize] += self.counts[row];
        }
        records
    }

    /// The same table with other numbers of records for its distinct rows. Rows with 0 records are removed, and so are
    /// values that no remaining row has.
    pub fn with_records(&self, records: &[u64]) -> Self {
        let numbered = || self.first_records.is_some().then(Vec::new);
        let column = |column: &CountedColumn| CountedColumn {
            name: column.name.clone(),
            values: Vec::new(),
            first_records: numbered(),
            typed: column.typed,
        };
        let columns = self.columns.iter().map(column).collect();
        let mut subset = Self { columns, first_records: numbered(), ..Self::default() };
        let mut known: Vec<Vec<Option<u32>>> =
            self.columns.iter().map(|column| vec![None; column.values.len()]).collect();
        for (row, &records) in records.iter().enumerate().filter(|(_, records)| **records > 0) {
            for ((index, column), &code) in subset.columns.iter_mut().enumerate().zip(self.row(row)) {
                let new_code = *known[index][code as usize].get_or_insert_with(|| {
                    column.values.push(self.columns[index].values[code as usize].clone());
                    column.first_records.iter_mut().for_each(|first| first.push(u64::MAX));
                    column.values.len() as u32 - 1
                });
                if let (Some(known), Some(record)) = (&mut column.first_records, self.first_record(row)) {
                    known[new_code as usize] = record.min(known[new_code as usize]);
                }
                subset.codes.push(new_code);
            }
            subset.counts.push(records);
            if let (Some(first), Some(record)) = (&mut subset.first_records, self.first_record(row)) {
                first.push(record);
            }
            subset.records += records;
        }
        subset
    }
}

/// Instructions for the second pass: how each record is rewritten for the release.
#[derive(Debug, Clone)]
pub struct Rewrite {
    /// Columns whose values determine how a record is rewritten, with their distinct values by code.
    pub key: Vec<KeyColumn>,
    /// New labels of the rewritten columns.
    pub change: Change,
    /// Columns that are not released.
    pub dropped: Vec<String>,
    /// Copied columns of numbers; none if all numbers are plain.
    pub renotated: Vec<RenotatedColumn>,
    /// The order of the released records.
    pub order: RecordOrder,
    /// Seed of the shuffle and of the assignment of equal records to groups.
    pub seed: Seed,
}

/// A copied column of numbers, which are written in the notation of the release if they are in another one. Cells that
/// are no numbers are copied as they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenotatedColumn {
    /// The column's name.
    pub name: String,
    /// Notation of its cells; in a source with types, number columns are in plain notation.
    pub from: Notation,
    /// Notation of the release.
    pub to: Notation,
    /// Texts that mean a missing value: they are copied as they are.
    pub missing: Vec<Box<str>>,
}

/// A column of a rewrite's key.
#[derive(Debug, Clone)]
pub struct KeyColumn {
    /// The column's name.
    pub name: String,
    /// Distinct texts by code, as in [`CountedColumn::values`].
    pub values: Vec<Box<str>>,
    /// Whether its cells are replaced by labels; the other key columns only distinguish records.
    pub rewritten: bool,
}

/// The two kinds of rewrite. "Rewritten columns" are the key columns with [`KeyColumn::rewritten`], in key order.
#[derive(Debug, Clone)]
pub enum Change {
    /// Global recoding: every value of a rewritten column has one label. The key has rewritten columns only, unless
    /// rows are suppressed.
    Map {
        /// For each rewritten column, a label for each code.
        labels: Vec<Vec<Box<str>>>,
        /// Row-major codes (all key columns) of the distinct rows whose rewritten cells all become `*`.
        suppressed: Vec<u32>,
    },
    /// Local recoding: the records of a distinct row are distributed over groups; a group has one label per rewritten
    /// column.
    Shares {
        /// Row-major codes (all key columns) of the distinct rows.
        rows: Vec<u32>,
        /// The shares of row `r` are `shares[offsets[r]..offsets[r + 1]]`.
        offsets: Vec<u32>,
        /// Number of records of the row for each of its groups. They add up to the row's records.
        shares: Vec<Share>,
        /// For each rewritten column, a label for each group.
        labels: Vec<Vec<Box<str>>>,
    },
}

/// Number of records of one distinct row that belong to one group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// Index into the labels.
    pub group: u32,
    /// At least 1.
    pub records: u64,
}

/// The order of the released records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordOrder {
    /// The order of the input.
    Input,
    /// A random order determined by the seed.
    Shuffled,
}
