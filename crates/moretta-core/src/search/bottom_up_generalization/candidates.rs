//! The generalizations that are valid now: every child of the node is a current value.
//!
//! What a generalization loses never changes, so all of them are put in order of it once. The least is found, and of
//! those that are as good the first by column and node, in time logarithmic in the number of nodes: on a column of
//! numbers there are as many iterations as values, and very many of them lose the same.

use super::information::Information;
use crate::{ids::NodeId, search::taxonomy::Taxonomy};

/// Values this close to each other are taken for equal.
const TIE: f64 = 1e-12;

/// A generalization of a column's values to a node.
pub(super) type Generalization = (usize, NodeId);

/// No generalization is valid in this part.
const NONE: u32 = u32::MAX;

/// All that are valid.
#[derive(Debug, Clone, Default)]
pub(super) struct Candidates {
    /// Where a column's nodes start in a numbering of the nodes of all columns.
    starts: Vec<u32>,
    /// By number: how many of the node's children are not current.
    missing_children: Vec<u32>,
    /// By number: the place in the order of information.
    ranks: Vec<u32>,
    /// By rank.
    information: Vec<f64>,
    /// A binary tree over the ranks: at the leaves the numbers of those that are valid, above them the first of each
    /// part.
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

    /// Puts a number, or none, at a number's place.
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

    /// In order of columns and nodes.
    pub(super) fn all(&self) -> Vec<Generalization> {
        let leaves = &self.min_tree[self.min_tree.len() / 2..];
        let mut numbers: Vec<u32> = leaves.iter().copied().filter(|&number| number != NONE).collect();
        numbers.sort_unstable();
        numbers.into_iter().map(|number| self.generalization(number)).collect()
    }

    /// The one of least information; of equal ones the first.
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

    /// The first number among those of some ranks.
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

    /// The generalization is done: its node is current now.
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

/// A generalization with what it loses for what it gains.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scored {
    /// Information per unit of gain: `IP(G)`.
    pub ratio: f64,
    pub information: f64,
    pub generalization: Generalization,
}

/// The least ratio; of equal ones the least information; of equal ones the first by column and node.
pub(super) fn best(scored: &[Scored]) -> Option<Generalization> {
    let least = |values: &mut dyn Iterator<Item = f64>| values.fold(f64::INFINITY, f64::min) + TIE;
    let ratio = least(&mut scored.iter().map(|one| one.ratio));
    let close = || scored.iter().filter(|one| one.ratio <= ratio);
    let information = least(&mut close().map(|one| one.information));
    close().filter(|one| one.information <= information).map(|one| one.generalization).min()
}
