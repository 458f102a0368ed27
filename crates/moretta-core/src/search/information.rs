//! The information that a method keeps (parameter `measure` of global methods), and the entropy of a distribution.

use serde::{Deserialize, Serialize};

use crate::{objective::LossMetric, profile::Profile};

/// Information that a method tries to keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Criterion {
    /// Information about the class, as published: the mean entropy of the class among records that share a value.
    Class,
    /// Precision by the normalized certainty penalty.
    Ncp,
    /// Precision by Iyengar's loss metric.
    Lm,
}

impl Criterion {
    /// Returns the criterion of the policy. Default: the class if the table has one, otherwise NCP.
    pub(super) fn or_by_table(asked: Option<Self>, profile: &Profile) -> Self {
        let by_table = if profile.class().is_some() { Self::Class } else { Self::Ncp };
        asked.unwrap_or(by_table)
    }

    /// Metric of the loss of precision; LM if the class is kept.
    pub(super) fn loss(self) -> LossMetric {
        if self == Self::Ncp { LossMetric::Ncp } else { LossMetric::Lm }
    }

    /// Reason why the criterion cannot be used on this table, if there is one.
    pub(super) fn unfit(self, profile: &Profile) -> Option<&'static str> {
        let without_class = self == Self::Class && profile.class().is_none();
        without_class.then_some("`measure = \"class\"` needs a column with the role `class`")
    }
}

/// Returns the sum of some counts and their entropy in bits.
pub(super) fn entropy(counts: impl Iterator<Item = u64> + Clone) -> (u64, f64) {
    let total: u64 = counts.clone().sum();
    let share = |count: u64| count as f64 / total as f64;
    let sum: f64 = counts.filter(|&count| count > 0).map(|count| -share(count) * share(count).log2()).sum();
    (total, sum.max(0.0))
}
