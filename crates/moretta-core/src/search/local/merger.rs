//! Merges groups until all satisfy the models: a *violating* group joins another group or takes records from one.
//!
//! ```text
//! k = 3                                     join: B becomes part of C      take: B takes one record of D, which keeps 3
//! A xxx   B xx   C xxx   D xxxx      ->     A xxx   C xxxxx   D xxxx   or   A xxx   B xxx   C xxx   D xxx
//! ```
//!
//! The group to join is the one whose loss grows least (`box_tree.rs`); a group takes records only if that costs less
//! than joining. Merging terminates because the methods that use it serve only models that are closed under union, and
//! the whole table satisfies them. Cost: one tree search per violating group and round.

use std::sync::atomic::Ordering::Relaxed;

use rayon::prelude::*;

use super::{
    GroupRequirements,
    box_tree::{BoxTree, GroupBox},
    fallback_split,
    loss_table::LossTable,
    remaining::RemainingRecords,
};
use crate::{
    ids::TupleId,
    profile::VariantCount,
    search::{
        Observer, Stop, Task,
        cluster::{Cluster, Ranges, include},
        rng::hash_seed,
    },
    text::merge_counts,
};

/// Violating groups whose nearest groups are searched in parallel, ahead of merging; affects speed only.
const BATCH: usize = 256;

/// Groups, by number, that are merged until all satisfy the models.
pub(in crate::search) struct GroupMerger<'a> {
    task: &'a Task<'a>,
    loss_table: &'a LossTable<'a>,
    /// `None` after it joined another.
    groups: Vec<Option<Cluster>>,
    violating: Vec<bool>,
    /// By group: whether its records changed in this round.
    changed: Vec<bool>,
    boxes: BoxTree<'a>,
    requirements: GroupRequirements<'a>,
    /// Number of groups that took records of another.
    pub taken: u64,
    /// Number of groups that joined another.
    pub joined: u64,
}

impl<'a> GroupMerger<'a> {
    pub(in crate::search) fn new(task: &'a Task<'a>, loss_table: &'a LossTable<'a>, groups: Vec<Cluster>) -> Self {
        let group_boxes = groups.iter().map(|group| GroupBox { ranges: &group.ranges, records: group.records() });
        let requirements = GroupRequirements::of(task);
        Self {
            task,
            loss_table,
            boxes: BoxTree::new(loss_table, group_boxes),
            violating: groups.par_iter().map(|group| !requirements.are_met_by(group)).collect(),
            changed: vec![false; groups.len()],
            groups: groups.into_iter().map(Some).collect(),
            requirements,
            taken: 0,
            joined: 0,
        }
    }

    /// Number of growths of losses that were computed, for the report.
    pub(in crate::search) fn costs(&self) -> u64 {
        self.boxes.costs.load(Relaxed)
    }

    /// Whether a group violates a model and there is another group to join.
    pub(in crate::search) fn has_violating(&self) -> bool {
        self.boxes.left() > 1 && self.violating.contains(&true)
    }

    /// Returns the groups in order of their numbers, and whether each changed in the last round.
    pub(in crate::search) fn into_groups(self) -> Vec<(Cluster, bool)> {
        let groups = self.groups.into_iter().zip(self.changed);
        groups.filter_map(|(group, changed)| group.map(|group| (group, changed))).collect()
    }

    /// Runs one round: each violating group that did not change in this round joins the group whose loss grows least.
    /// If `may_take`, it may instead take the missing records from a group that can spare them, if that costs less. So
    /// each round at least doubles the size of the smallest group. Returns why it was stopped, if it was.
    ///
    /// The nearest groups of a batch are searched in parallel; before a group is merged, only the groups that changed
    /// since the search are compared again. The result does not depend on the batch size.
    pub(in crate::search) fn round(&mut self, may_take: bool, observer: &dyn Observer) -> Option<Stop> {
        let may_take = may_take && self.requirements.min_records_suffice;
        self.changed.fill(false);
        let violating: Vec<u32> = (0..self.groups.len() as u32).filter(|&at| self.violating[at as usize]).collect();
        for batch in violating.chunks(BATCH) {
            if let Some(stop) = observer.stop() {
                return Some(stop);
            }
            let open: Vec<u32> = batch.iter().copied().filter(|&group| self.is_open(group)).collect();
            let nearest: Vec<Option<(f64, u32)>> = open.par_iter().map(|&group| self.boxes.nearest(group)).collect();
            let mut touched: Vec<u32> = Vec::new();
            for (group, found) in open.into_iter().zip(nearest) {
                if !self.is_open(group) {
                    continue;
                }
                let Some((growth, other)) = self.still_nearest(group, found, &touched) else { break };
                if let Some(giver) = may_take.then(|| self.take_records(group, growth)).flatten() {
                    touched.extend([group, giver]);
                } else {
                    self.join(group, other);
                    touched.push(other);
                }
            }
        }
        None
    }

    /// Whether the group is yet to be merged in this round.
    fn is_open(&self, group: u32) -> bool {
        self.violating[group as usize] && !self.changed[group as usize]
    }

    /// Updates a search result: only the `touched` groups changed since.
    fn still_nearest(&self, group: u32, found: Option<(f64, u32)>, touched: &[u32]) -> Option<(f64, u32)> {
        let (growth, other) = found?;
        if self.groups[other as usize].is_none() || touched.contains(&other) {
            return self.boxes.nearest(group);
        }
        let existing = touched.iter().filter(|&&other| self.groups[other as usize].is_some());
        let growths = existing.map(|&other| (self.boxes.growth_of(self.boxes.group_box(group), other), other));
        growths.chain([(growth, other)]).min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))
    }

    /// Makes a group part of another.
    fn join(&mut self, group: u32, other: u32) {
        self.joined += 1;
        let joining = self.groups[group as usize].take().expect("a group joins once");
        self.violating[group as usize] = false;
        let mut whole = self.groups[other as usize].take().expect("the nearest group is there");
        whole.join(joining);
        // Before `remove`, which may rebuild the tree.
        self.replace(other, whole);
        self.boxes.remove(group);
    }

    fn replace(&mut self, group: u32, cluster: Cluster) {
        let at = group as usize;
        self.boxes.change(group, GroupBox { ranges: &cluster.ranges, records: cluster.records() });
        self.violating[at] = !self.requirements.are_met_by(&cluster);
        self.changed[at] = true;
        self.groups[at] = Some(cluster);
    }

    /// Takes the missing records from the group that offers them at the lowest cost and keeps enough itself, if that
    /// costs less than joining. Returns the giver.
    fn take_records(&mut self, group: u32, by_joining: f64) -> Option<u32> {
        let taker = self.groups[group as usize].as_ref().expect("a violating group has not joined another");
        let min_records = self.requirements.min_records;
        let (missing, factor) = (min_records - taker.records(), min_records as f64);
        let offer = |giver: u32| Some(factor * self.loss_table.of(&self.box_after_taking(taker, giver, missing)?));
        let (cost, giver) = self.boxes.cheapest_giver(group, min_records + missing - 1, factor, offer)?;
        let (whole, rest) = self.split_giver(taker, giver, missing)?;
        let rest_loss = rest.records() as f64 * self.loss_table.of(&rest.ranges);
        if cost + rest_loss - self.boxes.loss(giver) >= by_joining {
            return None;
        }
        self.taken += 1;
        self.replace(group, whole);
        self.replace(giver, rest);
        Some(giver)
    }

    /// Box of the group after it took the missing records of another: that of [`Self::split_giver`], without building
    /// the parts.
    fn box_after_taking(&self, group: &Cluster, giver: u32, mut missing: u64) -> Option<Ranges> {
        let given = &self.groups[giver as usize].as_ref()?.members;
        let profile = self.task.profile;
        let mut left: Vec<(TupleId, u64)> =
            given.iter().map(|member| (profile.tuple_of(member.variant), member.records)).collect();
        left.sort_unstable_by_key(|(tuple, _)| *tuple);
        merge_counts(&mut left);
        let mut ranges = group.ranges.clone();
        while missing > 0 && !left.is_empty() {
            let costs = left.iter().map(|(tuple, _)| self.loss_table.with(&ranges, profile.codes(*tuple)));
            let (_, cheapest) = costs.zip(0..).min_by(|a, b| a.0.total_cmp(&b.0))?;
            let (tuple, records) = left.remove(cheapest);
            include(&mut ranges, profile.codes(tuple));
            missing = missing.saturating_sub(records);
        }
        Some(ranges)
    }

    /// Returns the group after it took the missing records of another, the cheapest one by one, and the rest of the
    /// other.
    fn split_giver(&self, group: &Cluster, giver: u32, missing: u64) -> Option<(Cluster, Cluster)> {
        let mut given = self.groups[giver as usize].clone()?.members;
        given.sort_unstable();
        let seed = hash_seed(self.task.seed, u64::from(giver));
        let mut remaining = RemainingRecords::new(self.task.profile, &given, seed);
        let mut whole = group.clone();
        remaining.grow(&mut whole, missing, self.loss_table);
        Some((whole, Cluster::around(self.task, remaining.rest())))
    }

    /// Ends the merging of a search that is stopped: all violating groups become one, which takes in its nearest groups
    /// until it satisfies the models and is then split by [`fallback_split`]. Does nothing if no group is violating.
    pub(in crate::search) fn finish_with_fallback(&mut self) {
        let violating: Vec<u32> = (0..self.groups.len() as u32).filter(|&at| self.violating[at as usize]).collect();
        let Some((&first, others)) = violating.split_first() else { return };
        let mut whole = self.groups[first as usize].take().expect("a violating group has not joined another");
        for &other in others {
            whole.join(self.groups[other as usize].take().expect("a violating group has not joined another"));
            self.violating[other as usize] = false;
        }
        self.replace(first, whole);
        others.iter().for_each(|&other| self.boxes.remove(other));
        let mut checked_records = 0;
        while self.violating[first as usize] {
            let Some((_, other)) = self.boxes.nearest(first) else { break };
            let mut whole = self.groups[first as usize].take().expect("put above");
            whole.join(self.groups[other as usize].take().expect("the nearest group is there"));
            self.boxes.remove(other);
            self.boxes.change(first, GroupBox { ranges: &whole.ranges, records: whole.records() });
            // Checking the models of a large group is slow: only after every 6 % of growth.
            if whole.records() >= checked_records + checked_records / 16 || self.boxes.left() == 1 {
                checked_records = whole.records();
                self.replace(first, whole);
            } else {
                self.groups[first as usize] = Some(whole);
            }
        }
        let whole = self.groups[first as usize].take().expect("put above");
        self.groups.extend(fallback_split(self.task, whole.members).into_iter().map(Some));
        self.changed.resize(self.groups.len(), true);
        self.violating.resize(self.groups.len(), false);
    }
}

impl RemainingRecords<'_> {
    /// Moves `missing` records to a cluster, each time the one that costs it least, the first of equals.
    pub(in crate::search) fn grow(&mut self, cluster: &mut Cluster, mut missing: u64, loss_table: &LossTable<'_>) {
        let mut taken: Vec<VariantCount> = Vec::new();
        while missing > 0 {
            let open = (0..self.points()).filter(|&point| self.left(point) > 0);
            let costs = open.map(|point| (loss_table.with(&cluster.ranges, self.codes_of(point)), point));
            let Some((_, point)) = costs.min_by(|a, b| a.0.total_cmp(&b.0)) else { break };
            // Once the box contains the tuple, its other records cost no more than any other record.
            let records = self.left(point).min(missing);
            include(&mut cluster.ranges, self.codes_of(point));
            self.take(point, records, &mut taken);
            missing -= records;
        }
        cluster.members.extend(taken);
    }
}
