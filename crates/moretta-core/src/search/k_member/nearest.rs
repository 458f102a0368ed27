//! The next record of a cluster, and the seed of the next: best-first searches of the tree.
//!
//! While a cluster grows, what a record would cost it never falls. So one queue serves the whole cluster: what was
//! computed for a smaller box is still a lower bound for the larger one, and is computed again only when it comes up.

use std::{cmp::Reverse, collections::BinaryHeap};

use super::points::PointTree;
use crate::search::local::{Below, GrowingBox, NONE};

/// How much was computed.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SearchWork {
    /// Costs of records.
    pub distances: u64,
    /// Bounds of nodes.
    pub bounds: u64,
    /// Distances that a search through all records would have computed.
    pub naive: u64,
}

/// In order of cost, then of the record that comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    /// The bits of a cost: costs are not negative, so their bits are in their order.
    cost: u64,
    /// The number of the point, or the least of a node.
    first: u32,
    /// The node; [`NONE`] for a point.
    node: u32,
    /// The box that the cost was computed for.
    version: u32,
}

/// The records around a cluster, cheapest first.
#[derive(Default)]
pub(super) struct NearestQueue {
    queue: BinaryHeap<Reverse<Entry>>,
    version: u32,
}

impl NearestQueue {
    /// Begins a cluster.
    pub(super) fn start(&mut self, points: &PointTree, growing_box: &GrowingBox<'_>, work: &mut SearchWork) {
        self.queue.clear();
        self.version = 0;
        self.push_node(0, points, growing_box, work);
    }

    /// The box has grown.
    pub(super) fn box_grew(&mut self) {
        self.version += 1;
    }

    /// Puts a point back that was taken out by [`NearestQueue::next`].
    pub(super) fn push_point(
        &mut self,
        point: u32,
        points: &PointTree,
        growing_box: &GrowingBox<'_>,
        work: &mut SearchWork,
    ) {
        work.distances += 1;
        let cost = growing_box.cost(points.codes(point)).to_bits();
        self.queue.push(Reverse(Entry { cost, first: point, node: NONE, version: self.version }));
    }

    fn push_node(&mut self, node: u32, points: &PointTree, growing_box: &GrowingBox<'_>, work: &mut SearchWork) {
        let first = points.tree.first(node);
        if first != NONE {
            work.bounds += 1;
            let cost = growing_box.min_cost(points.bounds(node)).to_bits();
            self.queue.push(Reverse(Entry { cost, first, node, version: self.version }));
        }
    }

    /// The point that costs least, of equals the first; none where no point is left. It is no longer in the queue.
    pub(super) fn next(
        &mut self,
        points: &PointTree,
        growing_box: &GrowingBox<'_>,
        work: &mut SearchWork,
    ) -> Option<u32> {
        while let Some(Reverse(entry)) = self.queue.pop() {
            let is_node = entry.node != NONE;
            // Points of a node may have gone since.
            if is_node && points.tree.first(entry.node) == NONE {
                continue;
            }
            if entry.version != self.version {
                match is_node {
                    true => self.push_node(entry.node, points, growing_box, work),
                    false => self.push_point(entry.first, points, growing_box, work),
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

/// The point that is farthest from the one the reach starts at, of equals the first.
pub(super) fn farthest(points: &PointTree, growing_box: &GrowingBox<'_>, work: &mut SearchWork) -> Option<u32> {
    let mut best: Option<(f64, u32)> = None;
    let mut open: BinaryHeap<(u64, Reverse<u32>, u32)> = BinaryHeap::new();
    let push = |open: &mut BinaryHeap<_>, node: u32, work: &mut SearchWork| {
        if points.tree.first(node) != NONE {
            work.bounds += 1;
            open.push((growing_box.max_cost(points.bounds(node)).to_bits(), Reverse(points.tree.first(node)), node));
        }
    };
    push(&mut open, 0, work);
    while let Some((most, Reverse(first), node)) = open.pop() {
        // What is best so far is at least as far, and comes first where it is as far.
        if best.is_some_and(|(cost, point)| (cost.to_bits(), Reverse(point)) >= (most, Reverse(first))) {
            break;
        }
        match points.tree.below(node) {
            Below::Nodes(children) => children.into_iter().for_each(|child| push(&mut open, child, work)),
            Below::Items(below) => {
                for &point in below {
                    work.distances += 1;
                    let cost = growing_box.cost(points.codes(point));
                    if best.is_none_or(|(most, first)| cost > most || (cost == most && point < first)) {
                        best = Some((cost, point));
                    }
                }
            }
        }
    }
    best.map(|(_, point)| point)
}
