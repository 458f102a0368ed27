//! A k-d tree over the distinct tuples that still have records; each node has the bounding box of its points.
//!
//! A node is split in the column in which its box has the greatest loss, between two codes, as near to the middle as
//! possible:
//!
//! ```text
//! node: ages 20..60, 2 towns          splits at age 38: the range of ages loses more than that of towns
//!   ages 20..37, 2 towns      ages 38..60, 2 towns
//! ```
//!
//! A point without records is removed from its leaf, and the boxes above shrink; no point is added. Once half the
//! points are removed, the tree is rebuilt. Cost: O(t log^2 t) to build for t points, O(depth) per removal.

use crate::search::{
    cluster::include,
    local::{Below, ItemTree, LEAF, NONE},
};

/// The points of a block, by number, and the tree over those that still have records.
pub(super) struct PointTree {
    columns: usize,
    /// Row-major by point.
    codes: Vec<u32>,
    pub tree: ItemTree,
    /// Row-major by node: the least and greatest code of each column.
    bounds: Vec<(u32, u32)>,
}

impl PointTree {
    pub(super) fn new(codes: Vec<u32>, columns: usize, width: impl Fn(usize, u32, u32) -> f64) -> Self {
        let tree = ItemTree::new(codes.len() / columns);
        let mut points = Self { columns, codes, tree, bounds: Vec::new() };
        points.build(width);
        points
    }

    pub(super) fn codes(&self, point: u32) -> &[u32] {
        &self.codes[point as usize * self.columns..(point as usize + 1) * self.columns]
    }

    pub(super) fn bounds(&self, node: u32) -> &[(u32, u32)] {
        &self.bounds[node as usize * self.columns..(node as usize + 1) * self.columns]
    }

    /// Rebuilds the tree if more than half of its points were removed. `width` is the loss of a range of codes in a
    /// column.
    pub(super) fn rebuild_if_sparse(&mut self, width: impl Fn(usize, u32, u32) -> f64) {
        if self.tree.is_sparse() {
            self.build(width);
        }
    }

    fn build(&mut self, width: impl Fn(usize, u32, u32) -> f64) {
        let Self { columns, codes, tree, bounds } = self;
        bounds.clear();
        tree.build(|points| {
            let node_bounds = bounds_of(codes, *columns, points);
            bounds.extend(&node_bounds);
            if points.len() <= LEAF {
                return None;
            }
            let (_, column) = (0..*columns)
                .filter(|&column| node_bounds[column].0 < node_bounds[column].1)
                .map(|column| (width(column, node_bounds[column].0, node_bounds[column].1), column))
                .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))?;
            let code = |point: &u32| codes[*point as usize * *columns + column];
            points.sort_unstable_by_key(|point| (code(point), *point));
            Some(balanced_split(points, code))
        });
    }

    pub(super) fn remove(&mut self, point: u32) {
        let leaf = self.tree.remove(point);
        if let Below::Items(points) = self.tree.below(leaf)
            && !points.is_empty()
        {
            let bounds = bounds_of(&self.codes, self.columns, points);
            self.bounds[leaf as usize * self.columns..(leaf as usize + 1) * self.columns].copy_from_slice(&bounds);
        }
        let mut node = self.tree.parent(leaf);
        while node != NONE && self.shrink(node) {
            node = self.tree.parent(node);
        }
    }

    /// Sets the box of an inner node to that of its children; returns whether the nodes above may change too.
    fn shrink(&mut self, node: u32) -> bool {
        let Below::Nodes(children) = self.tree.below(node) else { return false };
        let firsts = children.map(|child| self.tree.first(child));
        let mut changed = firsts == [NONE; 2];
        for column in 0..self.columns {
            let of = |node: u32| self.bounds[node as usize * self.columns + column];
            let around = match firsts {
                [NONE, NONE] => break,
                [_, NONE] => of(children[0]),
                [NONE, _] => of(children[1]),
                _ => (of(children[0]).0.min(of(children[1]).0), of(children[0]).1.max(of(children[1]).1)),
            };
            let known = &mut self.bounds[node as usize * self.columns + column];
            changed |= *known != around;
            *known = around;
        }
        changed
    }
}

/// Index at which to split points that are sorted by code: between two different codes, as near to the middle as
/// possible.
fn balanced_split(points: &[u32], code: impl Fn(&u32) -> u32) -> usize {
    let middle = points.len() / 2;
    let middle_code = code(&points[middle]);
    let before = points.partition_point(|point| code(point) < middle_code);
    let after = points.partition_point(|point| code(point) <= middle_code);
    if before > 0 && (after == points.len() || middle - before <= after - middle) { before } else { after }
}

fn bounds_of(codes: &[u32], columns: usize, points: &[u32]) -> Vec<(u32, u32)> {
    let mut bounds = vec![(u32::MAX, 0); columns];
    for &point in points {
        include(&mut bounds, &codes[point as usize * columns..(point as usize + 1) * columns]);
    }
    bounds
}
