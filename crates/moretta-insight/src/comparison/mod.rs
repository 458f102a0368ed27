//! Methods side by side (`moretta compare`): loss, error, time and memory of each for several k.
//!
//! Each [`Job`], a method and a k, becomes a [`Row`] of a [`Comparison`]. [`FIGURES`] lists what is shown of a row:
//! table, page and curves follow from it. Nothing in it is about a person: counts, shares, times, and names from the
//! policy. The one exception is [`Row::detail`], which only the data holder may read.

mod describe;
mod figures;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(test)]
mod tests;

use moretta_core::{
    measure::{MEASURES, Measures},
    observer::Stop,
    policy::{MethodChoice, Policy},
    run::RunError,
    search::SearchError,
};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::HashMap;

use crate::evaluate::{Errors, Spread, queries};

pub use self::{
    describe::{Verdict, caveats, size, verdicts},
    figures::{FIGURES, Figure, Unit},
};

/// A method and a k to run it with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// The method's name in the registry.
    pub method: &'static str,
    /// `None` if the policy has no k.
    pub k: Option<u64>,
}

impl Job {
    /// The policy with the job's method and k. The policy's own method keeps its parameters.
    pub fn policy(&self, policy: &Policy) -> Policy {
        let mut policy = policy.clone();
        if policy.method.name != self.method {
            policy.method = MethodChoice::new(self.method, Default::default());
        }
        policy.privacy.set_k(self.k);
        policy
    }

    /// `sweep, k = 5`
    pub fn name(&self) -> String {
        name(self.method, self.k)
    }

    /// `sweep at k = 5`
    pub fn tried(&self) -> String {
        self.k.map_or(self.method.to_owned(), |k| format!("{} at k = {k}", self.method))
    }
}

/// `sweep, k = 5`
pub fn name(method: &str, k: Option<u64>) -> String {
    k.map_or(method.to_owned(), |k| format!("{method}, k = {k}"))
}

/// Results of all jobs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Comparison {
    /// Records of the table.
    pub records: u64,
    /// Persons of the table, if k and the models count persons.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persons: Option<u64>,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Requested number of queries of each kind.
    pub queries: u32,
    /// The column of the SUM queries.
    pub summed: Option<String>,
    /// Names of the objectives in the policy's `[measure]`.
    pub measure: Option<String>,
    /// The records on which errors were counted; `None` if there is no class.
    pub tested: Option<Splits>,
    /// Errors that do not depend on the method or k.
    pub errors: Option<Baseline>,
    /// Standard deviation of `errors` over several splits.
    pub spread: Option<Baseline>,
    /// One row per job.
    pub rows: Vec<Row>,
}

/// Held-out records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Splits {
    /// Number of splits.
    pub splits: usize,
    /// Test records of all splits together.
    pub records: u64,
}

/// Errors of models that see no release.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// Trained on the original table.
    #[serde(rename = "B")]
    pub raw: f64,
    /// Trained without the quasi-identifiers.
    #[serde(rename = "W")]
    pub root: f64,
    /// Trained without the sensitive columns.
    #[serde(rename = "RE")]
    pub removed: Option<f64>,
}

impl From<Errors> for Baseline {
    fn from(Errors { raw, root, removed, .. }: Errors) -> Self {
        Self { raw, root, removed }
    }
}

/// Result of one job.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Row {
    /// Name of the method.
    pub method: String,
    /// `None` if the policy has no k.
    pub k: Option<u64>,
    /// Why there is no result, for all readers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsupported: Option<String>,
    /// The reason in full, only for the terminal and JSON: it may name values that a template took from the data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The result. A file with an unreadable figure also gives `None`, so callers must handle rows with neither a
    /// result nor a reason.
    #[serde(flatten)]
    pub found: Option<RunResult>,
}

impl Row {
    /// `sweep, k = 5`
    pub fn name(&self) -> String {
        name(&self.method, self.k)
    }
}

/// Why a job has no result.
#[derive(Debug)]
pub struct Refused {
    /// The reason for all readers: a sentence without a value of the data.
    pub unsupported: String,
    /// The reason for the data holder only: it may name values that a template took from the data.
    pub detail: String,
    /// Whether the data cannot satisfy the policy; otherwise the method does not support it.
    pub unsatisfied: bool,
}

impl Refused {
    /// For a reason without a value of the data.
    pub fn open(reason: String) -> Self {
        Self { unsupported: reason.clone(), detail: reason, unsatisfied: false }
    }

    /// The text of an error may name values that a template took from the data (the rarest ones). So the reason for all
    /// readers is made from the kind of error; the error's text is used only if it comes from the policy and the
    /// registries.
    pub fn by(error: &RunError) -> Self {
        let unsupported = match error {
            RunError::Search(SearchError::Impossible { .. }) => {
                "the policy cannot be satisfied, not even with all records in one group".to_owned()
            }
            RunError::Policy(_) | RunError::Unsupported(_) | RunError::Search(SearchError::Unsupported(_)) => {
                error.to_string()
            }
            RunError::Model(_) => "a privacy model does not fit this table".to_owned(),
            RunError::Verify(_) => "its result violates the policy".to_owned(),
            _ => "it found no release".to_owned(),
        };
        let unsatisfied = matches!(error, RunError::Search(SearchError::Impossible { .. }) | RunError::Verify(_));
        Self { unsupported, detail: error.to_string(), unsatisfied }
    }

    /// The row of a job without a result.
    pub fn row(&self, job: &Job) -> Row {
        let detail = Some(&self.detail).filter(|detail| **detail != self.unsupported).cloned();
        Row {
            method: job.method.to_owned(),
            k: job.k,
            unsupported: Some(self.unsupported.clone()),
            detail,
            found: None,
        }
    }
}

/// Result of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunResult {
    /// Why its search ended.
    pub stop: Stop,
    /// Measures of the release.
    #[serde(deserialize_with = "measures")]
    pub measures: Measures,
    /// Weighted sum of the policy's objectives.
    #[serde(rename = "goal")]
    pub objective: Option<f64>,
    /// Number of groups.
    pub groups: u64,
    /// Records of the smallest group.
    pub smallest_group: u64,
    /// Suppressed records.
    pub suppressed_rows: u64,
    /// Errors of a classifier, mean over the splits.
    pub errors: Option<Errors>,
    /// Standard deviation of `errors` over several splits.
    pub spread: Option<Errors>,
    /// Why there are no errors, if there is a class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untested: Option<String>,
    /// Errors of query answers.
    pub queries: Answers,
    /// Running time of search and verification.
    pub seconds: f64,
    /// Peak memory of the process so far; `None` if the system does not report it.
    pub peak_memory_bytes: Option<u64>,
}

/// Relative errors of the answers to random queries.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Answers {
    /// COUNT queries.
    pub count: queries::Errors,
    /// SUM queries; `None` if there is no numeric column.
    pub sum: Option<queries::Errors>,
}

impl RunResult {
    /// Sets mean and deviation of the errors of several splits.
    pub fn set_errors(&mut self, errors: &[Errors]) {
        if let Some(Spread { mean, deviation }) = Spread::of(errors) {
            (self.errors, self.spread) = (Some(mean), deviation);
        }
    }
}

impl Comparison {
    /// The distinct k, in order of first occurrence.
    pub fn ks(&self) -> Vec<Option<u64>> {
        distinct(self.rows.iter().map(|row| row.k))
    }

    /// The distinct methods, in order of first occurrence.
    pub fn methods(&self) -> Vec<&str> {
        distinct(self.rows.iter().map(|row| row.method.as_str()))
    }

    /// The rows with this k.
    pub fn at(&self, k: Option<u64>) -> impl Iterator<Item = &Row> + Clone {
        self.rows.iter().filter(move |row| row.k == k)
    }

    /// A figure of a method at a k.
    pub fn value(&self, figure: &Figure, method: &str, k: Option<u64>) -> Option<f64> {
        (figure.value)(self.at(k).find(|row| row.method == method)?.found.as_ref()?)
    }

    /// The figures that have a value in some row; counts only if some value is not 0.
    pub fn figures(&self) -> Vec<&'static Figure> {
        let has_values = |figure: &&Figure| {
            let mut values = self.rows.iter().filter_map(|row| (figure.value)(row.found.as_ref()?));
            values.any(|value| figure.unit != Unit::Count || value > 0.0)
        };
        FIGURES.iter().filter(has_values).collect()
    }

    /// The smallest value of a figure at a k; `None` if the figure is not judged or all methods have the same value.
    pub fn best(&self, figure: &Figure, k: Option<u64>) -> Option<f64> {
        let values = self.at(k).filter_map(|row| (figure.value)(row.found.as_ref()?));
        let smallest = values.clone().fold(f64::INFINITY, f64::min);
        let differ = values.clone().any(|value| value > smallest);
        (figure.judged && differ).then_some(smallest)
    }

    /// Adds the rows of another comparison of the same table.
    pub fn join(&mut self, other: Self) {
        self.summed = self.summed.take().or(other.summed);
        self.tested = self.tested.or(other.tested);
        self.spread = if self.errors.is_some() { self.spread } else { other.spread };
        self.errors = self.errors.or(other.errors);
        self.rows.extend(other.rows);
    }
}

/// Distinct values, in order of first occurrence.
fn distinct<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for value in all {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    seen
}

/// Reads measures under the names of the registry; others are ignored.
fn measures<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Measures, D::Error> {
    let values: HashMap<String, Option<f64>> = HashMap::deserialize(deserializer)?;
    Ok(Measures(MEASURES.iter().map(|entry| (entry.name, values.get(entry.name).copied().flatten())).collect()))
}
