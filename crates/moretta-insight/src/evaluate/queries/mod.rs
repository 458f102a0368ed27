//! How well a release answers the questions that a table is there for: how many, and how much in all.
//!
//! A [`Query`] has a range of values in some quasi-identifiers and asks for the number of records inside, or for the sum
//! of a column of numbers over them. [`Original`] knows the true answer, [`ReleaseEstimator`] what a recipient makes of a release:
//! each group gives its size times, in each column asked about, the share of its box that lies inside the query, as if
//! values were spread evenly over the box; for a sum, also times the mean of what lies inside. What a box is:
//!
//! | column | box | share inside |
//! | --- | --- | --- |
//! | categories | the leaves of a node, or of a printed set | leaves inside / leaves |
//! | whole numbers, dates without a time of day | from the least to the greatest value that occurs in it | (steps inside + 1) / (steps + 1): both ends are values |
//! | other numbers and dates | the same | length inside / length; a single value is inside or not |
//!
//! `*` is the whole column. Among numbers a missing value takes no room, and where it is released as it is, it lies in no
//! range and adds nothing to a sum. One number for many (a mean, a median, a midpoint) is a box of that number alone.
//!
//! The error of an answer is relative: |answer - truth| / |truth|. Random queries ([`draw()`]) all have a true answer other
//! than 0. [`compare`] does everything in one go.
//!
//! Cost of an answer: the tuples inside the narrowest range for the truth; for a release the groups times the columns
//! asked about, until one has no share. Queries are answered in parallel, each by itself: on any number of threads the
//! same.

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
    answers::{Answers, Conditions, Queries, QueryKind, written},
    draw::{Draw, Drawn, draw},
    errors::{Answered, CLASSES, Class, Errors, errors, errors_by_class},
    estimator::{ReleaseEstimator, UnreadLabel},
    file::{Own, QueryFileError, QueryFileProblem, column_to_sum, parse},
    original::{Original, Truth},
};

/// A question about some of the records.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// What is asked of them.
    pub aggregate: Aggregate,
    /// Which they are: all conditions hold, no column has two.
    pub conditions: Vec<(ColumnId, Condition)>,
}

/// What is asked of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aggregate {
    /// How many there are.
    Count,
    /// The sum of a column of numbers.
    Sum(ColumnId),
}

/// What must hold of a column's value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Condition {
    /// In a column of numbers or dates: from the first to the second, as numbers or seconds, both ends inside.
    Between(f64, f64),
    /// In a column of categories: from the first code to the last, both inside.
    Codes(u32, u32),
}

/// The first quasi-identifier of numbers: what is summed where nobody says.
pub fn summed(profile: &Profile) -> Option<ColumnId> {
    let numbers = profile.columns().iter().position(|column| column.domain.kind() == Kind::Number);
    numbers.map(ColumnId::from_index)
}

/// The answers of a release to queries that somebody asks.
pub fn ask(original: &Original<'_>, estimator: &ReleaseEstimator, queries: &[Query]) -> Vec<Answered> {
    let answered = |query: &Query| Answered::new(original.answer(query), estimator.answer(query));
    queries.par_iter().map(answered).collect()
}

/// Random queries and the answers of a release to them.
#[derive(Debug, Clone)]
pub struct Workload {
    /// What was asked.
    pub aggregate: Aggregate,
    /// How many queries were drawn; those with the true answer 0 were put back.
    pub drawn: u64,
    /// One for each that was kept: fewer than asked for where too few have an answer.
    pub answered: Vec<Answered>,
}

/// Answers to random queries of both kinds.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// How many.
    pub count: Workload,
    /// How much in all; none where there is no column to sum.
    pub sum: Option<Workload>,
}

/// Random queries against a table and its release: `draw.count` that count, and as many that sum.
pub fn compare(
    profile: &Profile,
    released: &Released,
    options: &ReleaseOptions,
    sum: Option<ColumnId>,
    plan: &Draw,
) -> Result<Comparison, UnreadLabel> {
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
