//! Regression metric: dispersion of a numeric class within groups.

use super::{MeasureContext, MeasureEntry, ObjectiveEntry, objective_entry::predicted, objective_value};
use crate::{
    declaration::ColumnPolicy,
    document::{Fields, PolicyError},
    ids::AttributeId,
    objective::{Dispersion, ObjectiveKind},
    privacy::Group,
    profile::VariantCount,
    schema::Kind,
    text::shown,
};

pub(super) const ENTRY: MeasureEntry = MeasureEntry {
    name: "rm",
    summary: "regression metric: variance (or deviation) of a numeric class within groups, divided by that in the table",
    value: |context| {
        let default = ObjectiveKind::Regression { column: None, dispersion: Dispersion::default() };
        objective_value::of_policy(context, &default)
    },
    of_column: None,
    needs_cells: false,
    objective: Some(ObjectiveEntry { keys: &["column", "dispersion"], read }),
};

const DISPERSIONS: &[(&str, Dispersion)] = &[("variance", Dispersion::Variance), ("deviation", Dispersion::Deviation)];

fn read(fields: &Fields<'_>, columns: &[ColumnPolicy]) -> Result<ObjectiveKind, PolicyError> {
    let (column, target) = predicted(fields, columns, "rm")?;
    if target.kind == Some(Kind::Category) {
        let at_fault = if column.is_some() { "column" } else { "name" };
        let message = format!("measure \"rm\" is for numbers, but `{}` is a category", shown(&target.name));
        return Err(PolicyError::new(fields.span(at_fault), message).help("\"cm\" is for classes"));
    }
    Ok(ObjectiveKind::Regression { column, dispersion: fields.choice("dispersion", DISPERSIONS)?.unwrap_or_default() })
}

/// Dispersion of numbers within groups, divided by that in the table; suppressed records are one group. `None` if not
/// all values are numbers.
pub(super) fn dispersed(context: &MeasureContext<'_>, column: AttributeId, dispersion: Dispersion) -> Option<f64> {
    let numbers = context.records.attributes()[column.index()].numbers.as_ref()?;
    let of_members = |members: &[VariantCount]| match members {
        [_] => 0.0,
        _ => dispersion.of(numbers, Group::of_records(context.records, members).histogram(column)),
    };
    let whole = of_members(&context.records.everything());
    let within: f64 =
        (0..context.released.groups()).map(|group| of_members(context.released.grouping().members(group))).sum();
    Some(if whole > 0.0 { within / whole } else { 0.0 })
}
