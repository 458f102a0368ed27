//! The skeleton of a binary search tree over numbered items: which items are below which node.
//!
//! Items are only removed. Data about the items below a node (their bounding box, for instance) is kept by the owner,
//! by node. Once half the items are removed, the owner rebuilds the tree.

/// Maximum items per leaf, unless they cannot be divided.
pub(in crate::search) const LEAF: usize = 8;

/// No item, or no node.
pub(in crate::search) const NONE: u32 = u32::MAX;

/// Node 0 is the root; the nodes are in preorder.
#[derive(Default)]
pub(in crate::search) struct ItemTree {
    nodes: Vec<TreeNode>,
    /// Items, leaf by leaf.
    order: Vec<u32>,
    leaf_of: Vec<u32>,
    /// Items that are not removed.
    left: usize,
    /// Items when the tree was built.
    built_with: usize,
}

struct TreeNode {
    parent: u32,
    /// The second child (the first is the next node); 0 for a leaf.
    second: u32,
    /// A leaf's items are `order[start..end]`.
    start: u32,
    end: u32,
    /// Least item below; [`NONE`] if all are removed.
    first: u32,
}

/// The direct children of a node.
pub(in crate::search) enum Below<'a> {
    Nodes([u32; 2]),
    Items(&'a [u32]),
}

impl ItemTree {
    /// Items from 0 to `count`; the tree has no nodes before [`ItemTree::build`].
    pub(in crate::search) fn new(count: usize) -> Self {
        Self { order: (0..count as u32).collect(), leaf_of: vec![NONE; count], left: count, ..Self::default() }
    }

    /// Builds the tree. `divide` is called once per node, in the order of the nodes: it reorders the node's items and
    /// returns where the second child's begin, or `None` for a leaf.
    pub(in crate::search) fn build(&mut self, mut divide: impl FnMut(&mut [u32]) -> Option<usize>) {
        let leaves = self.nodes.iter().filter(|node| node.second == 0);
        if !self.nodes.is_empty() {
            self.order = leaves.flat_map(|leaf| &self.order[leaf.start as usize..leaf.end as usize]).copied().collect();
            self.order.sort_unstable();
        }
        self.nodes.clear();
        self.built_with = self.order.len();
        let mut open = vec![(0, self.order.len(), NONE, false)];
        while let Some((start, end, parent, is_second)) = open.pop() {
            let id = self.nodes.len() as u32;
            if is_second {
                self.nodes[parent as usize].second = id;
            }
            let items = &mut self.order[start..end];
            let first = items.iter().copied().min().unwrap_or(NONE);
            self.nodes.push(TreeNode { parent, second: 0, start: start as u32, end: end as u32, first });
            if let Some(half) = divide(items) {
                open.push((start + half, end, id, true));
                open.push((start, start + half, id, false));
            } else {
                items.iter().for_each(|&item| self.leaf_of[item as usize] = id);
            }
        }
    }

    /// Whether more than half the items were removed since the tree was built.
    pub(in crate::search) fn is_sparse(&self) -> bool {
        self.left >= LEAF && 2 * self.left < self.built_with
    }

    /// Number of items that are not removed.
    pub(in crate::search) fn left(&self) -> usize {
        self.left
    }

    pub(in crate::search) fn nodes(&self) -> u32 {
        self.nodes.len() as u32
    }

    /// The least item below a node; [`NONE`] if none is left.
    pub(in crate::search) fn first(&self, node: u32) -> u32 {
        self.nodes[node as usize].first
    }

    /// [`NONE`] for the root.
    pub(in crate::search) fn parent(&self, node: u32) -> u32 {
        self.nodes[node as usize].parent
    }

    pub(in crate::search) fn leaf_of(&self, item: u32) -> u32 {
        self.leaf_of[item as usize]
    }

    pub(in crate::search) fn below(&self, node: u32) -> Below<'_> {
        match &self.nodes[node as usize] {
            TreeNode { second: 0, start, end, .. } => Below::Items(&self.order[*start as usize..*end as usize]),
            TreeNode { second, .. } => Below::Nodes([node + 1, *second]),
        }
    }

    /// Removes an item from its leaf, which is returned.
    pub(in crate::search) fn remove(&mut self, item: u32) -> u32 {
        let leaf = self.leaf_of(item);
        let node = &mut self.nodes[leaf as usize];
        let items = &mut self.order[node.start as usize..node.end as usize];
        let position = items.iter().position(|known| *known == item).expect("an item is removed once");
        items.swap(position, items.len() - 1);
        node.end -= 1;
        node.first = items[..items.len() - 1].iter().copied().min().unwrap_or(NONE);
        self.left -= 1;
        let mut above = node.parent;
        while above != NONE {
            let first = self.first(above + 1).min(self.first(self.nodes[above as usize].second));
            if std::mem::replace(&mut self.nodes[above as usize].first, first) == first {
                break;
            }
            above = self.parent(above);
        }
        leaf
    }
}
