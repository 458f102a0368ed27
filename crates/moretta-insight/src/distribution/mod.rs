//! Histograms of each quasi-identifier, before and after.
//!
//! *Before* is the number of records with a value. *After* is what a recipient would estimate from the release: the
//! records of each released label, uniformly distributed over the values that the label covers, as for the queries of
//! [`evaluate`](crate::evaluate).
//!
//! ```text
//! age          before   after
//! up to 24         12     5.2
//! 25–39            15     9.7     all 48 records are released as [17, 90]:
//! 40 or more       21    33.1     each bar gets 48 times its share of the 74 ages
//! ```
//!
//! Histograms are published with the report. So no bar may describe only a few people, and none may disclose the
//! minimum or the maximum:
//!
//! - Every bar that has records stands for at least `max(k, 10)` records of the table, or persons if the policy counts
//!   them ([`naming`](crate::naming)). A bar with fewer is merged with
//!   its neighbors, or into "other values". A table with fewer records has a single bar.
//! - Bars of numbers and dates start at round values, and the first and last are open (`bins.rs`). Their edges depend
//!   on no value that is closer to an end than the `max(k, 10)`-th record.
//! - A category or a node of its hierarchy is named only if it has that many records (`categories.rs`).
//! - A label that does not print its ends (`*`, `young`) is distributed over the bars it overlaps, not over its own
//!   values: otherwise the after of a bar would disclose where the values begin. An open bar counts as one step wide,
//!   so sums do not disclose how far it reaches. (A label that prints its ends, such as `[17, 90]`, discloses them
//!   itself.)
//!
//! Cost: one pass over the tuples and one over the groups per column. A distinct label costs O(log bars), a printed set
//! O(values in the set).

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

use crate::naming::{Carriers, floor};

/// Histogram of a column, before and after.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Distribution {
    /// Minimum records or persons of the table per bar.
    pub floor: u64,
    /// Whether bars are ranges of ordered values, in order.
    pub ordered: bool,
    /// The bars. Both `before` and `after` add up to the number of records.
    pub bars: Vec<Bar>,
}

/// One bar, before and after.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bar {
    /// The values of the bar, in words.
    pub label: String,
    /// Records of the original table.
    pub before: u64,
    /// Records that a recipient would estimate from the release.
    pub after: f64,
    /// The part of `after` whose labels lie entirely within the bar. The other labels overlap several bars.
    pub sure: f64,
}

/// Distributions of all quasi-identifiers, in order.
pub fn all(policy: &Policy, profile: &Profile, released: &Released) -> Vec<Distribution> {
    let floor = floor(policy);
    (0..profile.columns().len())
        .into_par_iter()
        .map(|column| {
            let carriers = Carriers::of(policy, profile, ColumnId::from_index(column));
            let counts = ColumnCounts::of(profile, released, column, &carriers.weights);
            let domain = &profile.columns()[column].domain;
            let ordered = domain.kind().is_ordered();
            let bars = if ordered {
                bins::bars(domain, &counts, carriers.floor)
            } else {
                categories::bars(domain, &counts, carriers.floor)
            };
            let bars =
                bars.into_iter().map(|bar| Bar { after: rounded(bar.after), sure: rounded(bar.sure), ..bar }).collect();
            Distribution { floor, ordered, bars }
        })
        .collect()
}

/// Rounds to six decimals, which hides rounding errors of sums.
fn rounded(records: f64) -> f64 {
    (records * 1e6).round() / 1e6
}

/// Counts of one column, before and after.
struct ColumnCounts<'a> {
    /// Records of the original table, by code.
    before: &'a [u64],
    /// [`Carriers::weights`]: they decide which values are too rare for a bar.
    carriers: &'a [u64],
    /// Labels of the release.
    after: Vec<LabelCount<'a>>,
}

/// A label of the release.
struct LabelCount<'a> {
    text: &'a str,
    /// Result of [`Released::covered`].
    covered: Option<Covered<'a>>,
    records: f64,
}

impl<'a> ColumnCounts<'a> {
    fn of(profile: &'a Profile, released: &'a Released, column: usize, carriers: &'a [u64]) -> Self {
        let labels = (0..).zip(released.labels(column)).zip(released.label_records(column));
        let after = labels.map(|((label, text), records)| LabelCount {
            text,
            covered: released.covered(column, label),
            records: records as f64,
        });
        Self { before: profile.code_records(ColumnId::from_index(column)), carriers, after: after.collect() }
    }

    fn missing(&self, domain: &Domain) -> u64 {
        domain.missing().map_or(0, |code| self.before[code as usize])
    }

    fn missing_carriers(&self, domain: &Domain) -> u64 {
        domain.missing().map_or(0, |code| self.carriers[code as usize])
    }
}
