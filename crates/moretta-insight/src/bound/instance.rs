//! A table as the bound sees it: tuples with their counts, and the trees of the columns with the loss of each node.

use std::ops::Range;

use moretta_core::{
    hierarchy::Tree,
    ids::{ColumnId, TupleId},
    objective::LossMetric,
    profile::Profile,
};

/// Node of a column's tree.
#[derive(Debug, Clone)]
struct Node {
    /// Weighted loss of a cell of this node, at most that of the parent.
    cost: f64,
    /// Indices of the children in [`Column::children`].
    children: Range<usize>,
    /// Whether every child is a leaf, so that a code's child is found without a search.
    is_flat: bool,
}

/// A column of the instance.
#[derive(Debug, Clone)]
pub(super) struct Column {
    nodes: Vec<Node>,
    /// Children of all nodes, those of one node in order: node and first code.
    children: Vec<(u32, u32)>,
    /// By tuple.
    pub codes: Vec<u32>,
    /// Largest number of children of a node.
    pub max_children: usize,
}

impl Column {
    /// Builds the tree of a column. `cost` returns the loss of a node.
    fn new(tree: &Tree, cost: impl Fn(moretta_core::ids::NodeId) -> f64, codes: Vec<u32>) -> Self {
        let (mut nodes, mut children) = (Vec::<Node>::with_capacity(tree.len()), Vec::new());
        for node in tree.nodes() {
            let start = children.len();
            children.extend(tree.children(node).map(|child| (child.0, tree.range(child).0)));
            let is_flat = tree.children(node).all(|child| tree.is_leaf(child));
            // A cell never loses more than a larger one. Here this holds by construction, because the search for boxes
            // relies on it, and a cost that is too low keeps a bound valid.
            let parent = tree.parent(node).map_or(f64::INFINITY, |parent| nodes[parent.index()].cost);
            nodes.push(Node { cost: cost(node).min(parent), children: start..children.len(), is_flat });
        }
        let max_children = nodes.iter().map(|node| node.children.len()).max().unwrap_or(0);
        Self { nodes, children, codes, max_children }
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    pub fn cost(&self, node: u32) -> f64 {
        self.nodes[node as usize].cost
    }

    pub fn is_leaf(&self, node: u32) -> bool {
        self.nodes[node as usize].children.is_empty()
    }

    /// Index of the child of `node` that covers a code below it.
    pub fn child_above(&self, node: u32, code: u32) -> usize {
        let node = &self.nodes[node as usize];
        let children = &self.children[node.children.clone()];
        if node.is_flat {
            (code - children[0].1) as usize
        } else {
            children.partition_point(|(_, first)| *first <= code) - 1
        }
    }

    /// The child of `node` at an index.
    pub fn child(&self, node: u32, index: usize) -> u32 {
        self.children[self.nodes[node as usize].children.start + index].0
    }
}

/// A table, its trees, and the minimum records of a group.
#[derive(Debug, Clone)]
pub(super) struct Instance {
    /// Columns with few nodes first: their nodes lose most, so boxes that cost too much are found early.
    pub columns: Vec<Column>,
    /// Number of records of each tuple.
    pub counts: Vec<u64>,
    /// Sum of the counts.
    pub records: u64,
    /// Minimum records of a group.
    pub k: u64,
}

impl Instance {
    /// The instance of a profile whose columns all have trees.
    ///
    /// # Panics
    /// If a column has no tree.
    pub fn new(profile: &Profile, metric: LossMetric, weights: &[f64], k: u64) -> Self {
        let tuples = || (0..profile.tuples()).map(TupleId::from_index);
        let column = |(index, weight): (usize, &f64)| {
            let domain = profile.domain(ColumnId::from_index(index));
            let tree = domain.tree().expect("the caller has checked that all columns have trees");
            let codes = tuples().map(|tuple| profile.codes(tuple)[index]).collect();
            Column::new(tree, |node| weight * metric.of(domain, domain.node_cell(node)), codes)
        };
        let mut columns: Vec<Column> = weights.iter().enumerate().map(column).collect();
        columns.sort_by_key(Column::len);
        let counts: Vec<u64> = tuples().map(|tuple| profile.tuple_records(tuple)).collect();
        Self { columns, records: counts.iter().sum(), counts, k }
    }

    /// Number of tuples.
    pub fn tuples(&self) -> usize {
        self.counts.len()
    }

    /// Loss of a record with `*` in every column.
    pub fn max_cost(&self) -> f64 {
        self.columns.iter().map(|column| column.cost(0)).sum()
    }

    /// Mean of the k largest prices of some records, which are given as tuples by falling price and are at least k.
    pub fn mean_of_largest(&self, tuples: &[u32], prices: &[f64]) -> f64 {
        let (mut left, mut sum) = (self.k, 0.0);
        for &tuple in tuples {
            let records = self.counts[tuple as usize].min(left);
            sum += records as f64 * prices[tuple as usize];
            left -= records;
            if left == 0 {
                break;
            }
        }
        debug_assert!(left == 0);
        sum / self.k as f64
    }
}
