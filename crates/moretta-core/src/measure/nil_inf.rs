//! [`ntil`](super::ntil) of the worst group of each column.

use super::MeasureEntry;

pub(super) const ENTRY: MeasureEntry = MeasureEntry {
    name: "nil_inf",
    summary: "as ntil, but the mean of each column's worst group",
    value: |context| {
        let (released, columns) = (context.released, context.weights.len());
        let worst =
            |column: usize| (0..released.groups()).map(|group| released.losses(group)[column].ncp).fold(0.0, f64::max);
        Some((0..columns).map(worst).sum::<f64>() / columns as f64)
    },
    of_column: None,
    needs_cells: true,
    objective: None,
};
