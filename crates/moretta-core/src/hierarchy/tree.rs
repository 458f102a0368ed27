//! Trees over the values of one column.
//!
//! Leaves are numbered left to right, so that every node covers one contiguous range of leaf codes: lowest common
//! ancestors, leaves below a node and membership are comparisons of integers. Nodes are in preorder; a node's subtree
//! is the range of ids from the node to [`Tree::end`], exclusive.
//!
//! Trees may be as deep as they have leaves (hierarchies built from data are), so nothing here recurses, and the climb
//! to a common ancestor uses jump pointers (Myers 1983): O(log depth), with two words of memory per node.

use crate::{ids::NodeId, memory};

/// Label of every root, and of suppressed values.
pub const ROOT_LABEL: &str = "*";

/// A hierarchy of one column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree {
    nodes: Vec<Node>,
    leaves: Vec<NodeId>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Node {
    label: Box<str>,
    parent: u32,
    jump: u32,
    depth: u32,
    end: u32,
    first: u32,
    last: u32,
}

/// Collects nodes in any order, parents before children, and puts them in preorder.
#[derive(Debug)]
pub struct TreeBuilder {
    labels: Vec<Box<str>>,
    parents: Vec<usize>,
}

impl Default for TreeBuilder {
    fn default() -> Self {
        Self::with_capacity(0)
    }
}

impl TreeBuilder {
    /// Handle of the root, which exists from the start.
    pub const ROOT: usize = 0;

    /// Reserves memory for this many nodes below the root.
    pub fn with_capacity(nodes: usize) -> Self {
        let mut builder = Self { labels: Vec::with_capacity(nodes + 1), parents: Vec::with_capacity(nodes + 1) };
        builder.labels.push(ROOT_LABEL.into());
        builder.parents.push(0);
        builder
    }

    /// Adds a node below `parent` (a handle returned earlier), to the right of its siblings, and returns its handle.
    pub fn add(&mut self, label: impl Into<Box<str>>, parent: usize) -> usize {
        debug_assert!(parent < self.labels.len());
        self.labels.push(label.into());
        self.parents.push(parent);
        self.labels.len() - 1
    }

    /// Returns the tree. Nodes without children are its leaves; a lone root is a tree of one leaf.
    pub fn build(self) -> Tree {
        let n = self.labels.len();
        // Children in order of insertion, as linked lists filled from the back.
        let (mut first_child, mut next) = (vec![usize::MAX; n], vec![usize::MAX; n]);
        for node in (1..n).rev() {
            let parent = self.parents[node];
            next[node] = first_child[parent];
            first_child[parent] = node;
        }
        let mut labels: Vec<Option<Box<str>>> = self.labels.into_iter().map(Some).collect();
        let mut tree = Tree { nodes: Vec::with_capacity(n), leaves: Vec::new() };
        let mut open: Vec<(usize, NodeId)> = Vec::new();
        let mut current = Some((0, None::<NodeId>));
        while let Some((handle, parent)) = current {
            let id = tree.push(labels[handle].take().expect("each node is visited once"), parent);
            if first_child[handle] == usize::MAX {
                tree.leaves.push(id);
            }
            open.push((handle, id));
            current = (first_child[handle] != usize::MAX).then(|| (first_child[handle], Some(id)));
            while current.is_none() {
                let Some((done, id)) = open.pop() else { break };
                tree.close(id);
                if next[done] != usize::MAX {
                    current = Some((next[done], open.last().map(|&(_, parent)| parent)));
                }
            }
        }
        tree
    }
}

impl Tree {
    /// Bytes of the heap that the tree takes.
    pub fn bytes(&self) -> u64 {
        let rest = size_of::<Node>() - size_of::<Box<str>>();
        memory::texts(self.nodes.iter().map(|node| &*node.label))
            + (self.nodes.len() * rest + 4 * self.leaves.len()) as u64
    }

    /// A tree with every leaf directly under the root.
    pub fn flat<L: Into<Box<str>>>(leaves: impl IntoIterator<Item = L>) -> Self {
        let mut builder = TreeBuilder::default();
        for leaf in leaves {
            builder.add(leaf, TreeBuilder::ROOT);
        }
        builder.build()
    }

    fn push(&mut self, label: Box<str>, parent: Option<NodeId>) -> NodeId {
        let id = NodeId::from_index(self.nodes.len());
        let first = self.leaves.len() as u32;
        let mut node = Node { label, parent: id.0, jump: id.0, depth: 0, end: 0, first, last: first };
        if let Some(parent) = parent {
            let up = &self.nodes[parent.index()];
            let far = &self.nodes[up.jump as usize];
            node.parent = parent.0;
            node.depth = up.depth + 1;
            let even = up.depth - far.depth == far.depth - self.nodes[far.jump as usize].depth;
            node.jump = if even { far.jump } else { parent.0 };
        }
        self.nodes.push(node);
        id
    }

    fn close(&mut self, id: NodeId) {
        let (end, last) = (self.nodes.len() as u32, self.leaves.len() as u32 - 1);
        let node = &mut self.nodes[id.index()];
        (node.end, node.last) = (end, last);
    }

    /// The same tree with one more leaf at the far right, directly under the root.
    pub fn with_extra_leaf(&self, label: impl Into<Box<str>>) -> Self {
        let mut builder = self.rebuild(|_| true);
        builder.add(label, TreeBuilder::ROOT);
        builder.build()
    }

    /// The same tree with only the leaves for which `wanted` holds, and the nodes above them.
    pub fn retain_leaves(&self, wanted: impl Fn(u32) -> bool) -> Self {
        self.rebuild(wanted).build()
    }

    /// The same tree with other labels; those for which `label` returns `None` stay.
    pub fn relabeled(&self, label: impl Fn(&str) -> Option<String>) -> Self {
        let mut tree = self.clone();
        for node in tree.nodes.iter_mut().skip(1) {
            if let Some(label) = label(&node.label) {
                node.label = label.into();
            }
        }
        tree
    }

    fn rebuild(&self, wanted: impl Fn(u32) -> bool) -> TreeBuilder {
        let mut kept = vec![false; self.nodes.len()];
        for (code, leaf) in self.leaves.iter().enumerate() {
            if *leaf == Self::ROOT || !wanted(code as u32) {
                continue;
            }
            let mut node = *leaf;
            while !kept[node.index()] {
                kept[node.index()] = true;
                node = self.parent(node).unwrap_or(Self::ROOT);
            }
        }
        let mut builder = TreeBuilder::default();
        let mut handles = vec![TreeBuilder::ROOT; self.nodes.len()];
        for (index, node) in self.nodes.iter().enumerate().skip(1) {
            if kept[index] {
                handles[index] = builder.add(node.label.clone(), handles[node.parent as usize]);
            }
        }
        builder
    }

    /// Id of the root.
    pub const ROOT: NodeId = NodeId(0);

    /// Number of nodes, leaves and root included.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Always false: a tree has a root.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Number of leaves.
    pub fn leaf_count(&self) -> usize {
        self.leaves.len()
    }

    /// The node of a leaf code.
    pub fn leaf(&self, code: u32) -> NodeId {
        self.leaves[code as usize]
    }

    /// Label of a node; a leaf's label is its value.
    pub fn label(&self, node: NodeId) -> &str {
        &self.nodes[node.index()].label
    }

    /// Labels of the leaves, by code.
    pub fn leaf_labels(&self) -> impl Iterator<Item = &str> {
        self.leaves.iter().map(|leaf| self.label(*leaf))
    }

    /// Parent of a node; `None` for the root.
    pub fn parent(&self, node: NodeId) -> Option<NodeId> {
        (node != Self::ROOT).then(|| NodeId(self.nodes[node.index()].parent))
    }

    /// Number of steps to the root.
    pub fn depth(&self, node: NodeId) -> u32 {
        self.nodes[node.index()].depth
    }

    /// The leaf codes below the node, both ends included.
    pub fn range(&self, node: NodeId) -> (u32, u32) {
        let node = &self.nodes[node.index()];
        (node.first, node.last)
    }

    /// Whether the node has no children.
    pub fn is_leaf(&self, node: NodeId) -> bool {
        self.nodes[node.index()].end == node.0 + 1
    }

    /// The id after the last node of this node's subtree.
    pub fn end(&self, node: NodeId) -> NodeId {
        NodeId(self.nodes[node.index()].end)
    }

    /// Children of a node, left to right.
    pub fn children(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let end = self.end(node);
        let mut child = NodeId(node.0 + 1);
        std::iter::from_fn(move || {
            (child < end).then(|| {
                let this = child;
                child = self.end(this);
                this
            })
        })
    }

    /// Child of `node` that covers a leaf. The leaf must lie below `node`.
    pub fn child_above(&self, node: NodeId, code: u32) -> NodeId {
        let depth = self.depth(node) + 1;
        let mut at = self.leaves[code as usize].index();
        debug_assert!(self.nodes[at].depth >= depth && self.range(node).0 <= code && code <= self.range(node).1);
        while self.nodes[at].depth > depth {
            let jump = self.nodes[at].jump as usize;
            at = if self.nodes[jump].depth >= depth { jump } else { self.nodes[at].parent as usize };
        }
        NodeId(at as u32)
    }

    /// All nodes in preorder.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }

    /// The lowest node that covers all leaves from `first` to `last`.
    pub fn cover(&self, first: u32, last: u32) -> NodeId {
        debug_assert!(first <= last && (last as usize) < self.leaves.len());
        let mut at = self.leaves[first as usize].index();
        while self.nodes[at].last < last {
            let jump = self.nodes[at].jump as usize;
            at = if self.nodes[jump].last < last { jump } else { self.nodes[at].parent as usize };
        }
        NodeId(at as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn random_tree(parents: &[usize]) -> Tree {
        let mut builder = TreeBuilder::default();
        for (index, parent) in parents.iter().enumerate() {
            builder.add(format!("n{}", index + 1), parent % (index + 1));
        }
        builder.build()
    }

    proptest! {
        #[test]
        fn cover_equals_climbing_one_by_one(parents in prop::collection::vec(0usize..1000, 1..60), a: u32, b: u32) {
            let tree = random_tree(&parents);
            let m = tree.leaf_count() as u32;
            let (first, last) = ((a % m).min(b % m), (a % m).max(b % m));
            let mut node = tree.leaf(first);
            while tree.range(node).1 < last {
                node = tree.parent(node).unwrap();
            }
            prop_assert_eq!(tree.cover(first, last), node);
            if !tree.is_leaf(node) {
                let child = tree.children(node).find(|child| tree.range(*child).1 >= last).unwrap();
                prop_assert_eq!(tree.child_above(node, last), child);
            }
        }

        #[test]
        fn ranges_are_contiguous_and_nested(parents in prop::collection::vec(0usize..1000, 1..60)) {
            let tree = random_tree(&parents);
            prop_assert_eq!(tree.len(), parents.len() + 1);
            for node in tree.nodes() {
                let (first, last) = tree.range(node);
                let below: Vec<_> = tree.children(node).collect();
                prop_assert_eq!(below.is_empty(), tree.is_leaf(node));
                let mut next = first;
                for child in below {
                    prop_assert_eq!(tree.parent(child), Some(node));
                    prop_assert_eq!(tree.depth(child), tree.depth(node) + 1);
                    prop_assert_eq!(tree.range(child).0, next);
                    next = tree.range(child).1 + 1;
                }
                prop_assert!(tree.is_leaf(node) || next == last + 1);
            }
        }

        #[test]
        fn retaining_all_leaves_changes_nothing(parents in prop::collection::vec(0usize..1000, 1..60)) {
            let tree = random_tree(&parents);
            prop_assert_eq!(tree.retain_leaves(|_| true), tree);
        }
    }

    #[test]
    fn a_chain_of_a_hundred_thousand_is_no_trouble() {
        let mut builder = TreeBuilder::default();
        let mut above = TreeBuilder::ROOT;
        for i in 0..100_000 {
            builder.add(format!("leaf{i}"), above);
            above = builder.add(format!("inner{i}"), above);
        }
        let tree = builder.build();
        assert_eq!(tree.cover(0, tree.leaf_count() as u32 - 1), Tree::ROOT);
        assert_eq!(tree.label(tree.cover(99_999, 99_999)), "leaf99999");
    }
}
