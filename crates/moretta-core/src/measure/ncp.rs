//! Normalized certainty penalty (Xu et al. 2006).

use super::{MeasureContext, MeasureEntry, ObjectiveEntry};
use crate::objective::{LossMetric, ObjectiveKind};

pub(super) const ENTRY: MeasureEntry = MeasureEntry {
    name: "ncp",
    summary: "normalised certainty penalty: over records and columns, the weighted share of the range a cell spans",
    value: |context| Some(value(context)),
    of_column: Some(|context, column| {
        Some(context.mean_over_records(|group| context.released.losses(group)[column].ncp))
    }),
    needs_cells: true,
    objective: Some(ObjectiveEntry { keys: &[], read: |_, _| Ok(ObjectiveKind::Precision(LossMetric::Ncp)) }),
};

pub(super) fn value(context: &MeasureContext<'_>) -> f64 {
    context.weighted_mean_loss(|cell| cell.ncp) * context.total()
}
