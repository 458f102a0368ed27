//! Measures of information loss, each computed once for all methods, from the release alone.
//!
//! One file per measure, each with an `ENTRY`; [`MEASURES`] lists them. Reports, pages, commands and the conformance
//! suite follow from that list.

mod avg;
mod cm;
mod context;
mod dm;
mod entropy;
mod gcp;
mod lm;
mod ncp;
mod nil1;
mod nil_inf;
mod ntil;
mod objective_entry;
mod objective_value;
mod rm;
#[cfg(test)]
mod tests;

use serde::Serialize;

pub(crate) use self::objective_entry::target_column;
pub use self::{
    context::{MeasureContext, MeasuredPolicy},
    objective_entry::{ObjectiveEntry, objectives},
    objective_value::BoundCosts,
};

/// A measure's entry in the registry.
#[derive(Debug, Clone, Copy)]
pub struct MeasureEntry {
    /// Key in a report.
    pub name: &'static str,
    /// Meaning in one line.
    pub summary: &'static str,
    /// Value of a release; `None` if the table has nothing it could be computed from.
    pub value: fn(&MeasureContext<'_>) -> Option<f64>,
    /// Value of one quasi-identifier, by its index; `None` for measures of whole records.
    pub of_column: Option<fn(&MeasureContext<'_>, usize) -> Option<f64>>,
    /// Whether it needs the cell or the loss of each label
    /// ([`Released::knows_cells`](crate::released::Released::knows_cells)).
    pub needs_cells: bool,
    /// How a policy asks to minimize it; `None` if it is only reported.
    pub objective: Option<ObjectiveEntry>,
}

impl MeasureEntry {
    fn is_computable(&self, context: &MeasureContext<'_>) -> bool {
        !self.needs_cells || context.released.knows_cells()
    }
}

/// All measures, in the order of a report. The first with a value per column is drawn as a bar: it must be a share from
/// 0 to 1.
pub const MEASURES: &[MeasureEntry] = &[
    gcp::ENTRY,
    ncp::ENTRY,
    lm::ENTRY,
    entropy::ENTRY,
    cm::ENTRY,
    rm::ENTRY,
    dm::ENTRY,
    avg::ENTRY,
    ntil::ENTRY,
    nil1::ENTRY,
    nil_inf::ENTRY,
];

/// Values of measures by name, in the order of the registry; `None` if a measure does not apply.
#[derive(Debug, Clone, PartialEq)]
pub struct Measures(pub Vec<(&'static str, Option<f64>)>);

impl Measures {
    /// Every measure of a release.
    pub fn of(context: &MeasureContext<'_>) -> Self {
        let value = |entry: &MeasureEntry| entry.is_computable(context).then(|| (entry.value)(context)).flatten();
        Self(MEASURES.iter().map(|entry| (entry.name, value(entry))).collect())
    }

    /// The measures that have a value per column, of one column.
    pub fn of_column(context: &MeasureContext<'_>, column: usize) -> Self {
        let value = |entry: &MeasureEntry| {
            let of_column = entry.of_column?;
            Some((entry.name, entry.is_computable(context).then(|| of_column(context, column)).flatten()))
        };
        Self(MEASURES.iter().filter_map(value).collect())
    }

    /// The value of one measure.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.0.iter().find(|(known, _)| *known == name).and_then(|(_, value)| *value)
    }
}

impl Serialize for Measures {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}
