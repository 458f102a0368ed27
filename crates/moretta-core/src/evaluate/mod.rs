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
//! The flow: the counts of the test table, their profile over the recoding ([`Saved::profile`]), then ask [`errors`].
//!
//! [`queries`] need no class and no other records: they ask a release how many and how much, and compare.

pub mod c45;
mod features;
pub mod queries;
#[cfg(test)]
mod tests;

use serde::Serialize;

use self::{c45::Tree, features::Pair};
use crate::{
    ids::TupleId,
    profile::Profile,
    recoding::{Recoding, saved::Saved},
};

/// Shares of the test records that are given a wrong class.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
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
    ErrorEntry { name: "B", summary: "trained on the data as it was: the best there is", value: |e| Some(e.raw) },
    ErrorEntry { name: "E", summary: "trained on the release", value: |e| Some(e.released) },
    ErrorEntry { name: "W", summary: "trained without the quasi-identifiers: the worst", value: |e| Some(e.root) },
    ErrorEntry { name: "RE", summary: "trained without the sensitive columns", value: |e| e.removed },
];

/// Why there is nothing to evaluate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EvaluateError {
    /// Nothing to predict.
    #[error("no column has the role `class`: name the one that a model is to predict")]
    NoClass,
    /// A table without records.
    #[error("the {table} table has no records")]
    Empty {
        /// Which.
        table: &'static str,
    },
}

/// The errors of models of the class, trained on `train` and its release under `recoding`, on the records of `test`.
/// `saved` is that recoding as it is applied to other tables.
pub fn errors(train: &Profile, recoding: &Recoding, saved: &Saved, test: &Profile) -> Result<Errors, EvaluateError> {
    let pair = Pair::new(train, test)?;
    let error = |(train, test): (c45::Table, c45::Table)| Tree::fit(&train).error(&test);
    Ok(Errors {
        raw: error(pair.raw(true, true)),
        released: error(pair.released(recoding, saved)),
        root: error(pair.raw(false, true)),
        removed: pair.has_sensitive().then(|| error(pair.raw(true, false))),
    })
}

/// How many records of `test` no cell of the recoding covers, so that they count as `*` everywhere: new values, numbers
/// between two intervals, combinations outside all boxes.
pub fn uncovered(saved: &Saved, test: &Profile) -> u64 {
    let tuples = (0u32..).map(TupleId).zip(saved.labels(test));
    tuples.filter(|(_, labels)| labels.is_none()).map(|(tuple, _)| test.tuple_records(tuple)).sum()
}
