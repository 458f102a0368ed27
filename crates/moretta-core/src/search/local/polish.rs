//! Polishing: a local search that moves records between finished groups while the total loss falls. Not part of the
//! published methods.
//!
//! The loss of a group is its number of records times the loss of its box. Groups are visited by decreasing loss of
//! their boxes. A *part* is the records of one tuple in a group. There are three steps, each of which lowers the total
//! loss:
//!
//! ```text
//! move        A xxxY  B yyy    ->  A xxx   B yyyY      Y costs B less than A saves, and A still satisfies the models
//! exchange    A xxY   B yyX    ->  A xxX   B yyY       A cannot spare Y, so it gets as many records of one tuple of B
//! dissolve    A xy    B xxx  C yyy  ->  B xxxx  C yyyy      the parts of a small group cost less in other groups
//! ```
//!
//! The group with the lowest cost for a part is found through the tree over the boxes (`box_tree.rs`), in parallel for
//! a batch of groups; a group that changed since then is searched again before anything moves. Cost: per round, one
//! tree search per part of each group that changed in the round before; at most four rounds.

use std::sync::atomic::Ordering::Relaxed;

use rayon::prelude::*;

use super::{
    GroupRequirements,
    box_tree::{BoxTree, GroupBox},
    loss_table::LossTable,
};
use crate::{
    ids::TupleId,
    profile::VariantCount,
    search::{
        Observer, Stop, Task,
        cluster::{Cluster, Ranges, widen},
    },
};

/// Maximum rounds; a round that changes nothing is the last.
const MAX_ROUNDS: usize = 4;

/// Groups whose parts are searched for in parallel; affects speed only.
const BATCH: usize = 64;

/// Maximum parts of a group that gives records away; larger groups take too long to visit and only receive.
const MAX_PARTS: usize = 1000;

/// Maximum records of a group that may be dissolved; larger ones are not worth the search.
const MAX_DISSOLVED_RECORDS: u64 = 24;

/// Minimum decrease of the loss per step; less could be rounding.
pub(super) const MIN_GAIN: f64 = 1e-9;

/// Numbers of steps.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::search) struct Polished {
    pub moved: u64,
    pub exchanged: u64,
    pub dissolved: u64,
    /// Why it was stopped, if it was.
    pub stop: Option<Stop>,
}

impl Polished {
    /// Counters for the report.
    pub(in crate::search) fn work(self) -> [(&'static str, u64); 3] {
        [("moved", self.moved), ("exchanged", self.exchanged), ("dissolved", self.dissolved)]
    }
}

/// The records of one tuple in a group.
#[derive(Debug, Clone)]
pub(super) struct TuplePart {
    /// A box of one point.
    pub point: Ranges,
    pub tuple: TupleId,
    pub members: Vec<VariantCount>,
    pub records: u64,
}

/// Limits of polishing.
#[derive(Debug, Clone, Copy)]
pub(in crate::search) struct PolishLimits {
    /// Maximum records to which a group may grow.
    pub max_records: u64,
    /// Number of times that the loss of a group with more records may be computed; a round that has begun its last
    /// batch of groups finishes it.
    pub max_costs: u64,
}

impl Default for PolishLimits {
    /// No limits.
    fn default() -> Self {
        Self { max_records: u64::MAX, max_costs: u64::MAX }
    }
}

struct Polisher<'a> {
    loss_table: &'a LossTable<'a>,
    /// `None` after it was dissolved.
    groups: Vec<Option<Vec<TuplePart>>>,
    boxes: BoxTree<'a>,
    /// Number of changes of groups so far.
    clock: u64,
    /// By group: the clock of its last change.
    changed: Vec<u64>,
    /// Clock at the start of the last round.
    last_round: u64,
    requirements: GroupRequirements<'a>,
    limits: PolishLimits,
    done: Polished,
}

/// Polishes groups that satisfy the models.
pub(in crate::search) fn polish(
    task: &Task<'_>,
    loss_table: &LossTable<'_>,
    clusters: &mut Vec<Cluster>,
    limits: PolishLimits,
    observer: &dyn Observer,
) -> Polished {
    if clusters.len() < 2 {
        return Polished::default();
    }
    let group_boxes = clusters.iter().map(|cluster| GroupBox { ranges: &cluster.ranges, records: cluster.records() });
    let mut polish = Polisher {
        loss_table,
        boxes: BoxTree::new(loss_table, group_boxes),
        clock: 1,
        changed: vec![1; clusters.len()],
        last_round: 0,
        groups: clusters.drain(..).map(|cluster| Some(parts(task, cluster))).collect(),
        requirements: GroupRequirements::of(task),
        limits,
        done: Polished::default(),
    };
    for _ in 0..MAX_ROUNDS {
        if !polish.round(observer) {
            break;
        }
    }
    let members = |parts: Vec<TuplePart>| parts.into_iter().flat_map(|part| part.members).collect();
    clusters.extend(polish.groups.into_iter().flatten().map(|parts| Cluster::around(task, members(parts))));
    polish.done
}

/// Divides a cluster into its parts.
pub(super) fn parts(task: &Task<'_>, mut cluster: Cluster) -> Vec<TuplePart> {
    cluster.members.sort_unstable();
    let tuple = |member: &VariantCount| task.profile.tuple_of(member.variant);
    let part = |members: &[VariantCount]| TuplePart {
        point: task.profile.codes(tuple(&members[0])).iter().map(|&code| (code, code)).collect(),
        tuple: tuple(&members[0]),
        members: members.to_vec(),
        records: members.iter().map(|member| member.records).sum(),
    };
    cluster.members.chunk_by(|a, b| tuple(a) == tuple(b)).map(part).collect()
}

/// Returns, for each part, the box around all other parts. Linear: one scan in each direction.
pub(super) fn boxes_without_each(parts: &[TuplePart], columns: usize) -> Vec<Ranges> {
    let mut without = vec![vec![(u32::MAX, 0); columns]; parts.len()];
    let mut scan = |order: &mut dyn Iterator<Item = usize>| {
        let mut ranges = vec![(u32::MAX, 0); columns];
        for at in order {
            widen(&mut without[at], &ranges);
            widen(&mut ranges, &parts[at].point);
        }
    };
    scan(&mut (0..parts.len()));
    scan(&mut (0..parts.len()).rev());
    without
}

pub(super) fn around<'p>(parts: impl Iterator<Item = &'p TuplePart>, columns: usize) -> Ranges {
    parts.fold(vec![(u32::MAX, 0); columns], |mut ranges, part| {
        widen(&mut ranges, &part.point);
        ranges
    })
}

impl Polisher<'_> {
    /// Visits every group that changed since the last round began. Returns whether a step was made.
    fn round(&mut self, observer: &dyn Observer) -> bool {
        let since = std::mem::replace(&mut self.last_round, self.clock);
        let mut order: Vec<(f64, u32)> = (0..self.groups.len() as u32)
            .filter(|&group| self.changed[group as usize] > since && self.groups[group as usize].is_some())
            .map(|group| (self.loss_table.of(self.boxes.group_box(group).ranges), group))
            .filter(|&(loss, group)| loss > 0.0 && self.parts(group).len() <= MAX_PARTS)
            .collect();
        order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let before = self.done;
        for batch in order.chunks(BATCH) {
            self.done.stop = observer.stop();
            if self.done.stop.is_some() || self.boxes.costs.load(Relaxed) > self.limits.max_costs {
                return false;
            }
            let searched_at = self.clock;
            let destinations: Vec<(Vec<Option<u32>>, f64)> =
                batch.par_iter().map(|&(_, group)| self.destinations(group)).collect();
            for (&(_, group), found) in batch.iter().zip(destinations) {
                self.done.stop = observer.stop();
                if self.done.stop.is_some() {
                    return false;
                }
                let is_outdated = self.changed[group as usize] > searched_at;
                let (destinations, min_cost_elsewhere) = if is_outdated { self.destinations(group) } else { found };
                self.improve(group, destinations);
                if min_cost_elsewhere < self.boxes.loss(group) {
                    self.dissolve(group);
                }
            }
        }
        let steps = |done: Polished| done.moved + done.exchanged + done.dissolved;
        steps(self.done) > steps(before)
    }

    fn parts(&self, group: u32) -> &[TuplePart] {
        self.groups[group as usize].as_deref().unwrap_or_default()
    }

    /// Returns, for each part, the other group whose loss grows least by it, if the total loss would fall; and an
    /// estimate from below of what all parts together would cost elsewhere.
    fn destinations(&self, group: u32) -> (Vec<Option<u32>>, f64) {
        let parts = self.parts(group);
        let without = boxes_without_each(parts, self.loss_table.columns());
        let box_loss = self.loss_table.of(self.boxes.group_box(group).ranges);
        let spare = self.boxes.group_box(group).records.saturating_sub(self.requirements.min_records);
        let mut min_cost_elsewhere = 0.0;
        let destination = |(part, ranges): (&TuplePart, &Ranges)| {
            let below = self.loss_reduction(group, part, ranges) - MIN_GAIN;
            // An exchange gains nothing if the box stays the same.
            let is_useless = part.records > spare && parts.len() > 1 && self.loss_table.of(ranges) >= box_loss;
            let found = if is_useless { None } else { self.boxes.nearest_to(part.as_box(), group, below) };
            min_cost_elsewhere += found.map_or(below, |(growth, _)| growth);
            found.map(|(_, other)| other)
        };
        let destinations = parts.iter().zip(&without).map(destination).collect();
        (destinations, min_cost_elsewhere)
    }

    /// Decrease of a group's loss without a part; `ranges` is the box around the other parts.
    fn loss_reduction(&self, group: u32, part: &TuplePart, ranges: &[(u32, u32)]) -> f64 {
        let left = self.boxes.group_box(group).records - part.records;
        let rest = if left == 0 { 0.0 } else { left as f64 * self.loss_table.of(ranges) };
        self.boxes.loss(group) - rest
    }

    /// Moves or exchanges parts of a group, the one of greatest gain first, while there is a gain. Parts received in
    /// exchange are not moved again.
    fn improve(&mut self, group: u32, mut destinations: Vec<Option<u32>>) {
        let mut without = boxes_without_each(self.parts(group), self.loss_table.columns());
        loop {
            let parts = self.parts(group);
            let gain = |at: usize| {
                let other = destinations[at].filter(|&other| self.groups[other as usize].is_some())?;
                let part = &parts[at];
                let growth = self.boxes.growth_of(part.as_box(), other);
                Some((self.loss_reduction(group, part, &without[at]) - growth, at, other))
            };
            let found = (0..destinations.len()).filter_map(gain).filter(|(gain, _, _)| *gain > MIN_GAIN);
            let Some((_, at, other)) = found.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1))) else { return };
            if self.give(group, at, other) || self.exchange(group, at, other, &without[at]) {
                // Parts received in exchange are at the end and have no destination.
                destinations.remove(at);
                without = boxes_without_each(self.parts(group), self.loss_table.columns());
            } else {
                destinations[at] = None;
            }
        }
    }

    /// Moves a part to another group, if both satisfy the models then.
    fn give(&mut self, group: u32, at: usize, other: u32) -> bool {
        let part = &self.parts(group)[at];
        let fits = self.boxes.group_box(other).records + part.records <= self.limits.max_records;
        if self.boxes.group_box(group).records < self.requirements.min_records + part.records || !fits {
            return false;
        }
        let mut rest = self.parts(group).to_vec();
        let part = rest.remove(at);
        let whole = joined(self.parts(other), [part]);
        let held = self.replace_if_satisfied(group, rest, other, whole);
        self.done.moved += u64::from(held);
        held
    }

    /// Exchanges a part with a part of another group that has as many records, if the total loss falls.
    fn exchange(&mut self, group: u32, at: usize, other: u32, ranges: &[(u32, u32)]) -> bool {
        let columns = self.loss_table.columns();
        let (part, theirs) = (&self.parts(group)[at], self.parts(other));
        let without = boxes_without_each(theirs, columns);
        let before = self.boxes.loss(group) + self.boxes.loss(other);
        let own_records = self.boxes.group_box(group).records as f64;
        let other_records = self.boxes.group_box(other).records as f64;
        let after = |(back, taken): (usize, &TuplePart)| {
            if taken.records != part.records || taken.tuple == part.tuple {
                return None;
            }
            let mine = own_records * self.loss_table.union(ranges, &taken.point);
            Some((mine + other_records * self.loss_table.union(&without[back], &part.point), back))
        };
        let best = theirs.iter().enumerate().filter_map(after).min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let Some((_, back)) = best.filter(|(after, _)| *after < before - MIN_GAIN) else { return false };
        let (mut mine, mut theirs) = (self.parts(group).to_vec(), theirs.to_vec());
        let (given, taken) = (mine.remove(at), theirs.remove(back));
        let (mine, theirs) = (joined(&mine, [taken]), joined(&theirs, [given]));
        let held = self.replace_if_satisfied(group, mine, other, theirs);
        self.done.exchanged += u64::from(held);
        held
    }

    /// Dissolves a small group if its parts, each in the group whose loss grows least, cost less there.
    fn dissolve(&mut self, group: u32) {
        let parts = self.parts(group);
        let loss = self.boxes.loss(group);
        if parts.is_empty() || self.boxes.group_box(group).records > MAX_DISSOLVED_RECORDS || loss <= MIN_GAIN {
            return;
        }
        let mut into: Vec<(u32, Vec<TuplePart>)> = Vec::new();
        let mut sum = 0.0;
        for part in parts {
            let Some((growth, other)) = self.boxes.nearest_to(part.as_box(), group, loss - sum) else { return };
            sum += growth;
            match into.iter_mut().find(|(known, _)| *known == other) {
                Some((_, parts)) => parts.push(part.clone()),
                None => into.push((other, vec![part.clone()])),
            }
        }
        let mut after = 0.0;
        let mut wholes = Vec::new();
        for (other, parts) in into {
            let records = parts.iter().map(|part| part.records).sum();
            let ranges = around(parts.iter(), self.loss_table.columns());
            after += self.boxes.growth_of(GroupBox { ranges: &ranges, records }, other);
            wholes.push((other, joined(self.parts(other), parts)));
        }
        let fits = |parts: &[TuplePart]| parts.iter().map(|part| part.records).sum::<u64>() <= self.limits.max_records;
        if after >= loss - MIN_GAIN || !wholes.iter().all(|(_, whole)| fits(whole) && self.is_satisfied_by(whole)) {
            return;
        }
        self.groups[group as usize] = None;
        self.boxes.remove(group);
        wholes.into_iter().for_each(|(other, whole)| self.replace(other, whole));
        self.done.dissolved += 1;
    }

    fn replace_if_satisfied(&mut self, one: u32, its: Vec<TuplePart>, other: u32, others: Vec<TuplePart>) -> bool {
        let held = self.is_satisfied_by(&its) && self.is_satisfied_by(&others);
        if held {
            self.replace(one, its);
            self.replace(other, others);
        }
        held
    }

    fn is_satisfied_by(&self, parts: &[TuplePart]) -> bool {
        let members = || parts.iter().flat_map(|part| &part.members).copied().collect::<Vec<VariantCount>>();
        self.requirements.are_met(parts.iter().map(|part| part.records).sum(), members)
    }

    fn replace(&mut self, group: u32, parts: Vec<TuplePart>) {
        let ranges = around(parts.iter(), self.loss_table.columns());
        self.boxes.change(group, GroupBox { ranges: &ranges, records: parts.iter().map(|part| part.records).sum() });
        self.groups[group as usize] = Some(parts);
        self.clock += 1;
        self.changed[group as usize] = self.clock;
    }
}

impl TuplePart {
    pub(super) fn as_box(&self) -> GroupBox<'_> {
        GroupBox { ranges: &self.point, records: self.records }
    }
}

/// Appends parts to others; parts of the same tuple become one.
pub(super) fn joined(parts: &[TuplePart], more: impl IntoIterator<Item = TuplePart>) -> Vec<TuplePart> {
    let mut parts = parts.to_vec();
    for part in more {
        match parts.iter_mut().find(|known| known.tuple == part.tuple) {
            Some(known) => {
                known.members.extend(part.members);
                known.records += part.records;
            }
            None => parts.push(part),
        }
    }
    parts
}
