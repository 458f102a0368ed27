//! The objectives of the policy, bound to the columns of a table: one weighted sum to minimize.

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
    /// Loss metrics of the precision objectives, with their weights. If the policy has none of them, this is LM alone,
    /// which is not part of the sum and only breaks ties.
    losses: Vec<(LossMetric, f64)>,
    /// Whether precision is part of the sum.
    pub includes_precision: bool,
    /// Precision loss per suppressed record, summed over columns.
    pub suppressed_loss: f64,
    /// Columns with a classification or regression objective.
    pub targets: Vec<Target>,
}

/// Column to predict from the released quasi-identifiers.
pub(super) struct Target {
    pub attribute: AttributeId,
    pub weight: f64,
    pub kind: TargetKind,
}

/// The way in which a column is predicted.
pub(super) enum TargetKind {
    /// As a class: the prediction for a group is its majority class. Mistakes have these costs.
    Class(BoundCosts),
    /// As a number: the prediction for a group is its mean or median.
    Number {
        dispersion: Dispersion,
        /// By code, the number minus the mean over all records.
        centered: Vec<f64>,
        /// Dispersion of all records as one group.
        total_dispersion: f64,
    },
}

impl BoundObjective {
    /// Binds the objectives. The error says which column an objective lacks, or why the column does not fit.
    pub(super) fn new(objectives: &[Objective], profile: &Profile) -> Result<Self, String> {
        let mut losses = Vec::new();
        let mut targets = Vec::new();
        for Objective { kind, weight } in objectives {
            if let ObjectiveKind::Precision(loss) = kind {
                losses.push((*loss, *weight));
                continue;
            }
            let missing =
                || format!("`{}` needs a column with the role `class`, or one named by `column`", kind.name());
            let id = kind.attribute_id(profile).ok_or_else(missing)?;
            let attribute = &profile.attributes()[id.index()];
            let kind = match kind {
                ObjectiveKind::Precision(_) => continue,
                ObjectiveKind::Classification { costs, .. } => TargetKind::Class(costs.bind(attribute)),
                ObjectiveKind::Regression { dispersion, .. } => {
                    let unfit = || format!("`{}` has values that are not numbers", attribute.name);
                    number_target(profile, id, attribute.numbers.as_ref().ok_or_else(unfit)?, *dispersion)
                }
            };
            targets.push(Target { attribute: id, weight: *weight, kind });
        }
        let includes_precision = !losses.is_empty();
        if !includes_precision {
            losses.push((LossMetric::Lm, 1.0));
        }
        let mut objective = Self { losses, includes_precision, suppressed_loss: 0.0, targets };
        objective.suppressed_loss = profile.columns().iter().map(|column| objective.suppressed_loss_in(column)).sum();
        Ok(objective)
    }

    /// Precision loss per suppressed record in one column. LM counts 1 even if the column has a single value, for which
    /// `*` would lose nothing.
    fn suppressed_loss_in(&self, Column { domain, weight: column_weight, .. }: &Column) -> f64 {
        let of = |(loss, weight): &(LossMetric, f64)| match loss {
            _ if domain.is_empty() => 0.0,
            LossMetric::Lm => *weight,
            LossMetric::Ncp => weight * loss.of(domain, domain.whole()),
        };
        column_weight * self.losses.iter().map(of).sum::<f64>()
    }

    /// Weighted precision loss of one column per record that is released as `cell`.
    pub(super) fn precision_loss(&self, profile: &Profile, column: usize, cell: Cell) -> f64 {
        let Column { domain, weight: column_weight, .. } = &profile.columns()[column];
        column_weight * self.losses.iter().map(|(loss, weight)| weight * loss.of(domain, cell)).sum::<f64>()
    }
}

fn number_target(profile: &Profile, attribute: AttributeId, numbers: &[f64], dispersion: Dispersion) -> TargetKind {
    let everything = profile.everything();
    let group = Group::of_records(profile, &everything);
    let histogram = group.histogram(attribute);
    let total = profile.records().max(1) as f64;
    let mean: f64 = histogram.iter().map(|&(code, records)| numbers[code as usize] * (records as f64 / total)).sum();
    // Dispersion is computed from sums of squares, which lose digits by cancellation if the mean is far from 0.
    let centered: Vec<f64> = numbers.iter().map(|number| number - mean).collect();
    let total_dispersion = dispersion.of(&centered, histogram);
    TargetKind::Number { dispersion, centered, total_dispersion }
}
