//! Bottom-up generalization (Wang, Yu, Chakraborty 2004): climb the taxonomies until the policy holds, and keep what
//! a classifier needs.
//!
//! Guarantees: a global recoding (equal values leave equal) under which every privacy model holds, k-anonymity,
//! confidence templates and all others together. For whom: a holder whose recipients will model the class column, or
//! who wants the same labels in the whole column; and whoever does not know yet which k to ask for, because the climb
//! leaves the whole trade-off behind as a path.
//!
//! **The climb** (`climb`) replaces, one step at a time, all children of a node by the node: the one that loses least
//! information `I(G)` per unit of anonymity gained, `IP(G) = I(G) / (min(A_G, K) - A)`; where none raises the anonymity,
//! the one that loses least. Ties go to the lower `I`, the column declared first, the node first in preorder. `I(G)` is
//! what the values tell about the class (as published), or the rise of NCP or LM.
//!
//! **The index** (`index`) has the bounds of the paper's TEA index: a generalization can only raise the anonymity where
//! every vid of the smallest size carries a child of its node, so at most one a column is worth trying, and trying or
//! applying it touches only the vids that carry a child. Cost: O(v p) to build for v vids and p columns, then the vids
//! touched. A column of free numbers climbs a tree of halves (`taxonomy`).
//!
//! **Beyond the paper**: what turns out not to be needed is taken back, and a seeded search looks for a better cut
//! (`refine`); records may be suppressed within the policy's budget; a node may stand for some of its children only.

mod candidates;
mod climb;
mod index;
mod information;
mod refine;
mod rows;
mod scoped;
mod sizes;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use self::{
    climb::Climb,
    refine::{Effort, What, refine},
};
pub use super::information::Measure;
use super::{
    Frontier, Holds, Method, MethodEntry, Minimises, Observer, Outcome, Parameter, SearchError, Stop, Task,
    Unsupported, check_possible, taxonomy::Taxonomy,
};
use crate::{
    hierarchy::Cell,
    ids::{ColumnId, TupleId},
    objective::Loss,
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
            "revert generalizations that turn out not to be needed; false: as published",
        ),
        Parameter::new("search", "400", "search rounds for a better result, fewer on large tables; 0: none"),
        Parameter::new("partial", "true", "allow a node to replace only some of its children"),
        Parameter::new(
            "prune",
            "true",
            "try only generalizations that can raise the anonymity; false: same result, slower",
        ),
    ],
    minimises: Minimises::ItsOwn,
    build: |choice, _| Ok(Box::new(BottomUpGeneralization(choice.read_parameters()?))),
};

/// The method's parameters.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Settings {
    /// What is to be kept; the class where there is one, otherwise NCP.
    pub measure: Option<Measure>,
    /// Whether generalizations that turn out not to be needed are taken back.
    pub take_back: bool,
    /// Rounds of the search for a better result.
    pub search: u32,
    /// Whether a node may stand for some of its children only.
    pub partial: bool,
    /// Whether only generalizations are tried that can raise the anonymity.
    pub prune: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { measure: None, take_back: true, search: 400, partial: true, prune: true }
    }
}

/// The method.
#[derive(Debug, Clone, Copy)]
pub struct BottomUpGeneralization(pub Settings);

impl BottomUpGeneralization {
    fn measure(&self, task: &Task<'_>) -> Measure {
        Measure::or_by_table(self.0.measure, task.profile)
    }

    /// What counts after the climb: precision, and the class where that is the measure.
    fn what(&self, task: &Task<'_>, taxonomies: &[Taxonomy<'_>]) -> What {
        let measure = self.measure(task);
        let precision = information::losses(task.profile, taxonomies, measure.loss());
        // A suppressed record has lost all of LM in every column, even in one that had nothing to lose.
        let lm = measure.loss() == Loss::Lm;
        let all = |(losses, column): (&Vec<f64>, &Column)| if lm { column.weight } else { losses[0] };
        let suppressed = precision.iter().zip(task.profile.columns()).map(all).sum();
        What { precision, suppressed, class: measure == Measure::Class }
    }
}

fn whole(profile: &Profile) -> Vec<(ColumnId, Cell)> {
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

    fn run(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Outcome, SearchError> {
        self.supports(task)?;
        check_possible(task)?;
        let outcome = self.search(task, observer);
        let only_k = task.models.iter().all(|model| privacy::only_k(&**model, task.profile).is_some());
        if task.max_suppressed == 0 || only_k || !self.0.take_back || outcome.stop != Stop::Finished {
            return Ok(outcome);
        }
        // Beside other models a budget may lead the climb astray: what may be suppressed need not be.
        let without = self.search(&Task { max_suppressed: 0, ..*task }, observer);
        let lost = |outcome: &Outcome| self.lost(task, &outcome.recoding);
        let better = without.stop == Stop::Finished && lost(&without) < lost(&outcome);
        Ok(if better { without } else { outcome })
    }

    fn frontier(&self, task: &Task<'_>, observer: &dyn Observer) -> Option<Result<Frontier, SearchError>> {
        Some(self.supports(task).map_err(SearchError::from).map(|()| {
            let taxonomies = Taxonomy::of_columns(task.profile);
            let mut climb = Climb::new(task, &taxonomies, self.measure(task), self.0.prune);
            let held = climb.until_it_holds(observer) == Some(Stop::Finished);
            let suppressed = climb.cut.suppressed.iter().map(|&tuple| task.profile.tuple_records(tuple)).sum();
            let holds = held.then_some(Holds { step: climb.path.len(), suppressed_rows: suppressed });
            climb.on_to_the_roots(observer);
            Frontier { steps: climb.path, holds }
        }))
    }
}

impl BottomUpGeneralization {
    /// How much precision a recoding loses, over all records and columns.
    fn lost(&self, task: &Task<'_>, recoding: &Recoding) -> f64 {
        let Recoding::Cut(cut) = recoding else { return f64::INFINITY };
        let loss = self.measure(task).loss();
        let columns = || task.profile.columns().iter().zip(&cut.cells);
        let of_tuple = |tuple: TupleId| -> f64 {
            let suppressed = cut.suppressed.binary_search(&tuple).is_ok();
            let cells = columns().zip(task.profile.codes(tuple));
            let lost = cells.map(|((column, cells), &code)| {
                column.weight * if suppressed { 1.0 } else { loss.of(&column.domain, cells[code as usize]) }
            });
            lost.sum::<f64>() * task.profile.tuple_records(tuple) as f64
        };
        (0..task.profile.tuples() as u32).map(TupleId).map(of_tuple).sum()
    }

    fn search(&self, task: &Task<'_>, observer: &dyn Observer) -> Outcome {
        let taxonomies = Taxonomy::of_columns(task.profile);
        let mut climb = Climb::new(task, &taxonomies, self.measure(task), self.0.prune);
        let mut stop = climb.until_it_holds(observer).filter(|stop| *stop != Stop::Finished);
        let Climb { mut cut, mut path, work, .. } = climb;
        let mut work = vec![
            ("iterations", work.iterations),
            ("trials", work.trials),
            ("most_trials", work.most_trials),
            ("vids_touched", work.touched),
        ];
        if stop.is_some() {
            // Nothing holds yet but this.
            cut = Cut::whole(task.profile);
            path.push(Step { action: Action::Generalize, changes: whole(task.profile) });
        } else if self.0.take_back && !(path.is_empty() && cut.suppressed.is_empty()) {
            let effort = Effort { partial: self.0.partial, rounds: u64::from(self.0.search) };
            let refined = refine(task, &taxonomies, self.what(task, &taxonomies), &cut, effort, observer);
            stop = observer.stop();
            work.extend([("rounds", refined.rounds), ("tuples_touched", refined.touched)]);
            if let Some((better, steps)) = refined.better {
                cut = better;
                path.extend(steps);
            }
        }
        Outcome { recoding: Recoding::Cut(cut), stop: stop.unwrap_or(Stop::Finished), path, work }
    }
}
