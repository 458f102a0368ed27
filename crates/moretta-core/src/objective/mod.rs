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
    /// Weight in the sum of objectives; above 0.
    pub weight: f64,
}

/// The measure to minimize, by the recipient's purpose.
#[derive(Debug, Clone, PartialEq)]
pub enum ObjectiveKind {
    /// Purpose unknown: information loss of the cells.
    Precision(LossMetric),
    /// The recipient predicts a class: classification metric (CM).
    Classification {
        /// Target column; `None` is the class column.
        column: Option<String>,
        /// Costs of misclassification.
        costs: Costs,
    },
    /// The recipient predicts a number: regression metric (RM).
    Regression {
        /// Target column; `None` is the class column.
        column: Option<String>,
        /// Measure of the differences within a group.
        dispersion: Dispersion,
    },
}

/// Dispersion of numbers within a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dispersion {
    /// Sum of squared distances from the mean.
    #[default]
    Variance,
    /// Sum of distances from the median.
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

/// The cost of a record of one class (first key) in a group whose majority is of another (second key). A pair that is
/// not listed costs 1; a record of the majority class costs nothing.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Costs(pub BTreeMap<String, BTreeMap<String, f64>>);

impl Objective {
    /// The objective of precise values only, with weight 1.
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
