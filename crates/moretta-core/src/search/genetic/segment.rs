//! Segment: one column's bits of the chromosome, and the rules for which bits form a valid cut.
//!
//! **Column with a hierarchy.** There is one bit between each two neighboring leaves. A node is *open* if its children
//! are separated, *closed* if all its values are released as the node. If a node is open, so are all nodes above it.
//! Hence the bits are valid if every node with a 1 between any of its leaves has a 1 between each two of its children.
//!
//! ```text
//!                      *
//!       +--------------+------------+
//!     Self         Government       |
//!    /    \       /    |     \      |
//!   i      n     f     s      l     p
//!       0     1     0     0      1       valid: cells Self, Government, p
//!       0     1     1     1      1       valid: cells Self, f, s, l, p
//!       0     0     1     1      0       invalid: Government is open, but the root is not
//! ```
//!
//! **Free numbers.** There is one bit per admissible end point of an interval, and any combination of bits is valid,
//! with one exception: if any bit is 1, the bit that separates the missing value from all numbers must be 1 as well,
//! because no interval contains the missing value.
//!
//! **Repair** makes any bits valid with the fewest changes, by dynamic programming over the tree. Cost: one pass over
//! the nodes, which counts the ones between the leaves of each node.

use std::ops::Range;

use super::chromosome::Chromosome;
use crate::{
    hierarchy::{Cell, Domain, Tree},
    ids::NodeId,
    search::rng::SearchRng,
};

/// One column's bits and their meaning.
#[derive(Debug)]
pub(super) struct Segment<'a> {
    pub domain: &'a Domain,
    shape: Shape<'a>,
    /// Positions of the column's bits in the chromosome.
    pub bits: Range<usize>,
}

#[derive(Debug)]
enum Shape<'a> {
    /// `ends` are the codes that may be the last of an interval, in increasing order.
    Free { ends: Vec<u32> },
    Tree {
        tree: &'a Tree,
        /// By node, the first leaf of its second child: the node is open if the bit before this leaf is 1. [`LEAF`] or
        /// [`CHAIN`] if the node has no second child.
        second_child_start: Vec<u32>,
    },
}

/// Marks a leaf of the tree, which cannot be opened.
const LEAF: u32 = 0;
/// Marks a node with a single child. Both have the same leaves; the node is always open, so that the child's label is
/// released.
const CHAIN: u32 = u32::MAX;

impl<'a> Segment<'a> {
    /// Segment of a column whose bits begin at `start`. `ends` are the codes that may be the last of an
    /// interval of free numbers; ignored if the column has a hierarchy.
    pub(super) fn new(domain: &'a Domain, ends: Vec<u32>, start: usize) -> Self {
        let shape = match domain.tree() {
            Some(tree) => Shape::Tree {
                tree,
                second_child_start: tree.nodes().map(|node| second_child_start(tree, node)).collect(),
            },
            None => Shape::Free { ends },
        };
        let bits = match &shape {
            Shape::Free { ends } => ends.len(),
            Shape::Tree { .. } => domain.len().saturating_sub(1),
        };
        Self { domain, shape, bits: start..start + bits }
    }

    /// Each bit marks a possible boundary between two neighboring codes. Returns the code before the boundary.
    pub(super) fn end_of(&self, bit: usize) -> u32 {
        let index = bit - self.bits.start;
        match &self.shape {
            Shape::Free { ends } => ends[index],
            Shape::Tree { .. } => index as u32,
        }
    }

    /// Whether the column has free numbers instead of a hierarchy.
    pub(super) fn is_free(&self) -> bool {
        matches!(self.shape, Shape::Free { .. })
    }

    /// Bit that separates the missing value from all numbers; `None` unless the column has free numbers and a missing
    /// value.
    fn missing_bit(&self) -> Option<usize> {
        let missing = self.domain.missing().filter(|_| self.is_free() && !self.bits.is_empty())?;
        let last = self.bits.end - 1;
        (self.end_of(last) + 1 == missing).then_some(last)
    }

    /// Calls `each` with the cells of a valid chromosome, in increasing order of codes.
    pub(super) fn each_cell(&self, chromosome: &Chromosome, mut each: impl FnMut(Cell)) {
        if self.domain.is_empty() {
            return;
        }
        match &self.shape {
            Shape::Free { ends } => {
                let mut first = 0;
                for (&end, bit) in ends.iter().zip(self.bits.clone()) {
                    if chromosome.get(bit) {
                        each(self.domain.cover(first, end));
                        first = end + 1;
                    }
                }
                each(self.domain.cover(first, self.domain.len() as u32 - 1));
            }
            Shape::Tree { tree, second_child_start } => {
                visit(tree, |node| {
                    let start = second_child_start[node.index()];
                    let open = start == CHAIN || start != LEAF && self.is_separated(chromosome, start);
                    if !open {
                        each(self.domain.node_cell(node));
                    }
                    open
                });
            }
        }
    }

    /// Whether a leaf of the tree is separated from the previous leaf.
    fn is_separated(&self, chromosome: &Chromosome, leaf: u32) -> bool {
        chromosome.get(self.bits.start + leaf as usize - 1)
    }

    /// Whether the bits form a valid cut.
    pub(super) fn is_valid(&self, chromosome: &Chromosome) -> bool {
        match &self.shape {
            Shape::Free { .. } => match self.missing_bit() {
                Some(bit) => chromosome.get(bit) || chromosome.ones(self.bits.clone()) == 0,
                None => true,
            },
            Shape::Tree { tree, .. } => tree.nodes().all(|node| {
                let (first, last) = tree.range(node);
                let closed = chromosome.ones(self.bits_between(first, last)) == 0;
                closed || tree.children(node).skip(1).all(|child| self.is_separated(chromosome, tree.range(child).0))
            }),
        }
    }

    /// Bits between the leaves `first..=last`.
    fn bits_between(&self, first: u32, last: u32) -> Range<usize> {
        self.bits.start + first as usize..self.bits.start + last as usize
    }

    /// Makes the bits a valid cut and changes as few of them as possible. If a node can be opened or closed with
    /// equally many changes, it is closed.
    pub(super) fn repair(&self, chromosome: &mut Chromosome) {
        match &self.shape {
            Shape::Free { .. } => {
                if let Some(bit) = self.missing_bit().filter(|&bit| !chromosome.get(bit)) {
                    // One change suffices: clear the only 1 or, if there are several, set the missing value's bit.
                    match chromosome.ones(self.bits.clone()) {
                        0 | 1 => chromosome.fill(self.bits.clone(), false),
                        _ => chromosome.set(bit, true),
                    }
                }
            }
            Shape::Tree { tree, .. } => self.repair_tree(tree, chromosome),
        }
    }

    fn repair_tree(&self, tree: &Tree, chromosome: &mut Chromosome) {
        // By node: the minimum number of changed bits between its leaves, and whether the node is open after these
        // changes. Children have greater ids than their parents, so the reverse order visits children first.
        let mut min_changes = vec![(0usize, false); tree.len()];
        for index in (0..tree.len()).rev() {
            let node = NodeId::from_index(index);
            if tree.is_leaf(node) {
                continue;
            }
            let (first, last) = tree.range(node);
            // Number of changed bits if the node is closed or opened.
            let closing = chromosome.ones(self.bits_between(first, last));
            let mut opening = 0;
            for (index, child) in tree.children(node).enumerate() {
                let separated = index == 0 || self.is_separated(chromosome, tree.range(child).0);
                opening += min_changes[child.index()].0 + usize::from(!separated);
            }
            min_changes[index] = if opening < closing || first == last { (opening, true) } else { (closing, false) };
        }
        visit(tree, |node| {
            let (_, open) = min_changes[node.index()];
            if open {
                self.open(tree, node, chromosome);
            } else {
                let (first, last) = tree.range(node);
                chromosome.fill(self.bits_between(first, last), false);
            }
            open
        });
    }

    /// Separates the children of a node.
    fn open(&self, tree: &Tree, node: NodeId, chromosome: &mut Chromosome) {
        let start = self.bits.start;
        tree.children(node).skip(1).for_each(|child| chromosome.set(start + tree.range(child).0 as usize - 1, true));
    }

    /// Flips one bit of a valid chromosome, and the bits that must change with it to keep the chromosome valid.
    ///
    /// In a tree, setting a bit opens the lowest node that contains the leaves on both sides of the bit, and all nodes
    /// above it; clearing a bit closes this node and all nodes below it. With free numbers, setting any bit also
    /// separates the missing value; clearing the missing value's bit clears all bits.
    pub(super) fn flip(&self, chromosome: &mut Chromosome, bit: usize) {
        let was_set = chromosome.get(bit);
        match &self.shape {
            Shape::Free { .. } => {
                chromosome.set(bit, !was_set);
                match self.missing_bit() {
                    Some(missing) if was_set && missing == bit => chromosome.fill(self.bits.clone(), false),
                    Some(missing) if !was_set => chromosome.set(missing, true),
                    _ => {}
                }
            }
            Shape::Tree { tree, .. } => {
                let leaf = (bit - self.bits.start) as u32;
                let lowest_common = tree.cover(leaf, leaf + 1);
                if was_set {
                    let (first, last) = tree.range(lowest_common);
                    chromosome.fill(self.bits_between(first, last), false);
                } else {
                    let above = std::iter::successors(Some(lowest_common), |&node| tree.parent(node));
                    above.for_each(|node| self.open(tree, node, chromosome));
                }
            }
        }
    }

    /// Draws a random valid cut. The probability that a node is open is itself drawn uniformly from 0 to 1, so that
    /// coarse and fine cuts are both frequent.
    pub(super) fn draw(&self, chromosome: &mut Chromosome, rng: &mut SearchRng) {
        let openness = rng.unit();
        match &self.shape {
            Shape::Free { .. } => {
                // The cube favors few intervals; cuts with many are rarely good.
                let openness = openness * openness * openness;
                self.bits.clone().for_each(|bit| chromosome.set(bit, rng.unit() < openness));
                self.repair(chromosome);
            }
            Shape::Tree { tree, second_child_start } => {
                chromosome.fill(self.bits.clone(), false);
                visit(tree, |node| {
                    let start = second_child_start[node.index()];
                    let open = start == CHAIN || start != LEAF && rng.unit() < openness;
                    if open {
                        self.open(tree, node, chromosome);
                    }
                    open
                });
            }
        }
    }

    /// Sets the valid cut nearest to another recoding, where `cells[code]` is the cell of a code: a bit is 1 if the
    /// codes on both sides of it have different cells, and repair changes the fewest of these bits.
    pub(super) fn set_nearest_cut(&self, chromosome: &mut Chromosome, cells: &[Cell]) {
        for bit in self.bits.clone() {
            let end = self.end_of(bit) as usize;
            chromosome.set(bit, cells[end] != cells[end + 1]);
        }
        self.repair(chromosome);
    }
}

/// Visits the nodes in preorder and descends into those for which `open` returns true.
fn visit(tree: &Tree, mut open: impl FnMut(NodeId) -> bool) {
    let mut node = Tree::ROOT;
    while node.index() < tree.len() {
        node = if open(node) { NodeId(node.0 + 1) } else { tree.end(node) };
    }
}

/// Returns the first leaf of a node's second child; [`LEAF`] or [`CHAIN`] if there is none.
fn second_child_start(tree: &Tree, node: NodeId) -> u32 {
    if tree.is_leaf(node) {
        return LEAF;
    }
    // Never 0, which is `LEAF`: the first child has at least one leaf.
    tree.children(node).nth(1).map_or(CHAIN, |child| tree.range(child).0)
}
