//! What a model can still learn from a release.
//!
//! For whoever has to say what a release is worth: a [`c45`] tree is trained on the table four times, each time with
//! other features, and judged on records that took no part in the search. The class column is what it predicts.
//!
//! | error | features |
//! | --- | --- |
//! | [`raw`](Errors::raw), B | quasi-identifiers and sensitive columns as they were |
//! | [`released`](Errors::released), E | quasi-identifiers as released, sensitive columns as they were |
//! | [`root`](Errors::root), W | sensitive columns alone, as if every quasi-identifier were `*` |
//! | [`removed`](Errors::removed), RE | quasi-identifiers as they were, no sensitive columns |
//!
//! The recoding is found on the training table and the records to test go through it as they are: a value leaves as the
//! cell of the cut that covers it, a tuple as the box of least loss that covers it, and as `*` everywhere where there
//! is none. Nothing of them is suppressed for privacy, because they do not leave the house. Released cells are values of
//! their own for the tree, intervals included; they count as nodes and intervals even where the policy prints
//! sets or means, which would be other ones in another table.
//!
//! The flow: a table in two, by [`holdout`] or because there are two files; then [`Tested::run`] searches on one part,
//! takes the other through the recoding it found ([`Saved::profile`]) and asks [`errors`]. [`Spread`] sums up several.
//!
//! [`queries`] need no class and no other records: they ask a release how many and how much, and compare.

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
    run::{Trial, TrialError},
    saved::Saved,
    search::{Observer, Stop},
};
use serde::{Deserialize, Serialize};

use self::{c45::Tree, features::Pair, holdout::Split};

/// Shares of the test records that are given a wrong class.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Errors {
    /// Trained on the data as it was.
    #[serde(rename = "B")]
    pub raw: f64,
    /// Trained on the release.
    #[serde(rename = "E")]
    pub released: f64,
    /// Trained without the quasi-identifiers: on the majority class alone where no column is sensitive.
    #[serde(rename = "W")]
    pub root: f64,
    /// Trained without the sensitive columns; none where there are none.
    #[serde(rename = "RE")]
    pub removed: Option<f64>,
}

/// An error's entry in the registry.
#[derive(Debug, Clone, Copy)]
pub struct ErrorEntry {
    /// What the papers call it.
    pub name: &'static str,
    /// One line on what it says.
    pub summary: &'static str,
    /// Its value.
    pub value: fn(&Errors) -> Option<f64>,
}

/// All errors, in the order they are told.
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
    /// Nothing to predict.
    #[error("no column has the role `class`: give it to the column that a classifier should predict")]
    NoClass,
    /// A table without records.
    #[error("the {table} table has no records")]
    Empty {
        /// Which.
        table: &'static str,
    },
}

/// A policy tried on one part of a table and tested with the other.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tested {
    /// The errors on the test records.
    pub errors: Errors,
    /// How many records took part.
    pub records: TestedRecords,
    /// Why the search ended.
    pub stop: Stop,
    /// What the training records lost.
    pub measures: Measures,
}

/// How many records took part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct TestedRecords {
    /// Learned from.
    pub train: u64,
    /// Tested with.
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
    /// The training records are not what the policy declares.
    #[error(transparent)]
    Train(DomainError),
    /// The test records are not what the policy declares.
    #[error(transparent)]
    Test(DomainError),
    /// Nothing was found for the training records.
    #[error(transparent)]
    Trial(#[from] TrialError),
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
        let trial = Trial::run(policy, &train, seed, observer)?;
        let (errors, records) = tested(policy, hierarchies, (&train, trial.verified.recoding()), test)?;
        Ok(Self { errors, records, stop: trial.stop, measures: trial.measures() })
    }
}

/// The errors under a recoding that a search has found on the training records.
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
    /// Their mean.
    pub mean: Errors,
    /// Their standard deviation; none for one split.
    pub deviation: Option<Errors>,
}

impl Spread {
    /// Of at least one.
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

/// The mean of at least one.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The standard deviation of at least two, as an estimate for all there could be.
pub fn deviation(values: &[f64]) -> Option<f64> {
    let mean = mean(values).filter(|_| values.len() > 1)?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}

/// The errors of models of the class, trained on `train` and its release under `recoding`, on the records of `test`.
/// `saved` is that recoding as it is applied to other tables.
pub fn errors(train: &Profile, recoding: &Recoding, saved: &Saved, test: &Profile) -> Result<Errors, EvaluateError> {
    let pair = Pair::new(train, test, &saved.policy)?;
    Ok(errors_of(&pair, pair.released(recoding, saved)))
}

/// The same where the recoding was found on another table, such as both of these together: both leave by its cells.
pub fn errors_applied(train: &Profile, saved: &Saved, test: &Profile) -> Result<Errors, EvaluateError> {
    let pair = Pair::new(train, test, &saved.policy)?;
    Ok(errors_of(&pair, pair.applied(saved)))
}

fn errors_of(pair: &Pair<'_>, released: (c45::Table, c45::Table)) -> Errors {
    let error = |(train, test): (c45::Table, c45::Table)| Tree::fit(&train).error(&test);
    Errors {
        raw: error(pair.raw(true, true)),
        released: error(released),
        root: error(pair.raw(false, true)),
        removed: pair.has_sensitive().then(|| error(pair.raw(true, false))),
    }
}

/// How many records of `test` no cell of the recoding covers, so that they count as `*` everywhere: new values, numbers
/// between two intervals, combinations outside all boxes.
pub fn uncovered(saved: &Saved, test: &Profile) -> u64 {
    let tuples = (0u32..).map(TupleId).zip(saved.labels(test));
    tuples.filter(|(_, labels)| labels.is_none()).map(|(tuple, _)| test.tuple_records(tuple)).sum()
}
