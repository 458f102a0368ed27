//! A search tree over the boxes of groups, for the group that loses least by taking another in.
//!
//! A group's loss is its records times the penalty of its box. When n records join a group of m, and in a column p is the
//! penalty of the range around both and q that of the group, its loss grows by n p + m (p - q) there. A node knows the box
//! around the boxes below, what they all reach (the greatest of their first codes and the least of their last codes), the
//! fewest records of a group and the greatest penalty of one in each column. The range around both contains what they all
//! reach, and the penalty grows with the range: so the same sum, with the least p, the fewest m and the greatest q, and
//! p - q not below 0, is a lower bound. Costs and bounds add up the columns in the same order, and rounding keeps the
//! order of sums, differences and products: a bound is never too high, not even by a last digit.
//!
//! Groups change and go, none comes: the boxes above follow. When half the groups are gone the tree is built anew.

use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use super::{
    item_tree::{Below, ItemTree, LEAF, NONE},
    loss_table::LossTable,
};

/// A group, as far as its place is concerned.
#[derive(Debug, Clone, Copy)]
pub(super) struct GroupBox<'a> {
    /// The least and greatest code of each column.
    pub ranges: &'a [(u32, u32)],
    pub records: u64,
}

/// The boxes of groups, by their numbers, and the tree over those that are left.
pub(super) struct BoxTree<'a> {
    loss_table: &'a LossTable<'a>,
    columns: usize,
    /// Row-major, by number.
    ranges: Vec<(u32, u32)>,
    records: Vec<u64>,
    /// Row-major, by number: the penalty of each column.
    losses: Vec<f64>,
    tree: ItemTree,
    /// By node: the fewest and the most records of a group below.
    record_ranges: Vec<(u64, u64)>,
    /// Row-major, by node: the least first and the greatest last code.
    bounding: Vec<(u32, u32)>,
    /// Row-major, by node: the greatest first and the least last code.
    common: Vec<(u32, u32)>,
    /// Row-major, by node: the greatest penalty of each column.
    max_losses: Vec<f64>,
    /// How many costs of groups were computed.
    pub costs: AtomicU64,
}

impl<'a> BoxTree<'a> {
    pub(super) fn new<'p>(loss_table: &'a LossTable<'a>, group_boxes: impl Iterator<Item = GroupBox<'p>>) -> Self {
        let (mut ranges, mut records, mut losses) = (Vec::new(), Vec::new(), Vec::new());
        for group_box in group_boxes {
            ranges.extend(group_box.ranges);
            records.push(group_box.records);
            losses.extend(column_losses(loss_table, group_box.ranges));
        }
        let count = records.len();
        let mut boxes = Self {
            loss_table,
            columns: loss_table.columns(),
            ranges,
            records,
            losses,
            tree: ItemTree::new(count),
            record_ranges: Vec::new(),
            bounding: Vec::new(),
            common: Vec::new(),
            max_losses: Vec::new(),
            costs: AtomicU64::new(0),
        };
        boxes.build();
        boxes
    }

    /// How many groups are left.
    pub(super) fn left(&self) -> usize {
        self.tree.left()
    }

    pub(super) fn group_box(&self, group: u32) -> GroupBox<'_> {
        let at = group as usize;
        GroupBox { ranges: &self.ranges[at * self.columns..(at + 1) * self.columns], records: self.records[at] }
    }

    /// The other group whose loss grows least when this one joins it, of equals the first, and by how much.
    pub(super) fn nearest(&self, group: u32) -> Option<(f64, u32)> {
        self.nearest_to(self.group_box(group), group, f64::INFINITY)
    }

    /// The group whose loss grows least when these records join it, of those but one and whose loss grows by less than so much.
    pub(super) fn nearest_to(&self, joining: GroupBox<'_>, except: u32, below: f64) -> Option<(f64, u32)> {
        let bound = |node: u32| {
            let max_losses = &self.max_losses[node as usize * self.columns..(node as usize + 1) * self.columns];
            self.growth(joining, self.row(&self.common, node), max_losses, self.record_ranges[node as usize].0)
        };
        self.search(below, bound, |other| (other != except).then(|| self.growth_of(joining, other)))
    }

    /// By how much a group's loss grows when these records join it.
    pub(super) fn growth_of(&self, joining: GroupBox<'_>, other: u32) -> f64 {
        let losses = &self.losses[other as usize * self.columns..(other as usize + 1) * self.columns];
        let GroupBox { ranges, records } = self.group_box(other);
        self.growth(joining, ranges, losses, records)
    }

    /// The same for a group of these ranges, these loss_table in each column, and so many records.
    fn growth(&self, joining: GroupBox<'_>, ranges: &[(u32, u32)], losses: &[f64], records: u64) -> f64 {
        let (joining_records, records) = (joining.records as f64, records as f64);
        let in_column = |column: usize| {
            let (a, b) = (joining.ranges[column], ranges[column]);
            let around = self.loss_table.column(column, a.0.min(b.0), a.1.max(b.1));
            joining_records * around + records * (around - losses[column]).max(0.0)
        };
        (0..self.columns).map(in_column).sum()
    }

    /// A group's loss: its records times the penalty of its box.
    pub(super) fn loss(&self, group: u32) -> f64 {
        let GroupBox { ranges, records } = self.group_box(group);
        records as f64 * self.loss_table.of(ranges)
    }

    /// Of the other groups with more than so many records, the one of least cost, of equals the first. No group's cost
    /// may be less than `factor` times the penalty of the group's box with any one record of the other.
    pub(super) fn cheapest_giver(
        &self,
        group: u32,
        more_than: u64,
        factor: f64,
        cost: impl Fn(u32) -> Option<f64>,
    ) -> Option<(f64, u32)> {
        let group_box = self.group_box(group);
        let bound = |node: u32| {
            if self.record_ranges[node as usize].1 <= more_than {
                return f64::INFINITY;
            }
            factor * self.loss_table.nearest(group_box.ranges, self.row(&self.bounding, node))
        };
        self.search(f64::INFINITY, bound, |other| {
            let may = other != group && self.records[other as usize] > more_than;
            may.then(|| cost(other)).flatten()
        })
    }

    /// The group of least cost, if that is below a limit.
    fn search(&self, below: f64, bound: impl Fn(u32) -> f64, cost: impl Fn(u32) -> Option<f64>) -> Option<(f64, u32)> {
        if below <= 0.0 {
            return None;
        }
        // No group is as good as a group of that cost that comes before all others.
        let mut best: Option<(f64, u32)> = below.is_finite().then_some((below, 0));
        let mut open = BinaryHeap::new();
        let mut costs = 0;
        let push = |open: &mut BinaryHeap<_>, node: u32, best: Option<(f64, u32)>| {
            let first = self.tree.first(node);
            if first == NONE {
                return;
            }
            // Bounds and costs are not negative, so their bits are in their order.
            let least = (bound(node).to_bits(), first);
            let may_be_better = best.is_none_or(|(cost, group)| least < (cost.to_bits(), group));
            if may_be_better && least.0 < f64::INFINITY.to_bits() {
                open.push(Reverse((least, node)));
            }
        };
        push(&mut open, 0, best);
        while let Some(Reverse((least, node))) = open.pop() {
            if best.is_some_and(|(cost, group)| (cost.to_bits(), group) <= least) {
                break;
            }
            let groups = match self.tree.below(node) {
                Below::Nodes(children) => {
                    children.into_iter().for_each(|child| push(&mut open, child, best));
                    continue;
                }
                Below::Items(groups) => groups,
            };
            for &group in groups {
                let Some(cost) = cost(group) else { continue };
                costs += 1;
                if best.is_none_or(|(least, first)| (cost.to_bits(), group) < (least.to_bits(), first)) {
                    best = Some((cost, group));
                }
            }
        }
        self.costs.fetch_add(costs, Relaxed);
        best.filter(|(cost, _)| *cost < below)
    }

    /// A group has other records now.
    pub(super) fn change(&mut self, group: u32, group_box: GroupBox<'_>) {
        let at = group as usize;
        self.ranges[at * self.columns..(at + 1) * self.columns].copy_from_slice(group_box.ranges);
        self.records[at] = group_box.records;
        let losses = column_losses(self.loss_table, group_box.ranges);
        self.losses[at * self.columns..(at + 1) * self.columns]
            .iter_mut()
            .zip(losses)
            .for_each(|(known, loss)| *known = loss);
        self.refresh_above(self.tree.leaf_of(group));
    }

    /// A group is gone.
    pub(super) fn remove(&mut self, group: u32) {
        let leaf = self.tree.remove(group);
        self.refresh_above(leaf);
        if self.tree.is_sparse() {
            self.build();
        }
    }

    fn row<'r>(&self, rows: &'r [(u32, u32)], at: u32) -> &'r [(u32, u32)] {
        &rows[at as usize * self.columns..(at as usize + 1) * self.columns]
    }

    fn build(&mut self) {
        let Self { loss_table, columns, ranges, tree, .. } = self;
        // Twice the middle of a group's range.
        let middle = |group: u32, column: usize| {
            let (first, last) = ranges[group as usize * *columns + column];
            u64::from(first) + u64::from(last)
        };
        tree.build(|groups| {
            if groups.len() <= LEAF {
                return None;
            }
            // How far the middles of the groups are apart.
            let apart = |column: usize| {
                let middles = groups.iter().map(|&group| middle(group, column));
                let (least, most) = middles.fold((u64::MAX, 0), |(least, most), at| (least.min(at), most.max(at)));
                (least < most).then(|| (loss_table.column(column, (least / 2) as u32, (most / 2) as u32), column))
            };
            let widest = (0..*columns).filter_map(apart).max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
            let (_, column) = widest?;
            let half = groups.len() / 2;
            groups.select_nth_unstable_by_key(half, |&group| (middle(group, column), group));
            Some(half)
        });
        let nodes = tree.nodes();
        self.record_ranges = vec![(0, 0); nodes as usize];
        self.bounding = vec![(0, 0); nodes as usize * self.columns];
        self.common = self.bounding.clone();
        self.max_losses = vec![0.0; self.bounding.len()];
        // Children come after their parents.
        (0..nodes).rev().for_each(|node| self.refresh(node));
    }

    fn refresh_above(&mut self, mut node: u32) {
        while node != NONE {
            self.refresh(node);
            node = self.tree.parent(node);
        }
    }

    /// What a node knows, from what is directly below.
    fn refresh(&mut self, node: u32) {
        let (at, columns) = (node as usize * self.columns, self.columns);
        let (mut fewest, mut most) = (u64::MAX, 0);
        self.bounding[at..at + columns].fill((u32::MAX, 0));
        self.common[at..at + columns].fill((0, u32::MAX));
        self.max_losses[at..at + columns].fill(0.0);
        match self.tree.below(node) {
            Below::Items(groups) => {
                for &group in groups {
                    let records = self.records[group as usize];
                    (fewest, most) = (fewest.min(records), most.max(records));
                    for column in 0..columns {
                        let from = group as usize * columns + column;
                        let range = self.ranges[from];
                        self.max_losses[at + column] = self.max_losses[at + column].max(self.losses[from]);
                        widen(&mut self.bounding[at + column], range);
                        narrow(&mut self.common[at + column], range);
                    }
                }
            }
            Below::Nodes(children) => {
                for child in children {
                    let below = self.record_ranges[child as usize];
                    (fewest, most) = (fewest.min(below.0), most.max(below.1));
                    for column in 0..columns {
                        let from = child as usize * columns + column;
                        let (bounding, common) = (self.bounding[from], self.common[from]);
                        self.max_losses[at + column] = self.max_losses[at + column].max(self.max_losses[from]);
                        widen(&mut self.bounding[at + column], bounding);
                        narrow(&mut self.common[at + column], common);
                    }
                }
            }
        }
        self.record_ranges[node as usize] = (fewest, most);
    }
}

/// The penalty of each column of a box.
fn column_losses(loss_table: &LossTable<'_>, ranges: &[(u32, u32)]) -> impl Iterator<Item = f64> {
    ranges.iter().enumerate().map(|(column, &(first, last))| loss_table.column(column, first, last))
}

fn widen(known: &mut (u32, u32), range: (u32, u32)) {
    *known = (known.0.min(range.0), known.1.max(range.1));
}

fn narrow(known: &mut (u32, u32), range: (u32, u32)) {
    *known = (known.0.max(range.0), known.1.min(range.1));
}
