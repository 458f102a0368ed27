//! Descent: reverts generalizations, best first, as long as the policy holds, until none can be reverted.
//!
//! A reversal that violates the policy is dropped for good. Without suppression this loses nothing: the models are
//! closed under union, so a violating group has a violating part in every more precise cut. With a suppression budget
//! and models other than k-anonymity it is a heuristic, as it is to drop a reversal that loses more than it gains. The
//! gain of a reversal may change with each one applied, so the best of the queue is evaluated again before it is
//! applied, and returns to the queue if another one is better now (lazy evaluation).

use std::{cmp::Ordering, collections::BinaryHeap};

use super::{
    context::ClassAndPrecision,
    state::{CutState, Evaluation, Reversal},
};
use crate::{
    ids::{ColumnId, NodeId},
    recoding::{Action, Step},
};

/// How a descent orders reversals: by gain, noise, and use of the suppression budget.
#[derive(Debug, Clone, Copy)]
pub(super) struct DescentParams {
    /// Whether the children of a node may be reverted one by one.
    pub partial: bool,
    /// Weight of each loss.
    pub weights: ClassAndPrecision,
    /// Scale of the random factor of a gain, which is between `exp(-noise)` and `exp(noise)`; 0 for none.
    pub noise: f64,
    /// Penalty on the use of the budget: a gain that uses all of it is divided by `1 + thrift`.
    pub thrift: f64,
}

impl DescentParams {
    /// Weighted gain of a reversal, reduced by its use of the budget; `None` if there is no gain or the budget is
    /// exceeded.
    fn priority(&self, state: &CutState<'_>, after: Evaluation) -> Option<f64> {
        let before = state.evaluation;
        let gain = before.lost.add_scaled(after.lost, -1.0).weighted_sum(self.weights);
        let used = after.records_below_k.saturating_sub(before.records_below_k);
        // Weights normalize losses to about 1, so smaller differences are rounding errors.
        let is_worthwhile = gain > ROUNDING || (gain > -ROUNDING && used == 0);
        let share = used as f64 / state.context.max_suppressed.max(1) as f64;
        (is_worthwhile && state.is_within_budget(after)).then(|| gain.max(0.0) / (1.0 + self.thrift * share))
    }
}

const ROUNDING: f64 = 1e-12;

struct QueueEntry {
    weight: f64,
    /// Random factor of the weight.
    noise_factor: f64,
    reversal: Reversal,
    after: Evaluation,
    /// Number of reversals applied before `after` was evaluated.
    evaluated_at: usize,
    /// Order of creation, for ties.
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
        // Ties go to the entry that was created first.
        self.weight.total_cmp(&other.weight).then(other.number.cmp(&self.number))
    }
}

/// Reverts generalizations until none can be reverted, or until `stop`. Returns the steps.
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

/// Reversals that could be applied, the best first.
struct ReversalQueue<'a> {
    heap: BinaryHeap<QueueEntry>,
    params: DescentParams,
    random: &'a mut dyn FnMut() -> f64,
    number: u32,
}

impl ReversalQueue<'_> {
    /// Adds the reversals of a node: all its children together and, if allowed, each child alone.
    fn push_reversals(&mut self, state: &mut CutState<'_>, column: usize, node: NodeId, num_applied: usize) {
        let children = state.children(column, node);
        if children.is_empty() {
            return;
        }
        // Reverting one of two children would leave a node for a single child: the same groups, with less precision.
        let one_by_one = self.params.partial && children.len() > 2;
        let single_children = children.into_iter().filter(|_| one_by_one).map(Some);
        for child in std::iter::once(None).chain(single_children) {
            let reversal = Reversal { column, node, child };
            // A child without records would change nothing.
            if child.is_some_and(|child| state.context.records(column, child) == 0) {
                continue;
            }
            let after = state.evaluate(reversal);
            let noise = self.params.noise;
            let noise_factor = if noise > 0.0 { (noise * ((self.random)() * 2.0 - 1.0)).exp() } else { 1.0 };
            self.number += 1;
            if let Some(priority) = self.params.priority(state, after) {
                self.heap.push(QueueEntry {
                    weight: noise_factor * priority,
                    noise_factor,
                    reversal,
                    after,
                    evaluated_at: num_applied,
                    number: self.number,
                });
            }
        }
    }
}
