//! Global certainty penalty: NCP divided by its largest possible value.

use super::{MeasureEntry, ncp};

pub(super) const ENTRY: MeasureEntry = MeasureEntry {
    name: "gcp",
    summary: "global certainty penalty: NCP divided by its maximum; 0 is no loss, 1 is total loss",
    value: |context| Some(ncp::value(context) / (context.total() * context.weights.iter().sum::<f64>())),
    of_column: None,
    needs_cells: true,
    objective: None,
};
