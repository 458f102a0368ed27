//! True answers of queries.

use std::ops::Range;

use moretta_core::{
    ids::{ColumnId, TupleId},
    profile::Profile,
};

use super::{Aggregate, Condition, Query};

/// The original table, with an index from values to tuples.
#[derive(Debug)]
pub struct Original<'a> {
    profile: &'a Profile,
    columns: Vec<ByCode>,
}

/// Index of one column: tuples sorted by code. The tuples of a code are `offsets[code]..offsets[code + 1]`.
#[derive(Debug)]
struct ByCode {
    offsets: Vec<usize>,
    tuples: Vec<TupleId>,
}

/// A true answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Truth {
    /// Number of selected records.
    pub records: u64,
    /// The aggregate: equal to `records` for COUNT.
    pub answer: f64,
}

impl<'a> Original<'a> {
    /// Indexes a profile. Cost: O(columns × tuples × log tuples).
    pub fn new(profile: &'a Profile) -> Self {
        let columns = (0..profile.columns().len()).map(|column| ByCode::new(profile, column)).collect();
        Self { profile, columns }
    }

    /// The indexed profile.
    pub fn profile(&self) -> &'a Profile {
        self.profile
    }

    /// Answers a query exactly.
    pub fn answer(&self, query: &Query) -> Truth {
        let ranges: Vec<(usize, Range<u32>)> = query
            .conditions
            .iter()
            .map(|&(column, condition)| (column.index(), self.codes(column, condition)))
            .collect();
        let inside = |(column, codes): &(usize, Range<u32>)| self.columns[*column].within(codes);
        match ranges.iter().map(inside).min_by_key(|tuples| tuples.len()) {
            Some(tuples) => self.total(query.aggregate, tuples.iter().copied(), &ranges),
            None => self.total(query.aggregate, (0..self.profile.tuples() as u32).map(TupleId), &ranges),
        }
    }

    fn codes(&self, column: ColumnId, condition: Condition) -> Range<u32> {
        match condition {
            Condition::Between(low, high) => self.profile.domain(column).codes_between(low, high),
            Condition::Codes(first, last) => first..last + 1,
        }
    }

    fn total(&self, of: Aggregate, tuples: impl Iterator<Item = TupleId>, ranges: &[(usize, Range<u32>)]) -> Truth {
        let (mut records, mut sum) = (0, 0.0);
        for tuple in tuples {
            let codes = self.profile.codes(tuple);
            if ranges.iter().all(|(column, range)| range.contains(&codes[*column])) {
                let here = self.profile.tuple_records(tuple);
                records += here;
                if let Aggregate::Sum(column) = of {
                    let value = self.profile.domain(column).number(codes[column.index()]);
                    sum += here as f64 * value.unwrap_or(0.0);
                }
            }
        }
        Truth { records, answer: if of == Aggregate::Count { records as f64 } else { sum } }
    }
}

impl ByCode {
    fn new(profile: &Profile, column: usize) -> Self {
        let code = |tuple: TupleId| profile.codes(tuple)[column];
        let mut tuples: Vec<TupleId> = (0..profile.tuples() as u32).map(TupleId).collect();
        tuples.sort_by_key(|&tuple| code(tuple));
        let codes = 0..=profile.columns()[column].domain.len() as u32;
        let offsets = codes.map(|next| tuples.partition_point(|&tuple| code(tuple) < next)).collect();
        Self { offsets, tuples }
    }

    fn within(&self, codes: &Range<u32>) -> &[TupleId] {
        let at = |code: u32| self.offsets[code as usize];
        if codes.is_empty() { &[] } else { &self.tuples[at(codes.start)..at(codes.end)] }
    }
}
