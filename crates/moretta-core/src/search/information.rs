//! What methods may be asked to keep, and how much a distribution tells.

use serde::{Deserialize, Serialize};

use crate::{objective::LossMetric, profile::Profile};

/// What is to be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Criterion {
    /// What the values tell about the class, as published: the mean entropy of the class among records that share a
    /// value.
    Class,
    /// The normalised certainty penalty.
    Ncp,
    /// Iyengar's loss.
    Lm,
}

impl Criterion {
    /// What is asked for; the class where that is nothing and there is one, otherwise NCP.
    pub(super) fn or_by_table(asked: Option<Self>, profile: &Profile) -> Self {
        let by_table = if profile.class().is_some() { Self::Class } else { Self::Ncp };
        asked.unwrap_or(by_table)
    }

    /// The loss of precision that stands for it; LM beside the class.
    pub(super) fn loss(self) -> LossMetric {
        if self == Self::Ncp { LossMetric::Ncp } else { LossMetric::Lm }
    }

    /// Why it cannot be taken, if so.
    pub(super) fn unfit(self, profile: &Profile) -> Option<&'static str> {
        let without_class = self == Self::Class && profile.class().is_none();
        without_class.then_some("`measure = \"class\"` needs a column of the role `class`")
    }
}

/// The sum of some counts, and their entropy.
pub(super) fn entropy(counts: impl Iterator<Item = u64> + Clone) -> (u64, f64) {
    let all: u64 = counts.clone().sum();
    let share = |count: u64| count as f64 / all as f64;
    let sum: f64 = counts.filter(|&count| count > 0).map(|count| -share(count) * share(count).log2()).sum();
    (all, sum.max(0.0))
}
