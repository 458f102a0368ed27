//! Values of objectives in a release, and costs of misclassification by code.

use hashbrown::{HashMap, HashSet};

use super::{MeasureContext, cm, rm};
use crate::{
    ids::AttributeId,
    objective::{Costs, LossMetric, Objective, ObjectiveKind},
    profile::{Attribute, Profile},
    suggest::nearest,
    text::shown,
};

/// Misclassification costs by the codes of a column's values.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BoundCosts {
    pairs: HashMap<(u32, u32), f64>,
    /// Cost of a suppressed record by class: that of the most expensive mistake.
    suppressed: Vec<f64>,
}

impl Objective {
    /// Value in a release, without its weight: for precision, the weighted sum over columns of the mean loss of a cell.
    /// `None` if the table lacks the column or its numbers.
    pub fn value(&self, context: &MeasureContext<'_>) -> Option<f64> {
        self.kind.value(context)
    }

    /// Sentence that says why the objective does not fit a table: its column is not numeric, or its costs name values
    /// that do not occur, most likely misspelt. `None` if it fits.
    pub fn unfit(&self, profile: &Profile) -> Option<String> {
        let attribute = self.kind.attribute(profile)?;
        let column = &attribute.name;
        match &self.kind {
            ObjectiveKind::Precision(_) => None,
            ObjectiveKind::Classification { costs, .. } => costs.unknown_value(attribute).map(|value| {
                let near = nearest(value, attribute.values.iter().map(|known| &**known));
                let hint = near.map_or(String::new(), |near| format!("; did you mean `{}`?", shown(near)));
                let (value, column) = (shown(value), shown(column));
                format!("`costs` of [measure] names `{value}`, which does not occur in column `{column}`{hint}")
            }).or_else(|| costs.named_twice(attribute).map(|value| {
                let (value, column) = (shown(value), shown(column));
                format!("`costs` of [measure] names `{value}` twice, in two spellings that are one value of column `{column}`")
            })),
            ObjectiveKind::Regression { .. } => attribute.numbers.is_none().then(|| {
                format!(
                    "measure \"rm\" is for numbers, and not all values of column `{}` are; \"cm\" is for classes",
                    shown(column)
                )
            }),
        }
    }
}

impl Costs {
    /// Costs by the codes of a column of a profile. Values that do not occur there are dropped.
    pub fn bind(&self, attribute: &Attribute) -> BoundCosts {
        let mut pairs = HashMap::new();
        for (actual, costs) in &self.0 {
            for (called, cost) in costs {
                if let (Some(actual), Some(called)) = (attribute.code_of_named(actual), attribute.code_of_named(called))
                {
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

    /// A value that the costs name in two spellings.
    fn named_twice(&self, attribute: &Attribute) -> Option<&str> {
        let lists = std::iter::once(self.0.keys().collect::<Vec<_>>());
        let lists = lists.chain(self.0.values().map(|costs| costs.keys().collect()));
        lists
            .into_iter()
            .find_map(|names| {
                let mut known = HashSet::new();
                names.into_iter().find(|name| attribute.code_of_named(name).is_some_and(|code| !known.insert(code)))
            })
            .map(String::as_str)
    }

    /// First value named by the costs that does not occur in the column.
    fn unknown_value(&self, attribute: &Attribute) -> Option<&str> {
        let named = self.0.iter().flat_map(|(actual, costs)| std::iter::once(actual).chain(costs.keys()));
        named.map(String::as_str).find(|value| attribute.code_of_named(value).is_none())
    }
}

impl BoundCosts {
    /// Cost of a record of class `actual` in a group with majority class `called`.
    pub fn of(&self, actual: u32, called: u32) -> f64 {
        if actual == called { 0.0 } else { self.pairs.get(&(actual, called)).copied().unwrap_or(1.0) }
    }

    /// Cost of a suppressed record of a class.
    pub fn of_suppressed(&self, actual: u32) -> f64 {
        self.suppressed[actual as usize]
    }

    /// Whether every mistake costs 1.
    pub fn are_uniform(&self) -> bool {
        self.pairs.is_empty()
    }

    fn max_cost(&self, actual: u32, classes: usize) -> f64 {
        let named = self.pairs.iter().filter(|((own, called), _)| *own == actual && *called != actual);
        let (count, max_cost) = named.fold((0, 0.0), |(count, max), (_, cost)| (count + 1, f64::max(max, *cost)));
        // A mistake without a listed cost costs 1. With a single class there is no mistake, and suppression costs 1.
        if classes < 2 || count + 1 < classes { max_cost.max(1.0) } else { max_cost }
    }

    /// Cost of a group: all records are classified as its most frequent class, the cheapest one on a tie.
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

/// Value of the policy's first objective of the same kind as the default, with its column and parameters; of the
/// default if the policy has none.
pub(super) fn of_policy(context: &MeasureContext<'_>, default: &ObjectiveKind) -> Option<f64> {
    let mut kinds = context.objectives.iter().map(|objective| &objective.kind);
    kinds.find(|kind| kind.name() == default.name()).unwrap_or(default).value(context)
}

impl ObjectiveKind {
    pub(super) fn value(&self, context: &MeasureContext<'_>) -> Option<f64> {
        let attribute = self.attribute_id(context.records);
        match self {
            Self::Precision(LossMetric::Ncp) => Some(context.weighted_mean_loss(|cell| cell.ncp)),
            Self::Precision(LossMetric::Lm) => Some(context.weighted_mean_loss(|cell| cell.lm)),
            Self::Classification { costs, .. } => Some(cm::mistakes(context, attribute?, costs)),
            Self::Regression { dispersion, .. } => rm::dispersed(context, attribute?, *dispersion),
        }
    }

    /// Target column; `None` for precision, or if the table has no such column.
    pub fn attribute<'a>(&self, profile: &'a Profile) -> Option<&'a Attribute> {
        self.attribute_id(profile).map(|id| &profile.attributes()[id.index()])
    }

    /// Id of the target column; see [`attribute`](Self::attribute).
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
