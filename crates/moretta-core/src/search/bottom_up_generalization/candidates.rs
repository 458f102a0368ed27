//! The valid generalizations: those for which every child of the node is a current value.
//!
//! **Why.** If no generalization raises the anonymity, the climb applies the one with the least information loss, ties
//! to the first by column and node. A column of numbers has as many steps as values, and most of them tie, so a linear
//! scan per step would be quadratic.
//!
//! **How.** The information loss of a generalization never changes, so all of them are ranked by it once. A segment
//! tree over the ranks holds, per subtree, the smallest *number* of a valid generalization (numbers count the nodes of
//! all columns, in order). The leftmost valid leaf has the least loss; a range minimum over the ranks that tie with it
//! gives the first by column and node.
//!
//! ```text
//! rank              0     1     2     3
//! information loss  0.01  0.01  0.05  0.30         4
//! number            7     4     2     9           /  \
//! valid             yes   yes   no    yes        4    9        rank 0 has the least loss, rank 1 ties:
//!                                               / \  / \       min(7, 4) = 4 is chosen
//!                                              7  4 -  9
//! ```
//!
//! **Cost.** O(log n) per query and update for n nodes.

use super::information::Information;
use crate::{ids::NodeId, search::taxonomy::Taxonomy};

/// Scores and losses that differ by at most this are equal: it covers rounding errors.
const TIE: f64 = 1e-12;

/// A column and the node that replaces all its children.
pub(super) type Generalization = (usize, NodeId);

/// No valid generalization in this subtree; also the rank of a leaf of a taxonomy.
const NONE: u32 = u32::MAX;

/// The valid generalizations.
#[derive(Debug, Clone, Default)]
pub(super) struct Candidates {
    /// By column, the number of its root.
    starts: Vec<u32>,
    /// By number: how many children of the node are not current values; 0 if the generalization is or was valid.
    missing_children: Vec<u32>,
    /// By number: the rank by information loss.
    ranks: Vec<u32>,
    /// By rank: the information loss.
    information: Vec<f64>,
    /// Segment tree over the ranks: entry 1 is the root, and the second half are the leaves.
    min_tree: Vec<u32>,
}

impl Candidates {
    pub(super) fn new(taxonomies: &[Taxonomy<'_>], information: &[Information]) -> Self {
        let mut candidates = Self::default();
        let mut inner: Vec<(f64, u32)> = Vec::new();
        for (taxonomy, information) in taxonomies.iter().zip(information) {
            let (tree, start) = (taxonomy.tree(), candidates.missing_children.len());
            candidates.starts.push(start as u32);
            candidates.missing_children.resize(start + tree.len(), 0);
            for node in tree.nodes().filter(|&node| !tree.is_leaf(node)) {
                inner.push((information[node.index()], (start + node.index()) as u32));
                if let Some(parent) = tree.parent(node) {
                    candidates.missing_children[start + parent.index()] += 1;
                }
            }
        }
        inner.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        candidates.ranks = vec![NONE; candidates.missing_children.len()];
        for (rank, &(information, number)) in inner.iter().enumerate() {
            candidates.ranks[number as usize] = rank as u32;
            candidates.information.push(information);
        }
        candidates.min_tree = vec![NONE; 2 * inner.len().next_power_of_two()];
        for (_, number) in inner {
            if candidates.missing_children[number as usize] == 0 {
                candidates.set_leaf(number, number);
            }
        }
        candidates
    }

    fn number(&self, (column, node): Generalization) -> u32 {
        self.starts[column] + node.0
    }

    fn generalization(&self, number: u32) -> Generalization {
        let column = self.starts.partition_point(|&start| start <= number) - 1;
        (column, NodeId(number - self.starts[column]))
    }

    /// Sets the leaf of a number to the number (valid) or to [`NONE`].
    fn set_leaf(&mut self, number: u32, value: u32) {
        let mut slot = self.min_tree.len() / 2 + self.ranks[number as usize] as usize;
        self.min_tree[slot] = value;
        while slot > 1 {
            slot /= 2;
            self.min_tree[slot] = self.min_tree[2 * slot].min(self.min_tree[2 * slot + 1]);
        }
    }

    /// Whether a generalization is valid.
    pub(super) fn contains(&self, generalization: Generalization) -> bool {
        let rank = self.ranks[self.number(generalization) as usize];
        rank != NONE && self.min_tree[self.min_tree.len() / 2 + rank as usize] != NONE
    }

    /// All valid generalizations, in order of columns and nodes.
    pub(super) fn all(&self) -> Vec<Generalization> {
        let leaves = &self.min_tree[self.min_tree.len() / 2..];
        let mut numbers: Vec<u32> = leaves.iter().copied().filter(|&number| number != NONE).collect();
        numbers.sort_unstable();
        numbers.into_iter().map(|number| self.generalization(number)).collect()
    }

    /// The valid generalization with the least information loss; of ties, the first by column and node.
    pub(super) fn min_information(&self) -> Option<Generalization> {
        if self.min_tree[1] == NONE {
            return None;
        }
        let leaves = self.min_tree.len() / 2;
        let mut slot = 1;
        while slot < leaves {
            slot = if self.min_tree[2 * slot] != NONE { 2 * slot } else { 2 * slot + 1 };
        }
        let lowest = self.information[slot - leaves];
        let close = self.information.partition_point(|information| information - lowest <= TIE);
        Some(self.generalization(self.min_number(slot - leaves, close)))
    }

    /// Smallest number of a valid generalization among the ranks `from..to`.
    fn min_number(&self, from: usize, to: usize) -> u32 {
        let leaves = self.min_tree.len() / 2;
        let (mut from, mut to) = (from + leaves, to + leaves);
        let mut first = NONE;
        while from < to {
            if from % 2 == 1 {
                first = first.min(self.min_tree[from]);
                from += 1;
            }
            if to % 2 == 1 {
                to -= 1;
                first = first.min(self.min_tree[to]);
            }
            (from, to) = (from / 2, to / 2);
        }
        first
    }

    /// Records that the generalization was applied, which may make that of the node's parent valid.
    pub(super) fn mark_done(&mut self, generalization: Generalization, taxonomies: &[Taxonomy<'_>]) {
        self.set_leaf(self.number(generalization), NONE);
        let (column, node) = generalization;
        if let Some(parent) = taxonomies[column].tree().parent(node) {
            let parent = self.number((column, parent));
            self.missing_children[parent as usize] -= 1;
            if self.missing_children[parent as usize] == 0 {
                self.set_leaf(parent, parent);
            }
        }
    }
}

/// A generalization with its score.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scored {
    /// Information loss per unit of gain: `IP(G)`.
    pub ratio: f64,
    /// Information loss: `I(G)`.
    pub information: f64,
    pub generalization: Generalization,
}

/// Returns the generalization with the lowest ratio; of ties, the one with the least information loss; of ties, the
/// first by column and node.
pub(super) fn best(scored: &[Scored]) -> Option<Generalization> {
    let lowest = |values: &mut dyn Iterator<Item = f64>| values.fold(f64::INFINITY, f64::min) + TIE;
    let max_ratio = lowest(&mut scored.iter().map(|one| one.ratio));
    let close = || scored.iter().filter(|one| one.ratio <= max_ratio);
    let max_information = lowest(&mut close().map(|one| one.information));
    close().filter(|one| one.information <= max_information).map(|one| one.generalization).min()
}
