//! Loss metric (Iyengar 2002). Columns are not weighted.

use super::{MeasureEntry, ObjectiveEntry};
use crate::objective::{LossMetric, ObjectiveKind};

pub(super) const ENTRY: MeasureEntry = MeasureEntry {
    name: "lm",
    summary: "Iyengar's loss metric: mean share of other values that a cell covers, summed over columns",
    value: |context| {
        let of_group = |group| context.released.losses(group).iter().map(|cell| cell.lm).sum::<f64>();
        Some(context.mean_over_records(of_group))
    },
    of_column: Some(|context, column| {
        Some(context.mean_over_records(|group| context.released.losses(group)[column].lm))
    }),
    needs_cells: true,
    objective: Some(ObjectiveEntry { keys: &[], read: |_, _| Ok(ObjectiveKind::Precision(LossMetric::Lm)) }),
};
