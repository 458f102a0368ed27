//! Regression metric: dispersion of a numeric class within groups.

use super::{MeasureContext, MeasureEntry, goal};
use crate::{
    ids::AttributeId,
    objective::{Dispersion, Purpose},
    privacy::Group,
    profile::Member,
};

pub(super) const ENTRY: MeasureEntry = MeasureEntry {
    name: "rm",
    summary: "regression metric: variance (or deviation) of a numeric class within groups, over that in the table",
    value: |context| goal::of_policy(context, &Purpose::Regression { column: None, dispersion: Dispersion::default() }),
    of_column: None,
    needs_cells: false,
};

/// Dispersion of numbers within groups, divided by that in the table; suppressed records are one group. `None` if not
/// all values are numbers.
pub(super) fn dispersed(context: &MeasureContext<'_>, column: AttributeId, dispersion: Dispersion) -> Option<f64> {
    let numbers = context.records.attributes()[column.index()].numbers.as_ref()?;
    let of_members = |members: &[Member]| match members {
        [_] => 0.0,
        _ => dispersion.of(numbers, Group::new(context.records, members).histogram(column)),
    };
    let whole = of_members(&context.records.everything());
    let within: f64 =
        (0..context.released.groups()).map(|group| of_members(context.released.grouping().members(group))).sum();
    Some(if whole > 0.0 { within / whole } else { 0.0 })
}
