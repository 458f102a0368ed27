//! The privacy-utility trade-off (`moretta frontier`): anonymity and losses at each point of a generalization path.
//!
//! [`measured`] computes them for the original table (point 0) and for the table after each [`Step`], by the same code
//! as for a release, so that the data holder can choose a point instead of guessing a k. [`cut_at`] turns a point into
//! a recoding, with the suppression that the policy needs there. It is not trusted: like every recoding it must pass
//! [`verify`](mod@moretta_core::verify) before it is released.
//!
//! Cost: while a path only generalizes, points get cheaper as the table gets coarser (see `walk.rs`): each costs about
//! O(groups + values). A column of numbers may contribute one step per value, so only some points of a long path are
//! measured: those near its end, where the anonymity rises, and others evenly spaced before.

mod describe;
#[cfg(test)]
mod tests;
mod trade_off;
mod walk;

use moretta_core::{
    hierarchy::{Cell, Domain},
    measure::{MeasureContext, Measures},
    policy::Policy,
    profile::Profile,
    recoding::{Action, Cut, Step},
    released::Released,
    search::Observer,
};
use rayon::prelude::*;
use serde::Serialize;

use self::walk::Walk;
pub use self::{
    describe::{caveat, held, joined, lost, release, what, wrapped},
    trade_off::{PATH_METHOD, TradeOff, TradeOffError, cut_at, outcome_at, refused},
};
use crate::naming::Naming;

/// A point of a path, without suppression. `action` and `changes` describe the last step before it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Point {
    /// Number of steps from the original table.
    pub step: usize,
    /// Kind of the last step; `None` for the original table.
    pub action: Option<Action>,
    /// Changes of the last step.
    pub changes: Vec<Change>,
    /// Number of groups.
    pub groups: usize,
    /// Records or persons of the smallest group.
    pub anonymity: u64,
    /// Records in groups smaller than the policy's k; `None` if the policy has no k.
    pub below_k: Option<u64>,
    /// Losses and other measures.
    pub measures: Measures,
}

/// A step's change of one cell: all values inside the cell are released as it. Cells are named as [`Naming`] allows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Name of the column.
    pub column: String,
    /// The previous cell of these values, if it was one wider cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The new cell of these values.
    pub to: String,
    #[serde(skip)]
    named: bool,
    #[serde(skip)]
    whole: bool,
    #[serde(skip)]
    disclosed: bool,
}

impl Change {
    /// Name of the wider of the two cells, if it is an inner node of a hierarchy. `None` for a single value and for an
    /// interval of a column without a hierarchy.
    pub fn name(&self) -> Option<&str> {
        self.named.then(|| self.from.as_ref().unwrap_or(&self.to).as_str())
    }

    /// Whether the wider of the two cells is the whole column.
    pub fn is_whole(&self) -> bool {
        self.whole
    }

    /// Name of the new cell, if it is an inner node of a hierarchy.
    pub fn disclosed(&self) -> Option<&str> {
        self.disclosed.then_some(self.to.as_str())
    }

    fn of(profile: &Profile, naming: &Naming<'_>, before: &Cut, step: &Step) -> Vec<Self> {
        let change = |(column, cell): &(moretta_core::ids::ColumnId, Cell)| {
            let described = &profile.columns()[column.index()];
            let domain = &described.domain;
            let before = before.cells[column.index()][cell.first as usize];
            let wider = before != *cell && before.first <= cell.first && before.last >= cell.last;
            // A node and its only child cover the same values: the action says which of the two is wider.
            let wider = Some(before).filter(|_| wider && step.action != Action::Generalize);
            Self {
                column: described.name.clone(),
                from: wider.map(|cell| naming.cell(*column, cell)),
                to: naming.cell(*column, *cell),
                named: is_named(domain, wider.unwrap_or(*cell)),
                whole: wider.unwrap_or(*cell) == domain.whole(),
                disclosed: is_named(domain, *cell),
            }
        };
        step.changes.iter().map(change).collect()
    }
}

fn is_named(domain: &Domain, cell: Cell) -> bool {
    let inner = |tree: &moretta_core::hierarchy::Tree| cell.node().is_some_and(|node| !tree.is_leaf(node));
    domain.is_star(cell) || domain.tree().is_some_and(inner)
}

/// Points measured in parallel. Fixed, because it decides when the profile is coarsened, and with it the last digits of
/// sums: results must not depend on the number of threads.
const POINTS_PER_BATCH: usize = 8;

/// Maximum number of measured points of a path. Not tuned.
pub const MAX_POINTS: usize = 250;
/// On longer paths, one fifth of the measured points are the last steps; the rest are evenly spaced.
const LAST_POINTS_PART: usize = 5;

/// Number of measured points of a path. The last points of a path that discloses are as fine as the original table and
/// cost O(tuples) each, so large tables get fewer: 1.5 million tuples are scanned in all.
fn max_points(steps: &[Step], tuples: usize) -> usize {
    let discloses = steps.iter().any(|step| step.action == Action::Disclose);
    let affordable = if discloses { 1_500_000 / tuples.max(1) } else { MAX_POINTS };
    affordable.clamp(5, MAX_POINTS)
}

/// The steps to measure: evenly spaced ones, the last ones, and the `required` ones.
fn sampled_steps(steps: usize, max_points: usize, required: &[usize]) -> Vec<usize> {
    if steps <= max_points {
        return (1..=steps).collect();
    }
    let last = max_points / LAST_POINTS_PART;
    let early = steps - last;
    let evenly = (1..=max_points - last).map(|part| part * early / (max_points - last)).filter(|&step| step > 0);
    let required = required.iter().copied().filter(|step| (1..=steps).contains(step));
    let mut chosen: Vec<usize> = evenly.chain(early + 1..=steps).chain(required).collect();
    chosen.sort_unstable();
    chosen.dedup();
    chosen
}

/// Measures the original table and the table after each step; on a long path only after some steps, which include the
/// `required` ones. `None` if the observer stopped it.
pub fn measured(
    profile: &Profile,
    policy: &Policy,
    steps: &[Step],
    required: &[usize],
    observer: &dyn Observer,
) -> Option<Vec<Point>> {
    let mut walk = Walk::new(profile, &policy.release);
    let naming = Naming::new(policy, profile);
    let point = |(released, coarsened): (Released, &Profile)| {
        Point::new(&MeasureContext::new(policy, profile, coarsened, &released), policy.privacy.k())
    };
    let mut points = vec![point(walk.released_under(walk.cut()))];
    let shown = sampled_steps(steps.len(), max_points(steps, profile.tuples()), required);
    let generalizing = steps.iter().take_while(|step| step.action == Action::Generalize).count();
    let (first_part, rest) = shown.split_at(shown.partition_point(|&step| step <= generalizing));
    for (index, part) in [first_part, rest].into_iter().enumerate() {
        if index > 0 && !part.is_empty() {
            walk.look_ahead(steps, part);
        }
        for batch in part.chunks(POINTS_PER_BATCH) {
            if observer.stop().is_some() {
                return None;
            }
            observer.progress(points[points.len() - 1].step as u64, steps.len() as u64);
            let walked: Vec<(usize, Vec<Change>, Cut)> = batch
                .iter()
                .map(|&to| {
                    walk.advance(&steps[walk.step()..to - 1]);
                    let changes = Change::of(profile, &naming, walk.cut(), &steps[to - 1]);
                    walk.advance(&steps[to - 1..to]);
                    walk.drop_unusable();
                    (to, changes, walk.cut().clone())
                })
                .collect();
            points.par_extend(walked.into_par_iter().map(|(step, changes, cut)| Point {
                step,
                action: Some(steps[step - 1].action),
                changes,
                ..point(walk.released_under(&cut))
            }));
            walk.coarsen(points[points.len() - 1].groups);
        }
    }
    Some(points)
}

impl Point {
    /// Figures of a release. The caller fills in the step.
    fn new(context: &MeasureContext<'_>, k: Option<u64>) -> Self {
        let (released, grouping) = (context.released, context.released.grouping());
        let sizes: Vec<(u64, u64)> =
            (0..grouping.len()).map(|group| (grouping.size(group, context.records), grouping.records(group))).collect();
        Self {
            step: 0,
            action: None,
            changes: Vec::new(),
            groups: released.groups(),
            anonymity: sizes.iter().map(|(size, _)| *size).min().unwrap_or(0),
            below_k: k.map(|k| sizes.iter().filter(|(size, _)| *size < k).map(|(_, records)| records).sum()),
            measures: Measures::of(context),
        }
    }
}
