//! Refinement after the climb: reverts generalizations that are not needed, then searches for a better cut.
//!
//! **Why.** The greedy climb overshoots: its last step often leaps from anonymity 1 to far above k, so that earlier
//! generalizations are no longer needed.
//!
//! **How.** A *descent* ([`descent`]) reverts generalizations, best first, as long as the policy holds. It ends in a
//! cut from which nothing can be reverted, a local optimum. An *iterated local search* goes on from there: it
//! generalizes some values at random (perturbation), descends again with some noise in the order, and continues from
//! the new local optimum unless that is clearly worse:
//!
//! ```text
//! cut of the climb --descent--> optimum --perturb--> coarser cut --descent--> another optimum --+
//!                                  ^                                                            |
//!                                  +------- unless clearly worse, start the next round here ----+
//! ```
//!
//! Several such searches (*chains*) start from the same optimum, each with its own random numbers and weights, so
//! the result, the best of their cuts, does not depend on the number of threads.
//!
//! **Never worse.** Two losses count: precision (LM or NCP) and, if the criterion is the class, the records that are
//! not of the majority class of their group. The second is CM, which sees all columns together, whereas `I(G)` of the
//! climb sees one column at a time. A result must not exceed the climb in either of them; otherwise the cut of the
//! climb is kept.
//!
//! **Cost.** A round regroups all tuples once; each reversal then costs the tuples below its node ([`state`]). The
//! total is limited by [`TUPLES_PER_ROUND`] and [`READS_PER_ROUND`]. Not in the paper.

mod context;
mod descent;
mod other_models;
mod state;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rayon::prelude::*;

use self::{
    context::{ClassAndPrecision, RefineContext},
    descent::{DescentParams, descend},
    state::CutState,
};
use crate::{
    hierarchy::{Cell, Tree},
    ids::{ColumnId, NodeId},
    recoding::{Action, Cut, Step},
    search::{Observer, Task, rng::SearchRng, taxonomy::Taxonomy},
};

/// Number of chains, which run in parallel.
pub(super) const CHAINS: u64 = 4;

/// Weights of the losses when results are compared. The class has more weight, because the method is meant for
/// classification; not tuned.
const BALANCE: ClassAndPrecision = ClassAndPrecision { class: 2.0 / 3.0, precision: 1.0 / 3.0 };
/// Weights of the losses in each chain: with a class, different weights lead to different local optima. Not tuned.
const WEIGHTS: [ClassAndPrecision; CHAINS as usize] = [
    BALANCE,
    ClassAndPrecision { class: 0.9, precision: 0.1 },
    ClassAndPrecision { class: 0.5, precision: 0.5 },
    ClassAndPrecision { class: 0.3, precision: 0.7 },
];
/// Maximum work of a chain, in tuples read per round that the user allows: on large tables a chain ends after fewer
/// rounds. Not tuned.
const TUPLES_PER_ROUND: u64 = 100_000;
/// The same for small tables, in reads of every tuple: without it, 200 records with a template and a suppression budget
/// took 500 reads per round. A round takes about 13 with k-anonymity and 60 to 90 with a template alone (measured on
/// 200 records).
const READS_PER_ROUND: u64 = 100;
/// A chain ends after `rounds / PATIENCE + MIN_PATIENCE` rounds without a better result. Not tuned.
const PATIENCE: u64 = 3;
const MIN_PATIENCE: u64 = 10;
/// A chain continues from a cut that is worse by up to this much, in units of the weighted, normalized loss, to escape
/// local optima.
const SLACK: f64 = 0.002;
/// One round in this many, on average, starts from the roots.
const RESTART_ODDS: usize = 8;
/// Differences below this share of the climb's loss are rounding errors.
const ROUNDING: f64 = 1e-9;

/// Losses to minimize.
pub(super) struct RefineObjective {
    /// By column and node: weighted LM or NCP of a record that is released as the node.
    pub precision: Vec<Vec<f64>>,
    /// Weighted LM or NCP of a suppressed record, over all columns.
    pub suppressed: f64,
    /// Whether errors in the class count as well.
    pub class: bool,
}

/// Options of the refinement, from the parameters of the method.
#[derive(Debug, Clone, Copy)]
pub(super) struct RefineOptions {
    /// Whether one child of a node may be reverted without the others.
    pub partial: bool,
    /// Maximum rounds of each chain.
    pub rounds: u64,
}

/// Result of the refinement.
pub(super) struct Refined {
    /// A better cut and the steps to it from the cut of the climb; `None` if none was found.
    pub better: Option<(Cut, Vec<Step>)>,
    pub rounds: u64,
    /// Number of tuples read, a measure of work.
    pub touched: u64,
}

/// Searches for a cut that is better than that of the climb.
pub(super) fn refine<'a>(
    task: &Task<'a>,
    taxonomies: &'a [Taxonomy<'a>],
    objective: RefineObjective,
    climbed: &Cut,
    options: RefineOptions,
    observer: &dyn Observer,
) -> Refined {
    let context = RefineContext::new(task, taxonomies, objective);
    let nodes = nodes_of(taxonomies, climbed);
    let search = RefineSearch::new(&context, options, observer, context.loss_of_cut(&nodes, climbed));

    let mut state = CutState::new(&context, nodes);
    let params =
        DescentParams { partial: options.partial, weights: search.normalized(BALANCE), noise: 0.0, thrift: 0.0 };
    let mut steps = descend(&mut state, params, &mut || 0.0, &|| observer.stop().is_some());
    let reverted = search.better_cut(&state, None);
    if reverted.is_none() {
        steps.clear();
    }
    let chains: Vec<ChainResult> = (0..WEIGHTS.len())
        .into_par_iter()
        .map(|index| search.run_chain(&state, reverted.as_ref(), index, SearchRng::new(task.seed, index as u64)))
        .collect();
    let rounds = chains.iter().map(|chain| chain.rounds).sum();
    let touched = state.work + chains.iter().map(|chain| chain.touched).sum::<u64>();
    let mut better: Option<(Cut, Vec<Step>)> = reverted.as_ref().map(|best| (best.cut.clone(), steps.clone()));
    let mut lowest_loss = reverted.as_ref().map(|best| best.lost);
    for best in chains.into_iter().filter_map(|chain| chain.best) {
        if search.is_better(best.lost, lowest_loss) {
            let path = steps.iter().cloned().chain([jump_to(taxonomies, &best.nodes)]).collect();
            lowest_loss = Some(best.lost);
            better = Some((best.cut, path));
        }
    }
    Refined { better, rounds, touched }
}

/// A cut that satisfies the policy and is better than that of the climb.
#[derive(Clone)]
struct BestCut {
    nodes: Vec<Vec<NodeId>>,
    cut: Cut,
    lost: ClassAndPrecision,
}

/// Result of one chain.
struct ChainResult {
    best: Option<BestCut>,
    rounds: u64,
    touched: u64,
}

struct RefineSearch<'a> {
    context: &'a RefineContext<'a>,
    options: RefineOptions,
    observer: &'a dyn Observer,
    /// Losses of the climb, which a result must not exceed.
    limits: ClassAndPrecision,
    /// Each loss is divided by its unit, the loss of the climb that could be avoided, and then weighted.
    units: ClassAndPrecision,
    /// Rounds of all chains so far, for progress.
    done: AtomicU64,
}

impl<'a> RefineSearch<'a> {
    fn new(
        context: &'a RefineContext<'a>,
        options: RefineOptions,
        observer: &'a dyn Observer,
        limits: ClassAndPrecision,
    ) -> Self {
        let unit = |lost: f64| if lost > 0.0 { lost } else { 1.0 };
        let class = unit(limits.class - context.min_errors());
        let units = ClassAndPrecision { class, precision: unit(limits.precision) };
        Self { context, options, observer, limits, units, done: AtomicU64::new(0) }
    }

    /// Weights divided by the units of the losses.
    fn normalized(&self, weights: ClassAndPrecision) -> ClassAndPrecision {
        let class = if self.context.classes > 0 { weights.class } else { 0.0 };
        ClassAndPrecision { class: class / self.units.class, precision: weights.precision / self.units.precision }
    }

    /// Whether a loss is not worse than the climb in either measure, and better than `than` (default: the climb) in the
    /// weighted sum.
    fn is_better(&self, lost: ClassAndPrecision, than: Option<ClassAndPrecision>) -> bool {
        let Self { limits, units, .. } = self;
        let weights = self.normalized(BALANCE);
        lost.class <= limits.class + ROUNDING * units.class
            && lost.precision <= limits.precision + ROUNDING * units.precision
            && lost.weighted_sum(weights) < than.unwrap_or(*limits).weighted_sum(weights) - ROUNDING
    }

    /// The cut of a state, if it satisfies the policy and is better than `than`.
    fn better_cut(&self, state: &CutState<'_>, than: Option<ClassAndPrecision>) -> Option<BestCut> {
        if !self.is_better(state.evaluation.lost, than) || !state.is_within_budget(state.evaluation) {
            return None;
        }
        let (cut, lost) = state.cut()?;
        self.is_better(lost, than).then(|| BestCut { nodes: state.nodes.clone(), cut, lost })
    }

    /// Runs one chain from a state, with its own random numbers and weights.
    fn run_chain(&self, start: &CutState<'_>, best: Option<&BestCut>, index: usize, mut rng: SearchRng) -> ChainResult {
        let RefineOptions { partial, rounds } = self.options;
        let weights = self.normalized(WEIGHTS[index]);
        let work_per_round = TUPLES_PER_ROUND.min(READS_PER_ROUND * self.context.profile.tuples() as u64);
        let mut current = start.clone();
        current.work = 0;
        let mut chain = ChainResult { best: best.cloned(), rounds: 0, touched: 0 };
        let mut improved_at = 0;
        while chain.rounds < rounds
            && chain.rounds - improved_at < rounds / PATIENCE + MIN_PATIENCE
            && chain.touched < rounds * work_per_round
            && self.observer.stop().is_none()
        {
            chain.rounds += 1;
            let mut next = current.clone();
            perturb(&mut next, &mut rng);
            let noise = rng.choose(&[0.0, 0.3, 1.0, 2.0]);
            let thrift = rng.choose(&[0.0, 5.0, 20.0, 80.0]);
            let params = DescentParams { partial, weights, noise, thrift };
            descend(&mut next, params, &mut || rng.unit(), &|| self.observer.stop().is_some());
            chain.touched = next.work;
            if let Some(best) = self.better_cut(&next, chain.best.as_ref().map(|best| best.lost)) {
                chain.best = Some(best);
                improved_at = chain.rounds;
            }
            if next.evaluation.lost.weighted_sum(weights) <= current.evaluation.lost.weighted_sum(weights) + SLACK {
                current = next;
            } else {
                current.work = next.work;
            }
            let done = self.done.fetch_add(1, Relaxed) + 1;
            self.observer.progress(done, rounds * WEIGHTS.len() as u64);
        }
        chain
    }
}

/// Generalizes one to three random values by one or more levels; in one call of [`RESTART_ODDS`], all values to the
/// roots.
fn perturb(state: &mut CutState<'_>, rng: &mut SearchRng) {
    if rng.below(RESTART_ODDS) == 0 {
        (0..state.nodes.len()).for_each(|column| state.generalize(column, Tree::ROOT));
    }
    for _ in 0..1 + rng.below(3) {
        let column = rng.below(state.nodes.len());
        let tree = state.context.taxonomies[column].tree();
        let code = rng.below(state.nodes[column].len());
        let mut node = state.nodes[column][code];
        let mut up = true;
        while let Some(parent) = tree.parent(node).filter(|_| up) {
            node = parent;
            up = rng.below(3) == 0;
        }
        state.generalize(column, node);
    }
    state.regroup();
}

/// Returns the node of each code, by column.
fn nodes_of(taxonomies: &[Taxonomy<'_>], cut: &Cut) -> Vec<Vec<NodeId>> {
    let node = |taxonomy: &Taxonomy<'_>, cell: &Cell| {
        cell.node().unwrap_or_else(|| taxonomy.tree().cover(cell.first, cell.last))
    };
    taxonomies
        .iter()
        .zip(&cut.cells)
        .map(|(taxonomy, cells)| cells.iter().map(|cell| node(taxonomy, cell)).collect())
        .collect()
}

/// A single step to another cut. Wide cells come first, so that cells inside them override them.
fn jump_to(taxonomies: &[Taxonomy<'_>], nodes: &[Vec<NodeId>]) -> Step {
    let mut changes = Vec::new();
    for (column, (taxonomy, nodes)) in taxonomies.iter().zip(nodes).enumerate() {
        let mut cells: Vec<Cell> = nodes.iter().map(|&node| taxonomy.cell(node)).collect();
        cells.sort_by_key(|cell| (std::cmp::Reverse(cell.last - cell.first), *cell));
        cells.dedup();
        changes.extend(cells.into_iter().map(|cell| (ColumnId::from_index(column), cell)));
    }
    Step { action: Action::Search, changes }
}
