//! The distinct combinations of values in a few columns: the records that an attacker who knows these columns can
//! distinguish in the original table.

use std::sync::Arc;

use super::candidates::Candidate;
use crate::{
    ids::TupleId,
    profile::Profile,
    search::grouping::{Buckets, Groups, group_tuples},
};

/// Distinct combinations of values in some columns (rows), with an index from values to rows.
#[derive(Debug, Clone, Default)]
pub(super) struct ProjectedRows {
    /// In increasing order; a position is an index in this list.
    columns: Vec<usize>,
    /// By row and position.
    codes: Vec<u32>,
    /// By position, all rows in order of their codes.
    by_code: Vec<Buckets>,
}

/// The rows of some columns, and the row of each tuple.
pub(super) struct Projection {
    pub(super) rows: Arc<ProjectedRows>,
    pub(super) row_of: Vec<u32>,
}

impl Projection {
    /// Projects all tuples to some columns; tuples with equal values there become one row.
    pub(super) fn of(profile: &Profile, columns: &[usize]) -> Self {
        let Groups { of_row, first_rows } = group_tuples(profile, columns);
        Self {
            rows: Arc::new(ProjectedRows::new(profile, columns, first_rows.into_iter().map(TupleId))),
            row_of: of_row,
        }
    }
}

impl ProjectedRows {
    /// One row for each of some tuples.
    pub(super) fn new(profile: &Profile, columns: &[usize], tuples: impl Iterator<Item = TupleId>) -> Self {
        let codes = tuples.flat_map(|tuple| columns.iter().map(move |&column| profile.codes(tuple)[column]));
        let codes: Vec<u32> = codes.collect();
        let by_code = |(position, &column): (usize, &usize)| {
            let column_codes = codes.iter().skip(position).step_by(columns.len()).copied();
            Buckets::new(profile.columns()[column].domain.len(), column_codes)
        };
        let by_code = columns.iter().enumerate().map(by_code).collect();
        Self { columns: columns.to_vec(), codes, by_code }
    }

    pub(super) fn len(&self) -> usize {
        self.codes.len() / self.columns.len().max(1)
    }

    pub(super) fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// Position of a column; `None` if it is not among the columns.
    pub(super) fn position_of(&self, column: usize) -> Option<usize> {
        self.columns.binary_search(&column).ok()
    }

    /// Codes of a row, by position.
    pub(super) fn codes(&self, row: u32) -> &[u32] {
        let width = self.columns.len();
        &self.codes[row as usize * width..(row as usize + 1) * width]
    }

    /// Rows that a candidate occurs in; empty if its column is not among the columns.
    pub(super) fn rows_of(&self, candidate: &Candidate) -> &[u32] {
        let rows_with = |position| self.rows_with(position, candidate.first, candidate.last);
        self.position_of(candidate.column).map_or(&[], rows_with)
    }

    /// Rows with a code from `first` to `last` at a position.
    pub(super) fn rows_with(&self, position: usize, first: u32, last: u32) -> &[u32] {
        self.by_code[position].rows(first, last)
    }
}
