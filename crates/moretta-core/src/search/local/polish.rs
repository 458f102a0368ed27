//! Polishing, beyond the published methods: records move between groups while the loss falls.
//!
//! The loss of a group is its records times the penalty of its box. Group by group, those with the worst boxes first: the records
//! of a tuple go to the group whose loss grows least by them, if that is less than their own group's loss falls; where their group
//! cannot spare them, it takes as many records of one tuple of that group in exchange. A small group is dissolved where its
//! records cost less elsewhere. Each step lessens the loss of all groups together, so rounds come to an end; there are
//! at most a few.
//!
//! Other groups are found through the tree over their boxes, in parallel for some groups at a time; what has changed since is
//! looked at again before anything moves.

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

/// At most so many rounds.
const MAX_ROUNDS: usize = 4;

/// For so many groups others are looked for at once.
const BATCH: usize = 64;

/// Groups of more tuples take long to look through: they get records and give none.
const MAX_PARTS: usize = 1000;

/// Larger groups are not worth dissolving.
const MAX_DISSOLVED_RECORDS: u64 = 24;

/// Less is a rounding.
const MIN_GAIN: f64 = 1e-9;

/// What polishing did.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::search) struct Polished {
    pub moved: u64,
    pub exchanged: u64,
    pub dissolved: u64,
    /// What it was stopped for.
    pub stop: Option<Stop>,
}

impl Polished {
    /// As counters of a report.
    pub(in crate::search) fn work(self) -> [(&'static str, u64); 3] {
        [("moved", self.moved), ("exchanged", self.exchanged), ("dissolved", self.dissolved)]
    }
}

/// Records of one tuple in a group.
#[derive(Debug, Clone)]
struct TuplePart {
    /// A box of one point.
    point: Ranges,
    tuple: TupleId,
    members: Vec<VariantCount>,
    records: u64,
}

struct Polisher<'a> {
    loss_table: &'a LossTable<'a>,
    /// None where it was dissolved.
    groups: Vec<Option<Vec<TuplePart>>>,
    boxes: BoxTree<'a>,
    /// Counts changes.
    clock: u64,
    /// When each group got or lost records.
    changed: Vec<u64>,
    /// When the last round began.
    last_round: u64,
    requirements: GroupRequirements<'a>,
    max_records: u64,
    done: Polished,
}

/// Polishes groups that hold; none gets more than `most` records.
pub(in crate::search) fn polish(
    task: &Task<'_>,
    loss_table: &LossTable<'_>,
    clusters: &mut Vec<Cluster>,
    max_records: u64,
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
        max_records,
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

/// A cluster's records, tuple by tuple.
fn parts(task: &Task<'_>, mut cluster: Cluster) -> Vec<TuplePart> {
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

/// The ranges of all parts but one, for each of them.
fn boxes_without_each(parts: &[TuplePart], columns: usize) -> Vec<Ranges> {
    let mut without = vec![vec![(u32::MAX, 0); columns]; parts.len()];
    let mut sweep = |order: &mut dyn Iterator<Item = usize>| {
        let mut ranges = vec![(u32::MAX, 0); columns];
        for at in order {
            widen(&mut without[at], &ranges);
            widen(&mut ranges, &parts[at].point);
        }
    };
    sweep(&mut (0..parts.len()));
    sweep(&mut (0..parts.len()).rev());
    without
}

fn around<'p>(parts: impl Iterator<Item = &'p TuplePart>, columns: usize) -> Ranges {
    parts.fold(vec![(u32::MAX, 0); columns], |mut ranges, part| {
        widen(&mut ranges, &part.point);
        ranges
    })
}

impl Polisher<'_> {
    /// Every group once that has changed since the last round; whether anything moved.
    fn round(&mut self, observer: &dyn Observer) -> bool {
        let since = std::mem::replace(&mut self.last_round, self.clock);
        let mut order: Vec<(f64, u32)> = (0..self.groups.len() as u32)
            .filter(|&group| self.changed[group as usize] > since && self.groups[group as usize].is_some())
            .map(|group| (self.loss_table.of(self.boxes.group_box(group).ranges), group))
            .filter(|&(penalty, group)| penalty > 0.0 && self.parts(group).len() <= MAX_PARTS)
            .collect();
        order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let before = self.done;
        for some in order.chunks(BATCH) {
            self.done.stop = observer.stop();
            if self.done.stop.is_some() {
                return false;
            }
            let looked = self.clock;
            let others: Vec<(Vec<Option<u32>>, f64)> =
                some.par_iter().map(|&(_, group)| self.destinations(group)).collect();
            for (&(_, group), others) in some.iter().zip(others) {
                self.done.stop = observer.stop();
                if self.done.stop.is_some() {
                    return false;
                }
                let is_old = self.changed[group as usize] > looked;
                let (others, elsewhere) = if is_old { self.destinations(group) } else { others };
                self.improve(group, others);
                if elsewhere < self.boxes.loss(group) {
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

    /// For each part of a group the other group that it costs less than its own group's loss falls without it; and what all
    /// parts cost elsewhere at least.
    fn destinations(&self, group: u32) -> (Vec<Option<u32>>, f64) {
        let parts = self.parts(group);
        let without = boxes_without_each(parts, self.loss_table.columns());
        let penalty = self.loss_table.of(self.boxes.group_box(group).ranges);
        let spare = self.boxes.group_box(group).records.saturating_sub(self.requirements.min_records);
        let mut elsewhere = 0.0;
        let other = |(part, ranges): (&TuplePart, &Ranges)| {
            let below = self.loss_reduction(group, part, ranges) - MIN_GAIN;
            // An exchange brings nothing where the box stays the same.
            let useless = part.records > spare && parts.len() > 1 && self.loss_table.of(ranges) >= penalty;
            let found = if useless { None } else { self.boxes.nearest_to(part.as_box(), group, below) };
            elsewhere += found.map_or(below, |(growth, _)| growth);
            found.map(|(_, other)| other)
        };
        let others = parts.iter().zip(&without).map(other).collect();
        (others, elsewhere)
    }

    /// By how much a group's loss falls when a part leaves others of these ranges.
    fn loss_reduction(&self, group: u32, part: &TuplePart, ranges: &[(u32, u32)]) -> f64 {
        let left = self.boxes.group_box(group).records - part.records;
        let rest = if left == 0 { 0.0 } else { left as f64 * self.loss_table.of(ranges) };
        self.boxes.loss(group) - rest
    }

    /// Moves parts of a group, the one that brings most first, as long as one brings something. Parts that come in exchange
    /// stay.
    fn improve(&mut self, group: u32, mut others: Vec<Option<u32>>) {
        let mut without = boxes_without_each(self.parts(group), self.loss_table.columns());
        loop {
            let parts = self.parts(group);
            let gain = |at: usize| {
                let other = others[at].filter(|&other| self.groups[other as usize].is_some())?;
                let part = &parts[at];
                let growth = self.boxes.growth_of(part.as_box(), other);
                Some((self.loss_reduction(group, part, &without[at]) - growth, at, other))
            };
            let found = (0..others.len()).filter_map(gain).filter(|(gain, _, _)| *gain > MIN_GAIN);
            let Some((_, at, other)) = found.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1))) else { return };
            match self.give(group, at, other) || self.exchange(group, at, other, &without[at]) {
                // What came in exchange is at the end.
                true => {
                    _ = others.remove(at);
                    without = boxes_without_each(self.parts(group), self.loss_table.columns());
                }
                false => others[at] = None,
            }
        }
    }

    /// Gives a part to another group, if both hold then.
    fn give(&mut self, group: u32, at: usize, other: u32) -> bool {
        let part = &self.parts(group)[at];
        let fits = self.boxes.group_box(other).records + part.records <= self.max_records;
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

    /// Gives a part to another group and takes as many records of one of its parts, where that brings something.
    fn exchange(&mut self, group: u32, at: usize, other: u32, ranges: &[(u32, u32)]) -> bool {
        let columns = self.loss_table.columns();
        let (part, theirs) = (&self.parts(group)[at], self.parts(other));
        let without = boxes_without_each(theirs, columns);
        let before = self.boxes.loss(group) + self.boxes.loss(other);
        let (own_records, other_records) =
            (self.boxes.group_box(group).records as f64, self.boxes.group_box(other).records as f64);
        let after = |(back, taken): (usize, &TuplePart)| {
            if taken.records != part.records || taken.tuple == part.tuple {
                return None;
            }
            let mine = own_records * self.loss_table.union(ranges, &taken.point);
            Some((mine + other_records * self.loss_table.union(&without[back], &part.point), back))
        };
        let least = theirs.iter().enumerate().filter_map(after).min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let Some((_, back)) = least.filter(|(after, _)| *after < before - MIN_GAIN) else { return false };
        let (mut mine, mut theirs) = (self.parts(group).to_vec(), theirs.to_vec());
        let (given, taken) = (mine.remove(at), theirs.remove(back));
        let (mine, theirs) = (joined(&mine, [taken]), joined(&theirs, [given]));
        let held = self.replace_if_satisfied(group, mine, other, theirs);
        self.done.exchanged += u64::from(held);
        held
    }

    /// Dissolves a small group, if its parts cost less in the groups that each of them costs least.
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
        let fits = |parts: &[TuplePart]| parts.iter().map(|part| part.records).sum::<u64>() <= self.max_records;
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
    fn as_box(&self) -> GroupBox<'_> {
        GroupBox { ranges: &self.point, records: self.records }
    }
}

/// Parts with more parts behind them; those of the same tuple become one.
fn joined(parts: &[TuplePart], more: impl IntoIterator<Item = TuplePart>) -> Vec<TuplePart> {
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
