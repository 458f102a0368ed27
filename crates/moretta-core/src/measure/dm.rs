//! Discernibility metric (Bayardo and Agrawal 2005).

use super::MeasureEntry;

pub(super) const ENTRY: MeasureEntry = MeasureEntry {
    name: "dm",
    summary: "discernibility metric: sum of squared group sizes; a suppressed record counts as the whole table",
    value: |context| {
        let released = context.released;
        let of_record =
            |group| if released.is_suppressed(group) { context.total() } else { released.records(group) as f64 };
        Some((0..released.groups()).map(|group| released.records(group) as f64 * of_record(group)).sum())
    },
    of_column: None,
    needs_cells: false,
    objective: None,
};
