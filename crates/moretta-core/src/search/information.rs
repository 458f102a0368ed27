//! What methods may be asked to keep, and how much a distribution tells.

use serde::{Deserialize, Serialize};

/// What is to be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// What the values tell about the class, as published: the mean entropy of the class among records that share a
    /// value.
    Class,
    /// The normalised certainty penalty.
    Ncp,
    /// Iyengar's loss.
    Lm,
}

/// The sum of some counts, and their entropy.
pub(super) fn entropy(counts: impl Iterator<Item = u64> + Clone) -> (u64, f64) {
    let all: u64 = counts.clone().sum();
    let share = |count: u64| count as f64 / all as f64;
    let sum: f64 = counts.filter(|&count| count > 0).map(|count| -share(count) * share(count).log2()).sum();
    (all, sum.max(0.0))
}
