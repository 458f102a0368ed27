//! COUNT and SUM queries: compares the answers of a release with the true ones.
//!
//! A [`Query`] selects records by ranges of some quasi-identifiers and asks for their number, or for the sum of a
//! numeric column over them. [`Original`] computes the true answer. [`ReleaseEstimator`] computes what a recipient
//! would estimate from the release: each group contributes its size times, for each condition, the share of its box
//! inside the range, as if values were uniformly distributed over the box; for a SUM, also times the mean of the values
//! inside.
//!
//! ```text
//! query: COUNT where age in [22, 24]         group: 6 records with age [20, 29]
//! 3 of the 10 whole numbers are inside       estimate: 6 * 3 / 10 = 1.8
//! ```
//!
//! | column | box | share inside |
//! | --- | --- | --- |
//! | categories | the leaves of a node, or of a printed set | leaves inside / leaves |
//! | whole numbers, dates without a time of day | from the minimum to the maximum that occurs in it | (steps inside + 1) / (steps + 1): both ends are values |
//! | other numbers and dates | the same | length inside / length; 0 or 1 for a single value |
//!
//! `*` is the whole column. In a numeric column a missing value has no extent: released as missing, it lies in no range
//! and adds nothing to a sum. A mean, median or midpoint is a box of that number alone.
//!
//! The error of an answer is relative: |answer - truth| / |truth|. Random queries ([`draw()`]) always have a true
//! answer other than 0. [`compare`] draws queries and answers them.
//!
//! Cost: the true answer scans the tuples inside the narrowest range; the estimate is O(groups × conditions). Queries
//! are answered in parallel and independently, so the result does not depend on the number of threads.

mod answers;

mod draw;
mod errors;
mod estimator;
mod file;
mod original;
#[cfg(test)]
mod tests;

use moretta_core::{ids::ColumnId, policy::ReleaseOptions, profile::Profile, released::Released, schema::Kind};
use rayon::prelude::*;

pub use self::{
    answers::{Answers, Conditions, Queries, QueryKind, conditions_text},
    draw::{Draw, Drawn, draw},
    errors::{Answered, CLASSES, Class, Errors, errors, errors_by_class},
    estimator::{ReleaseEstimator, UnreadableLabel},
    file::{Own, QueryFileError, QueryFileProblem, column_to_sum, parse},
    original::{Original, Truth},
};

/// A COUNT or SUM query.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// The requested aggregate.
    pub aggregate: Aggregate,
    /// A record is selected if all conditions hold; at most one per column.
    pub conditions: Vec<(ColumnId, Condition)>,
}

/// The aggregate of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aggregate {
    /// Number of selected records.
    Count,
    /// Sum of a numeric column over the selected records.
    Sum(ColumnId),
}

/// A range of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Condition {
    /// Numbers, or seconds of dates, from the first to the second, both included.
    Between(f64, f64),
    /// Codes of categories from the first to the last, both included.
    Codes(u32, u32),
}

/// The first numeric quasi-identifier: the default column of SUM queries.
pub fn summed(profile: &Profile) -> Option<ColumnId> {
    let numbers = profile.columns().iter().position(|column| column.domain.kind() == Kind::Number);
    numbers.map(ColumnId::from_index)
}

/// Answers queries from the original table and from the release.
pub fn ask(original: &Original<'_>, estimator: &ReleaseEstimator, queries: &[Query]) -> Vec<Answered> {
    let answered = |query: &Query| Answered::new(original.answer(query), estimator.answer(query));
    queries.par_iter().map(answered).collect()
}

/// Answered random queries with one aggregate.
#[derive(Debug, Clone)]
pub struct Workload {
    /// The aggregate of all queries.
    pub aggregate: Aggregate,
    /// Number of queries drawn, including those that were rejected because their true answer is 0.
    pub drawn: u64,
    /// Answers to the kept queries; fewer than requested if too few have a true answer other than 0.
    pub answered: Vec<Answered>,
}

/// Answers to random COUNT and SUM queries.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// COUNT queries.
    pub count: Workload,
    /// SUM queries; `None` if there is no numeric column.
    pub sum: Option<Workload>,
}

/// Draws `plan.count` COUNT queries and as many SUM queries, and answers them from a table and its release.
pub fn compare(
    profile: &Profile,
    released: &Released,
    options: &ReleaseOptions,
    sum: Option<ColumnId>,
    plan: &Draw,
) -> Result<Comparison, UnreadableLabel> {
    let (original, estimator) = (Original::new(profile), ReleaseEstimator::new(profile, released, options)?);
    let workload = |aggregate: Aggregate| {
        let Drawn { queries, drawn } = draw(&original, aggregate, plan);
        let answered =
            queries.par_iter().map(|(query, truth)| Answered::new(*truth, estimator.answer(query))).collect();
        Workload { aggregate, drawn, answered }
    };
    let sum = sum.or_else(|| summed(profile)).map(|column| workload(Aggregate::Sum(column)));
    Ok(Comparison { count: workload(Aggregate::Count), sum })
}
