//! Privacy models: what a group of records must satisfy before it may leave.
//!
//! A model is a plain parameter struct ([`PrivacyModel`]); bound to a profile it becomes a [`BoundModel`] that can
//! judge groups. All models here are *closed under union*: where two groups satisfy one, so do their records taken
//! together. Verification relies on it (groups that print alike merge), and so may a method that only ever merges.
//!
//! The records that are suppressed are a group like any other: whoever knows that a person is in the table and in no
//! other group knows that the person is among them. A release with one suppressed record has a group of one.

mod bound;
mod confidence;
mod k_anonymity;
mod l_diversity;
mod limit;
mod lkc;
mod redundancy;
mod t_closeness;
#[cfg(test)]
mod tests;

pub use bound::BoundPolicy;
#[cfg(any(test, feature = "testing"))]
pub use bound::bind_all;
pub use confidence::Confidence;
pub use k_anonymity::KAnonymity;
pub use limit::{Limit, ShareLimit};
pub use lkc::{LkcPrivacy, known_sets};
pub use redundancy::redundant;

use std::cell::OnceCell;

use crate::{
    ids::{AttributeId, ColumnId},
    policy::Policy,
    profile::{Member, Profile},
    text::merge_counts,
};

/// Records that leave with the same quasi-identifier values.
#[derive(Debug)]
pub struct Group<'a> {
    profile: &'a Profile,
    members: &'a [Member],
    records: u64,
    /// By attribute. Many models may look at one column (a template for each of its values): it is counted once.
    histograms: OnceCell<Box<[OnceCell<Histogram>]>>,
}

/// How many records carry each value, in order of the values.
pub type Histogram = Vec<(u32, u64)>;

impl<'a> Group<'a> {
    /// The group of these members.
    pub fn new(profile: &'a Profile, members: &'a [Member]) -> Self {
        let records = members.iter().map(|member| member.records).sum();
        Self { profile, members, records, histograms: OnceCell::new() }
    }

    /// How many records it has.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// How many of its records carry each value of a sensitive or class column, in order of the values.
    pub fn histogram(&self, attribute: AttributeId) -> &Histogram {
        let all = self.histograms.get_or_init(|| self.profile.attributes().iter().map(|_| OnceCell::new()).collect());
        all[attribute.index()].get_or_init(|| self.count(attribute))
    }

    fn count(&self, attribute: AttributeId) -> Histogram {
        let values = self.profile.attributes()[attribute.index()].values.len();
        if values <= 4 * self.members.len() + 64 {
            let mut dense = vec![0u64; values];
            for member in self.members {
                dense[self.profile.value(member.variant, attribute) as usize] += member.records;
            }
            return (0..).zip(dense).filter(|(_, records)| *records > 0).collect();
        }
        let mut sparse: Vec<(u32, u64)> =
            self.members.iter().map(|member| (self.profile.value(member.variant, attribute), member.records)).collect();
        sparse.sort_unstable();
        merge_counts(&mut sparse);
        sparse
    }

    /// How many of its records carry one value of a sensitive or class column.
    pub fn records_with(&self, attribute: AttributeId, value: u32) -> u64 {
        let histogram = self.histogram(attribute);
        histogram.binary_search_by_key(&value, |(code, _)| *code).map_or(0, |at| histogram[at].1)
    }
}

/// A model as the policy asks for it.
pub trait PrivacyModel: Send + Sync {
    /// Bound to the table it is to hold in.
    fn bind(&self, profile: &Profile) -> Result<Vec<Box<dyn BoundModel>>, ModelError>;
}

/// A model that can judge groups of one profile.
pub trait BoundModel: Send + Sync {
    /// In words, for messages and reports: `k-anonymity (k = 5)`. Models with the same words and other columns are
    /// parts of one, and are judged together.
    fn describe(&self) -> String;

    /// The columns whose released values an attacker is taken to know: records alike in these are one group.
    fn scope(&self) -> &[ColumnId];

    /// How far the group is inside the limit: negative where it breaks it, in units of the limit's own figure.
    fn margin(&self, group: &Group<'_>) -> f64;

    /// Whether the group may leave.
    fn holds(&self, group: &Group<'_>) -> bool {
        self.margin(group) >= 0.0
    }

    /// Fewer records than this never satisfy the model: lets a search dismiss a group before it looks inside.
    fn least_records(&self) -> u64 {
        1
    }

    /// The model as plain limits on a group's counts, where it is nothing else: lets a search keep counts instead of
    /// records. None where only [`margin`](Self::margin) can tell.
    fn limits(&self) -> Option<Vec<Limit>> {
        None
    }

    /// What the group's figure is, in words, for a message: `3 records`.
    fn figure(&self, group: &Group<'_>) -> String;

    /// The highest confidence with which a value that it guards is inferred in the group, where it limits that.
    fn confidence(&self, _group: &Group<'_>) -> Option<f64> {
        None
    }

    /// What the model is, for programs.
    fn facts(&self) -> ModelFacts {
        ModelFacts::Other
    }
}

/// What a bound model asks, for reports.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ModelFacts {
    /// Every group has at least `k` records.
    KAnonymity {
        /// The least number.
        k: u64,
    },
    /// Nobody infers `value` with more than `max_confidence`.
    Confidence {
        /// The template's place in the policy.
        template: usize,
        /// The known columns.
        given: Vec<String>,
        /// The sensitive column.
        column: String,
        /// The value not to be inferred.
        value: String,
        /// The limit.
        max_confidence: f64,
    },
    /// Whoever knows `l` columns finds at least `k` records alike and infers no sensitive value with more than `c`.
    Lkc {
        /// How many columns are known.
        l: u64,
        /// The least number of records.
        k: u64,
        /// The greatest confidence.
        c: f64,
    },
    /// Something else, which only has words.
    Other,
}

/// A model that does not fit the table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ModelError(pub String);

/// A kind of privacy model: the registry's entry.
#[derive(Debug, Clone, Copy)]
pub struct ModelEntry {
    /// What the policy calls it.
    pub name: &'static str,
    /// One line on what it guarantees.
    pub summary: &'static str,
    /// The lines of a policy that ask for it.
    pub example: &'static str,
    /// The models of this kind that a policy asks for.
    pub from_policy: fn(&Policy) -> Vec<Box<dyn PrivacyModel>>,
}

/// All kinds of privacy models. What is not here is never checked, so [`BoundPolicy`] goes through this table alone.
pub const MODELS: &[ModelEntry] =
    &[k_anonymity::ENTRY, confidence::ENTRY, lkc::ENTRY, l_diversity::ENTRY, t_closeness::ENTRY];

/// All columns: the scope of models that take an attacker to know the whole quasi-identifier.
fn every_column(profile: &Profile) -> Vec<ColumnId> {
    (0..profile.columns().len()).map(ColumnId::from_index).collect()
}

fn attribute_named(profile: &Profile, name: &str) -> Result<AttributeId, ModelError> {
    profile
        .attribute(name)
        .ok_or_else(|| ModelError(format!("column `{name}` is neither sensitive nor a class column of this table")))
}

/// Rounding tolerance where a figure computed in floats equals its limit.
const TOLERANCE: f64 = 1e-9;

/// How far a figure is below its limit, without rounding errors: 0 where they are equal.
fn below(limit: f64, figure: f64) -> f64 {
    let margin = limit - figure;
    if margin.abs() < TOLERANCE { 0.0 } else { margin }
}
