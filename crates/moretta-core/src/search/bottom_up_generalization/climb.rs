//! The climb: applies one generalization after another, each time the one with the least information loss per unit of
//! anonymity gained.
//!
//! **Phase 1, k-anonymity.** A generalization raises the anonymity `A` only if every vid of the smallest size merges
//! with another vid. In each column, this can only be the generalization to the parent of the node that one chosen vid
//! of that size carries: all others leave this vid unchanged and are not tried (*pruning*). If no generalization raises
//! `A`, the one with the least information loss is applied, to make progress. For the table in the parent module, k
//! = 2 and an assumed I of 0.12:
//!
//! ```text
//! A = 1: the smallest vid is (dancer, f)
//!   generalization              A_G  I(G)   IP(G) = I(G) / (min(A_G, 2) - 1)
//!   {singer, dancer} -> artist   2   0.12   0.12 <- applied
//!   {f, m} -> *                  1          does not raise A, no score
//!   {clerk} -> office                       pruned: leaves (dancer, f) unchanged
//! ```
//!
//! **Phase 2, other models**, once k-anonymity holds. Scopes (sets of known columns) are repaired one after another. Of
//! the first that is violated, the worst group can be changed by one generalization per column. The score is the
//! information loss per record that moves out of violating groups; if none moves, the least information loss decides.
//!
//! **Cost.** Both phases try at most one generalization per column in each step; the index bounds the cost of each.

use super::{
    Criterion,
    candidates::{Candidates, Generalization, Scored, best},
    index::Index,
    information::{self, Information},
    scoped::ScopedGroups,
};
use crate::{
    ids::ColumnId,
    privacy::only_k,
    recoding::{Action, Constraints, Cut, Step, suppressed_within},
    search::{Observer, Stop, Task, taxonomy::Taxonomy},
};

/// Counters of work, reported with the result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ClimbCounters {
    pub iterations: u64,
    pub trials: u64,
    /// Maximum trials in one iteration: at most the number of columns if `prune` is set.
    pub most_trials: u64,
    pub touched: u64,
}

/// State of a climb.
pub(super) struct Climb<'a> {
    task: Task<'a>,
    taxonomies: &'a [Taxonomy<'a>],
    information: Vec<Information>,
    prune: bool,
    k: u64,
    index: Index,
    scoped: Vec<ScopedGroups<'a>>,
    candidates: Candidates,
    constraints: Constraints<'a>,
    /// The current recoding.
    pub cut: Cut,
    pub path: Vec<Step>,
    pub work: ClimbCounters,
}

impl<'a> Climb<'a> {
    pub(super) fn new(task: &Task<'a>, taxonomies: &'a [Taxonomy<'a>], measure: Criterion, prune: bool) -> Self {
        let k = task.models.iter().filter_map(|model| only_k(&**model, task.profile)).max().unwrap_or(1);
        let columns: Vec<usize> = (0..taxonomies.len()).collect();
        let ((index, _), information) = rayon::join(
            || Index::new(task.profile, taxonomies, &columns, k),
            || information::of_columns(task.profile, taxonomies, measure),
        );
        let candidates = Candidates::new(taxonomies, &information);
        let others = task.models.iter().map(|model| &**model).filter(|model| only_k(*model, task.profile).is_none());
        Self {
            task: *task,
            taxonomies,
            information,
            prune,
            k,
            index,
            scoped: ScopedGroups::of_models(task.profile, taxonomies, others),
            candidates,
            constraints: Constraints::new(task.profile, task.models),
            cut: Cut::identity(task.profile),
            path: Vec::new(),
            work: ClimbCounters::default(),
        }
    }

    /// Climbs until the policy holds, and stores in the cut the tuples to suppress for that. Returns `None` if the
    /// policy does not hold at the roots either.
    pub(super) fn climb_until_satisfied(&mut self, observer: &dyn Observer) -> Option<Stop> {
        while !self.satisfies_policy() {
            if let Some(stop) = observer.stop() {
                return Some(stop);
            }
            if !self.step() {
                return None;
            }
        }
        Some(Stop::Finished)
    }

    /// Continues to the roots, to complete the generalization path.
    pub(super) fn climb_to_roots(&mut self, observer: &dyn Observer) {
        while observer.stop().is_none() && self.step() {}
    }

    /// Whether the policy holds, if necessary with suppressed records within the budget, which are stored in the cut.
    fn satisfies_policy(&mut self) -> bool {
        self.cut.suppressed.clear();
        if self.index.anonymity() >= self.k && self.scoped.iter().all(ScopedGroups::is_satisfied) {
            return true;
        }
        let max_suppressed = self.task.max_suppressed;
        let exceeds_budget = |records: u64| records > max_suppressed;
        if max_suppressed == 0
            || exceeds_budget(self.index.min_suppressed())
            || self.scoped.iter().any(|scoped| exceeds_budget(scoped.violating_records()))
        {
            return false;
        }
        let Some(suppressed) = suppressed_within(&self.constraints, &self.cut, max_suppressed) else { return false };
        self.cut.suppressed = suppressed;
        true
    }

    /// Applies one generalization. Returns `false` if all values are at the root.
    fn step(&mut self) -> bool {
        let Some(chosen) = self.choose() else { return false };
        let (column, node) = chosen;
        debug_assert!(self.work.most_trials <= self.taxonomies.len() as u64 || !self.prune);
        self.index.apply(column, &self.taxonomies[column], node);
        for scoped in &mut self.scoped {
            scoped.apply(chosen, self.taxonomies);
        }
        self.candidates.mark_done(chosen, self.taxonomies);
        let change = (ColumnId::from_index(column), self.taxonomies[column].cell(node));
        let step = Step { action: Action::Generalize, changes: vec![change] };
        self.cut.apply(&step);
        self.path.push(step);
        self.work.iterations += 1;
        self.work.touched = self.index.touched + self.scoped.iter().map(|scoped| scoped.index.touched).sum::<u64>();
        true
    }

    fn choose(&mut self) -> Option<Generalization> {
        let anonymity = self.index.anonymity();
        let violating = self.scoped.iter().position(|scoped| !scoped.is_satisfied());
        let scored = match violating {
            Some(violating) if anonymity >= self.k => self.score_by_models(violating),
            // Once the policy holds, the climb only continues for the path, and any gain of anonymity counts.
            _ => self.score_by_anonymity(anonymity, if anonymity < self.k { self.k } else { u64::MAX }),
        };
        best(&scored).or_else(|| self.candidates.min_information())
    }

    fn count_trials(&mut self, trials: usize) {
        self.work.trials += trials as u64;
        self.work.most_trials = self.work.most_trials.max(trials as u64);
    }

    fn information(&self, (column, node): Generalization) -> f64 {
        self.information[column][node.index()]
    }

    /// Scores the generalizations that raise the anonymity; an anonymity above `cap` counts as `cap`.
    fn score_by_anonymity(&mut self, anonymity: u64, cap: u64) -> Vec<Scored> {
        let tried: Vec<Generalization> = if self.prune {
            let critical = self.index.critical_nodes(self.taxonomies).into_iter().enumerate();
            let critical = critical.filter_map(|(column, node)| Some((column, node?)));
            critical.filter(|&one| self.candidates.contains(one)).collect()
        } else {
            self.candidates.all()
        };
        let mut scored = Vec::new();
        let mut trials = 0;
        for generalization in tried {
            let (column, node) = generalization;
            let touched = self.index.touched;
            let taxonomy = &self.taxonomies[column];
            let after = if self.prune {
                self.index.anonymity_after(column, taxonomy, node, cap)
            } else {
                self.index.scan_anonymity_after(column, taxonomy, node).min(cap)
            };
            // Nothing is read if a witness answered: that is not a trial.
            trials += usize::from(self.index.touched > touched);
            let gain = after - anonymity;
            if gain > 0 {
                let information = self.information(generalization);
                scored.push(Scored { ratio: information / gain as f64, information, generalization });
            }
        }
        self.count_trials(trials);
        scored
    }

    /// Scores the generalizations that change the group which violates a model most.
    fn score_by_models(&mut self, violating: usize) -> Vec<Scored> {
        let critical = self.scoped[violating].critical_generalizations(self.taxonomies).into_iter();
        let tried: Vec<Generalization> = critical.filter(|&one| self.candidates.contains(one)).collect();
        self.count_trials(tried.len());
        let mut scored = Vec::new();
        for generalization in tried {
            let gain = self.scoped[violating].repaired_records(generalization, self.taxonomies);
            let information = self.information(generalization);
            // Without a gain the group still changes, so this is the last resort.
            let ratio = if gain > 0 { information / gain as f64 } else { f64::MAX };
            scored.push(Scored { ratio, information, generalization });
        }
        scored
    }
}
