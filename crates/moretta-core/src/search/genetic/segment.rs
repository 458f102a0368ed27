//! One column's part of the chromosome: which of its values may be told apart, and which strings are valid cuts.
//!
//! In a column with a tree there is a bit between each two neighbouring leaves. A node is *open* where its children are
//! told apart; then so are the children of every node above it. So a string is valid where every node of which some
//! leaves are told apart has a 1 between each two of its children. In a column of free numbers there is a bit for each
//! admissible end point and every string is valid, except that a missing value is told apart from all numbers or there
//! is nothing told at all.

use std::ops::Range;

use super::chromosome::Chromosome;
use crate::{
    hierarchy::{Cell, Domain, Tree},
    ids::NodeId,
    search::rng::SearchRng,
};

/// One column's part of the chromosome.
#[derive(Debug)]
pub(super) struct Segment<'a> {
    pub domain: &'a Domain,
    shape: Shape<'a>,
    /// Where its bits are.
    pub bits: Range<usize>,
}

#[derive(Debug)]
enum Shape<'a> {
    /// The last code before each admissible end point.
    Free { ends: Vec<u32> },
    Tree {
        tree: &'a Tree,
        /// By node, the first leaf after its first child: whether it is told apart from the leaf before says whether the
        /// node is open.
        second: Vec<u32>,
    },
}

/// A leaf, which cannot be opened.
const LEAF: u32 = 0;
/// A node with one child, which stands for the same leaves and is taken in its place.
const CHAIN: u32 = u32::MAX;

impl<'a> Segment<'a> {
    /// Of a column, from a place in the string on; `ends` are the codes after which an interval of free numbers may end.
    pub(super) fn new(domain: &'a Domain, ends: Vec<u32>, start: usize) -> Self {
        let shape = match domain.tree() {
            Some(tree) => Shape::Tree { tree, second: tree.nodes().map(|node| second(tree, node)).collect() },
            None => Shape::Free { ends },
        };
        let bits = match &shape {
            Shape::Free { ends } => ends.len(),
            Shape::Tree { .. } => domain.len().saturating_sub(1),
        };
        Self { domain, shape, bits: start..start + bits }
    }

    /// The codes after which something may end, by bit.
    pub(super) fn end_of(&self, bit: usize) -> u32 {
        let place = bit - self.bits.start;
        match &self.shape {
            Shape::Free { ends } => ends[place],
            Shape::Tree { .. } => place as u32,
        }
    }

    /// Whether any interval between end points may leave.
    pub(super) fn is_free(&self) -> bool {
        matches!(self.shape, Shape::Free { .. })
    }

    /// The bit that separates a missing value from the others, where there is one in a column of free numbers.
    fn missing_bit(&self) -> Option<usize> {
        let missing = self.domain.missing().filter(|_| self.is_free() && !self.bits.is_empty())?;
        let last = self.bits.end - 1;
        (self.end_of(last) + 1 == missing).then_some(last)
    }

    /// Goes through the cells of a valid string, from left to right.
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
            Shape::Tree { tree, second } => {
                visit(tree, |node| {
                    let second = second[node.index()];
                    let open = second == CHAIN || second != LEAF && self.separates(chromosome, second);
                    if !open {
                        each(self.domain.node_cell(node));
                    }
                    open
                });
            }
        }
    }

    /// Whether a leaf of a tree is told apart from the one before.
    fn separates(&self, chromosome: &Chromosome, leaf: u32) -> bool {
        chromosome.get(self.bits.start + leaf as usize - 1)
    }

    /// Whether the string is a valid cut.
    pub(super) fn is_valid(&self, chromosome: &Chromosome) -> bool {
        let told = |leaf: u32| self.separates(chromosome, leaf);
        match &self.shape {
            Shape::Free { .. } => match self.missing_bit() {
                Some(bit) => chromosome.get(bit) || chromosome.ones(self.bits.clone()) == 0,
                None => true,
            },
            Shape::Tree { tree, .. } => tree.nodes().all(|node| {
                let (first, last) = tree.range(node);
                let closed = chromosome.ones(self.inside(first, last)) == 0;
                closed || tree.children(node).skip(1).all(|child| told(tree.range(child).0))
            }),
        }
    }

    /// The bits between the leaves of a range.
    fn inside(&self, first: u32, last: u32) -> Range<usize> {
        self.bits.start + first as usize..self.bits.start + last as usize
    }

    /// Makes the string a valid cut, with as few bits changed as that takes; where opening and closing a node take as
    /// many, it is closed.
    pub(super) fn repair(&self, chromosome: &mut Chromosome) {
        match &self.shape {
            Shape::Free { .. } => {
                if let Some(bit) = self.missing_bit().filter(|&bit| !chromosome.get(bit)) {
                    // One bit for all the others, or all the others for one.
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
        // By node, how many bits would change for it to be valid, and whether it is open then.
        let mut least = vec![(0usize, false); tree.len()];
        for index in (0..tree.len()).rev() {
            let node = NodeId::from_index(index);
            if tree.is_leaf(node) {
                continue;
            }
            let (first, last) = tree.range(node);
            let closed = chromosome.ones(self.inside(first, last));
            let mut open = 0;
            for (place, child) in tree.children(node).enumerate() {
                let told = place == 0 || self.separates(chromosome, tree.range(child).0);
                open += least[child.index()].0 + usize::from(!told);
            }
            least[index] = if open < closed || first == last { (open, true) } else { (closed, false) };
        }
        visit(tree, |node| {
            let (_, open) = least[node.index()];
            if open {
                self.open(tree, node, chromosome);
            } else {
                let (first, last) = tree.range(node);
                chromosome.fill(self.inside(first, last), false);
            }
            open
        });
    }

    /// Tells the children of a node apart.
    fn open(&self, tree: &Tree, node: NodeId, chromosome: &mut Chromosome) {
        let start = self.bits.start;
        tree.children(node).skip(1).for_each(|child| chromosome.set(start + tree.range(child).0 as usize - 1, true));
    }

    /// Turns one bit of a valid string over, and whatever else must turn with it: a 1 opens the node that it divides and
    /// all above, a 0 closes it and all below.
    pub(super) fn flip(&self, chromosome: &mut Chromosome, bit: usize) {
        let told = chromosome.get(bit);
        match &self.shape {
            Shape::Free { .. } => {
                chromosome.set(bit, !told);
                match self.missing_bit() {
                    Some(missing) if told && missing == bit => chromosome.fill(self.bits.clone(), false),
                    Some(missing) if !told => chromosome.set(missing, true),
                    _ => {}
                }
            }
            Shape::Tree { tree, .. } => {
                let leaf = (bit - self.bits.start) as u32;
                let divided = tree.cover(leaf, leaf + 1);
                if told {
                    let (first, last) = tree.range(divided);
                    chromosome.fill(self.inside(first, last), false);
                } else {
                    let above = std::iter::successors(Some(divided), |&node| tree.parent(node));
                    above.for_each(|node| self.open(tree, node, chromosome));
                }
            }
        }
    }

    /// A valid cut at random: as much may be told as nothing.
    pub(super) fn draw(&self, chromosome: &mut Chromosome, rng: &mut SearchRng) {
        let openness = rng.unit();
        match &self.shape {
            Shape::Free { .. } => {
                // Mostly few intervals, because many are seldom any good.
                let openness = openness * openness * openness;
                self.bits.clone().for_each(|bit| chromosome.set(bit, rng.unit() < openness));
                self.repair(chromosome);
            }
            Shape::Tree { tree, second } => {
                chromosome.fill(self.bits.clone(), false);
                visit(tree, |node| {
                    let second = second[node.index()];
                    let open = second == CHAIN || second != LEAF && rng.unit() < openness;
                    if open {
                        self.open(tree, node, chromosome);
                    }
                    open
                });
            }
        }
    }

    /// The valid string that is nearest to some cells, which may be those of another method.
    pub(super) fn put_cells(&self, chromosome: &mut Chromosome, cells: &[Cell]) {
        for bit in self.bits.clone() {
            let end = self.end_of(bit) as usize;
            chromosome.set(bit, cells[end] != cells[end + 1]);
        }
        self.repair(chromosome);
    }
}

/// Visits the nodes in preorder, and descends where `open` returns true.
fn visit(tree: &Tree, mut open: impl FnMut(NodeId) -> bool) {
    let mut node = Tree::ROOT;
    while node.index() < tree.len() {
        node = if open(node) { NodeId(node.0 + 1) } else { tree.end(node) };
    }
}

fn second(tree: &Tree, node: NodeId) -> u32 {
    if tree.is_leaf(node) {
        return LEAF;
    }
    // The second child starts at a leaf after the first, so never at 0.
    tree.children(node).nth(1).map_or(CHAIN, |child| tree.range(child).0)
}
