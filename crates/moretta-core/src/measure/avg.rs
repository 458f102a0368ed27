//! Normalized average group size (LeFevre et al. 2006). `None` for a policy without k, or with one that counts
//! persons.

use super::MeasureEntry;

pub(super) const ENTRY: MeasureEntry = MeasureEntry {
    name: "avg",
    summary: "mean group size divided by k; 1 is best",
    value: |context| Some(context.total() / (context.released.groups() as f64 * context.k? as f64)),
    of_column: None,
    needs_cells: false,
    objective: None,
};
