//! Top-down disclosure: starts with everything suppressed and discloses one value at a time, as long as no template is
//! violated (Wang, Fung, Yu 2005, 2007).
//!
//! **What.** A global recoding that satisfies every confidence template, and every other model of the policy, after
//! each step, so the search can be stopped at any time. With the template "Discharged at most 50 % given the job", and
//! records/discharged records per released value:
//!
//! ```text
//! original table       Cook 4/0   Artist 4/0   Doctor 6/0   Clerk 4/1   Trader 6/4
//! start                * 24/5                                                          21 %
//! after three steps    Cook 4/0   Artist 4/0   Doctor 6/0   * 10/5                     50 %
//! disclose Clerk?      Cook 4/0   Artist 4/0   Doctor 6/0   Clerk 4/1   * 6/4          67 %: rejected
//! ```
//!
//! **Why.** For data holders who can say which inferences must be prevented, and otherwise want to release as many
//! values as possible. No hierarchy is needed.
//!
//! **How.** In each step, the search (`search`) discloses the candidate (`candidates`) with the highest `Score = gain /
//! (privacy loss + 1)` among those that keep every template and are beneficial. The gain is the information gain about
//! the class, or the gain of precision. The privacy loss is the increase of the highest confidence, averaged over the
//! templates that contain the column. Of scores that differ by less than 1e-12, the first by column and value wins.
//!
//! The index (`confidences`) holds the current groups for each set of known columns, and what each candidate would do
//! to them (the paper's QID-tree). Disclosing a value reads only the groups that it occurs in.
//!
//! **Cost.** The rows of a value are counted once for each column of the set when it is disclosed, and again at every
//! level of a hierarchy at which it is disclosed: O(v p²) in total for p flat columns and v rows, plus the open
//! candidates of the groups that are split.
//!
//! **Beyond the paper**: values are disclosed down a hierarchy, level by level, and numbers by splitting intervals;
//! other models (`guards`) are checked when a candidate is selected. If the policy allows suppression, values are
//! disclosed in the end for which some records must be suppressed, while the loss of precision falls (`suppression`).

mod candidates;
mod confidences;
mod constraints;
mod guards;
mod projected_rows;
mod search;
mod suppression;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use self::{
    candidates::fully_masked_cells,
    constraints::Constraints,
    search::{TopDownSearch, first_step},
    suppression::disclose_more,
};
pub use super::information::Criterion;
use super::{
    AcceptedObjectives, Method, MethodEntry, Observer, Outcome, Parameter, SearchError, SearchMemory, Stop, Task,
    Unsupported, check_possible, size::TaskSize,
};
use crate::{
    hierarchy::Cell,
    profile::Column,
    recoding::{Cut, Recoding},
};

const NAME: &str = "top-down-disclosure";

pub(super) const ENTRY: MethodEntry = MethodEntry {
    name: NAME,
    summary: "global recoding: suppresses everything, then discloses what no template forbids; can be stopped at any time",
    parameters: &[
        Parameter::new(
            "measure",
            "\"class\"",
            "what to disclose first: information about the class (\"class\"), or precision (\"ncp\", \"lm\"); without a class, \"ncp\"",
        ),
        Parameter::new(
            "tries",
            "8",
            "number of points at which the split of a numeric interval is tried, best first; 1: as published",
        ),
    ],
    objectives: AcceptedObjectives::Fixed,
    build: |choice, _| {
        let params: TopDownParams = choice.read_parameters()?;
        if params.tries == 0 {
            return Err(choice.error("tries", "`tries` is 0; it must be a whole number of at least 1"));
        }
        Ok(Box::new(TopDownDisclosure(params)))
    },
};

/// Parameters of the method in a policy.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct TopDownParams {
    /// Information to disclose first; `None` for the class, or NCP if the table has no class column.
    pub measure: Option<Criterion>,
    /// Maximum number of points at which the split of an interval is tried; at least 1.
    pub tries: u32,
}

impl Default for TopDownParams {
    fn default() -> Self {
        Self { measure: None, tries: 8 }
    }
}

/// Top-down disclosure with its parameters.
#[derive(Debug, Clone, Copy)]
pub struct TopDownDisclosure(pub TopDownParams);

/// Maximum estimated memory of the counts, in bytes: a table that needs more is refused before the search starts.
const MAX_BYTES: u64 = 8 << 30;

/// Estimated bytes of a candidate with its source, its records by class, its score and its step.
const CANDIDATE_BYTES: u64 = 450;

/// Scores that differ by at most this are equal: it covers rounding errors.
const TIE: f64 = 1e-12;

impl TopDownDisclosure {
    fn measure(&self, task: &Task<'_>) -> Criterion {
        Criterion::or_by_table(self.0.measure, task.profile)
    }
}

impl Method for TopDownDisclosure {
    fn supports(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        let refuse =
            |reason: &str| Err(Unsupported { method: NAME, reason: reason.to_owned(), instead: Some("mondrian") });
        if let Some(reason) = self.measure(task).unfit(task.profile) {
            return refuse(reason);
        }
        if u32::try_from(task.profile.records()).is_err() {
            return refuse("it supports at most 4,294,967,295 records");
        }
        let bytes = Constraints::of(task).bytes(task.profile);
        if bytes > MAX_BYTES {
            let reason = format!("its counts of protected values would take about {} GB", bytes.div_ceil(1 << 30));
            return refuse(&reason);
        }
        Ok(())
    }

    fn anytime(&self) -> bool {
        true
    }

    fn memory(&self, task: &Task<'_>) -> SearchMemory {
        let size = TaskSize::of(task).with_whole_tuples();
        let constraints = Constraints::of(task);
        // Candidates of a free column are intervals: two for each that is disclosed. Others are values.
        let columns = task.profile.columns().iter();
        let of_column = |column: &Column| match column.domain.tree() {
            Some(tree) => tree.len() as u64,
            None => (2 * size.groups).min(2 * column.domain.len() as u64),
        };
        let candidates: u64 = columns.map(of_column).sum();
        let rows = constraints.bytes(task.profile) + 24 * size.tuples;
        // Models that need the members of groups: members and their order.
        let needs_members = task.models.iter().any(|model| model.limits().is_none());
        let guards = if needs_members { 2 * size.everything() + 48 * size.tuples } else { 0 };
        // Groupings of a batch of cuts.
        let more = if task.max_suppressed > 0 { size.threads.min(8) * 2 * size.grouping() } else { 0 };
        let peak = more + size.everything() + rows + guards + 60 * size.values + CANDIDATE_BYTES * candidates;
        SearchMemory { peak, groups: None }
    }

    fn run(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Outcome, SearchError> {
        self.supports(task)?;
        check_possible(task)?;
        let Some(mut search) = TopDownSearch::new(task, self.measure(task), self.0.tries, observer) else {
            let masked = Constraints::of(task).masked;
            let cells = fully_masked_cells(task.profile, &masked);
            let path = vec![first_step(&cells, &masked)];
            let stop = observer.stop().unwrap_or(Stop::OutOfTime);
            return Ok(Outcome { recoding: recoding(cells), stop, path, work: Vec::new(), tried: Vec::new() });
        };
        let stop = loop {
            if let Some(stop) = observer.stop() {
                break stop;
            }
            let Some(id) = search.next() else { break Stop::Finished };
            search.try_disclose(id, observer);
            let (all, open) = search.progress();
            observer.progress(all - open, all);
        };
        let work = vec![
            ("iterations", search.path.len() as u64 - 1),
            ("refused", search.refused),
            ("partitions_touched", search.confidences.touched),
            ("confidences_computed", search.confidences.computed),
            ("candidates_rescored", search.rescored),
        ];
        let mut cut = Cut { cells: search.candidates.cells().to_vec(), suppressed: Vec::new() };
        let mut path = search.path;
        if task.max_suppressed == 0 || stop != Stop::Finished {
            return Ok(Outcome { recoding: Recoding::Global(cut), stop, path, work, tried: Vec::new() });
        }
        let stopped = disclose_more(task, self.measure(task).loss(), &mut cut, &mut path, observer);
        Ok(Outcome { recoding: Recoding::Global(cut), stop: stopped.unwrap_or(stop), path, work, tried: Vec::new() })
    }
}

fn recoding(cells: Vec<Vec<Cell>>) -> Recoding {
    Recoding::Global(Cut { cells, suppressed: Vec::new() })
}
