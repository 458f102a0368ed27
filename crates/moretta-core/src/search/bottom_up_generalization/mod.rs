//! Bottom-up generalization: replaces values by their parents in the taxonomies, one step at a time, until the policy
//! holds (Wang, Yu, Chakraborty 2004).
//!
//! **What.** A global recoding (a value is released the same way everywhere) that satisfies every privacy model of the
//! policy together. One step, a *generalization* `G = {children} -> node`, replaces all children of one node by the
//! node in the whole column. A *vid* (the paper's word) is one combination of current nodes, that is, one group of the
//! current table; the *anonymity* `A` is the number of records of the smallest vid. With k = 2:
//!
//! ```text
//! taxonomy of Job         job     sex  records               job     sex  records
//!        *                singer  f    3                     artist  f    4
//!      /   \              dancer  f    1     {singer, dancer}  artist  m    2
//!  artist  office         singer  m    2      -> artist      clerk   m    2
//!   /  \     |            clerk   m    2     ------------>
//! singer dancer clerk     A = 1                              A = 2: done
//! ```
//!
//! **Why.** It keeps information about a class column for recipients who train a classifier, it gives the whole column
//! the same labels, and its steps up to the roots are a generalization path: the trade-off for every k from one run.
//!
//! **How.** The climb (`climb`) takes the generalization with the least information loss per unit of anonymity gained,
//! `IP(G) = I(G) / (min(A_G, k) - A)`, where `A_G` is the anonymity after `G`; if none raises `A`, the one with the
//! least `I(G)`. Ties go to the lower `I`, then to the column declared first, then to the node first in preorder.
//! `I(G)` is the loss of information about the class (as published), or the increase of NCP or LM (`information`).
//!
//! The index (`index`) makes a step cheap: it finds the vids that a generalization changes without reading the others,
//! with the cost bounds of the paper's TEA index. Columns of free numbers climb a tree of halves (`taxonomy`).
//!
//! **Cost.** O(v p) to build the index for v vids and p columns; then every step costs the vids that it changes,
//! and (with `prune`) at most p generalizations are tried per step.
//!
//! **Beyond the paper**: generalizations that turn out not to be needed are reverted, and a seeded search looks for a
//! better cut (`refine`), in which, with `partial`, a node may replace only some of its children. Records may be
//! suppressed within the budget of the policy; with models other than k-anonymity the search then runs with and without
//! suppression, and the result with less loss of precision is kept. A climb that is stopped before the policy holds
//! releases the roots.

mod candidates;
mod climb;
mod index;
mod information;
mod packed_vids;
mod refine;
mod scoped;
mod sizes;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use self::{
    climb::Climb,
    refine::{RefineObjective, RefineOptions, refine},
};
pub use super::information::Criterion;
use super::{
    AcceptedObjectives, GeneralizationPath, Method, MethodEntry, Observer, Outcome, Parameter, SearchError,
    SearchMemory, Stop, Task, Unsupported, ValidPoint, check_possible,
    size::{self, TaskSize},
    taxonomy::Taxonomy,
};
use crate::{
    hierarchy::Cell,
    ids::{ColumnId, TupleId},
    memory::{hash_table, pushed},
    objective::LossMetric,
    privacy,
    profile::{Column, Profile},
    recoding::{Action, Cut, Recoding, Step},
};

const NAME: &str = "bottom-up-generalization";

pub(super) const ENTRY: MethodEntry = MethodEntry {
    name: NAME,
    summary: "global recoding: generalizes step by step, with the least information loss per anonymity gained; has a generalization path",
    parameters: &[
        Parameter::new(
            "measure",
            "\"class\"",
            "information to keep: about the class (\"class\"), or precision (\"ncp\", \"lm\"); without a class, \"ncp\"",
        ),
        Parameter::new(
            "take-back",
            "true",
            "revert generalizations that turn out not to be needed; false: as published, without `search` and `partial`",
        ),
        Parameter::new("search", "400", "search rounds for a better result, fewer on large tables; 0: none"),
        Parameter::new("partial", "true", "allow a node to replace only some of its children"),
        Parameter::new(
            "prune",
            "true",
            "try only generalizations that can raise the anonymity; false: same result, slower",
        ),
    ],
    objectives: AcceptedObjectives::Fixed,
    build: |choice, _| Ok(Box::new(BottomUpGeneralization(choice.read_parameters()?))),
};

/// Parameters of the method in a policy.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct BottomUpParams {
    /// Information to keep; `None` for the class, or NCP if the table has no class column.
    pub measure: Option<Criterion>,
    /// Whether generalizations that turn out not to be needed are reverted.
    pub take_back: bool,
    /// Rounds of each of the searches for a better cut; 0 for none.
    pub search: u32,
    /// Whether a node may replace only some of its children.
    pub partial: bool,
    /// Whether generalizations that cannot raise the anonymity are skipped; affects speed only.
    pub prune: bool,
}

impl Default for BottomUpParams {
    fn default() -> Self {
        Self { measure: None, take_back: true, search: 400, partial: true, prune: true }
    }
}

/// Bottom-up generalization with its parameters.
#[derive(Debug, Clone, Copy)]
pub struct BottomUpGeneralization(pub BottomUpParams);

impl BottomUpGeneralization {
    fn measure(&self, task: &Task<'_>) -> Criterion {
        Criterion::or_by_table(self.0.measure, task.profile)
    }

    /// Losses that the refinement minimizes: precision, and errors in the class if the criterion is the class.
    fn refine_objective(&self, task: &Task<'_>, taxonomies: &[Taxonomy<'_>]) -> RefineObjective {
        let measure = self.measure(task);
        let precision = information::node_losses(task.profile, taxonomies, measure.loss());
        // A suppressed record has LM 1 in every column, even in a column with a single value, where the root has LM 0.
        let is_lm = measure.loss() == LossMetric::Lm;
        let full_loss = |(losses, column): (&Vec<f64>, &Column)| if is_lm { column.weight } else { losses[0] };
        let suppressed = precision.iter().zip(task.profile.columns()).map(full_loss).sum();
        RefineObjective { precision, suppressed, class: measure == Criterion::Class }
    }
}

/// Returns the cell of the root for every column that has values.
fn root_cells(profile: &Profile) -> Vec<(ColumnId, Cell)> {
    let columns = profile.columns().iter().enumerate().filter(|(_, column)| !column.domain.is_empty());
    columns.map(|(index, column)| (ColumnId::from_index(index), column.domain.whole())).collect()
}

impl Method for BottomUpGeneralization {
    fn supports(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        match self.measure(task).unfit(task.profile) {
            Some(reason) => Err(Unsupported { method: NAME, reason: reason.to_owned(), instead: Some("mondrian") }),
            None => Ok(()),
        }
    }

    fn memory(&self, task: &Task<'_>) -> SearchMemory {
        let size = TaskSize::of(task).with_whole_tuples();
        let TaskSize { tuples, variants, columns, values, nodes, .. } = size;
        let bits: u32 =
            task.profile.columns().iter().map(|column| size::nodes(&column.domain).max(1).ilog2() + 1).sum();
        // Words and hashes of the vids, their table and lists; the lists of the vids below each node.
        let index = |columns: u64, vids: u64| {
            let entries = vids * (8 * (2 + u64::from(bits) / 64) + 32 + 12) + hash_table(vids * 3 / 2, 4);
            entries + 24 * nodes + 4 * columns * vids + 32 * values + 56 * nodes + 4 * tuples
        };
        // An index and the members of its groups for each scope of the other models, and the violating groups.
        let others =
            task.models.iter().map(|model| &**model).filter(|model| privacy::only_k(*model, task.profile).is_none());
        let scopes = scoped::by_scope(others);
        let scoped = |scope: &Vec<usize>| {
            let size = |column: &usize| task.profile.columns()[*column].domain.len() as u64;
            let vids = scope.iter().map(size).fold(1, u64::saturating_mul).min(tuples);
            let members = vids * 40 + 2 * pushed(16 * variants);
            index(scope.len() as u64, vids) + members + hash_table(vids, 16) + 40 * vids
        };
        let index = index(columns, tuples) + scopes.keys().map(scoped).sum::<u64>();
        // Losses and tuples by code; a state has a group of each tuple, and each chain has three.
        let classes = if self.measure(task) == Criterion::Class { 16 } else { 0 };
        let context =
            nodes * 9 + columns * 4 * tuples + 12 * values + 4 * classes.min(variants / tuples.max(1) + 2) * tuples;
        let state = 4 * values + 4 * tuples + size.groups * (24 + 28 + 24 * classes.min(2));
        let chains = (3 * size.threads.min(refine::CHAINS) + 2) * (state + size::CELL * values);
        let refining = if self.0.take_back { context + chains + size.threads * size.grouping() } else { 0 };
        let path = 96 * nodes / 2;
        let kept = TaskSize::halving_trees(task) + 2 * size::CELL * values + path;
        let peak = kept + size.everything().max(index).max(refining);
        SearchMemory { peak, groups: None }
    }

    fn run(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Outcome, SearchError> {
        self.supports(task)?;
        check_possible(task)?;
        let outcome = self.search(task, observer);
        let only_k = task.models.iter().all(|model| privacy::only_k(&**model, task.profile).is_some());
        if task.max_suppressed == 0 || only_k || !self.0.take_back || outcome.stop != Stop::Finished {
            return Ok(outcome);
        }
        // With other models, a run that may suppress records can end in a worse cut than one that may not.
        let without = self.search(&Task { max_suppressed: 0, ..*task }, observer);
        let loss = |outcome: &Outcome| self.precision_loss(task, &outcome.recoding);
        let better = without.stop == Stop::Finished && loss(&without) < loss(&outcome);
        Ok(if better { without } else { outcome })
    }

    fn generalization_path(
        &self,
        task: &Task<'_>,
        observer: &dyn Observer,
    ) -> Option<Result<GeneralizationPath, SearchError>> {
        Some(self.supports(task).map_err(SearchError::from).map(|()| {
            let taxonomies = Taxonomy::of_columns(task.profile);
            let mut climb = Climb::new(task, &taxonomies, self.measure(task), self.0.prune);
            let satisfied = climb.climb_until_satisfied(observer) == Some(Stop::Finished);
            let suppressed = climb.cut.suppressed.iter().map(|&tuple| task.profile.tuple_records(tuple)).sum();
            let first_valid = satisfied.then_some(ValidPoint { step: climb.path.len(), suppressed_rows: suppressed });
            climb.climb_to_roots(observer);
            GeneralizationPath { steps: climb.path, first_valid }
        }))
    }
}

impl BottomUpGeneralization {
    /// Sum of LM or NCP over all records and columns, with column weights; infinite for a local recoding.
    fn precision_loss(&self, task: &Task<'_>, recoding: &Recoding) -> f64 {
        let Recoding::Global(cut) = recoding else { return f64::INFINITY };
        let loss = self.measure(task).loss();
        let columns = || task.profile.columns().iter().zip(&cut.cells);
        let of_tuple = |tuple: TupleId| -> f64 {
            let suppressed = cut.suppressed.binary_search(&tuple).is_ok();
            let cells = columns().zip(task.profile.codes(tuple));
            let losses = cells.map(|((column, cells), &code)| {
                column.weight * if suppressed { 1.0 } else { loss.of(&column.domain, cells[code as usize]) }
            });
            losses.sum::<f64>() * task.profile.tuple_records(tuple) as f64
        };
        (0..task.profile.tuples() as u32).map(TupleId).map(of_tuple).sum()
    }

    fn search(&self, task: &Task<'_>, observer: &dyn Observer) -> Outcome {
        let taxonomies = Taxonomy::of_columns(task.profile);
        let mut climb = Climb::new(task, &taxonomies, self.measure(task), self.0.prune);
        let mut stop = climb.climb_until_satisfied(observer).filter(|stop| *stop != Stop::Finished);
        let Climb { mut cut, mut path, work, .. } = climb;
        let mut work = vec![
            ("iterations", work.iterations),
            ("trials", work.trials),
            ("most_trials", work.most_trials),
            ("vids_touched", work.touched),
        ];
        if stop.is_some() {
            // Interrupted before the policy held: only the roots are known to satisfy it.
            cut = Cut::whole(task.profile);
            path.push(Step { action: Action::Generalize, changes: root_cells(task.profile) });
        } else if self.0.take_back && !(path.is_empty() && cut.suppressed.is_empty()) {
            let options = RefineOptions { partial: self.0.partial, rounds: u64::from(self.0.search) };
            let refined = refine(task, &taxonomies, self.refine_objective(task, &taxonomies), &cut, options, observer);
            stop = observer.stop();
            work.extend([("rounds", refined.rounds), ("tuples_touched", refined.touched)]);
            if let Some((better, steps)) = refined.better {
                cut = better;
                path.extend(steps);
            }
        }
        Outcome { recoding: Recoding::Global(cut), stop: stop.unwrap_or(Stop::Finished), path, work, tried: Vec::new() }
    }
}
