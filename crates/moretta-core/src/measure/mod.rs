//! Measures: what a release lost, each computed once for all methods, from what is released alone.

mod classes;
mod context;
mod goal;
mod groups;
mod penalties;
#[cfg(test)]
mod tests;

use serde::Serialize;

pub use self::{context::MeasureContext, goal::BoundCosts};

/// A measure's entry in the registry.
#[derive(Debug, Clone, Copy)]
pub struct MeasureEntry {
    /// Its key in a report.
    pub name: &'static str,
    /// One line on what it says.
    pub summary: &'static str,
    /// Its value; none where the table has nothing it could be computed from.
    pub value: Value,
    /// Whether it needs the lost precision of each cell, which numbers released as one value do not show.
    pub needs_cells: bool,
}

type Value = fn(&MeasureContext<'_>) -> Option<f64>;

impl MeasureEntry {
    const fn of_cells(name: &'static str, value: Value, summary: &'static str) -> Self {
        Self { name, summary, value, needs_cells: true }
    }

    const fn of_groups(name: &'static str, value: Value, summary: &'static str) -> Self {
        Self { name, summary, value, needs_cells: false }
    }
}

/// All measures, in the order of a report.
#[rustfmt::skip]
pub const MEASURES: &[MeasureEntry] = &[
    MeasureEntry::of_cells("gcp", penalties::gcp,
        "NCP as a share of the worst possible: 0 nothing lost, 1 everything"),
    MeasureEntry::of_cells("ncp", penalties::ncp,
        "normalised certainty penalty: over records and columns, the weighted share of the range a cell spans"),
    MeasureEntry::of_cells("lm", penalties::lm,
        "Iyengar's loss: over columns, the mean share of other values a cell could be"),
    MeasureEntry::of_groups("cm", classes::cm,
        "classification metric: share of records suppressed or not of their group's majority class, by `costs` if any"),
    MeasureEntry::of_groups("rm", classes::rm,
        "regression metric: variance (or deviation) of a numeric class within groups, over that in the table"),
    MeasureEntry::of_groups("dm", groups::dm,
        "discernibility: sum of squared group sizes; a suppressed record counts as the whole table"),
    MeasureEntry::of_groups("avg", groups::avg,
        "mean group size over k: 1 is the best there is"),
    MeasureEntry::of_cells("ntil", penalties::ntil,
        "normalised total information loss: mean share of the range spanned, over records and columns"),
    MeasureEntry::of_cells("nil1", penalties::nil1,
        "the same, over groups and columns"),
    MeasureEntry::of_cells("nil_inf", penalties::nil_inf,
        "the same for each column's worst group, over columns"),
];

/// The values of all measures, in order; none where one does not apply.
#[derive(Debug, Clone, PartialEq)]
pub struct Measures(pub Vec<(&'static str, Option<f64>)>);

impl Measures {
    /// Values in a release.
    pub fn of(context: &MeasureContext<'_>) -> Self {
        let computable = |entry: &MeasureEntry| !entry.needs_cells || context.released.knows_cells();
        let value = |entry: &MeasureEntry| if computable(entry) { (entry.value)(context) } else { None };
        Self(MEASURES.iter().map(|entry| (entry.name, value(entry))).collect())
    }

    /// One of them.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.0.iter().find(|(known, _)| *known == name).and_then(|(_, value)| *value)
    }
}

impl Serialize for Measures {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}
