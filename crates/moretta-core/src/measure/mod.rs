//! Measures: what a release lost, each computed once for all methods, from what is released alone.

mod classes;
mod goal;
mod groups;
mod penalties;
#[cfg(test)]
mod tests;

use serde::Serialize;

pub use self::goal::BoundCosts;
use crate::{objective::Goal, policy::Policy, profile::Profile, released::Released};

/// What a measure looks at.
#[derive(Debug, Clone, Copy)]
pub struct Scene<'a> {
    /// The released table.
    pub released: &'a Released,
    /// The profile its records belong to: that of the original for a recoding, the file's own for a file.
    pub records: &'a Profile,
    /// How much each quasi-identifier counts.
    pub weights: &'a [f64],
    /// The k that was asked for.
    pub k: Option<u64>,
    /// What the release is to be good for, as far as the policy says so: `cm` and `rm` are by the first that is one.
    pub goals: &'a [Goal],
}

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

type Value = fn(&Scene<'_>) -> Option<f64>;

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
    /// Of a release. `cells` says whether the scene knows what each cell lost.
    pub fn of(scene: &Scene<'_>, cells: bool) -> Self {
        let value = |entry: &MeasureEntry| if entry.needs_cells && !cells { None } else { (entry.value)(scene) };
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

/// The weights of a policy's quasi-identifiers.
pub fn weights(policy: &Policy) -> Vec<f64> {
    policy.quasi_identifiers().map(|column| column.weight).collect()
}

impl Scene<'_> {
    fn total(&self) -> f64 {
        self.records.records() as f64
    }

    /// The mean over records of something known of each group.
    fn mean_over_records(&self, of_group: impl Fn(usize) -> f64) -> f64 {
        let released = self.released;
        (0..released.groups()).map(|group| released.records(group) as f64 * of_group(group)).sum::<f64>() / self.total()
    }
}
