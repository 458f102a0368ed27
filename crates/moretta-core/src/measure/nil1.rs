//! [`ntil`](super::ntil) with every group counted once, whatever its size.

use super::{MeasureEntry, ntil::spanned};

pub(super) const ENTRY: MeasureEntry = MeasureEntry {
    name: "nil1",
    summary: "as ntil, but the mean over groups and columns",
    value: |context| {
        let groups = context.released.groups();
        Some((0..groups).map(|group| spanned(context, group)).sum::<f64>() / groups as f64)
    },
    of_column: None,
    needs_cells: true,
    objective: None,
};
