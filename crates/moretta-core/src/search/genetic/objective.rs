//! What the search makes small: the policy's objectives, bound to the table.

use crate::{
    hierarchy::Cell,
    ids::AttributeId,
    measure::BoundCosts,
    objective::{Dispersion, LossMetric, Objective, ObjectiveKind},
    privacy::Group,
    profile::{Column, Profile},
};

/// The weighted sum of the policy's objectives.
pub(super) struct BoundObjective {
    /// Precise values: each loss and how much it counts. Where no objective is about precision they do not count, and only
    /// decide between cuts that are alike otherwise.
    losses: Vec<(LossMetric, f64)>,
    pub counts_precision: bool,
    /// What a suppressed record loses in precision.
    pub suppressed_loss: f64,
    /// By column, how much it counts.
    weights: Vec<f64>,
    /// What is to be predicted.
    pub targets: Vec<Target>,
}

/// A column that is to be predicted.
pub(super) struct Target {
    pub attribute: AttributeId,
    pub weight: f64,
    pub kind: TargetKind,
}

/// What is to be predicted of it.
pub(super) enum TargetKind {
    /// A class, and what mistakes cost.
    Class(BoundCosts),
    /// A number.
    Number {
        dispersion: Dispersion,
        /// By code, less the mean of all records.
        numbers: Vec<f64>,
        /// The dispersion of all records together.
        total_dispersion: f64,
    },
}

/// Why the objectives do not fit a table.
pub(super) type Unfit = String;

impl BoundObjective {
    pub(super) fn new(objectives: &[Objective], profile: &Profile) -> Result<Self, Unfit> {
        let mut losses = Vec::new();
        let mut targets = Vec::new();
        for Objective { kind, weight } in objectives {
            if let ObjectiveKind::Precision(loss) = kind {
                losses.push((*loss, *weight));
                continue;
            }
            let id = kind.attribute_id(profile).ok_or_else(|| without(kind))?;
            let attribute = &profile.attributes()[id.index()];
            let kind = match kind {
                ObjectiveKind::Precision(_) => continue,
                ObjectiveKind::Classification { costs, .. } => TargetKind::Class(costs.bind(attribute)),
                ObjectiveKind::Regression { dispersion, .. } => {
                    let numbers = attribute.numbers.as_ref();
                    let numbers =
                        numbers.ok_or_else(|| format!("`{}` has values that are not numbers", attribute.name))?;
                    number(profile, id, numbers, *dispersion)
                }
            };
            targets.push(Target { attribute: id, weight: *weight, kind });
        }
        let counts_precision = !losses.is_empty();
        if !counts_precision {
            losses.push((LossMetric::Lm, 1.0));
        }
        let weights: Vec<f64> = profile.columns().iter().map(|column| column.weight).collect();
        let mut objective = Self { losses, counts_precision, suppressed_loss: 0.0, weights, targets };
        objective.suppressed_loss =
            profile.columns().iter().enumerate().map(|(at, column)| objective.suppressed_loss_in(at, column)).sum();
        Ok(objective)
    }

    /// What a suppressed record loses in a column: by LM all there is to lose, even where that is nothing.
    fn suppressed_loss_in(&self, at: usize, Column { domain, .. }: &Column) -> f64 {
        let of = |(loss, weight): &(LossMetric, f64)| match loss {
            _ if domain.is_empty() => 0.0,
            LossMetric::Lm => *weight,
            LossMetric::Ncp => weight * loss.of(domain, domain.whole()),
        };
        self.weights[at] * self.losses.iter().map(of).sum::<f64>()
    }

    /// What a record loses in precision that leaves as a cell of a column.
    pub(super) fn precision_loss(&self, profile: &Profile, column: usize, cell: Cell) -> f64 {
        let domain = &profile.columns()[column].domain;
        self.weights[column] * self.losses.iter().map(|(loss, weight)| weight * loss.of(domain, cell)).sum::<f64>()
    }
}

fn without(kind: &ObjectiveKind) -> Unfit {
    format!("`{}` needs a column of the role `class`, or one named by `column`", kind.name())
}

fn number(profile: &Profile, attribute: AttributeId, numbers: &[f64], dispersion: Dispersion) -> TargetKind {
    let everything = profile.everything();
    let group = Group::new(profile, &everything);
    let histogram = group.histogram(attribute);
    let total = profile.records().max(1) as f64;
    let mean: f64 = histogram.iter().map(|&(code, records)| numbers[code as usize] * (records as f64 / total)).sum();
    // About their mean, so that squares of great numbers do not drown what differs.
    let numbers: Vec<f64> = numbers.iter().map(|number| number - mean).collect();
    let total_dispersion = dispersion.of(&numbers, histogram);
    TargetKind::Number { dispersion, numbers, total_dispersion }
}
