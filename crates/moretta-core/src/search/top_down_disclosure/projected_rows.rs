//! Tuples of the original table restricted to a few columns. An attacker who knows only these columns cannot
//! distinguish tuples with equal values in them.

use std::sync::Arc;

use super::candidates::Candidate;
use crate::{
    ids::TupleId,
    profile::Profile,
    search::grouping::{Buckets, Groups, group_tuples},
};

/// Combinations of values in some columns (rows), with an index from values to rows. The rows of a [`Projection`] are
/// distinct; [`ProjectedRows::new`] makes one row per tuple, so rows may be equal.
#[derive(Debug, Clone, Default)]
pub(super) struct ProjectedRows {
    /// Column indexes in increasing order. A *position* is an index in this list.
    columns: Vec<usize>,
    /// Codes of all rows in one flat list, row after row; within a row, by position.
    codes: Vec<u32>,
    /// For each position, the rows sorted by their code there.
    by_code: Vec<Buckets>,
}

/// The distinct rows of all tuples in some columns.
pub(super) struct Projection {
    pub(super) rows: Arc<ProjectedRows>,
    /// For each tuple, the index of its row.
    pub(super) row_by_tuple: Vec<u32>,
}

impl Projection {
    /// Restricts all tuples to some columns. Tuples with equal values in these columns become one row.
    pub(super) fn of(profile: &Profile, columns: &[usize]) -> Self {
        let Groups { of_row, first_rows } = group_tuples(profile, columns);
        Self {
            rows: Arc::new(ProjectedRows::new(profile, columns, first_rows.into_iter().map(TupleId))),
            row_by_tuple: of_row,
        }
    }
}

impl ProjectedRows {
    /// Makes one row per tuple; equal rows are not merged. `columns` must be in increasing order.
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

    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.codes.len() / self.columns.len().max(1)
    }

    pub(super) fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// Position of a column; `None` if the rows do not contain the column.
    pub(super) fn position_of(&self, column: usize) -> Option<usize> {
        self.columns.binary_search(&column).ok()
    }

    /// Codes of a row, by position.
    pub(super) fn codes(&self, row: u32) -> &[u32] {
        let width = self.columns.len();
        &self.codes[row as usize * width..(row as usize + 1) * width]
    }

    /// Rows whose code in the candidate's column is one of the candidate's codes; empty if the rows do not contain the
    /// column.
    pub(super) fn rows_of(&self, candidate: &Candidate) -> &[u32] {
        let rows_with = |position| self.rows_with(position, candidate.first, candidate.last);
        self.position_of(candidate.column).map_or(&[], rows_with)
    }

    /// Rows whose code at a position is in `first..=last`.
    pub(super) fn rows_with(&self, position: usize, first: u32, last: u32) -> &[u32] {
        self.by_code[position].rows(first, last)
    }
}
