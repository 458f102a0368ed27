//! How the values of a column were spread, and how they look from the release: the data of a histogram.
//!
//! *Before* is how many records have a value. *After* is what a recipient reads off the release: the records of each
//! released cell, spread evenly over what the cell covers, as the queries of [`evaluate`](crate::evaluate) do it.
//!
//! Histograms leave the house, so no bar may be about a few people, and none may tell the least or the greatest value:
//!
//! - a bar that stands for at least one record of the table stands for `max(k, 10)` of them; one that has fewer is
//!   merged with its neighbours, or is among the "other values". Where the whole table has fewer, there is one bar.
//! - bars of numbers and dates begin at round values (`bins.rs`), and the first and the last are open; where they begin
//!   depends on no value nearer to an end than the `max(k, 10)`-th, so that the ends of a small table do not show either;
//! - a category, or a node of its hierarchy, is named only where it has that many records (`categories.rs`);
//! - a released label that does not print its ends (`*`, `young`) is spread over the bars it touches, and not over its
//!   own values: else the after of a bar would tell where the values begin. An open bar counts as one step wide, so the
//!   sums do not tell how far it reaches. (A label that does print its ends, as `[17, 90]`, tells them by itself.)
//!
//! Cost: a pass over the tuples and one over the groups for each column; each distinct released label costs the logarithm of the number of bars, or as much as it is long where it is a set.

mod bins;
mod categories;
mod spread;
#[cfg(test)]
mod tests;

use moretta_core::{
    hierarchy::Domain,
    ids::ColumnId,
    policy::Policy,
    profile::Profile,
    released::{Covered, Released},
};
use rayon::prelude::*;
use serde::Serialize;

/// No bar stands for fewer records of the table than this, however small k is.
const MIN_RECORDS_PER_BAR: u64 = 10;

/// How the records of a column are spread, before and after.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Distribution {
    /// How many records of the table a bar stands for at least.
    pub floor: u64,
    /// Whether bars stand for ranges, in order.
    pub ordered: bool,
    /// The bars. Both their befores and their afters add up to the records.
    pub bars: Vec<Bar>,
}

/// One bar before and one after.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bar {
    /// What it stands for.
    pub label: String,
    /// How many records of the table.
    pub before: u64,
    /// How many records a recipient would take for such.
    pub after: f64,
    /// How many of these are released as something that lies within the bar. The others could also be elsewhere.
    pub sure: f64,
}

/// The distributions of all quasi-identifiers.
pub fn all(policy: &Policy, profile: &Profile, released: &Released) -> Vec<Distribution> {
    let floor = floor(policy);
    (0..profile.columns().len())
        .into_par_iter()
        .map(|column| {
            let counts = ColumnCounts::of(profile, released, column);
            let domain = &profile.columns()[column].domain;
            let ordered = domain.kind().is_ordered();
            let bars =
                if ordered { bins::bars(domain, &counts, floor) } else { categories::bars(domain, &counts, floor) };
            let bars =
                bars.into_iter().map(|bar| Bar { after: rounded(bar.after), sure: rounded(bar.sure), ..bar }).collect();
            Distribution { floor, ordered, bars }
        })
        .collect()
}

/// Without the noise of sums.
fn rounded(records: f64) -> f64 {
    (records * 1e6).round() / 1e6
}

/// How many records of the table a bar stands for at least.
fn floor(policy: &Policy) -> u64 {
    policy.privacy.k().unwrap_or(0).max(MIN_RECORDS_PER_BAR)
}

/// What is counted of one column.
struct ColumnCounts<'a> {
    /// Records of the original table, by code.
    before: &'a [u64],
    /// Labels of the release.
    after: Vec<LabelCount<'a>>,
}

/// A label of the release.
struct LabelCount<'a> {
    text: &'a str,
    /// As [`Released::covered`] says.
    covered: Option<Covered<'a>>,
    records: f64,
}

impl<'a> ColumnCounts<'a> {
    fn of(profile: &'a Profile, released: &'a Released, column: usize) -> Self {
        let labels = (0..).zip(released.labels(column)).zip(released.label_records(column));
        let after = labels.map(|((label, text), records)| LabelCount {
            text,
            covered: released.covered(column, label),
            records: records as f64,
        });
        Self { before: profile.code_records(ColumnId::from_index(column)), after: after.collect() }
    }

    fn missing(&self, domain: &Domain) -> u64 {
        domain.missing().map_or(0, |code| self.before[code as usize])
    }
}
