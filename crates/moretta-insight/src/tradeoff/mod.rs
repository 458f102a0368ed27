//! A path point by point: what every step of a method that goes step by step gained and cost.
//!
//! [`measured`] gives the table as it is (point 0) and the table after each [`Step`] its anonymity and every measure,
//! by the same code as for a release, so that a holder can choose a point of the trade-off instead of guessing a k.
//! [`cut_at`] is such a point as a recoding, with the suppression that the policy needs there. Nothing here is trusted
//! either: a point leaves through [`verify`](mod@moretta_core::verify) like everything else.
//!
//! Cost: the points of a path that only generalises get cheaper as the table gets coarser (see `walk`); each costs as
//! much as there are groups and values, within a factor. A column of numbers may make a step of every value, so of a long
//! path only some points are measured: those near its end, where the anonymity rises, and others evenly between.

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
    trade_off::{TradeOff, TradeOffError, cut_at, outcome_at, refused},
};

/// A point of a path. Nothing is suppressed at it. What changed is told of the last step that led here.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Point {
    /// How many steps it is from the table as it is.
    pub step: usize,
    /// What the step did that led here; none for the table as it is.
    pub action: Option<Action>,
    /// What it changed.
    pub changes: Vec<Change>,
    /// How many groups of records print alike.
    pub groups: usize,
    /// The smallest of them.
    pub anonymity: u64,
    /// How many records are in groups smaller than the policy's k; none where it has no k.
    pub below_k: Option<u64>,
    /// What is lost.
    pub measures: Measures,
}

/// All values of a column inside a cell leave as that cell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The column.
    pub column: String,
    /// What they left as before, where that was one wider cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// What they leave as from here on.
    pub to: String,
    #[serde(skip)]
    named: bool,
    #[serde(skip)]
    whole: bool,
    #[serde(skip)]
    disclosed: bool,
}

impl Change {
    /// The wider of the two cells, the one that the step is about, where its label has a name in a hierarchy. A single
    /// value, or an interval that was made of the table's own numbers, has none and is not for everybody's eyes.
    pub fn name(&self) -> Option<&str> {
        self.named.then(|| self.from.as_ref().unwrap_or(&self.to).as_str())
    }

    /// Whether that cell is all of the column.
    pub fn is_whole(&self) -> bool {
        self.whole
    }

    /// What the values leave as, where that has a name in a hierarchy and is not one of them.
    pub fn disclosed(&self) -> Option<&str> {
        self.disclosed.then_some(self.to.as_str())
    }

    fn of(profile: &Profile, before: &Cut, step: &Step) -> Vec<Self> {
        let change = |(column, cell): &(moretta_core::ids::ColumnId, Cell)| {
            let described = &profile.columns()[column.index()];
            let domain = &described.domain;
            let before = before.cells[column.index()][cell.first as usize];
            let wider = before != *cell && before.first <= cell.first && before.last >= cell.last;
            // A node above one node alone covers no more than that; which is the wider, the step knows.
            let wider = Some(before).filter(|_| wider && step.action != Action::Generalize);
            Self {
                column: described.name.clone(),
                from: wider.map(|cell| shown(domain, cell)),
                to: shown(domain, *cell),
                named: is_named(domain, wider.unwrap_or(*cell)),
                whole: wider.unwrap_or(*cell) == domain.whole(),
                disclosed: is_named(domain, *cell),
            }
        };
        step.changes.iter().map(change).collect()
    }
}

/// How a cell is told of: the ends of an interval of free numbers are somebody's numbers, and most never leave.
fn shown(domain: &Domain, cell: Cell) -> String {
    if domain.tree().is_some() || domain.is_star(cell) { domain.label(cell) } else { "an interval".to_owned() }
}

fn is_named(domain: &Domain, cell: Cell) -> bool {
    let inner = |tree: &moretta_core::hierarchy::Tree| cell.node().is_some_and(|node| !tree.is_leaf(node));
    domain.is_star(cell) || domain.tree().is_some_and(inner)
}

/// So many points are measured at once, whatever the number of threads: what is merged when, and with it the last
/// digits of a sum, must not depend on that.
const POINTS_PER_BATCH: usize = 8;

/// Paths of no more steps than this are measured at every point.
pub const MAX_POINTS: usize = 250;
/// Of longer ones every point of the end, one in so many of all that are, and others evenly between.
const LAST_POINTS_PART: usize = 5;

/// How many points of a path are measured. One that discloses is as fine as the table towards its end, where each
/// costs as much as there are tuples; so much should not cost more than everything else together.
fn max_points(steps: &[Step], tuples: usize) -> usize {
    let discloses = steps.iter().any(|step| step.action == Action::Disclose);
    let affordable = if discloses { 1_500_000 / tuples.max(1) } else { MAX_POINTS };
    affordable.clamp(5, MAX_POINTS)
}

/// Which steps of a path are measured, apart from those that have to be.
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

/// The table as it is and after each step, or on a long path after some of them, among which are those that are
/// `wanted`. None where it was stopped before the end.
pub fn measured(
    profile: &Profile,
    policy: &Policy,
    steps: &[Step],
    required: &[usize],
    observer: &dyn Observer,
) -> Option<Vec<Point>> {
    let mut walk = Walk::new(profile, &policy.release);
    let point = |(released, coarsened): (Released, &Profile)| {
        Point::new(&MeasureContext::of_coarsened(policy, profile, coarsened, &released))
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
                    let changes = Change::of(profile, walk.cut(), &steps[to - 1]);
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
    /// Figures of a release; which step led there is not filled in.
    fn new(context: &MeasureContext<'_>) -> Self {
        let released = context.released;
        let sizes = || (0..released.groups()).map(|group| released.records(group));
        Self {
            step: 0,
            action: None,
            changes: Vec::new(),
            groups: released.groups(),
            anonymity: sizes().min().unwrap_or(0),
            below_k: context.k.map(|k| sizes().filter(|&size| size < k).sum()),
            measures: Measures::of(context),
        }
    }
}
