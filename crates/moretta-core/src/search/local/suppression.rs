//! Suppression for methods of local recoding: leaves out the records that cost the others most. Not part of the
//! published methods.
//!
//! Why: a suppressed record loses everything, so suppressing a finished group gains nothing. The gain is in the other
//! records: without an outlier, the box of its group shrinks, and a group whose records fit nowhere else need not be
//! kept together.
//!
//! ```text
//! k = 2, loss of a box: its width / 100 per record; suppressed: 1 per record
//! groups 20 21 90 | 60 61 10               3 x 0.70 + 3 x 0.51         = 3.63
//! groups 20 21    | 60 61   suppressed 10 90   2 x 0.01 + 2 x 0.01 + 2 = 2.04
//! ```
//!
//! How:
//! 1. The method runs as without suppression.
//! 2. *Outliers* are taken from its groups, those first whose removal lowers the loss of their group most per record,
//!    while that is more than a suppressed record loses (`peel`).
//! 3. The method runs again without them, and `settle.rs` moves records between groups and the suppressed ones. This is
//!    repeated while the loss falls clearly; the best result is kept.
//!
//! Guarantees: at most `max_suppressed` records are suppressed; together they satisfy every model, or none is; the
//! loss, by the method's metric with suppressed records at full loss, is never above that of the first run. Cost: that
//! of at most [`MAX_RUNS`] more runs, and one search of the tree over the boxes per part of a group.

use rayon::prelude::*;

use super::{
    GroupRequirements,
    loss_table::LossTable,
    polish::{MIN_GAIN, boxes_without_each, parts},
    settle::settle,
};
use crate::{
    memory::pushed,
    objective::LossMetric,
    profile::VariantCount,
    search::{
        Observer, Outcome, SearchError, Stop, Task,
        cluster::{Cluster, Clustering, outcome},
        size::TaskSize,
    },
};

/// Maximum runs of the method without outliers: measured on Adult, mach2019 and free1, a third one gains at most 0.1 %.
pub(in crate::search) const MAX_RUNS: usize = 2;

/// Minimum relative decrease of the loss by a run after which there is another.
const MIN_DECREASE: f64 = 1e-3;

/// Maximum parts of a group that outliers are taken from; larger groups take too long.
pub(super) const MAX_PARTS: usize = 300;

/// Runs `search` with suppression, if the task allows any. `search` itself suppresses nothing.
pub(in crate::search) fn with_suppression(
    task: &Task<'_>,
    loss: LossMetric,
    observer: &dyn Observer,
    search: impl Fn(&Task<'_>, &dyn Observer) -> Result<Clustering, SearchError>,
) -> Result<Outcome, SearchError> {
    let first = search(task, observer)?;
    let requirements = GroupRequirements::of(task);
    if first.stop.is_some() || first.clusters.is_empty() || task.max_suppressed < requirements.min_records {
        return Ok(outcome(task, first));
    }
    let loss_table = &LossTable::new(task.profile, loss);
    let full_loss = loss_table.suppressed();
    let suppression = Suppression { task, loss_table, requirements, full_loss, observer };
    let best = suppression.improve(first, &search);
    Ok(outcome(task, best))
}

/// Estimates the bytes that suppression adds to a search; `groups` is the maximum number of groups.
pub(in crate::search) fn suppression_bytes(task: &Task<'_>, size: &TaskSize) -> u64 {
    if task.max_suppressed < GroupRequirements::of(task).min_records {
        return 0;
    }
    // The best result, the profile of the remaining records, lists of members, and the losses of boxes.
    let clusters = size.clusters(size.groups, size.members());
    let lists = 2 * size.everything() + 4 * size.variants + pushed(16 * task.max_suppressed.min(size.variants));
    clusters + task.profile.bytes() + lists + size.polish(size.tuples, size.groups) + LossTable::bytes(task.profile)
}

/// Merges the records of each variant, in the order of the variants.
pub(super) fn merged(mut members: Vec<VariantCount>) -> Vec<VariantCount> {
    members.sort_unstable();
    let same_variant = members.chunk_by(|a, b| a.variant == b.variant);
    same_variant.map(|same| VariantCount { records: records_of(same), ..same[0] }).collect()
}

pub(super) fn records_of(members: &[VariantCount]) -> u64 {
    members.iter().map(|member| member.records).sum()
}

/// Part of a group, and the decrease of its group's loss per record if the part and those before it are removed.
struct Outlier {
    reduction: f64,
    members: Vec<VariantCount>,
}

pub(super) struct Suppression<'a> {
    pub task: &'a Task<'a>,
    pub loss_table: &'a LossTable<'a>,
    pub requirements: GroupRequirements<'a>,
    /// Loss of a suppressed record.
    pub full_loss: f64,
    pub observer: &'a dyn Observer,
}

impl Suppression<'_> {
    /// Returns a result of lower loss, or the first one.
    fn improve(
        &self,
        first: Clustering,
        search: impl Fn(&Task<'_>, &dyn Observer) -> Result<Clustering, SearchError>,
    ) -> Clustering {
        let (mut best_loss, mut best) = (self.total(&first), first);
        let mut stop = self.keep_better(settle(self, best.clusters.clone(), Vec::new()), &mut best, &mut best_loss);
        let may_run = self.task.models.iter().all(|model| !model.has_tuple_data());
        let mut runs = 0;
        while may_run && runs < MAX_RUNS && stop.is_none() {
            let Some(suppressed) = self.with_outliers(&best) else { break };
            let Some(found) = self.run_without(suppressed, &search) else { break };
            runs += 1;
            if found.stop.is_some() {
                stop = found.stop;
                break;
            }
            let before = best_loss;
            let settled = settle(self, found.clusters.clone(), found.suppressed.clone());
            self.keep_better(found, &mut best, &mut best_loss);
            stop = self.keep_better(settled, &mut best, &mut best_loss);
            if best_loss > before * (1.0 - MIN_DECREASE) {
                break;
            }
        }
        best.stop = stop;
        best.work.push(("runs_without_outliers", runs as u64));
        best
    }

    /// Keeps a result if it is valid and loses less. Returns why it was stopped, if it was.
    fn keep_better(&self, found: Clustering, best: &mut Clustering, best_loss: &mut f64) -> Option<Stop> {
        let (loss, stop) = (self.total(&found), found.stop);
        if loss < *best_loss - MIN_GAIN && self.may_be_suppressed(&found.suppressed) {
            // Steps that only move records have no counters of their own.
            let work = if found.work.is_empty() { std::mem::take(&mut best.work) } else { found.work };
            (*best_loss, *best) = (loss, Clustering { work, ..found });
        }
        stop
    }

    fn total(&self, clustering: &Clustering) -> f64 {
        let suppressed = records_of(&clustering.suppressed) as f64 * self.full_loss;
        clustering.clusters.iter().map(|cluster| self.loss_of(cluster)).sum::<f64>() + suppressed
    }

    /// Loss of a group. With `*` in every column, its records count as suppressed.
    fn loss_of(&self, cluster: &Cluster) -> f64 {
        let mut cells = self.task.profile.columns().iter().zip(&cluster.ranges);
        let starred = cells.all(|(column, &(first, last))| column.domain.is_star(column.domain.cover(first, last)));
        let of_record = if starred { self.full_loss } else { self.loss_table.of(&cluster.ranges) };
        cluster.records() as f64 * of_record
    }

    /// Whether the policy allows to suppress these records.
    pub(super) fn may_be_suppressed(&self, members: &[VariantCount]) -> bool {
        let records = records_of(members);
        records == 0 || records <= self.task.max_suppressed && self.requirements.are_met(records, || members)
    }

    /// Returns the suppressed records together with outliers of the groups; `None` if there are none, or if these
    /// records must not be suppressed.
    fn with_outliers(&self, clustering: &Clustering) -> Option<Vec<VariantCount>> {
        let outliers: Vec<Vec<Outlier>> = clustering.clusters.par_iter().map(|cluster| self.peel(cluster)).collect();
        let mut order: Vec<(f64, usize, usize)> = Vec::new();
        for (group, outliers) in outliers.iter().enumerate() {
            order.extend(outliers.iter().enumerate().map(|(index, outlier)| (outlier.reduction, group, index)));
        }
        order.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| (a.1, a.2).cmp(&(b.1, b.2))));
        let mut suppressed = clustering.suppressed.clone();
        let (before, mut records) = (records_of(&suppressed), records_of(&suppressed));
        // Groups with an outlier that was too large: the next ones are outliers only without it.
        let mut closed = vec![false; outliers.len()];
        for (reduction, group, index) in order {
            // Fewer would not be a group of their own.
            if reduction <= self.full_loss && records >= self.requirements.min_records {
                break;
            }
            let members = &outliers[group][index].members;
            closed[group] |= records + records_of(members) > self.task.max_suppressed;
            if !closed[group] {
                records += records_of(members);
                suppressed.extend(members);
            }
        }
        let suppressed = merged(suppressed);
        (records > before && self.may_be_suppressed(&suppressed)).then_some(suppressed)
    }

    /// Removes parts from a group one by one, each time the one that lowers its loss most per record, down to half of
    /// them. Parts that lower it more together than the first of them alone are one outlier, so that outliers are in
    /// order of their reduction.
    fn peel(&self, cluster: &Cluster) -> Vec<Outlier> {
        let mut left = parts(self.task, cluster.clone());
        let half = left.len() / 2;
        if left.len() > MAX_PARTS {
            return Vec::new();
        }
        let mut records = cluster.records();
        let mut loss = records as f64 * self.loss_table.of(&cluster.ranges);
        let mut outliers: Vec<Outlier> = Vec::new();
        while left.len() > half.max(1) {
            let without = boxes_without_each(&left, self.loss_table.columns());
            let reduction = |at: usize| {
                let after = (records - left[at].records) as f64 * self.loss_table.of(&without[at]);
                (loss - after) / left[at].records as f64
            };
            let reductions = (0..left.len()).map(|at| (reduction(at), at));
            // The first of equals.
            let found = reductions.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
            let Some((reduction, at)) = found else { break };
            let part = left.remove(at);
            records -= part.records;
            loss -= reduction * part.records as f64;
            let mut next = Outlier { reduction, members: part.members };
            while let Some(last) = outliers.pop_if(|last| last.reduction <= next.reduction) {
                next = last.and(next);
            }
            outliers.push(next);
        }
        outliers
    }

    /// Runs the method on all records but these; `None` if the others violate the policy without them.
    fn run_without(
        &self,
        suppressed: Vec<VariantCount>,
        search: impl Fn(&Task<'_>, &dyn Observer) -> Result<Clustering, SearchError>,
    ) -> Option<Clustering> {
        let mut left_out = suppressed.iter().peekable();
        let remaining = |member: VariantCount| {
            let out = left_out.next_if(|out| out.variant == member.variant).map_or(0, |out| out.records);
            (member.records > out).then(|| VariantCount { records: member.records - out, ..member })
        };
        let remaining: Vec<VariantCount> = self.task.profile.everything().into_iter().filter_map(remaining).collect();
        let (profile, variants) = self.task.profile.of_members(&remaining);
        let mut found = search(&Task { profile: &profile, ..*self.task }, self.observer).ok()?;
        let members = found.clusters.iter_mut().flat_map(|cluster| &mut cluster.members);
        members.for_each(|member| member.variant = variants[member.variant.index()]);
        found.suppressed = suppressed;
        Some(found)
    }
}

impl Outlier {
    /// Both as one.
    fn and(mut self, next: Self) -> Self {
        let (one, other) = (records_of(&self.members) as f64, records_of(&next.members) as f64);
        self.reduction = (self.reduction * one + next.reduction * other) / (one + other);
        self.members.extend(next.members);
        self
    }
}
