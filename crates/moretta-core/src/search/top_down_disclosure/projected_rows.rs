//! The rows of a few columns: what an attacker who knows these columns could tell apart in the raw table.

use std::sync::Arc;

use super::candidates::Candidate;
use crate::{
    ids::TupleId,
    profile::Profile,
    search::grouping::{Buckets, Groups, group_tuples},
};

/// Distinct combinations of values of some columns, found by value.
#[derive(Debug, Clone, Default)]
pub(super) struct ProjectedRows {
    /// The columns, in order.
    columns: Vec<usize>,
    /// Row-major.
    codes: Vec<u32>,
    /// By place, all rows in order of their codes.
    by_code: Vec<Buckets>,
}

/// The rows of some columns, and which of them each tuple is.
pub(super) struct Projection {
    pub(super) rows: Arc<ProjectedRows>,
    pub(super) row_of: Vec<u32>,
}

impl Projection {
    /// Tuples that are alike in these columns are one row.
    pub(super) fn of(profile: &Profile, columns: &[usize]) -> Self {
        let Groups { of_row, first_rows } = group_tuples(profile, columns);
        Self {
            rows: Arc::new(ProjectedRows::new(profile, columns, first_rows.into_iter().map(TupleId))),
            row_of: of_row,
        }
    }
}

impl ProjectedRows {
    /// Of these columns, a row for each of some tuples.
    pub(super) fn new(profile: &Profile, columns: &[usize], tuples: impl Iterator<Item = TupleId>) -> Self {
        let codes = tuples.flat_map(|tuple| columns.iter().map(move |&column| profile.codes(tuple)[column]));
        let codes: Vec<u32> = codes.collect();
        let by_code = |(position, &column): (usize, &usize)| {
            let own = codes.iter().skip(position).step_by(columns.len()).copied();
            Buckets::new(profile.columns()[column].domain.len(), own)
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

    /// Where a column is among these.
    pub(super) fn position_of(&self, column: usize) -> Option<usize> {
        self.columns.binary_search(&column).ok()
    }

    /// The codes of a row, one for each of these columns.
    pub(super) fn codes(&self, row: u32) -> &[u32] {
        let width = self.columns.len();
        &self.codes[row as usize * width..(row as usize + 1) * width]
    }

    /// The rows that a candidate occurs in; none where its column is not among these.
    pub(super) fn rows_of(&self, candidate: &Candidate) -> &[u32] {
        let with = |position| self.rows_with(position, candidate.first, candidate.last);
        self.position_of(candidate.column).map_or(&[], with)
    }

    /// The rows with a value from `first` to `last`.
    pub(super) fn rows_with(&self, position: usize, first: u32, last: u32) -> &[u32] {
        self.by_code[position].rows(first, last)
    }
}
