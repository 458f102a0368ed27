//! Bottom-up generalization without an index: every valid generalization is tried by regrouping the whole table.
//!
//! Baseline for the comparison. It follows the paper but is not needlessly slow: tuples are packed into one word each,
//! and one hash map is reused for all trials.

use std::time::Instant;

use hashbrown::HashMap;
use moretta_core::{
    hierarchy::Tree,
    ids::{NodeId, TupleId},
    profile::Profile,
};

use crate::naive;

/// Result of a run.
pub struct Run {
    /// Column and node of each generalization.
    pub path: Vec<(usize, NodeId)>,
    pub trials: u64,
    pub tuples_touched: u64,
    pub seconds: f64,
}

struct Naive<'a> {
    profile: &'a Profile,
    trees: Vec<&'a Tree>,
    /// Current node by column and code.
    current: Vec<Vec<u32>>,
    shifts: Vec<u32>,
    group_sizes: HashMap<u64, u64>,
    tuples_touched: u64,
}

/// Generalizes until the anonymity is `k`. Requires a class and a hierarchy for every column.
pub fn run(profile: &Profile, k: u64) -> Run {
    let start = Instant::now();
    let trees: Vec<&Tree> = profile.columns().iter().filter_map(|column| column.domain.tree()).collect();
    let shifts = naive::shifts(trees.iter().map(|tree| tree.len()));
    let leaves = |tree: &&Tree| (0..tree.leaf_count() as u32).map(|code| tree.leaf(code).0).collect();
    let current = trees.iter().map(leaves).collect();
    let mut naive = Naive { profile, trees, current, shifts, group_sizes: HashMap::new(), tuples_touched: 0 };
    let information: Vec<Vec<f64>> = (0..naive.trees.len()).map(|column| naive.information(column)).collect();
    let mut run = Run { path: Vec::new(), trials: 0, tuples_touched: 0, seconds: 0.0 };
    loop {
        let anonymity = naive.anonymity();
        if anonymity >= k {
            break;
        }
        // (ratio, information, column, node); the minimum is chosen.
        let mut best: Option<(f64, f64, usize, NodeId)> = None;
        for (column, node) in naive.valid() {
            let before = naive.current[column].clone();
            naive.apply(column, node);
            let gained = naive.anonymity().min(k) - anonymity;
            naive.current[column] = before;
            run.trials += 1;
            let lost = information[column][node.index()];
            let ratio = if gained == 0 { f64::INFINITY } else { lost / gained as f64 };
            let less = |a: f64, b: f64| a < b - 1e-12;
            let equal = |a: f64, b: f64| !less(a, b) && !less(b, a);
            if best.is_none_or(|(r, i, ..)| less(ratio, r) || equal(ratio, r) && less(lost, i)) {
                best = Some((ratio, lost, column, node));
            }
        }
        let Some((_, _, column, node)) = best else { break };
        naive.apply(column, node);
        run.path.push((column, node));
    }
    run.tuples_touched = naive.tuples_touched;
    run.seconds = start.elapsed().as_secs_f64();
    run
}

impl Naive<'_> {
    fn anonymity(&mut self) -> u64 {
        self.group_sizes.clear();
        for tuple in (0..self.profile.tuples() as u32).map(TupleId) {
            let mut key = 0;
            for ((&code, current), shift) in self.profile.codes(tuple).iter().zip(&self.current).zip(&self.shifts) {
                key |= u64::from(current[code as usize]) << shift;
            }
            *self.group_sizes.entry(key).or_default() += self.profile.tuple_records(tuple);
        }
        self.tuples_touched += self.profile.tuples() as u64;
        self.group_sizes.values().copied().min().unwrap_or(u64::MAX)
    }

    fn apply(&mut self, column: usize, node: NodeId) {
        let (first, last) = self.trees[column].range(node);
        self.current[column][first as usize..=last as usize].fill(node.0);
    }

    fn valid(&self) -> Vec<(usize, NodeId)> {
        let mut valid = Vec::new();
        for (column, tree) in self.trees.iter().enumerate() {
            // A node is current if its leaves are released as it.
            let is_current = |node: NodeId| self.current[column][tree.range(node).0 as usize] == node.0;
            let inner = tree.nodes().filter(|&node| !tree.is_leaf(node));
            valid.extend(inner.filter(|&node| tree.children(node).all(is_current)).map(|node| (column, node)));
        }
        valid
    }

    /// Information loss `I` of the generalization to each node of a column.
    fn information(&self, column: usize) -> Vec<f64> {
        let tree = self.trees[column];
        let classes = naive::classes(self.profile, column);
        // Records below a node and the entropy of their class.
        let below = |node: NodeId| {
            let (first, last) = tree.range(node);
            naive::entropy(&naive::sum(&classes[first as usize..=last as usize]))
        };
        let lost = |node: NodeId| {
            let (all, entropy) = below(node);
            let children: f64 = tree.children(node).map(below).map(|(records, entropy)| records * entropy).sum();
            if all > 0.0 { (entropy - children / all).max(0.0) } else { 0.0 }
        };
        tree.nodes().map(lost).collect()
    }
}
