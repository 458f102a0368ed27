//! What a release is to be good for: the measures that a policy asks to be small, one or a weighted sum.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

use super::{Loss, Scene, classes, penalties};
use crate::{
    ids::AttributeId,
    policy::suggest::nearest,
    profile::{Attribute, Profile},
};

/// One measure that is to be small, and how much it counts beside others.
#[derive(Debug, Clone, PartialEq)]
pub struct Goal {
    /// The measure.
    pub purpose: Purpose,
    /// How much it counts.
    pub weight: f64,
}

/// What the release is for.
#[derive(Debug, Clone, PartialEq)]
pub enum Purpose {
    /// Nobody knows: values are to be precise.
    Precision(Loss),
    /// Whoever receives it predicts a class (CM).
    Classification {
        /// The column; the class where it is left out.
        column: Option<String>,
        /// What mistakes cost.
        costs: Costs,
    },
    /// Whoever receives it predicts a number (RM).
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
    /// Of so many records each, by the codes of ascending numbers: the sum over records.
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

/// What it costs when a record of one class (first key) is in a group whose majority is of another (second key). A pair
/// that is not there costs 1; what is as it should be costs nothing.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Costs(pub BTreeMap<String, BTreeMap<String, f64>>);

/// Costs by the codes of a column's values.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BoundCosts {
    pairs: HashMap<(u32, u32), f64>,
    /// By class, what a record costs of which nothing is told: the dearest mistake.
    suppressed: Vec<f64>,
}

impl Goal {
    /// Precise values, and nothing else.
    pub fn precision(loss: Loss) -> Self {
        Self { purpose: Purpose::Precision(loss), weight: 1.0 }
    }

    /// What it comes to in a release, without its weight: for precision, the weighted sum over columns of the mean loss
    /// of a cell. None where the table has nothing it could be computed from.
    pub fn value(&self, scene: &Scene<'_>) -> Option<f64> {
        match &self.purpose {
            Purpose::Precision(loss) => Some(penalties::mean(scene, *loss)),
            Purpose::Classification { costs, .. } => {
                Some(classes::mistakes(scene, self.purpose.attribute_id(scene.records)?, costs))
            }
            Purpose::Regression { dispersion, .. } => {
                classes::dispersed(scene, self.purpose.attribute_id(scene.records)?, *dispersion)
            }
        }
    }

    /// Why it cannot be asked of a table, in words: it is about numbers that are none, or costs of values that do not
    /// occur, most likely misspelt.
    pub fn unfit(&self, profile: &Profile) -> Option<String> {
        let attribute = self.purpose.attribute(profile)?;
        let column = &attribute.name;
        match &self.purpose {
            Purpose::Precision(_) => None,
            Purpose::Classification { costs, .. } => costs.unknown_value(attribute).map(|value| {
                let near = nearest(value, attribute.values.iter().map(|known| &**known));
                let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
                format!("`costs` of [measure] names `{value}`, which does not occur in column `{column}`{hint}")
            }),
            Purpose::Regression { .. } => attribute.numbers.is_none().then(|| {
                format!(
                    "measure \"rm\" is for numbers, and not all values of column `{column}` are; \"cm\" is for classes"
                )
            }),
        }
    }
}

impl Costs {
    /// By the codes of a column of a profile. What does not occur there costs nobody anything.
    pub fn bind(&self, attribute: &Attribute) -> BoundCosts {
        let mut pairs = HashMap::new();
        for (actual, costs) in &self.0 {
            for (called, cost) in costs {
                if let (Some(actual), Some(called)) = (attribute.code(actual), attribute.code(called)) {
                    pairs.insert((actual, called), *cost);
                }
            }
        }
        let classes = attribute.values.len();
        let mut bound = BoundCosts { pairs, suppressed: vec![1.0; classes] };
        if !bound.pairs.is_empty() {
            bound.suppressed = (0..classes as u32).map(|class| bound.dearest(class, classes)).collect();
        }
        bound
    }

    /// One that a column does not have.
    fn unknown_value(&self, attribute: &Attribute) -> Option<&str> {
        let named = self.0.iter().flat_map(|(actual, costs)| std::iter::once(actual).chain(costs.keys()));
        named.map(String::as_str).find(|value| attribute.code(value).is_none())
    }
}

impl BoundCosts {
    /// What a record of one class costs in a group whose majority is of another.
    pub fn of(&self, actual: u32, called: u32) -> f64 {
        if actual == called { 0.0 } else { self.pairs.get(&(actual, called)).copied().unwrap_or(1.0) }
    }

    /// What a record of a class costs of which nothing is told.
    pub fn of_suppressed(&self, actual: u32) -> f64 {
        self.suppressed[actual as usize]
    }

    /// Whether every mistake costs the same.
    pub fn are_plain(&self) -> bool {
        self.pairs.is_empty()
    }

    fn dearest(&self, actual: u32, classes: usize) -> f64 {
        let named = self.pairs.iter().filter(|((own, called), _)| *own == actual && *called != actual);
        let (count, dearest) = named.fold((0, 0.0), |(count, most), (_, cost)| (count + 1, f64::max(most, *cost)));
        // Some mistake is not named, and costs 1; where there is no other class there is none to make.
        if classes < 2 || count + 1 < classes { dearest.max(1.0) } else { dearest }
    }

    /// What a group costs: its records are all called by its most frequent class, of several the cheapest.
    pub fn of_group(&self, histogram: &[(u32, u64)]) -> f64 {
        let most = histogram.iter().map(|(_, records)| *records).max().unwrap_or(0);
        if self.are_plain() {
            return (histogram.iter().map(|(_, records)| records).sum::<u64>() - most) as f64;
        }
        let called = histogram.iter().filter(|(_, records)| *records == most).map(|(class, _)| *class);
        let cost = |called: u32| histogram.iter().map(|&(class, n)| self.of(class, called) * n as f64).sum::<f64>();
        called.map(cost).reduce(f64::min).unwrap_or(0.0)
    }
}

impl Purpose {
    /// What a policy and a report call it.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Precision(loss) => loss.name(),
            Self::Classification { .. } => "cm",
            Self::Regression { .. } => "rm",
        }
    }

    /// The column it is about, where it is about one.
    pub fn attribute<'a>(&self, profile: &'a Profile) -> Option<&'a Attribute> {
        self.attribute_id(profile).map(|id| &profile.attributes()[id.index()])
    }

    /// The same, by its place.
    pub fn attribute_id(&self, profile: &Profile) -> Option<AttributeId> {
        match self {
            Self::Precision(_) => None,
            Self::Classification { column, .. } | Self::Regression { column, .. } => match column {
                Some(name) => profile.attribute(name),
                None => profile.class(),
            },
        }
    }
}
