//! The rows of a few columns: what an attacker who knows these columns could tell apart in the raw table.

use std::sync::Arc;

use hashbrown::HashMap;

use super::candidates::Candidate;
use crate::{ids::TupleId, profile::Profile};

/// Distinct combinations of values of some columns, found by value.
#[derive(Debug, Clone)]
pub(super) struct Rows {
    /// The columns, in order.
    columns: Vec<usize>,
    /// Row-major.
    codes: Vec<u32>,
    /// By place and code, where its rows begin in `found`.
    starts: Vec<Vec<u32>>,
    /// By place, all rows in order of their codes: those of a range of codes are neighbours.
    found: Vec<Vec<u32>>,
}

/// The rows of some columns, and which of them each tuple is.
pub(super) struct Collapsed {
    pub(super) rows: Arc<Rows>,
    pub(super) row_of: Vec<u32>,
}

impl Collapsed {
    /// Tuples that are alike in these columns are one row.
    pub(super) fn of(profile: &Profile, columns: &[usize]) -> Self {
        let tuples = (0..profile.tuples() as u32).map(TupleId);
        let sizes = columns.iter().map(|&column| profile.columns()[column].domain.len() as u64);
        // A number for every combination, where 64 bits have room for it; otherwise nothing is collapsed, which is
        // only slower.
        let strides: Option<Vec<u64>> = sizes
            .scan(Some(1u64), |next, size| {
                let stride = *next;
                *next = stride.and_then(|stride| stride.checked_mul(size.max(1)));
                Some(stride.filter(|_| next.is_some()))
            })
            .collect();
        let whole = columns.len() == profile.columns().len();
        let Some(strides) = strides.filter(|_| !whole) else {
            let rows = Arc::new(Rows::of_tuples(profile, columns));
            return Self { rows, row_of: (0..profile.tuples() as u32).collect() };
        };
        let mut known: HashMap<u64, u32> = HashMap::new();
        let mut codes = Vec::new();
        let row = |tuple: TupleId| {
            let all = profile.codes(tuple);
            let key = columns.iter().zip(&strides).map(|(&column, stride)| u64::from(all[column]) * stride).sum();
            let next = known.len() as u32;
            *known.entry(key).or_insert_with(|| {
                codes.extend(columns.iter().map(|&column| all[column]));
                next
            })
        };
        let row_of = tuples.map(row).collect();
        Self { rows: Arc::new(Rows::new(profile, columns, codes)), row_of }
    }
}

impl Rows {
    /// Of these columns, a row for each tuple.
    pub(super) fn of_tuples(profile: &Profile, columns: &[usize]) -> Self {
        let tuples = (0..profile.tuples() as u32).map(TupleId);
        let codes = tuples.flat_map(|tuple| columns.iter().map(move |&column| profile.codes(tuple)[column])).collect();
        Self::new(profile, columns, codes)
    }

    fn new(profile: &Profile, columns: &[usize], codes: Vec<u32>) -> Self {
        let width = columns.len().max(1);
        let mut rows = Self { columns: columns.to_vec(), codes, starts: Vec::new(), found: Vec::new() };
        for (place, &column) in columns.iter().enumerate() {
            let own = || rows.codes.iter().skip(place).step_by(width).map(|&code| code as usize);
            let mut starts = vec![0u32; profile.columns()[column].domain.len() + 1];
            own().for_each(|code| starts[code + 1] += 1);
            for code in 1..starts.len() {
                starts[code] += starts[code - 1];
            }
            let mut next = starts.clone();
            let mut found = vec![0u32; rows.len()];
            for (row, code) in (0u32..).zip(own()) {
                found[next[code] as usize] = row;
                next[code] += 1;
            }
            rows.starts.push(starts);
            rows.found.push(found);
        }
        rows
    }

    pub(super) fn len(&self) -> usize {
        self.codes.len() / self.columns.len().max(1)
    }

    pub(super) fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// Where a column is among these.
    pub(super) fn place(&self, column: usize) -> Option<usize> {
        self.columns.binary_search(&column).ok()
    }

    /// The codes of a row, one for each of these columns.
    pub(super) fn codes(&self, row: u32) -> &[u32] {
        let width = self.columns.len();
        &self.codes[row as usize * width..(row as usize + 1) * width]
    }

    /// The rows that a candidate occurs in; none where its column is not among these.
    pub(super) fn of(&self, candidate: &Candidate) -> &[u32] {
        let with = |place| self.with(place, candidate.first, candidate.last);
        self.place(candidate.column).map_or(&[], with)
    }

    /// The rows with a value from `first` to `last`.
    pub(super) fn with(&self, place: usize, first: u32, last: u32) -> &[u32] {
        let starts = &self.starts[place];
        &self.found[place][starts[first as usize] as usize..starts[last as usize + 1] as usize]
    }
}
