//! Usefulness of a release: the error of a classifier trained on it, and the errors of query answers.
//!
//! A [`c45`] tree that predicts the class column is trained on the training table with four sets of features, and
//! tested on records that the search has not seen:
//!
//! | error | features |
//! | --- | --- |
//! | [`raw`](Errors::raw), B | original quasi-identifiers and sensitive columns |
//! | [`released`](Errors::released), E | released quasi-identifiers, original sensitive columns |
//! | [`root`](Errors::root), W | sensitive columns only, as if every quasi-identifier were `*` |
//! | [`removed`](Errors::removed), RE | original quasi-identifiers, no sensitive columns |
//!
//! The recoding is found on the training table and then applied to the test records: a value becomes the cell of the
//! cut that covers it, a tuple the box with the smallest loss that covers it, or `*` in every column if there is none.
//! Test records are not suppressed for privacy, because they are not released. Each released cell, also an interval, is
//! one category for the tree. Cells count as nodes and intervals even if the policy prints sets or means, which would
//! differ between the two tables.
//!
//! Flow: [`holdout`] splits a table in two (or there are two files); [`Tested::run`] searches on the training part,
//! applies the recoding to the test part ([`Saved::profile`]) and computes [`errors`]; [`Spread`] is the mean and
//! deviation over several splits.
//!
//! [`queries`] need neither a class nor test records: they compare COUNT and SUM answers of a release with the true
//! ones.

pub mod c45;
mod features;
pub mod holdout;
pub mod queries;
#[cfg(test)]
mod tests;

use moretta_core::{
    counts::Counts,
    hierarchy::{DomainError, Hierarchies},
    ids::TupleId,
    measure::Measures,
    policy::Policy,
    profile::Profile,
    recoding::Recoding,
    run::{RunError, VerifiedRun},
    saved::Saved,
    search::{Observer, Stop},
};
use serde::{Deserialize, Serialize};

use self::{c45::Tree, features::TrainAndTest, holdout::Split};

/// Shares of the test records with a wrong predicted class.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Errors {
    /// Trained on the original table.
    #[serde(rename = "B")]
    pub raw: f64,
    /// Trained on the release.
    #[serde(rename = "E")]
    pub released: f64,
    /// Trained without the quasi-identifiers; if no column is sensitive, this is the error of the majority class.
    #[serde(rename = "W")]
    pub root: f64,
    /// Trained without the sensitive columns; `None` if there are none.
    #[serde(rename = "RE")]
    pub removed: Option<f64>,
}

/// An error's entry in the registry.
#[derive(Debug, Clone, Copy)]
pub struct ErrorEntry {
    /// Name in the papers.
    pub name: &'static str,
    /// Description in one line.
    pub summary: &'static str,
    /// Returns the error; `None` if it is not defined.
    pub value: fn(&Errors) -> Option<f64>,
}

/// All errors, in the order of reports.
pub const ERRORS: &[ErrorEntry] = &[
    ErrorEntry { name: "B", summary: "trained on the original data", value: |e| Some(e.raw) },
    ErrorEntry { name: "E", summary: "trained on the release", value: |e| Some(e.released) },
    ErrorEntry { name: "W", summary: "trained without the quasi-identifiers", value: |e| Some(e.root) },
    ErrorEntry { name: "RE", summary: "trained without the sensitive columns", value: |e| e.removed },
];

/// Why there is nothing to evaluate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EvaluateError {
    /// There is no class column to predict.
    #[error("no column has the role `class`: give it to the column that a classifier should predict")]
    NoClass,
    /// A table has no records.
    #[error("the {table} table has no records")]
    Empty {
        /// `training` or `test`.
        table: &'static str,
    },
}

/// Result of a search on the training part of a table and a test with the other part.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tested {
    /// The errors on the test records.
    pub errors: Errors,
    /// Numbers of records.
    pub records: TestedRecords,
    /// Why the search ended.
    pub stop: Stop,
    /// Measures of the release of the training records.
    pub measures: Measures,
}

/// Numbers of records of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct TestedRecords {
    /// Training records.
    pub train: u64,
    /// Test records.
    pub test: u64,
    /// Test records that no released cell covers.
    pub uncovered: u64,
}

/// Why a split could not be tested.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TestError {
    /// There is nothing to evaluate.
    #[error(transparent)]
    Evaluate(#[from] EvaluateError),
    /// The training records do not fit the policy.
    #[error(transparent)]
    Train(DomainError),
    /// The test records do not fit the policy.
    #[error(transparent)]
    Test(DomainError),
    /// The search on the training records failed.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl Tested {
    /// Searches on the training records alone, then counts errors on the test records.
    pub fn run(
        policy: &Policy,
        hierarchies: &Hierarchies,
        Split { train, test }: Split,
        seed: u64,
        observer: &dyn Observer,
    ) -> Result<Self, TestError> {
        let train = Profile::build(policy, hierarchies, &train).map_err(TestError::Train)?;
        let run = VerifiedRun::run(policy, &train, seed, observer)?;
        let (errors, records) = tested(policy, hierarchies, (&train, run.verified.recoding()), test)?;
        Ok(Self { errors, records, stop: run.stop, measures: run.measures() })
    }
}

/// Tests a recoding that was found on the training records.
pub fn tested(
    policy: &Policy,
    hierarchies: &Hierarchies,
    (train, recoding): (&Profile, &Recoding),
    mut test: Counts,
) -> Result<(Errors, TestedRecords), TestError> {
    let saved = Saved::of(policy, hierarchies, train, recoding);
    let test = saved.profile(&mut test).map_err(TestError::Test)?;
    let errors = errors(train, recoding, &saved, &test)?;
    let uncovered = uncovered(&saved, &test);
    Ok((errors, TestedRecords { train: train.records(), test: test.records(), uncovered }))
}

/// Errors of several splits of one table.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// Mean of each error.
    pub mean: Errors,
    /// Standard deviation of each error; `None` for one split.
    pub deviation: Option<Errors>,
}

impl Spread {
    /// `None` without splits.
    pub fn of(found: &[Errors]) -> Option<Self> {
        let all = |value: fn(&Errors) -> f64| found.iter().map(value).collect::<Vec<_>>();
        let removed: Option<Vec<f64>> = found.iter().map(|errors| errors.removed).collect();
        let values = [all(|e| e.raw), all(|e| e.released), all(|e| e.root)];
        let summed = |sum: fn(&[f64]) -> Option<f64>| {
            let [raw, released, root] = values.each_ref().map(|values| sum(values));
            let removed = removed.as_deref().and_then(sum);
            Some(Errors { raw: raw?, released: released?, root: root?, removed })
        };
        Some(Self { mean: summed(mean)?, deviation: summed(deviation) })
    }
}

/// Mean; `None` without values.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Sample standard deviation (divisor n - 1); `None` for fewer than two values.
pub fn deviation(values: &[f64]) -> Option<f64> {
    let mean = mean(values).filter(|_| values.len() > 1)?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}

/// Errors on `test` of classifiers trained on `train` and on its release under `recoding`. `saved` is the same recoding
/// in the form that can be applied to other tables.
pub fn errors(train: &Profile, recoding: &Recoding, saved: &Saved, test: &Profile) -> Result<Errors, EvaluateError> {
    let tables = TrainAndTest::new(train, test, &saved.policy)?;
    Ok(errors_of(&tables, tables.released(recoding, saved)))
}

/// Like [`errors`], for a recoding that was found on another table, such as both of these together: it is applied to
/// both.
pub fn errors_applied(train: &Profile, saved: &Saved, test: &Profile) -> Result<Errors, EvaluateError> {
    let tables = TrainAndTest::new(train, test, &saved.policy)?;
    Ok(errors_of(&tables, tables.applied(saved)))
}

fn errors_of(tables: &TrainAndTest<'_>, released: (c45::TrainingSet, c45::TrainingSet)) -> Errors {
    let error = |(train, test): (c45::TrainingSet, c45::TrainingSet)| Tree::fit(&train).error(&test);
    Errors {
        raw: error(tables.raw(true, true)),
        released: error(released),
        root: error(tables.raw(false, true)),
        removed: tables.has_sensitive().then(|| error(tables.raw(true, false))),
    }
}

/// Records of `test` that no cell of the recoding covers and that count as `*` in every column: new values, numbers
/// between two intervals, tuples outside all boxes.
pub fn uncovered(saved: &Saved, test: &Profile) -> u64 {
    let tuples = (0u32..).map(TupleId).zip(saved.labels(test));
    tuples.filter(|(_, labels)| labels.is_none()).map(|(tuple, _)| test.tuple_records(tuple)).sum()
}
