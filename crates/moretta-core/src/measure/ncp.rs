//! Normalized certainty penalty (Xu et al. 2006).

use super::{MeasureContext, MeasureEntry, ObjectiveEntry};
use crate::objective::{LossMetric, ObjectiveKind};

pub(super) const ENTRY: MeasureEntry = MeasureEntry {
    name: "ncp",
    summary: "normalized certainty penalty: weighted share of its column's range that a cell spans, summed over records and columns",
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
