//! Objectives: the measures that a policy asks to minimize, one or a weighted sum.
//!
//! An objective is declared here, read by [`policy`](crate::policy) and evaluated by [`measure`](crate::measure).

mod loss;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use self::loss::LossMetric;

/// One measure to minimize, and its weight among others.
#[derive(Debug, Clone, PartialEq)]
pub struct Objective {
    /// The measure to minimize.
    pub kind: ObjectiveKind,
    /// How much it counts.
    pub weight: f64,
}

/// The kind of the release.
#[derive(Debug, Clone, PartialEq)]
pub enum ObjectiveKind {
    /// Unknown: values should be precise.
    Precision(LossMetric),
    /// The recipient predicts a class (CM).
    Classification {
        /// The column; the class where it is left out.
        column: Option<String>,
        /// Costs of mistakes.
        costs: Costs,
    },
    /// The recipient predicts a number (RM).
    Regression {
        /// The column; the class where it is left out.
        column: Option<String>,
        /// How numbers that differ within a group are counted.
        dispersion: Dispersion,
    },
}

/// How far numbers are from each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dispersion {
    /// Squares of the distances from the mean.
    #[default]
    Variance,
    /// Distances from the median.
    Deviation,
}

impl Dispersion {
    /// The dispersion summed over the records of a histogram; codes index `numbers`, which ascend.
    pub fn of(self, numbers: &[f64], histogram: &[(u32, u64)]) -> f64 {
        let number = |code: u32| numbers[code as usize];
        let records: u64 = histogram.iter().map(|(_, records)| records).sum();
        let sum = |of: &dyn Fn(f64) -> f64| histogram.iter().map(|&(code, n)| of(number(code)) * n as f64).sum::<f64>();
        match self {
            Self::Variance => {
                let mean = sum(&|number| number) / records as f64;
                sum(&|number| (number - mean).powi(2))
            }
            Self::Deviation => {
                let mut below = 0;
                let median = histogram.iter().find(|(_, n)| {
                    below += n;
                    2 * below >= records
                });
                let median = median.map_or(0.0, |(code, _)| number(*code));
                sum(&|number| (number - median).abs())
            }
        }
    }
}

/// The cost of a record of one class (first key) in a group whose majority is of another (second key). A pair that is not
/// listed costs 1; a record of the majority class costs nothing.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Costs(pub BTreeMap<String, BTreeMap<String, f64>>);

impl Objective {
    /// Precise values, and nothing else.
    pub fn precision(loss: LossMetric) -> Self {
        Self { kind: ObjectiveKind::Precision(loss), weight: 1.0 }
    }
}

impl ObjectiveKind {
    /// Its name in policies and reports.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Precision(loss) => loss.name(),
            Self::Classification { .. } => "cm",
            Self::Regression { .. } => "rm",
        }
    }
}
