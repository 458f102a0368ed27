//! The objectives of the policy, bound to a table: one weighted sum to minimize.

use crate::{
    hierarchy::Cell,
    ids::AttributeId,
    measure::BoundCosts,
    objective::{Dispersion, LossMetric, Objective, ObjectiveKind},
    privacy::Group,
    profile::{Column, Profile},
};

/// Weighted sum of the policy's objectives.
pub(super) struct BoundObjective {
    /// Loss metrics with their weights; LM if no objective is about precision. Then precision is not part of the sum and
    /// only breaks ties.
    losses: Vec<(LossMetric, f64)>,
    /// Whether precision is part of the sum.
    pub counts_precision: bool,
    /// Precision loss per suppressed record.
    pub suppressed_loss: f64,
    /// By column, its weight in the policy.
    weights: Vec<f64>,
    /// Columns whose prediction is an objective.
    pub targets: Vec<Target>,
}

/// Column to predict from the released quasi-identifiers.
pub(super) struct Target {
    pub attribute: AttributeId,
    pub weight: f64,
    pub kind: TargetKind,
}

/// Kind of prediction.
pub(super) enum TargetKind {
    /// A class, with the costs of misclassification.
    Class(BoundCosts),
    /// A number, predicted by its group's mean or median.
    Number {
        dispersion: Dispersion,
        /// By code, the difference from the mean of all records.
        numbers: Vec<f64>,
        /// Dispersion of all records as one group.
        total_dispersion: f64,
    },
}

impl BoundObjective {
    /// Binds the objectives; an error says why they do not fit the table.
    pub(super) fn new(objectives: &[Objective], profile: &Profile) -> Result<Self, String> {
        let mut losses = Vec::new();
        let mut targets = Vec::new();
        for Objective { kind, weight } in objectives {
            if let ObjectiveKind::Precision(loss) = kind {
                losses.push((*loss, *weight));
                continue;
            }
            let id = kind.attribute_id(profile).ok_or_else(|| missing_column(kind))?;
            let attribute = &profile.attributes()[id.index()];
            let kind = match kind {
                ObjectiveKind::Precision(_) => continue,
                ObjectiveKind::Classification { costs, .. } => TargetKind::Class(costs.bind(attribute)),
                ObjectiveKind::Regression { dispersion, .. } => {
                    let numbers = attribute.numbers.as_ref();
                    let numbers =
                        numbers.ok_or_else(|| format!("`{}` has values that are not numbers", attribute.name))?;
                    number_target(profile, id, numbers, *dispersion)
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

    /// Precision loss per suppressed record in one column. By LM it is always 1, even if the column has a single value.
    fn suppressed_loss_in(&self, at: usize, Column { domain, .. }: &Column) -> f64 {
        let of = |(loss, weight): &(LossMetric, f64)| match loss {
            _ if domain.is_empty() => 0.0,
            LossMetric::Lm => *weight,
            LossMetric::Ncp => weight * loss.of(domain, domain.whole()),
        };
        self.weights[at] * self.losses.iter().map(of).sum::<f64>()
    }

    /// Precision loss per record that is released as the cell.
    pub(super) fn precision_loss(&self, profile: &Profile, column: usize, cell: Cell) -> f64 {
        let domain = &profile.columns()[column].domain;
        self.weights[column] * self.losses.iter().map(|(loss, weight)| weight * loss.of(domain, cell)).sum::<f64>()
    }
}

fn missing_column(kind: &ObjectiveKind) -> String {
    format!("`{}` needs a column of the role `class`, or one named by `column`", kind.name())
}

fn number_target(profile: &Profile, attribute: AttributeId, numbers: &[f64], dispersion: Dispersion) -> TargetKind {
    let everything = profile.everything();
    let group = Group::new(profile, &everything);
    let histogram = group.histogram(attribute);
    let total = profile.records().max(1) as f64;
    let mean: f64 = histogram.iter().map(|&(code, records)| numbers[code as usize] * (records as f64 / total)).sum();
    // Centered at the mean, so that the squares of large numbers do not cancel.
    let numbers: Vec<f64> = numbers.iter().map(|number| number - mean).collect();
    let total_dispersion = dispersion.of(&numbers, histogram);
    TargetKind::Number { dispersion, numbers, total_dispersion }
}
