//! Methods side by side (`moretta compare`): loss, error, time and memory of each for several k.
//!
//! Each [`Job`], a method and a k, becomes a [`Row`] of a [`Comparison`]. [`FIGURES`] lists what is shown of a row: table,
//! page and curves follow from it. Nothing in it is about a person: counts, shares, times, and names from the policy.
//! The one exception is [`Row::detail`], which only the data holder may read.

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
    run::TrialError,
    search::SearchError,
};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::HashMap;

use crate::evaluate::{Errors, Spread, queries};

pub use self::{
    describe::{Verdict, caveats, verdicts},
    figures::{FIGURES, Figure, Unit},
};

/// A method, and the k that it has to reach; no k where the policy names other models alone.
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

/// What was found of all of them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Comparison {
    /// How many records the table has.
    pub records: u64,
    /// Decided whatever was left to chance.
    pub seed: u64,
    /// How many queries of each kind were asked.
    pub queries: u32,
    /// The column that was summed.
    pub summed: Option<String>,
    /// What the policy's `[measure]` asks to be small.
    pub measure: Option<String>,
    /// On what errors were counted; none where there is no class.
    pub tested: Option<Splits>,
    /// The errors that depend on no method and no k.
    pub errors: Option<Baseline>,
    /// Their standard deviation over several splits.
    pub spread: Option<Baseline>,
    /// One for each method and k.
    pub rows: Vec<Row>,
}

/// How records were held back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Splits {
    /// So many times.
    pub splits: usize,
    /// So many records in all.
    pub records: u64,
}

/// Errors of models that see no release.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// Of the data as it was.
    #[serde(rename = "B")]
    pub raw: f64,
    /// Without the quasi-identifiers.
    #[serde(rename = "W")]
    pub root: f64,
    /// Without the sensitive columns.
    #[serde(rename = "RE")]
    pub removed: Option<f64>,
}

impl From<Errors> for Baseline {
    fn from(Errors { raw, root, removed, .. }: Errors) -> Self {
        Self { raw, root, removed }
    }
}

/// A method at a k.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Row {
    /// The method.
    pub method: String,
    /// The k.
    pub k: Option<u64>,
    /// Why there is nothing to show, for everybody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsupported: Option<String>,
    /// The same at length, for a terminal and JSON alone: it may name values that a template learned from the data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// What there is to show. A figure that cannot be read leaves none: whoever reads a row must ask for one or the other.
    #[serde(flatten)]
    pub found: Option<RunResult>,
}

impl Row {
    /// `sweep, k = 5`
    pub fn name(&self) -> String {
        name(&self.method, self.k)
    }
}

/// A job that found nothing.
#[derive(Debug)]
pub struct Refused {
    /// Why, for every reader: a sentence without a value of the data.
    pub unsupported: String,
    /// Why, for the data holder alone: it may name values that a template learned from the data.
    pub detail: String,
    /// Whether the data cannot satisfy the policy; otherwise the method cannot serve it.
    pub unsatisfied: bool,
}

impl Refused {
    /// For a reason without a value of the data.
    pub fn open(reason: String) -> Self {
        Self { unsupported: reason.clone(), detail: reason, unsatisfied: false }
    }

    /// An error's own words may name what a template learned from the data, its rarest values. Every reader gets a
    /// sentence made from the kind of error, and the words only where they come from the policy and the registries.
    pub fn by(error: &TrialError) -> Self {
        let unsupported = match error {
            TrialError::Search(SearchError::Impossible { .. }) => {
                "the policy cannot be satisfied, not even with all records in one group".to_owned()
            }
            TrialError::Policy(_) | TrialError::Unsupported(_) | TrialError::Search(SearchError::Unsupported(_)) => {
                error.to_string()
            }
            TrialError::Model(_) => "a privacy model does not fit this table".to_owned(),
            TrialError::Verify(_) => "its result violates the policy".to_owned(),
            _ => "it found no release".to_owned(),
        };
        let unsatisfied = matches!(error, TrialError::Search(SearchError::Impossible { .. }) | TrialError::Verify(_));
        Self { unsupported, detail: error.to_string(), unsatisfied }
    }

    /// The row of a job that found nothing.
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

/// What a method did.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunResult {
    /// Why its search ended.
    pub stop: Stop,
    /// What a release would lose.
    #[serde(deserialize_with = "measures")]
    pub measures: Measures,
    /// What the policy's `[measure]` comes to, weighted and added up.
    pub goal: Option<f64>,
    /// Groups of records that print alike.
    pub groups: u64,
    /// The records of the smallest.
    pub smallest_group: u64,
    /// Records that are suppressed.
    pub suppressed_rows: u64,
    /// Errors of a model, mean over the splits.
    pub errors: Option<Errors>,
    /// Their standard deviation over several splits.
    pub spread: Option<Errors>,
    /// Why there are no errors although there is a class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untested: Option<String>,
    /// Errors of answers.
    pub queries: Answers,
    /// How long it searched and verified.
    pub seconds: f64,
    /// The most memory that was in use by then; none where the system does not tell.
    pub peak_memory_bytes: Option<u64>,
}

/// Relative errors of the answers to random queries.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Answers {
    /// How many.
    pub count: queries::Errors,
    /// How much in all; none where there is no column to sum.
    pub sum: Option<queries::Errors>,
}

impl RunResult {
    /// Takes over the errors of some splits.
    pub fn set_errors(&mut self, errors: &[Errors]) {
        if let Some(Spread { mean, deviation }) = Spread::of(errors) {
            (self.errors, self.spread) = (Some(mean), deviation);
        }
    }
}

impl Comparison {
    /// The k, each once, in order.
    pub fn ks(&self) -> Vec<Option<u64>> {
        distinct(self.rows.iter().map(|row| row.k))
    }

    /// The methods, each once, in order.
    pub fn methods(&self) -> Vec<&str> {
        distinct(self.rows.iter().map(|row| row.method.as_str()))
    }

    /// The rows of a k.
    pub fn at(&self, k: Option<u64>) -> impl Iterator<Item = &Row> + Clone {
        self.rows.iter().filter(move |row| row.k == k)
    }

    /// A figure of a method at a k.
    pub fn value(&self, figure: &Figure, method: &str, k: Option<u64>) -> Option<f64> {
        (figure.value)(self.at(k).find(|row| row.method == method)?.found.as_ref()?)
    }

    /// The figures that there is something to show of: not one that is 0 for all.
    pub fn figures(&self) -> Vec<&'static Figure> {
        let told = |figure: &&Figure| {
            let mut values = self.rows.iter().filter_map(|row| (figure.value)(row.found.as_ref()?));
            values.any(|value| figure.unit != Unit::Count || value > 0.0)
        };
        FIGURES.iter().filter(told).collect()
    }

    /// The least of a figure at a k, where less is better and methods differ in it.
    pub fn best(&self, figure: &Figure, k: Option<u64>) -> Option<f64> {
        let values = self.at(k).filter_map(|row| (figure.value)(row.found.as_ref()?));
        let least = values.clone().fold(f64::INFINITY, f64::min);
        let differ = values.clone().any(|value| value > least);
        (figure.judged && differ).then_some(least)
    }

    /// Another one of the same table, with more rows.
    pub fn join(&mut self, other: Self) {
        self.summed = self.summed.take().or(other.summed);
        self.tested = self.tested.or(other.tested);
        self.spread = if self.errors.is_some() { self.spread } else { other.spread };
        self.errors = self.errors.or(other.errors);
        self.rows.extend(other.rows);
    }
}

/// Each once, in order of first sight.
fn distinct<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for value in all {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    seen
}

/// The names of measures are those of the registry.
fn measures<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Measures, D::Error> {
    let values: HashMap<String, Option<f64>> = HashMap::deserialize(deserializer)?;
    Ok(Measures(MEASURES.iter().map(|entry| (entry.name, values.get(entry.name).copied().flatten())).collect()))
}
