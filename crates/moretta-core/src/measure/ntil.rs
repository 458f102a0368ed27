//! Normalized total information loss: NCP without weights, per record and column.

use super::{MeasureContext, MeasureEntry};

pub(super) const ENTRY: MeasureEntry = MeasureEntry {
    name: "ntil",
    summary: "normalized total information loss: mean share of its column's range that a cell spans, over records and columns",
    value: |context| Some(context.mean_over_records(|group| spanned(context, group))),
    of_column: None,
    needs_cells: true,
    objective: None,
};

/// Mean over columns of the share of its range that a group's cell spans.
pub(super) fn spanned(context: &MeasureContext<'_>, group: usize) -> f64 {
    let losses = context.released.losses(group);
    losses.iter().map(|cell| cell.ncp).sum::<f64>() / losses.len() as f64
}
