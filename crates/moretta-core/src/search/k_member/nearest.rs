//! Best-first searches of the tree: the next record of a cluster, and the next seed.
//!
//! While a cluster's box grows, the cost of a record never falls. So one priority queue serves a whole cluster: a cost
//! that was computed for a smaller box is a lower bound for the larger one, and is recomputed only when it is popped (a
//! lazy queue).
//!
//! ```text
//! box version 1     queue: point a 0.3 (version 1), node N 0.5 (version 0)
//! pop a: version is current -> a is the next record; the box grows to version 2
//! pop N: version is old     -> recompute its bound, 0.7, push again; popped as current, it is replaced by its children
//! ```

use std::{cmp::Reverse, collections::BinaryHeap};

use super::points::PointTree;
use crate::search::local::{Below, GrowingBox, NONE};

/// Counters for the report.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Work {
    /// Costs of points that were computed.
    pub distances: u64,
    /// Bounds of nodes that were computed.
    pub bounds: u64,
    /// Distances that the published algorithm would have computed.
    pub naive: u64,
}

/// Queue entry of a point or a node; ordered by cost, then by the first point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    /// Bits of the cost, or of its lower bound: bits of non-negative floats have the order of the floats.
    cost: u64,
    /// The point, or the least point below the node.
    first: u32,
    /// The node; [`NONE`] for a point.
    node: u32,
    /// Version of the box that the cost was computed for.
    version: u32,
}

/// Lazy queue of the points around a growing cluster, cheapest first.
#[derive(Default)]
pub(super) struct NearestQueue {
    queue: BinaryHeap<Reverse<Entry>>,
    /// Number of times that the box has grown.
    version: u32,
}

impl NearestQueue {
    /// Starts a cluster.
    pub(super) fn start(&mut self, points: &PointTree, growing_box: &GrowingBox<'_>, work: &mut Work) {
        self.queue.clear();
        self.version = 0;
        self.push_node(0, points, growing_box, work);
    }

    /// Must be called when the box has grown.
    pub(super) fn box_grew(&mut self) {
        self.version += 1;
    }

    /// Adds a point, or puts one back that [`NearestQueue::next`] returned.
    pub(super) fn push_point(&mut self, point: u32, points: &PointTree, growing_box: &GrowingBox<'_>, work: &mut Work) {
        work.distances += 1;
        let cost = growing_box.cost(points.codes(point)).to_bits();
        self.queue.push(Reverse(Entry { cost, first: point, node: NONE, version: self.version }));
    }

    fn push_node(&mut self, node: u32, points: &PointTree, growing_box: &GrowingBox<'_>, work: &mut Work) {
        let first = points.tree.first(node);
        if first != NONE {
            work.bounds += 1;
            let cost = growing_box.min_cost(points.bounds(node)).to_bits();
            self.queue.push(Reverse(Entry { cost, first, node, version: self.version }));
        }
    }

    /// Removes and returns the point of least cost, the first of equals; `None` if no point is left.
    pub(super) fn next(&mut self, points: &PointTree, growing_box: &GrowingBox<'_>, work: &mut Work) -> Option<u32> {
        while let Some(Reverse(entry)) = self.queue.pop() {
            let is_node = entry.node != NONE;
            // All points below were removed since the node was queued.
            if is_node && points.tree.first(entry.node) == NONE {
                continue;
            }
            if entry.version != self.version {
                if is_node {
                    self.push_node(entry.node, points, growing_box, work);
                } else {
                    self.push_point(entry.first, points, growing_box, work);
                }
                continue;
            }
            if !is_node {
                return Some(entry.first);
            }
            match points.tree.below(entry.node) {
                Below::Nodes(children) => {
                    children.into_iter().for_each(|child| self.push_node(child, points, growing_box, work));
                }
                Below::Items(below) => {
                    below.iter().for_each(|&point| self.push_point(point, points, growing_box, work));
                }
            }
        }
        None
    }
}

/// Returns the point farthest from the seed in `growing_box`, the first of equals; `None` if no point is left.
pub(super) fn farthest(points: &PointTree, growing_box: &GrowingBox<'_>, work: &mut Work) -> Option<u32> {
    let mut best: Option<(f64, u32)> = None;
    let mut open: BinaryHeap<(u64, Reverse<u32>, u32)> = BinaryHeap::new();
    let push = |open: &mut BinaryHeap<_>, node: u32, work: &mut Work| {
        if points.tree.first(node) != NONE {
            work.bounds += 1;
            open.push((growing_box.max_cost(points.bounds(node)).to_bits(), Reverse(points.tree.first(node)), node));
        }
    };
    push(&mut open, 0, work);
    while let Some((bound, Reverse(first), node)) = open.pop() {
        // No point below can be farther, or equally far with a smaller number.
        if best.is_some_and(|(cost, point)| (cost.to_bits(), Reverse(point)) >= (bound, Reverse(first))) {
            break;
        }
        match points.tree.below(node) {
            Below::Nodes(children) => children.into_iter().for_each(|child| push(&mut open, child, work)),
            Below::Items(below) => {
                for &point in below {
                    work.distances += 1;
                    let cost = growing_box.cost(points.codes(point));
                    if best.is_none_or(|(max, first)| cost > max || (cost == max && point < first)) {
                        best = Some((cost, point));
                    }
                }
            }
        }
    }
    best.map(|(_, point)| point)
}
