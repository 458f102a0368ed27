//! Groups on their way to hold: those that do not, the *short* ones, join others or take records of them.
//!
//! These methods serve only models that are closed under union, and the whole table holds, so joining comes to an end.

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

/// The nearest groups of so many short groups are looked for at once.
const BATCH: usize = 256;

/// Groups, by their numbers, that join until all hold.
pub(in crate::search) struct GroupMerger<'a> {
    task: &'a Task<'a>,
    loss_table: &'a LossTable<'a>,
    /// None where it joined another.
    groups: Vec<Option<Cluster>>,
    violating: Vec<bool>,
    /// Whether a group has other records than when the round began.
    changed: Vec<bool>,
    boxes: BoxTree<'a>,
    requirements: GroupRequirements<'a>,
    /// How many groups took records of another.
    pub taken: u64,
    /// How many groups joined another.
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

    /// How many loss_table of two groups were computed.
    pub(in crate::search) fn costs(&self) -> u64 {
        self.boxes.costs.load(Relaxed)
    }

    /// Whether a group is short, and another is there to join.
    pub(in crate::search) fn has_violating(&self) -> bool {
        self.boxes.left() > 1 && self.violating.contains(&true)
    }

    /// The groups, in order of their numbers, and whether each has other records than when the last round began.
    pub(in crate::search) fn into_groups(self) -> Vec<(Cluster, bool)> {
        let groups = self.groups.into_iter().zip(self.changed);
        groups.filter_map(|(group, changed)| group.map(|group| (group, changed))).collect()
    }

    /// Each group that is short, and that none has joined in this round, joins the one whose loss grows least by it, or
    /// where `may_take` takes what it is short of from a group that can spare it, if that costs less.
    /// So after each round the smallest group is at least twice as large.
    ///
    /// What is nearest is looked for in parallel, ahead of the turns. When its turn comes, only the groups that have
    /// changed since need another look.
    pub(in crate::search) fn round(&mut self, may_take: bool, observer: &dyn Observer) -> Option<Stop> {
        self.changed.fill(false);
        let violating: Vec<u32> =
            (0..self.groups.len() as u32).filter(|&group| self.violating[group as usize]).collect();
        for batch in violating.chunks(BATCH) {
            if let Some(stop) = observer.stop() {
                return Some(stop);
            }
            let is_open = |group: u32| self.violating[group as usize] && !self.changed[group as usize];
            let open: Vec<u32> = batch.iter().copied().filter(|&group| is_open(group)).collect();
            let found: Vec<Option<(f64, u32)>> = open.par_iter().map(|&group| self.boxes.nearest(group)).collect();
            let mut touched: Vec<u32> = Vec::new();
            for (group, found) in open.into_iter().zip(found) {
                if !self.violating[group as usize] || self.changed[group as usize] {
                    continue;
                }
                let Some((growth, other)) = self.still_nearest(group, found, &touched) else { break };
                let giver = if may_take && self.requirements.min_records_suffice {
                    self.take_records(group, growth)
                } else {
                    None
                };
                if let Some(giver) = giver {
                    touched.extend([group, giver]);
                } else {
                    self.join(group, other);
                    touched.push(other);
                }
            }
        }
        None
    }

    /// The nearest group, where only the touched ones have changed since it was found.
    fn still_nearest(&self, group: u32, found: Option<(f64, u32)>, touched: &[u32]) -> Option<(f64, u32)> {
        let (growth, other) = found?;
        if self.groups[other as usize].is_none() || touched.contains(&other) {
            return self.boxes.nearest(group);
        }
        let there = touched.iter().filter(|&&other| self.groups[other as usize].is_some());
        let growths = there.map(|&other| (self.boxes.growth_of(self.boxes.group_box(group), other), other));
        growths.chain([(growth, other)]).min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))
    }

    /// A group becomes part of another.
    fn join(&mut self, group: u32, other: u32) {
        self.joined += 1;
        let joining = self.groups[group as usize].take().expect("a group joins once");
        self.violating[group as usize] = false;
        let mut whole = self.groups[other as usize].take().expect("the nearest group is there");
        whole.join(joining);
        // First: when the tree is built anew, it should know.
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

    /// Takes what a group is short of from the group that makes it cheapest, of those that keep enough,
    /// where that costs less than to join; that group.
    fn take_records(&mut self, group: u32, by_joining: f64) -> Option<u32> {
        let violating = self.groups[group as usize].as_ref().expect("a violating group has not joined another");
        let min_records = self.requirements.min_records;
        let (missing, factor) = (min_records - violating.records(), min_records as f64);
        let offer = |giver: u32| Some(factor * self.loss_table.of(&self.box_after_taking(violating, giver, missing)?));
        let (cost, giver) = self.boxes.cheapest_giver(group, min_records + missing - 1, factor, offer)?;
        let (whole, rest) = self.split_giver(violating, giver, missing)?;
        let rest_loss = rest.records() as f64 * self.loss_table.of(&rest.ranges);
        if cost + rest_loss - self.boxes.loss(giver) >= by_joining {
            return None;
        }
        self.taken += 1;
        self.replace(group, whole);
        self.replace(giver, rest);
        Some(giver)
    }

    /// The box of the group with the records that it would take of another: that of `parts`, without the parts.
    fn box_after_taking(&self, group: &Cluster, giver: u32, missing: u64) -> Option<Ranges> {
        let given = &self.groups[giver as usize].as_ref()?.members;
        let profile = self.task.profile;
        let mut left: Vec<(TupleId, u64)> =
            given.iter().map(|member| (profile.tuple_of(member.variant), member.records)).collect();
        left.sort_unstable_by_key(|(tuple, _)| *tuple);
        merge_counts(&mut left);
        let mut ranges = group.ranges.clone();
        let mut missing = missing;
        while missing > 0 && !left.is_empty() {
            let costs = left.iter().map(|(tuple, _)| self.loss_table.with(&ranges, profile.codes(*tuple)));
            let (_, at) = costs.zip(0..).min_by(|a, b| a.0.total_cmp(&b.0))?;
            let (tuple, records) = left.remove(at);
            include(&mut ranges, profile.codes(tuple));
            missing = missing.saturating_sub(records);
        }
        Some(ranges)
    }

    /// The group with the records that it would take of another, one by one the cheapest, and what the other keeps.
    fn split_giver(&self, group: &Cluster, giver: u32, missing: u64) -> Option<(Cluster, Cluster)> {
        let mut given = self.groups[giver as usize].clone()?.members;
        given.sort_unstable();
        let seed = hash_seed(self.task.seed, u64::from(giver));
        let mut remaining = RemainingRecords::new(self.task.profile, &given, seed);
        let mut whole = group.clone();
        remaining.grow(&mut whole, missing, self.loss_table);
        Some((whole, Cluster::around(self.task, remaining.rest())))
    }

    /// Makes an end when there is no more time: all short groups become one, which takes in its nearest until it holds,
    /// and is then cut.
    pub(in crate::search) fn finish_with_fallback(&mut self) {
        let violating: Vec<u32> =
            (0..self.groups.len() as u32).filter(|&group| self.violating[group as usize]).collect();
        let Some((&first, others)) = violating.split_first() else { return };
        let mut whole = self.groups[first as usize].take().expect("a violating group has not joined another");
        for &other in others {
            whole.join(self.groups[other as usize].take().expect("a violating group has not joined another"));
            self.violating[other as usize] = false;
        }
        self.replace(first, whole);
        others.iter().for_each(|&other| self.boxes.remove(other));
        let mut judged = 0;
        while self.violating[first as usize] {
            let Some((_, other)) = self.boxes.nearest(first) else { break };
            let mut whole = self.groups[first as usize].take().expect("put above");
            whole.join(self.groups[other as usize].take().expect("the nearest group is there"));
            self.boxes.remove(other);
            self.boxes.change(first, GroupBox { ranges: &whole.ranges, records: whole.records() });
            // A large group takes long to judge.
            if whole.records() >= judged + judged / 16 || self.boxes.left() == 1 {
                judged = whole.records();
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
    /// A cluster takes records, one by one the one that costs it least, of equals the first.
    pub(in crate::search) fn grow(&mut self, cluster: &mut Cluster, mut missing: u64, loss_table: &LossTable<'_>) {
        let mut taken: Vec<VariantCount> = Vec::new();
        while missing > 0 {
            let open = (0..self.points()).filter(|&point| self.left(point) > 0);
            let costs = open.map(|point| (loss_table.with(&cluster.ranges, self.codes_of(point)), point));
            let Some((_, point)) = costs.min_by(|a, b| a.0.total_cmp(&b.0)) else { break };
            // After the first of them, a tuple's records cost no more than any other.
            let records = self.left(point).min(missing);
            include(&mut cluster.ranges, self.codes_of(point));
            self.take(point, records, &mut taken);
            missing -= records;
        }
        cluster.members.extend(taken);
    }
}
