//! The groups of a table under any set of its columns: how many there are, their sizes, and the records that are alone.
//!
//! Records with equal values in the columns are a group. Every text is a value, also the empty text of a missing cell.
//! Distinct rows are kept as small integer codes, column by column, with the number of their records.
//!
//! How: a `Partition` is refined by one column at a time, that of most values first. A group of one row cannot be
//! split further, so it is counted and left out; what remains gets smaller with every column:
//!
//! ```text
//! row  town  age  records     by town         by town and age
//!  0   Rome   30     1        {0, 1, 2} {3}   {0, 1} {2} {3}     3 groups of 3, 1 and 1 records:
//!  1   Rome   30     2                                           rows 2 and 3 are alone
//!  2   Rome   41     1
//!  3   Oslo   41     1
//! ```
//!
//! (Rows 0 and 1 differ in a third column.) A split counts the codes of a group in an array with one cell per value of
//! the column. This was preferred to sorting packed keys or hashing them: the array of a column fits the cache, the
//! partition of a prefix is shared by all sets that extend it, and rows that are alone are never read again.
//!
//! Cost: O(rows) per column and at most that: rows alone under the first columns are skipped. Memory: 4 bytes per row
//! and column; a request takes 8 bytes per row and 16 bytes per value of its largest column.

mod partition;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;

use hashbrown::HashMap;
use moretta_core::{counts::Counts, group_sizes::GroupSizes, release_memory::RowSize};
use rayon::prelude::*;

pub(crate) use self::partition::{Cell, Partition, Scratch};

/// Records of a table by the codes of their values: answers how records divide by any set of columns.
///
/// A column is an index. A column that is named twice counts once; without a column all records are one group.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ColumnSets {
    columns: Vec<Column>,
    /// Number of records per row.
    row_records: Vec<u64>,
    /// The sum of `row_records`.
    records: u64,
}

/// The codes of a column.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Column {
    /// By row, each below `values`.
    codes: Vec<u32>,
    /// Number of codes.
    values: u32,
}

impl ColumnSets {
    /// The records of a table that an engine has counted.
    pub fn of_counts(counts: &Counts) -> Self {
        let (width, rows) = (counts.columns.len(), counts.rows());
        let column = |index: usize| Column {
            codes: (0..rows).map(|row| counts.codes[row * width + index]).collect(),
            values: counts.columns[index].values.len() as u32,
        };
        Self {
            columns: (0..width).into_par_iter().map(column).collect(),
            row_records: counts.counts.clone(),
            records: counts.counts.iter().sum(),
        }
    }

    /// Records as texts, such as the first ones of a file. Missing cells of a short row count as empty, cells behind
    /// the last column are ignored.
    pub fn of_rows(columns: usize, rows: &[Vec<String>]) -> Self {
        let column = |index: usize| {
            let mut known: HashMap<&str, u32> = HashMap::new();
            let mut code = |text| {
                let next = known.len() as u32;
                *known.entry(text).or_insert(next)
            };
            let codes = rows.iter().map(|row| code(row.get(index).map_or("", String::as_str))).collect();
            Column { codes, values: known.len() as u32 }
        };
        Self {
            columns: (0..columns).into_par_iter().map(column).collect(),
            row_records: vec![1; rows.len()],
            records: rows.len() as u64,
        }
    }

    /// Bytes of the heap that [`ColumnSets::of_counts`] takes for counts of this size.
    pub fn bytes_of(size: &RowSize) -> u64 {
        size.rows * (4 * size.columns + 8)
    }

    /// Number of records.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns.len()
    }

    /// Number of distinct combinations of values.
    pub fn distinct(&self, columns: &[usize]) -> u64 {
        let mut groups = 0;
        self.for_each_group(columns, |_| groups += 1);
        groups
    }

    /// Sizes of the groups.
    pub fn sizes(&self, columns: &[usize]) -> GroupSizes {
        let mut sizes = Vec::new();
        self.for_each_group(columns, |cell| sizes.push(cell.records));
        GroupSizes::of(sizes)
    }

    /// Number of records that are alone in their group.
    pub fn unique(&self, columns: &[usize]) -> u64 {
        let mut unique = 0;
        self.for_each_group(columns, |cell| unique += u64::from(cell.records == 1));
        unique
    }

    /// Whether a value of `from` determines the value of `to`: no two records that are equal in `from` differ in `to`.
    /// A column with a different value in every record determines all others.
    pub fn determines(&self, from: usize, to: usize) -> bool {
        self.determines_in(from, to, self.rows())
    }

    /// The same for the first rows only.
    pub(crate) fn determines_in(&self, from: usize, to: usize, rows: usize) -> bool {
        let (from, to) = (&self.columns[from], &self.columns[to]);
        // By code: the code of `to` plus 1, or 0 if none was seen yet.
        let mut seen = vec![0; from.values as usize];
        from.codes.iter().zip(&to.codes).take(rows).all(|(&from, &to)| {
            let seen = &mut seen[from as usize];
            let agrees = *seen == 0 || *seen == to + 1;
            *seen = to + 1;
            agrees
        })
    }

    /// Calls `each` for every group, in an order that depends on the table only.
    pub(crate) fn for_each_group(&self, columns: &[usize], mut each: impl FnMut(Cell)) {
        let mut columns = columns.to_vec();
        self.sort_for_splits(&mut columns);
        let mut partition = Partition::whole(self.rows());
        let Some(last) = columns.pop() else {
            if self.rows() > 0 {
                each(Cell { rows: self.rows() as u32, first: 0, records: self.records });
            }
            return;
        };
        let mut scratch = Scratch::default();
        for column in columns {
            partition = partition.refined(self, column, &mut scratch, &mut each);
        }
        partition.for_each_cell(self, last, &mut scratch, each);
    }

    /// Sorts columns by falling number of values and removes repeated ones: the first splits then leave out most rows.
    pub(crate) fn sort_for_splits(&self, columns: &mut Vec<usize>) {
        columns.sort_unstable_by_key(|&column| (Reverse(self.columns[column].values), column));
        columns.dedup();
    }

    /// Number of rows: combinations of values, each with one record or more. Rows of a sample can be equal.
    pub(crate) fn rows(&self) -> usize {
        self.row_records.len()
    }
}
