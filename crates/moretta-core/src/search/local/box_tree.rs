//! A search tree over the boxes of groups. It finds the group whose loss grows least when other records join it.
//!
//! Why: merging looks for the best partner of every group, and a scan of all groups makes that quadratic.
//!
//! Growth of the loss: a group's loss is its number of records times the loss of its box. If n records join a group of
//! m, and in some column p is the loss of the range around both and q that of the group's own range, the loss grows
//! there by
//!
//! ```text
//! (n + m) p - m q  =  n p + m (p - q)
//! ```
//!
//! Lower bound of a node, for branch and bound: a node knows, per column, the *common* range of the boxes below, that
//! is the greatest of their first codes and the least of their last codes:
//!
//! ```text
//! codes         0  1  2  3  4  5  6  7  8  9
//! boxes below         [-----------]              2..6
//!                        [-----------]           3..7
//! common                 [--------]              3..6: every box starts at 3 or before and ends at 6 or after
//! joining                               []       9: with any of the boxes, the range contains 3..9
//! ```
//!
//! So p is at least the loss of the range around the joining records and the common range (losses grow with ranges).
//! With this p, the minimum m and the maximum q of the groups below, and p - q cut off at 0, the sum is a lower bound
//! of the growth. Growths and bounds sum the columns in the same order, and rounding is monotone, so a bound is never
//! too high, not even in the last digit: the result is that of a full scan.
//!
//! Groups may change or be removed, none is added; the nodes above are updated. Once half the groups are removed, the
//! tree is rebuilt. Cost: few nodes per search if boxes are small compared with the table, all of them at worst.

use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use super::{
    item_tree::{Below, ItemTree, LEAF, NONE},
    loss_table::LossTable,
};

/// Box and size of a group.
#[derive(Debug, Clone, Copy)]
pub(super) struct GroupBox<'a> {
    /// Least and greatest code of each column.
    pub ranges: &'a [(u32, u32)],
    pub records: u64,
}

/// The boxes of groups, by number, and the tree over those that are not removed.
pub(super) struct BoxTree<'a> {
    loss_table: &'a LossTable<'a>,
    columns: usize,
    /// Row-major by group.
    ranges: Vec<(u32, u32)>,
    records: Vec<u64>,
    /// Row-major by group: the loss of its range in each column.
    losses: Vec<f64>,
    tree: ItemTree,
    /// By node: the minimum and maximum records of a group below.
    record_ranges: Vec<(u64, u64)>,
    /// Row-major by node: the least first and the greatest last code of the boxes below.
    bounding: Vec<(u32, u32)>,
    /// Row-major by node: the greatest first and the least last code of the boxes below (see the module).
    common: Vec<(u32, u32)>,
    /// Row-major by node: the maximum loss of a group below in each column.
    max_losses: Vec<f64>,
    /// Number of growths that were computed, for the report.
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
        let mut box_tree = Self {
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
        box_tree.build();
        box_tree
    }

    /// Number of groups that are not removed.
    pub(super) fn left(&self) -> usize {
        self.tree.left()
    }

    pub(super) fn group_box(&self, group: u32) -> GroupBox<'_> {
        let at = group as usize;
        GroupBox { ranges: &self.ranges[at * self.columns..(at + 1) * self.columns], records: self.records[at] }
    }

    /// Returns the growth and the number of the other group whose loss grows least when this one joins it; the first of
    /// equals.
    pub(super) fn nearest(&self, group: u32) -> Option<(f64, u32)> {
        self.nearest_to(self.group_box(group), group, f64::INFINITY)
    }

    /// Returns the group other than `except` whose loss grows least when these records join it, if by less than
    /// `below`.
    pub(super) fn nearest_to(&self, joining: GroupBox<'_>, except: u32, below: f64) -> Option<(f64, u32)> {
        let bound = |node: u32| {
            let max_losses = &self.max_losses[node as usize * self.columns..(node as usize + 1) * self.columns];
            self.growth(joining, self.row(&self.common, node), max_losses, self.record_ranges[node as usize].0)
        };
        self.search(below, bound, |other| (other != except).then(|| self.growth_of(joining, other)))
    }

    /// Growth of a group's loss when these records join it.
    pub(super) fn growth_of(&self, joining: GroupBox<'_>, other: u32) -> f64 {
        let losses = &self.losses[other as usize * self.columns..(other as usize + 1) * self.columns];
        let GroupBox { ranges, records } = self.group_box(other);
        self.growth(joining, ranges, losses, records)
    }

    /// The same for a group of `records` records with these ranges and the loss of each; also the bound of a node.
    fn growth(&self, joining: GroupBox<'_>, ranges: &[(u32, u32)], losses: &[f64], records: u64) -> f64 {
        let (joining_records, records) = (joining.records as f64, records as f64);
        let in_column = |column: usize| {
            let (a, b) = (joining.ranges[column], ranges[column]);
            let around = self.loss_table.column(column, a.0.min(b.0), a.1.max(b.1));
            joining_records * around + records * (around - losses[column]).max(0.0)
        };
        (0..self.columns).map(in_column).sum()
    }

    /// Loss of a group: its records times the loss of its box.
    pub(super) fn loss(&self, group: u32) -> f64 {
        let GroupBox { ranges, records } = self.group_box(group);
        records as f64 * self.loss_table.of(ranges)
    }

    /// Returns the cheapest other group with more than `more_than` records, the first of equals. `cost` must be at
    /// least `factor` times the loss of the box around this group and any one record of the other.
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
            let may_give = other != group && self.records[other as usize] > more_than;
            may_give.then(|| cost(other)).flatten()
        })
    }

    /// Best-first search: returns the group of least cost, the first of equals, if its cost is below a limit.
    fn search(&self, below: f64, bound: impl Fn(u32) -> f64, cost: impl Fn(u32) -> Option<f64>) -> Option<(f64, u32)> {
        if below <= 0.0 {
            return None;
        }
        // Stands for a group that no group at the limit or above can beat; removed at the end.
        let mut best: Option<(f64, u32)> = below.is_finite().then_some((below, 0));
        let mut open = BinaryHeap::new();
        let mut costs = 0;
        let push = |open: &mut BinaryHeap<_>, node: u32, best: Option<(f64, u32)>| {
            let first = self.tree.first(node);
            if first == NONE {
                return;
            }
            // Bits of non-negative floats have the order of the floats.
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

    /// Sets the box and size of a group.
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
        // Twice the middle of a group's range, to stay in integers.
        let middle = |group: u32, column: usize| {
            let (first, last) = ranges[group as usize * *columns + column];
            u64::from(first) + u64::from(last)
        };
        tree.build(|groups| {
            if groups.len() <= LEAF {
                return None;
            }
            // Loss of the range between the outermost middles.
            let spread = |column: usize| {
                let middles = groups.iter().map(|&group| middle(group, column));
                let (min, max) = middles.fold((u64::MAX, 0), |(min, max), middle| (min.min(middle), max.max(middle)));
                (min < max).then(|| (loss_table.column(column, (min / 2) as u32, (max / 2) as u32), column))
            };
            let widest = (0..*columns).filter_map(spread).max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
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

    /// Recomputes the bounds of a node from its children or groups.
    fn refresh(&mut self, node: u32) {
        let (at, columns) = (node as usize * self.columns, self.columns);
        let (mut min, mut max) = (u64::MAX, 0);
        self.bounding[at..at + columns].fill((u32::MAX, 0));
        self.common[at..at + columns].fill((0, u32::MAX));
        self.max_losses[at..at + columns].fill(0.0);
        match self.tree.below(node) {
            Below::Items(groups) => {
                for &group in groups {
                    let records = self.records[group as usize];
                    (min, max) = (min.min(records), max.max(records));
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
                    (min, max) = (min.min(below.0), max.max(below.1));
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
        self.record_ranges[node as usize] = (min, max);
    }
}

/// Loss of each column of a box.
fn column_losses(loss_table: &LossTable<'_>, ranges: &[(u32, u32)]) -> impl Iterator<Item = f64> {
    ranges.iter().enumerate().map(|(column, &(first, last))| loss_table.column(column, first, last))
}

fn widen(known: &mut (u32, u32), range: (u32, u32)) {
    *known = (known.0.min(range.0), known.1.max(range.1));
}

fn narrow(known: &mut (u32, u32), range: (u32, u32)) {
    *known = (known.0.max(range.0), known.1.min(range.1));
}
