//! What an engine and the core hand each other: plain tables of texts, codes and counts.
//!
//! An engine does two things with the records, and nothing else: it *groups and counts* them ([`Counts`] comes back),
//! and it *rewrites* them by a map ([`Rewrite`] goes in). Everything between is done here, without seeing a record.
//! Both types are plain data, so that a cluster can serve them as two SQL statements.

/// The distinct rows of some columns with the number of records that carry each: one `GROUP BY`.
///
/// Codes are per column and in no particular order: [`Profile`](crate::profile::Profile) puts them in order, so that
/// nothing depends on how the engine divided its work.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// The grouped columns, in the order they were asked for.
    pub columns: Vec<CountedColumn>,
    /// Row-major: `columns.len()` codes for each distinct row; a code is an index into [`CountedColumn::values`].
    pub codes: Vec<u32>,
    /// How many records carry each distinct row.
    pub counts: Vec<u64>,
    /// The number (from 1, header not counted) of the first record that carries each distinct row. `None` where records
    /// have no numbers worth showing, as on a cluster.
    pub first_records: Option<Vec<u64>>,
    /// All records that were read.
    pub records: u64,
}

/// One grouped column: its distinct values as they were read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CountedColumn {
    /// The column's name.
    pub name: String,
    /// Distinct texts by code. A null (Parquet) is the empty text.
    pub values: Vec<Box<str>>,
    /// The number (from 1) of the first record that carries each value, where records have numbers.
    pub first_records: Option<Vec<u64>>,
}

impl CountedColumn {
    /// The number (from 1) of the first record that carries a value, where records have numbers.
    pub fn first_record(&self, code: usize) -> Option<u64> {
        self.first_records.as_ref().map(|first| first[code])
    }
}

impl Counts {
    /// How many distinct rows there are.
    pub fn rows(&self) -> usize {
        self.counts.len()
    }

    /// The codes of one distinct row.
    pub fn row(&self, row: usize) -> &[u32] {
        let width = self.columns.len();
        &self.codes[row * width..(row + 1) * width]
    }

    /// The number (from 1) of the first record that carries a distinct row, where records have numbers.
    pub fn first_record(&self, row: usize) -> Option<u64> {
        self.first_records.as_ref().map(|first| first[row])
    }

    /// The texts of one distinct row.
    pub fn texts(&self, row: usize) -> impl Iterator<Item = &str> {
        self.row(row).iter().zip(&self.columns).map(|(&code, column)| &*column.values[code as usize])
    }

    /// How many records carry each value of a column.
    pub fn records_of(&self, column: usize) -> Vec<u64> {
        let mut records = vec![0; self.columns[column].values.len()];
        for row in 0..self.rows() {
            records[self.row(row)[column] as usize] += self.counts[row];
        }
        records
    }

    /// The same table with other numbers of records for its distinct rows. What then occurs nowhere is not in it at all:
    /// neither the row nor its values.
    pub fn part(&self, records: &[u64]) -> Self {
        let numbered = || self.first_records.is_some().then(Vec::new);
        let column = |column: &CountedColumn| CountedColumn {
            name: column.name.clone(),
            values: Vec::new(),
            first_records: numbered(),
        };
        let columns = self.columns.iter().map(column).collect();
        let mut part = Self { columns, first_records: numbered(), ..Self::default() };
        let mut known: Vec<Vec<Option<u32>>> =
            self.columns.iter().map(|column| vec![None; column.values.len()]).collect();
        for (row, &records) in records.iter().enumerate().filter(|(_, records)| **records > 0) {
            for ((at, column), &code) in part.columns.iter_mut().enumerate().zip(self.row(row)) {
                let taken = *known[at][code as usize].get_or_insert_with(|| {
                    column.values.push(self.columns[at].values[code as usize].clone());
                    column.first_records.iter_mut().for_each(|first| first.push(u64::MAX));
                    column.values.len() as u32 - 1
                });
                if let (Some(known), Some(record)) = (&mut column.first_records, self.first_record(row)) {
                    known[taken as usize] = record.min(known[taken as usize]);
                }
                part.codes.push(taken);
            }
            part.counts.push(records);
            if let (Some(first), Some(record)) = (&mut part.first_records, self.first_record(row)) {
                first.push(record);
            }
            part.records += records;
        }
        part
    }
}

/// How the records are to be rewritten on their way out.
#[derive(Debug, Clone)]
pub struct Rewrite {
    /// The columns whose values decide what happens to a record, with their distinct values by code.
    pub key: Vec<KeyColumn>,
    /// What happens to the rewritten columns.
    pub change: Change,
    /// Columns that are not released.
    pub dropped: Vec<String>,
    /// The order of the released records.
    pub order: RecordOrder,
    /// Decides the shuffle, and which of several equal records go to which group.
    pub seed: u64,
}

/// A column of a rewrite's key.
#[derive(Debug, Clone)]
pub struct KeyColumn {
    /// The column's name.
    pub name: String,
    /// Distinct texts by code, as in [`CountedColumn::values`].
    pub values: Vec<Box<str>>,
    /// Whether its cells are replaced by labels; the others only help to tell records apart.
    pub rewritten: bool,
}

/// The two shapes of a rewrite. "Rewritten columns" are those of the key that are marked so, in key order.
#[derive(Debug, Clone)]
pub enum Change {
    /// Every value of a rewritten column has one label. The key then has rewritten columns only, unless rows are suppressed.
    Map {
        /// For each rewritten column, a label for each code.
        labels: Vec<Vec<Box<str>>>,
        /// Row-major codes (all key columns) of the distinct rows whose rewritten cells all become `*`.
        suppressed: Vec<u32>,
    },
    /// Every distinct row is shared out among groups, and a group has one label per rewritten column.
    Shares {
        /// Row-major codes (all key columns), one distinct row after the other.
        rows: Vec<u32>,
        /// The shares of row `r` are `shares[offsets[r]..offsets[r + 1]]`.
        offsets: Vec<u32>,
        /// How many records of the row go to which group. They add up to the row's records.
        shares: Vec<Share>,
        /// For each rewritten column, a label for each group.
        labels: Vec<Vec<Box<str>>>,
    },
}

/// So many records of one distinct row go to one group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// The group, an index into the labels.
    pub group: u32,
    /// How many records.
    pub records: u64,
}

/// The order of the released records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordOrder {
    /// In the order they came.
    Input,
    /// In a random order decided by the seed.
    Shuffled,
}
