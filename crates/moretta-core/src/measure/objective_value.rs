//! Objectives evaluated: their value in a release, and costs of mistakes by code.

use hashbrown::HashMap;

use super::{MeasureContext, cm, rm};
use crate::{
    ids::AttributeId,
    objective::{Costs, LossMetric, Objective, ObjectiveKind},
    profile::{Attribute, Profile},
    suggest::nearest,
};

/// Costs by the codes of a column's values.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BoundCosts {
    pairs: HashMap<(u32, u32), f64>,
    /// By class, what a record costs of which nothing is told: the dearest mistake.
    suppressed: Vec<f64>,
}

impl Objective {
    /// What it comes to in a release, without its weight: for precision, the weighted sum over columns of the mean loss
    /// of a cell. None where the table has nothing it could be computed from.
    pub fn value(&self, context: &MeasureContext<'_>) -> Option<f64> {
        self.kind.value(context)
    }

    /// Why it cannot be asked of a table, in words: it is about numbers that are none, or costs of values that do not
    /// occur, most likely misspelt.
    pub fn unfit(&self, profile: &Profile) -> Option<String> {
        let attribute = self.kind.attribute(profile)?;
        let column = &attribute.name;
        match &self.kind {
            ObjectiveKind::Precision(_) => None,
            ObjectiveKind::Classification { costs, .. } => costs.unknown_value(attribute).map(|value| {
                let near = nearest(value, attribute.values.iter().map(|known| &**known));
                let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
                format!("`costs` of [measure] names `{value}`, which does not occur in column `{column}`{hint}")
            }),
            ObjectiveKind::Regression { .. } => attribute.numbers.is_none().then(|| {
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
            bound.suppressed = (0..classes as u32).map(|class| bound.max_cost(class, classes)).collect();
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
    pub fn are_uniform(&self) -> bool {
        self.pairs.is_empty()
    }

    fn max_cost(&self, actual: u32, classes: usize) -> f64 {
        let named = self.pairs.iter().filter(|((own, called), _)| *own == actual && *called != actual);
        let (count, max_cost) = named.fold((0, 0.0), |(count, max), (_, cost)| (count + 1, f64::max(max, *cost)));
        // Some mistake is not named, and costs 1; where there is no other class there is none to make.
        if classes < 2 || count + 1 < classes { max_cost.max(1.0) } else { max_cost }
    }

    /// What a group costs: its records are all called by its most frequent class, of several the cheapest.
    pub fn of_group(&self, histogram: &[(u32, u64)]) -> f64 {
        let majority = histogram.iter().map(|(_, records)| *records).max().unwrap_or(0);
        if self.are_uniform() {
            return (histogram.iter().map(|(_, records)| records).sum::<u64>() - majority) as f64;
        }
        let called = histogram.iter().filter(|(_, records)| *records == majority).map(|(class, _)| *class);
        let cost = |called: u32| histogram.iter().map(|&(class, n)| self.of(class, called) * n as f64).sum::<f64>();
        called.map(cost).reduce(f64::min).unwrap_or(0.0)
    }
}

/// Value of the policy's first objective of the same kind as the default, with its column and parameters; of the default
/// if the policy has none.
pub(super) fn of_policy(context: &MeasureContext<'_>, default: &ObjectiveKind) -> Option<f64> {
    let mut kinds = context.objectives.iter().map(|objective| &objective.kind);
    kinds.find(|kind| kind.name() == default.name()).unwrap_or(default).value(context)
}

impl ObjectiveKind {
    pub(super) fn value(&self, context: &MeasureContext<'_>) -> Option<f64> {
        match self {
            Self::Precision(LossMetric::Ncp) => Some(context.weighted_mean_loss(|cell| cell.ncp)),
            Self::Precision(LossMetric::Lm) => Some(context.weighted_mean_loss(|cell| cell.lm)),
            Self::Classification { costs, .. } => {
                Some(cm::mistakes(context, self.attribute_id(context.records)?, costs))
            }
            Self::Regression { dispersion, .. } => {
                rm::dispersed(context, self.attribute_id(context.records)?, *dispersion)
            }
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
