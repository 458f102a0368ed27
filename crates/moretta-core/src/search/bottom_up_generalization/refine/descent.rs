//! Down to a cut from which nothing can be taken back: best first, as long as the policy holds.
//!
//! What breaks the policy when it is taken back breaks it in every more precise cut too (groups only get smaller), so a
//! move that fails is not tried again; neither is one that would cost more than it gains, which is a shortcut. What a move gains may change with what was taken back before it, so the best is
//! tried once more before it is made, and goes back in line where another is better now.

use std::{cmp::Ordering, collections::BinaryHeap};

use super::{
    context::ClassAndPrecision,
    state::{CutState, Evaluation, Reversal},
};
use crate::{
    ids::{ColumnId, NodeId},
    recoding::{Action, Step},
};

/// How a descent weighs moves: by gain, by chance, by what they use of the suppression budget.
#[derive(Debug, Clone, Copy)]
pub(super) struct DescentParams {
    /// Whether children may be taken out of a node one by one.
    pub partial: bool,
    /// How much each measure counts.
    pub weights: ClassAndPrecision,
    /// How much chance there is in it: 0 for none.
    pub noise: f64,
    /// How much less a gain counts that takes the whole budget.
    pub thrift: f64,
}

impl DescentParams {
    /// What getting from one state to another is worth; none where it is worth nothing or not allowed.
    fn priority(&self, state: &CutState<'_>, after: Evaluation) -> Option<f64> {
        let before = state.evaluation;
        let gain = before.lost.add_scaled(after.lost, -1.0).weighted_sum(self.weights);
        let used = after.records_below_k.saturating_sub(before.records_below_k);
        // Losses are scaled to about 1 in all: what is less than this is rounding.
        let is_worthwhile = gain > ROUNDING || (gain > -ROUNDING && used == 0);
        let share = used as f64 / state.context.max_suppressed.max(1) as f64;
        (is_worthwhile && state.is_within_budget(after)).then(|| gain.max(0.0) / (1.0 + self.thrift * share))
    }
}

const ROUNDING: f64 = 1e-12;

struct QueueEntry {
    weight: f64,
    /// SearchRng's part in the weight.
    noise_factor: f64,
    reversal: Reversal,
    after: Evaluation,
    /// How many moves had been made when it was tried.
    evaluated_at: usize,
    number: u32,
}

impl PartialEq for QueueEntry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for QueueEntry {}

impl PartialOrd for QueueEntry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for QueueEntry {
    fn cmp(&self, other: &Self) -> Ordering {
        // Of equal ones the one that was found first.
        self.weight.total_cmp(&other.weight).then(other.number.cmp(&self.number))
    }
}

/// Takes back what can be, and tells what.
pub(super) fn descend(
    state: &mut CutState<'_>,
    params: DescentParams,
    random: &mut dyn FnMut() -> f64,
    stop: &dyn Fn() -> bool,
) -> Vec<Step> {
    let mut queue = ReversalQueue { heap: BinaryHeap::new(), params, random, number: 0 };
    for column in 0..state.nodes.len() {
        let mut values = state.nodes[column].clone();
        values.sort_unstable();
        values.dedup();
        values.into_iter().for_each(|node| queue.push_reversals(state, column, node, 0));
    }
    let mut steps: Vec<Step> = Vec::new();
    while let Some(mut entry) = queue.heap.pop() {
        let reversal = entry.reversal;
        if !state.is_possible(reversal) {
            continue;
        }
        if stop() {
            break;
        }
        if entry.evaluated_at != steps.len() {
            entry.after = state.evaluate(reversal);
            entry.evaluated_at = steps.len();
            let Some(priority) = params.priority(state, entry.after) else { continue };
            entry.weight = entry.noise_factor * priority;
            if queue.heap.peek().is_some_and(|next| *next > entry) {
                queue.heap.push(entry);
                continue;
            }
        }
        if state.context.has_other_models && !state.satisfies_after(reversal) {
            continue;
        }
        let children = state.reverted_children(reversal);
        state.apply(reversal, entry.after);
        let cell = |child: &NodeId| {
            (ColumnId::from_index(reversal.column), state.context.taxonomies[reversal.column].cell(*child))
        };
        steps.push(Step { action: Action::TakeBack, changes: children.iter().map(cell).collect() });
        for child in children {
            queue.push_reversals(state, reversal.column, child, steps.len());
        }
    }
    steps
}

/// The moves that wait to be made, the best in front.
struct ReversalQueue<'a> {
    heap: BinaryHeap<QueueEntry>,
    params: DescentParams,
    random: &'a mut dyn FnMut() -> f64,
    number: u32,
}

impl ReversalQueue<'_> {
    /// The moves that take back a node.
    fn push_reversals(&mut self, state: &mut CutState<'_>, column: usize, node: NodeId, made: usize) {
        let children = state.children(column, node);
        if children.is_empty() {
            return;
        }
        let single = self.params.partial && children.len() > 2;
        let single = children.into_iter().filter(|_| single).map(Some);
        for child in std::iter::once(None).chain(single) {
            let reversal = Reversal { column, node, child };
            // Who nobody carries is not worth a place of its own.
            if child.is_some_and(|child| state.context.records(column, child) == 0) {
                continue;
            }
            let after = state.evaluate(reversal);
            let noise = self.params.noise;
            let noise_factor = if noise > 0.0 { (noise * ((self.random)() * 2.0 - 1.0)).exp() } else { 1.0 };
            self.number += 1;
            if let Some(priority) = self.params.priority(state, after) {
                let (weight, number) = (noise_factor * priority, self.number);
                self.heap.push(QueueEntry { weight, noise_factor, reversal, after, evaluated_at: made, number });
            }
        }
    }
}
