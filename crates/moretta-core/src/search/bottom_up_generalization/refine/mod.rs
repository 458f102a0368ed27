//! After the climb: take back what is not needed, then look for a better cut elsewhere.
//!
//! The greedy climb overshoots: its last step often leaps from anonymity 1 to far above k, and what it generalised
//! before is then not needed any more. *Taking back* undoes generalizations, best first, as long as the policy
//! holds ([`descent`]). It ends in a cut from which nothing can be taken back, one of very many. The *search* goes
//! from one such cut to others: it generalises a little at random, takes back with some chance in the order, and goes
//! on from there if that is not worse. Several searches start from the same cut, each with its own share of chance and
//! its own weighing of the measures; the best of what they find is the result, which therefore does not depend on
//! threads.
//!
//! **Never worse.** What counts is precision (LM or NCP), and where the method is to serve a classifier, also how many
//! records are not of their group's majority class: CM, which sees all columns together where the climb's `I(G)` sees
//! one at a time. A result has to be at or below the climb's in each of them; otherwise the climb's stays.

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

/// How much class and precision count in the result: the method is for a classifier.
const BALANCE: ClassAndPrecision = ClassAndPrecision { class: 2.0 / 3.0, precision: 1.0 / 3.0 };
/// How much they count in each of the searches.
const WEIGHTS: [ClassAndPrecision; 4] = [
    BALANCE,
    ClassAndPrecision { class: 0.9, precision: 0.1 },
    ClassAndPrecision { class: 0.5, precision: 0.5 },
    ClassAndPrecision { class: 0.3, precision: 0.7 },
];
/// A round is worth about so many tuples looked at: on large tables there are fewer rounds.
const TUPLES_PER_ROUND: u64 = 100_000;
/// A search ends when this share of its rounds, and a few more, brought nothing better.
const PATIENCE: u64 = 3;
const MIN_PATIENCE: u64 = 10;
/// What is worse by no more than this share of the climb's loss is gone on from, to get away from where nothing
/// improves.
const SLACK: f64 = 0.002;
/// One round in so many starts from the roots.
const RESTART_ODDS: usize = 8;
/// Less than this share of the climb's loss is rounding.
const ROUNDING: f64 = 1e-9;

/// What is not to be lost.
pub(super) struct RefineObjective {
    /// By column and node, how much precision a record loses that leaves as the node.
    pub precision: Vec<Vec<f64>>,
    /// How much precision a suppressed record loses.
    pub suppressed: f64,
    /// Whether the class counts too.
    pub class: bool,
}

/// How far to go.
#[derive(Debug, Clone, Copy)]
pub(super) struct RefineOptions {
    /// Whether some children of a node may be taken back without the others.
    pub partial: bool,
    /// Rounds of each search.
    pub rounds: u64,
}

/// What was found.
pub(super) struct Refined {
    /// A better cut, and the steps to it; none where nothing better was found.
    pub better: Option<(Cut, Vec<Step>)>,
    pub rounds: u64,
    /// How many tuples were looked at.
    pub touched: u64,
}

/// Looks for a cut that is better than the climb's.
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
        .map(|number| search.run_chain(&state, reverted.as_ref(), number, SearchRng::new(task.seed, number as u64)))
        .collect();
    let rounds = chains.iter().map(|chain| chain.rounds).sum();
    let touched = state.work + chains.iter().map(|chain| chain.touched).sum::<u64>();
    let mut better: Option<(Cut, Vec<Step>)> = reverted.as_ref().map(|best| (best.cut.clone(), steps.clone()));
    let mut lowest_loss = reverted.as_ref().map(|best| best.lost);
    for best in chains.into_iter().filter_map(|chain| chain.best) {
        if search.is_better(best.lost, lowest_loss) {
            let path = steps.iter().cloned().chain([jump_to(taxonomies, &best.nodes)]).collect();
            (lowest_loss, better) = (Some(best.lost), Some((best.cut, path)));
        }
    }
    Refined { better, rounds, touched }
}

/// A cut that may be released, and is better than the climb's.
#[derive(Clone)]
struct BestCut {
    nodes: Vec<Vec<NodeId>>,
    cut: Cut,
    lost: ClassAndPrecision,
}

/// What one search came to.
struct ChainResult {
    best: Option<BestCut>,
    rounds: u64,
    touched: u64,
}

struct RefineSearch<'a> {
    context: &'a RefineContext<'a>,
    options: RefineOptions,
    observer: &'a dyn Observer,
    /// What the climb lost.
    limits: ClassAndPrecision,
    /// What would be 1 in each measure: how much the climb lost that need not be.
    units: ClassAndPrecision,
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

    fn normalized(&self, weights: ClassAndPrecision) -> ClassAndPrecision {
        let class = if self.context.classes > 0 { weights.class } else { 0.0 };
        ClassAndPrecision { class: class / self.units.class, precision: weights.precision / self.units.precision }
    }

    /// Not worse than the climb in any measure, and better than another in the weighted sum.
    fn is_better(&self, lost: ClassAndPrecision, than: Option<ClassAndPrecision>) -> bool {
        let Self { limits, units, .. } = self;
        let weights = self.normalized(BALANCE);
        lost.class <= limits.class + ROUNDING * units.class
            && lost.precision <= limits.precision + ROUNDING * units.precision
            && lost.weighted_sum(weights) < than.unwrap_or(*limits).weighted_sum(weights) - ROUNDING
    }

    /// What a state comes to, where that is better than another.
    fn better_cut(&self, state: &CutState<'_>, than: Option<ClassAndPrecision>) -> Option<BestCut> {
        if !self.is_better(state.evaluation.lost, than) || !state.is_within_budget(state.evaluation) {
            return None;
        }
        let (cut, lost) = state.cut()?;
        self.is_better(lost, than).then(|| BestCut { nodes: state.nodes.clone(), cut, lost })
    }

    /// One search from a state, by its own chance and weights.
    fn run_chain(
        &self,
        start: &CutState<'_>,
        best: Option<&BestCut>,
        number: usize,
        mut rng: SearchRng,
    ) -> ChainResult {
        let RefineOptions { partial, rounds } = self.options;
        let weights = self.normalized(WEIGHTS[number]);
        let mut current = start.clone();
        current.work = 0;
        let mut chain = ChainResult { best: best.cloned(), rounds: 0, touched: 0 };
        let mut improved = 0;
        while chain.rounds < rounds
            && chain.rounds - improved < rounds / PATIENCE + MIN_PATIENCE
            && chain.touched < rounds * TUPLES_PER_ROUND
            && self.observer.stop().is_none()
        {
            chain.rounds += 1;
            let mut next = current.clone();
            perturb(&mut next, &mut rng);
            let (noise, thrift) = (rng.choose(&[0.0, 0.3, 1.0, 2.0]), rng.choose(&[0.0, 5.0, 20.0, 80.0]));
            let params = DescentParams { partial, weights, noise, thrift };
            descend(&mut next, params, &mut || rng.unit(), &|| self.observer.stop().is_some());
            chain.touched = next.work;
            if let Some(best) = self.better_cut(&next, chain.best.as_ref().map(|best| best.lost)) {
                (chain.best, improved) = (Some(best), chain.rounds);
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

/// Generalises a little at random, or once in a while everything.
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

/// To another cut at once: wide cells first, so that those inside them are put in their place.
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
