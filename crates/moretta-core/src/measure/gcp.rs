//! Global certainty penalty: NCP divided by its largest possible value.

use super::{MeasureEntry, ncp};

pub(super) const ENTRY: MeasureEntry = MeasureEntry {
    name: "gcp",
    summary: "NCP as a share of the worst possible: 0 nothing lost, 1 everything",
    value: |context| Some(ncp::value(context) / (context.total() * context.weights.iter().sum::<f64>())),
    of_column: None,
    needs_cells: true,
    objective: None,
};
