//! True answers.

use std::ops::Range;

use moretta_core::{
    ids::{ColumnId, TupleId},
    profile::Profile,
};

use super::{Aggregate, Condition, Query};

/// A table that knows which tuples have a value.
#[derive(Debug)]
pub struct Original<'a> {
    profile: &'a Profile,
    columns: Vec<ByCode>,
}

/// The tuples in order of their codes in one column; those of a code end where the next one's begin.
#[derive(Debug)]
struct ByCode {
    offsets: Vec<usize>,
    tuples: Vec<TupleId>,
}

/// What the table says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Truth {
    /// How many records the conditions hold for.
    pub records: u64,
    /// The answer.
    pub answer: f64,
}

impl<'a> Original<'a> {
    /// Of a profile.
    pub fn new(profile: &'a Profile) -> Self {
        let columns = (0..profile.columns().len()).map(|column| ByCode::new(profile, column)).collect();
        Self { profile, columns }
    }

    /// The profile.
    pub fn profile(&self) -> &'a Profile {
        self.profile
    }

    /// The true answer.
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
