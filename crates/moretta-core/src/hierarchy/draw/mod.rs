//! Hierarchies for people: drawn as text or SVG, summarized, and compared with the values of a column.
//!
//! A tree may be as deep or as wide as it has leaves. So a drawing folds what does not fit a screen, and nothing
//! recurses. Cost: a drawing is linear in its lines, the rest in the tree and the values.

mod check;
mod svg;
mod text;

pub use self::{
    check::{Finding, Near, check},
    svg::svg,
    text::text,
};
use super::tree::Tree;
use crate::{
    ids::NodeId,
    text::{count, counted, shown},
};

/// Maximum depth of a drawing, in levels: deeper lines fit no screen, and indentation makes a chain's text quadratic.
pub const MAX_DEPTH: u32 = 60;

/// Limits of a drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DrawOptions {
    /// Children drawn per node; further ones are replaced by one line with their number.
    pub max_children: usize,
    /// Nodes at this depth are drawn without their children. At most [`MAX_DEPTH`].
    pub max_depth: u32,
    /// Lines of the drawing.
    pub max_lines: usize,
}

/// Lines that fit one or two screens. Not tuned.
const FITTING_LINES: usize = 100;
/// Levels that fit the width of a screen, at three columns of indentation each. Not tuned.
const FITTING_DEPTH: u32 = 20;

impl DrawOptions {
    /// The largest depth whose lines fit one or two screens; at least the root's children.
    pub fn fitting(tree: &Tree, max_children: usize) -> Self {
        let mut options = Self { max_children, max_depth: FITTING_DEPTH, ..Self::default() };
        let mut level = vec![Tree::ROOT];
        let mut lines = 1;
        for depth in 0..FITTING_DEPTH {
            let below: Vec<Drawn> = level.iter().flat_map(|node| drawn_children(tree, *node, max_children)).collect();
            lines += below.len();
            if lines > FITTING_LINES && depth > 0 {
                options.max_depth = depth;
                break;
            }
            level = below.iter().filter_map(|item| item.node()).collect();
        }
        options
    }
}

impl Default for DrawOptions {
    fn default() -> Self {
        Self { max_children: 20, max_depth: MAX_DEPTH, max_lines: 1000 }
    }
}

/// The size of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Summary {
    /// Number of leaves.
    pub leaves: usize,
    /// Number of nodes on the longest path, leaf and root included.
    pub levels: usize,
    /// Number of nodes, leaves and root included.
    pub nodes: usize,
    /// Node with the most children (the first in preorder on a tie) and their number; `None` if the tree is a lone
    /// root.
    pub widest: Option<(NodeId, usize)>,
}

/// Lines of a drawing, in preorder of the tree.
struct Picture {
    lines: Vec<Line>,
    /// Number of nodes without a line.
    more: usize,
}

struct Line {
    item: Drawn,
    depth: u32,
    /// Whether it is the last line among its siblings.
    is_last: bool,
    /// Whether the node has children that are not drawn.
    folded: bool,
}

#[derive(Clone, Copy)]
enum Drawn {
    Node(NodeId),
    /// Siblings that are not drawn, and the number of leaves below them.
    Rest {
        nodes: usize,
        leaves: u64,
    },
}

impl Drawn {
    fn node(self) -> Option<NodeId> {
        match self {
            Self::Node(node) => Some(node),
            Self::Rest { .. } => None,
        }
    }
}

/// The text of a line: a name, and the number of values below it unless it is a leaf.
struct Label {
    name: String,
    count: String,
}

impl Label {
    fn of(tree: &Tree, item: Drawn, folded: bool) -> Self {
        match item {
            Drawn::Rest { nodes, leaves } => {
                Self { name: format!("… {} more", count(nodes as u64)), count: values(leaves) }
            }
            Drawn::Node(node) => {
                let more = if folded { " …" } else { "" };
                let count = if tree.is_leaf(node) { String::new() } else { values(leaves(tree, node)) + more };
                Self { name: shown(tree.label(node)), count }
            }
        }
    }
}

impl Picture {
    fn of(tree: &Tree, options: &DrawOptions) -> Self {
        let max_depth = options.max_depth.min(MAX_DEPTH);
        let mut lines: Vec<Line> = Vec::new();
        // Stack of lines still to draw.
        let mut open = vec![Line { item: Drawn::Node(Tree::ROOT), depth: 0, is_last: true, folded: false }];
        while let Some(mut line) = open.pop() {
            if lines.len() >= options.max_lines {
                let drawn = lines.iter().filter(|line| line.item.node().is_some()).count();
                return Self { lines, more: tree.len() - drawn };
            }
            if let Some(node) = line.item.node() {
                line.folded = line.depth >= max_depth && !tree.is_leaf(node);
                if !line.folded {
                    let start = open.len();
                    let below = drawn_children(tree, node, options.max_children).into_iter();
                    open.extend(below.map(|item| Line { item, depth: line.depth + 1, is_last: false, folded: false }));
                    open[start..].reverse();
                    if let Some(last) = open.get_mut(start) {
                        last.is_last = true;
                    }
                }
            }
            lines.push(line);
        }
        Self { lines, more: 0 }
    }

    /// Last line: the number of nodes that are not drawn; `None` if all are.
    fn end(&self) -> Option<String> {
        let nodes = if self.more == 1 { "node" } else { "nodes" };
        (self.more > 0).then(|| format!("… {} more {nodes}", count(self.more as u64)))
    }
}

/// Lines for the children of a node, left to right. A single remaining child is drawn itself instead of `1 more`.
fn drawn_children(tree: &Tree, node: NodeId, max_children: usize) -> Vec<Drawn> {
    let mut children = tree.children(node);
    let mut shown: Vec<Drawn> = children.by_ref().take(max_children).map(Drawn::Node).collect();
    let Some(first) = children.next() else { return shown };
    let (mut nodes, mut below) = (1, leaves(tree, first));
    for child in children {
        nodes += 1;
        below += leaves(tree, child);
    }
    shown.push(if nodes == 1 { Drawn::Node(first) } else { Drawn::Rest { nodes, leaves: below } });
    shown
}

fn leaves(tree: &Tree, node: NodeId) -> u64 {
    let (first, last) = tree.range(node);
    u64::from(last) - u64::from(first) + 1
}

fn values(leaves: u64) -> String {
    counted(leaves, "value", "values")
}

/// Size of a tree. Cost: linear.
pub fn summary(tree: &Tree) -> Summary {
    let mut children = vec![0usize; tree.len()];
    let mut deepest = 0;
    for node in tree.nodes() {
        deepest = deepest.max(tree.depth(node));
        if let Some(parent) = tree.parent(node) {
            children[parent.index()] += 1;
        }
    }
    let widest = children.iter().copied().enumerate().max_by_key(|&(index, count)| (count, std::cmp::Reverse(index)));
    Summary {
        leaves: tree.leaf_count(),
        levels: deepest as usize + 1,
        nodes: tree.len(),
        widest: widest.filter(|(_, count)| *count > 0).map(|(index, count)| (NodeId::from_index(index), count)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::{file, tree::TreeBuilder};

    #[test]
    fn a_summary_counts() {
        let tree = file::parse("a;a;x;*\nb;g;x;*\nc;g;x;*\nd;g;x;*\ne;e;e;*\n").unwrap();
        let sum = summary(&tree);
        assert_eq!((sum.leaves, sum.levels, sum.nodes), (5, 4, 8));
        assert_eq!(sum.widest.map(|(node, count)| (tree.label(node), count)), Some(("g", 3)));
        let lone = Summary { leaves: 1, levels: 1, nodes: 1, widest: None };
        assert_eq!(summary(&TreeBuilder::default().build()), lone);
    }

    #[test]
    fn what_fits_a_screen_is_drawn_and_no_more() {
        let lines = |tree: &Tree| text(tree, &DrawOptions::fitting(tree, 12)).lines().count();
        let mut builder = TreeBuilder::default();
        for node in 0..2046 {
            // Heap order: a complete binary tree of eleven levels.
            builder.add(format!("n{node}"), node / 2);
        }
        let binary = builder.build();
        assert_eq!(lines(&binary), 63);
        assert_eq!(DrawOptions::fitting(&binary, 12).max_depth, 5);
        // The children of the root are always drawn, folded if there are many.
        let flat = Tree::flat((0..500).map(|leaf| leaf.to_string()));
        assert_eq!((lines(&flat), text(&flat, &DrawOptions::fitting(&flat, 300)).lines().count()), (14, 302));
        assert_eq!(lines(&TreeBuilder::default().build()), 1);
    }
}
