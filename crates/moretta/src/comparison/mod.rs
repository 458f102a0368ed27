//! Methods side by side (`moretta compare`): what each would lose, err, take, for each k.
//!
//! A [`Pair`] of a method and a k is tried by [`trial`] in this process, or by [`children`] in one of its own, and
//! becomes a [`Row`] of a [`Comparison`]. [`FIGURES`] is what is shown of a row: the table, the page and the curves are made
//! from it. Nothing in it is about a person: counts, shares, times, and names from the policy. The one exception is
//! [`Row::detail`], which stays with whoever has the table.

pub mod children;
mod csv;
mod figures;
mod table;
#[cfg(test)]
pub mod tests;
pub mod trial;
mod words;

use moretta_core::{
    evaluate::{Errors, Spread, queries},
    measure::{MEASURES, Measures},
    search::Stop,
};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::HashMap;

use crate::failure::Failure;

pub use self::{
    csv::csv,
    figures::{FIGURES, Figure, Unit},
    table::{table, written},
    words::{caveats, enumerated, verdicts},
};

/// A method and the k that is asked of it; none where the policy asks for other things alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// The method.
    pub method: &'static str,
    /// The k.
    pub k: Option<u64>,
}

impl Pair {
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
    pub cannot: Option<String>,
    /// The same at length, for a terminal and JSON alone: it may name values that a template learned from the data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// What there is to show. A figure that cannot be read leaves none: whoever reads a row must ask for one or the other.
    #[serde(flatten)]
    pub found: Option<Found>,
}

impl Row {
    /// `sweep, k = 5`
    pub fn name(&self) -> String {
        name(&self.method, self.k)
    }
}

/// A method that found nothing at a k.
#[derive(Debug)]
pub struct Refused {
    /// Why, for everybody: a sentence that has nothing from the data.
    pub cannot: String,
    /// The message for whoever has the table, and the exit code where no other method finds anything.
    pub failure: Failure,
}

impl Refused {
    /// For a reason that everybody may read.
    pub fn open(failure: Failure) -> Self {
        Self { cannot: failure.message.clone(), failure }
    }

    /// The row of it.
    pub fn row(&self, pair: &Pair) -> Row {
        let detail = Some(&self.failure.message).filter(|message| **message != self.cannot).cloned();
        Row { method: pair.method.to_owned(), k: pair.k, cannot: Some(self.cannot.clone()), detail, found: None }
    }
}

/// What a method did.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Found {
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

impl Found {
    /// Takes over the errors of some splits.
    fn set_errors(&mut self, errors: &[Errors]) {
        if let Some(Spread { mean, deviation }) = Spread::of(errors) {
            (self.errors, self.spread) = (Some(mean), deviation);
        }
    }
}

impl Comparison {
    /// The k, each once, in order.
    pub fn ks(&self) -> Vec<Option<u64>> {
        let mut ks: Vec<Option<u64>> = Vec::new();
        for row in &self.rows {
            if !ks.contains(&row.k) {
                ks.push(row.k);
            }
        }
        ks
    }

    /// The methods, each once, in order.
    pub fn methods(&self) -> Vec<&str> {
        let mut methods: Vec<&str> = Vec::new();
        for row in &self.rows {
            if !methods.contains(&row.method.as_str()) {
                methods.push(&row.method);
            }
        }
        methods
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

/// The names of measures are those of the registry.
fn measures<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Measures, D::Error> {
    let values: HashMap<String, Option<f64>> = HashMap::deserialize(deserializer)?;
    Ok(Measures(MEASURES.iter().map(|entry| (entry.name, values.get(entry.name).copied().flatten())).collect()))
}
