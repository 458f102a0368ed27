//! Down to a cut from which nothing can be taken back: best first, as long as the policy holds.
//!
//! What breaks the policy when it is taken back breaks it in every more precise cut too (groups only get smaller), so a
//! move that fails is not tried again; neither is one that would cost more than it gains, which is a shortcut. What a move gains may change with what was taken back before it, so the best is
//! tried once more before it is made, and goes back in line where another is better now.

use std::{cmp::Ordering, collections::BinaryHeap};

use super::{
    context::ClassAndPrecision,
    state::{Figures, Move, State},
};
use crate::{
    ids::{ColumnId, NodeId},
    recoding::{Action, Step},
};

/// How a descent weighs moves: by gain, by chance, by what they use of the suppression budget.
#[derive(Debug, Clone, Copy)]
pub(super) struct Weighing {
    /// Whether children may be taken out of a node one by one.
    pub partial: bool,
    /// How much each measure counts.
    pub measures: ClassAndPrecision,
    /// How much chance there is in it: 0 for none.
    pub noise: f64,
    /// How much less a gain counts that takes the whole budget.
    pub thrift: f64,
}

impl Weighing {
    /// What getting from one state to another is worth; none where it is worth nothing or not allowed.
    fn worth(&self, state: &State<'_>, after: Figures) -> Option<f64> {
        let before = state.figures;
        let gain = before.lost.add_scaled(after.lost, -1.0).weighted_sum(self.measures);
        let used = after.below.saturating_sub(before.below);
        // Losses are scaled to about 1 in all: what is less than this is rounding.
        let worth = gain > ROUNDING || (gain > -ROUNDING && used == 0);
        let share = used as f64 / state.context.allowed.max(1) as f64;
        (worth && state.is_affordable(after)).then(|| gain.max(0.0) / (1.0 + self.thrift * share))
    }
}

const ROUNDING: f64 = 1e-12;

struct Entry {
    weight: f64,
    /// SearchRng's part in the weight.
    luck: f64,
    taken: Move,
    after: Figures,
    /// How many moves had been made when it was tried.
    tried: usize,
    number: u32,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        // Of equal ones the one that was found first.
        self.weight.total_cmp(&other.weight).then(other.number.cmp(&self.number))
    }
}

/// Takes back what can be, and tells what.
pub(super) fn descend(
    state: &mut State<'_>,
    weighing: Weighing,
    chance: &mut dyn FnMut() -> f64,
    stop: &dyn Fn() -> bool,
) -> Vec<Step> {
    let mut line = Line { heap: BinaryHeap::new(), weighing, chance, number: 0 };
    for column in 0..state.nodes.len() {
        let mut values = state.nodes[column].clone();
        values.sort_unstable();
        values.dedup();
        values.into_iter().for_each(|node| line.join(state, column, node, 0));
    }
    let mut steps: Vec<Step> = Vec::new();
    while let Some(mut entry) = line.heap.pop() {
        let taken = entry.taken;
        if !state.is_open(taken) {
            continue;
        }
        if stop() {
            break;
        }
        if entry.tried != steps.len() {
            entry.after = state.trial(taken);
            entry.tried = steps.len();
            let Some(worth) = weighing.worth(state, entry.after) else { continue };
            entry.weight = entry.luck * worth;
            if line.heap.peek().is_some_and(|next| *next > entry) {
                line.heap.push(entry);
                continue;
            }
        }
        if state.context.others && !state.holds_after(taken) {
            continue;
        }
        let children = state.parts(taken);
        state.make(taken, entry.after);
        let cell =
            |child: &NodeId| (ColumnId::from_index(taken.column), state.context.taxonomies[taken.column].cell(*child));
        steps.push(Step { action: Action::TakeBack, changes: children.iter().map(cell).collect() });
        for child in children {
            line.join(state, taken.column, child, steps.len());
        }
    }
    steps
}

/// The moves that wait to be made, the best in front.
struct Line<'a> {
    heap: BinaryHeap<Entry>,
    weighing: Weighing,
    chance: &'a mut dyn FnMut() -> f64,
    number: u32,
}

impl Line<'_> {
    /// The moves that take back a node.
    fn join(&mut self, state: &mut State<'_>, column: usize, node: NodeId, made: usize) {
        let children = state.children(column, node);
        if children.is_empty() {
            return;
        }
        let single = self.weighing.partial && children.len() > 2;
        let single = children.into_iter().filter(|_| single).map(Some);
        for child in std::iter::once(None).chain(single) {
            let taken = Move { column, node, child };
            // Who nobody carries is not worth a place of its own.
            if child.is_some_and(|child| state.context.records(column, child) == 0) {
                continue;
            }
            let after = state.trial(taken);
            let noise = self.weighing.noise;
            let luck = if noise > 0.0 { (noise * ((self.chance)() * 2.0 - 1.0)).exp() } else { 1.0 };
            self.number += 1;
            if let Some(worth) = self.weighing.worth(state, after) {
                let (weight, number) = (luck * worth, self.number);
                self.heap.push(Entry { weight, luck, taken, after, tried: made, number });
            }
        }
    }
}
