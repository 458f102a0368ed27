//! Loss metric (Iyengar 2002). Per cell: the share of the column's range that it covers (numbers, dates), or the share
//! of the values other than the original one (categories). The weights of columns are ignored.

use super::{MeasureEntry, ObjectiveEntry};
use crate::objective::{LossMetric, ObjectiveKind};

pub(super) const ENTRY: MeasureEntry = MeasureEntry {
    name: "lm",
    summary: "Iyengar's loss metric: mean share of the range, or of the other values, that a cell covers; summed over \
              columns",
    value: |context| {
        let group_loss = |group| context.released.losses(group).iter().map(|cell| cell.lm).sum::<f64>();
        Some(context.mean_over_records(group_loss))
    },
    of_column: Some(|context, column| {
        Some(context.mean_over_records(|group| context.released.losses(group)[column].lm))
    }),
    needs_cells: true,
    objective: Some(ObjectiveEntry { keys: &[], read: |_, _| Ok(ObjectiveKind::Precision(LossMetric::Lm)) }),
};
