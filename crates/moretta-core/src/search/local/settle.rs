//! Moves records between finished groups and the suppressed records while the total loss falls.
//!
//! ```text
//! drop        A xxxxY              ->  A xxxx   suppressed Y       A has a record more than it needs
//! dissolve    A xyZ   B xxx  C yyy ->  B xxxx  C yyyy   suppressed Z    each record where it costs least
//! take back   suppressed XZZZ      ->  A xxxX   suppressed ZZZ     X costs A less than a suppressed record loses
//! ```
//!
//! Each step lowers the loss, but the suppressed records may still be too few, or violate a model, in the end. The
//! caller keeps the result only if they satisfy the models.

use rayon::prelude::*;

use super::{
    box_tree::{BoxTree, GroupBox},
    polish::{MIN_GAIN, TuplePart, around, boxes_without_each, joined, parts},
    suppression::{MAX_PARTS, Suppression, merged, records_of},
};
use crate::{
    profile::VariantCount,
    search::{
        Stop,
        cluster::{Cluster, Clustering},
    },
};

/// Groups between two checks for a stop.
const BATCH: usize = 64;

/// Maximum records of a group that may be dissolved, as a multiple of the minimum; larger ones are not worth the
/// search.
const MAX_DISSOLVED: u64 = 4;

/// Number of no group.
const NO_GROUP: u32 = u32::MAX;

struct Settler<'a> {
    context: &'a Suppression<'a>,
    /// `None` after it was dissolved.
    groups: Vec<Option<Vec<TuplePart>>>,
    boxes: BoxTree<'a>,
    /// A tuple may have several parts.
    suppressed: Vec<TuplePart>,
    suppressed_records: u64,
}

/// Cheapest place of each part of a group: another group, or `None` to suppress it.
struct Dissolution {
    places: Vec<Option<u32>>,
    suppressed_records: u64,
    gain: f64,
}

/// Returns the groups and suppressed records after the steps. It has no counters.
pub(super) fn settle(context: &Suppression<'_>, clusters: Vec<Cluster>, suppressed: Vec<VariantCount>) -> Clustering {
    let group_boxes = clusters.iter().map(|cluster| GroupBox { ranges: &cluster.ranges, records: cluster.records() });
    let boxes = BoxTree::new(context.loss_table, group_boxes);
    let (task, suppressed_records) = (context.task, records_of(&suppressed));
    let suppressed = parts(task, Cluster { members: suppressed, ranges: Vec::new() });
    let groups = clusters.into_par_iter().map(|cluster| Some(parts(task, cluster))).collect();
    let mut settler = Settler { context, groups, boxes, suppressed, suppressed_records };
    let stop = settler.drop_parts().or_else(|| settler.dissolve_groups()).or_else(|| settler.take_back());
    let members = |parts: Vec<TuplePart>| parts.into_iter().flat_map(|part| part.members).collect::<Vec<_>>();
    let clusters = settler.groups.into_iter().flatten().map(|parts| Cluster::around(task, members(parts))).collect();
    Clustering { suppressed: merged(members(settler.suppressed)), ..Clustering::new(clusters, stop, Vec::new()) }
}

fn records(parts: &[TuplePart]) -> u64 {
    parts.iter().map(|part| part.records).sum()
}

impl Settler<'_> {
    fn is_satisfied_by(&self, parts: &[TuplePart]) -> bool {
        let members = || parts.iter().flat_map(|part| &part.members).copied().collect::<Vec<VariantCount>>();
        self.context.requirements.are_met(records(parts), members)
    }

    fn parts(&self, group: u32) -> &[TuplePart] {
        self.groups[group as usize].as_deref().unwrap_or_default()
    }

    fn replace(&mut self, group: u32, parts: Vec<TuplePart>) {
        let ranges = around(parts.iter(), self.context.loss_table.columns());
        self.boxes.change(group, GroupBox { ranges: &ranges, records: records(&parts) });
        self.groups[group as usize] = Some(parts);
    }

    fn suppress(&mut self, parts: impl IntoIterator<Item = TuplePart>) {
        for part in parts {
            self.suppressed_records += part.records;
            self.suppressed.push(part);
        }
    }

    /// Number of records that may still be suppressed.
    fn budget(&self) -> u64 {
        self.context.task.max_suppressed.saturating_sub(self.suppressed_records)
    }

    /// Groups for which `gain` returns a gain, by decreasing gain per suppressed record.
    fn by_gain(&self, gain: impl Fn(u32) -> Option<f64> + Sync) -> Vec<u32> {
        let gains = (0..self.groups.len() as u32).into_par_iter().filter_map(|group| Some((gain(group)?, group)));
        let mut order: Vec<(f64, u32)> = gains.collect();
        order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        order.into_iter().map(|(_, group)| group).collect()
    }

    /// The part of a group whose suppression gains most per record, if the group can spare one.
    fn droppable(&self, group: u32) -> Option<(f64, usize)> {
        let parts = self.parts(group);
        let all = self.boxes.group_box(group).records;
        let spare = all.saturating_sub(self.context.requirements.min_records).min(self.budget());
        if spare == 0 || parts.len() < 2 || parts.len() > MAX_PARTS {
            return None;
        }
        let (loss, loss_table) = (self.boxes.loss(group), self.context.loss_table);
        let without = boxes_without_each(parts, loss_table.columns());
        let gain = |at: usize| {
            let own = parts[at].records;
            (loss - (all - own) as f64 * loss_table.of(&without[at])) / own as f64 - self.context.full_loss
        };
        let gains = (0..parts.len()).filter(|&at| parts[at].records <= spare).map(|at| (gain(at), at));
        // The first of equals.
        gains.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1))).filter(|(gain, _)| *gain > MIN_GAIN)
    }

    fn drop_parts(&mut self) -> Option<Stop> {
        for batch in self.by_gain(|group| self.droppable(group).map(|(gain, _)| gain)).chunks(BATCH) {
            let stop = self.context.observer.stop();
            if stop.is_some() {
                return stop;
            }
            for &group in batch {
                while let Some((_, at)) = self.droppable(group) {
                    let mut rest = self.parts(group).to_vec();
                    let part = rest.remove(at);
                    if !self.is_satisfied_by(&rest) {
                        break;
                    }
                    self.suppress([part]);
                    self.replace(group, rest);
                }
            }
        }
        None
    }

    /// Returns the cheapest place of each part of a small group, if the loss would fall. Parts that join the same group
    /// are seen one by one.
    fn dissolution(&self, group: u32) -> Option<Dissolution> {
        let Suppression { requirements, full_loss, .. } = self.context;
        let parts = self.parts(group);
        let max_records = MAX_DISSOLVED * requirements.min_records;
        if parts.is_empty() || parts.len() > MAX_PARTS || self.boxes.group_box(group).records > max_records {
            return None;
        }
        let loss = self.boxes.loss(group);
        let (mut places, mut suppressed_records, mut sum) = (Vec::new(), 0, 0.0);
        for part in parts {
            let if_suppressed = part.records as f64 * full_loss;
            let found = self.boxes.nearest_to(part.as_box(), group, if_suppressed.min(loss - sum));
            sum += found.map_or(if_suppressed, |(growth, _)| growth);
            suppressed_records += if found.is_some() { 0 } else { part.records };
            if sum >= loss - MIN_GAIN {
                return None;
            }
            places.push(found.map(|(_, other)| other));
        }
        Some(Dissolution { places, suppressed_records, gain: loss - sum })
    }

    fn dissolve_groups(&mut self) -> Option<Stop> {
        let gain = |found: Dissolution| found.gain / found.suppressed_records.max(1) as f64;
        for batch in self.by_gain(|group| self.dissolution(group).map(gain)).chunks(BATCH) {
            let stop = self.context.observer.stop();
            if stop.is_some() {
                return stop;
            }
            batch.iter().for_each(|&group| self.dissolve(group));
        }
        None
    }

    fn dissolve(&mut self, group: u32) {
        let found = self.dissolution(group).filter(|found| found.suppressed_records <= self.budget());
        let Some(Dissolution { places, suppressed_records, .. }) = found else { return };
        let (mut into, mut suppressed) = (Vec::<(u32, Vec<TuplePart>)>::new(), Vec::new());
        for (part, place) in self.parts(group).iter().cloned().zip(places) {
            match place {
                None => suppressed.push(part),
                Some(other) => match into.iter_mut().find(|(known, _)| *known == other) {
                    Some((_, parts)) => parts.push(part),
                    None => into.push((other, vec![part])),
                },
            }
        }
        let mut after = suppressed_records as f64 * self.context.full_loss;
        let mut wholes = Vec::new();
        for (other, joining) in into {
            let ranges = around(joining.iter(), self.context.loss_table.columns());
            after += self.boxes.growth_of(GroupBox { ranges: &ranges, records: records(&joining) }, other);
            wholes.push((other, joined(self.parts(other), joining)));
        }
        if after >= self.boxes.loss(group) - MIN_GAIN || !wholes.iter().all(|(_, whole)| self.is_satisfied_by(whole)) {
            return;
        }
        self.groups[group as usize] = None;
        self.boxes.remove(group);
        wholes.into_iter().for_each(|(other, whole)| self.replace(other, whole));
        self.suppress(suppressed);
    }

    /// Returns suppressed parts to groups while the others may still be suppressed.
    fn take_back(&mut self) -> Option<Stop> {
        let mut kept = 0;
        for visited in 0..self.suppressed.len() {
            let stop = if visited % BATCH == 0 { self.context.observer.stop() } else { None };
            if stop.is_some() {
                return stop;
            }
            let part = &self.suppressed[kept];
            let if_suppressed = part.records as f64 * self.context.full_loss;
            let found = self.boxes.nearest_to(part.as_box(), NO_GROUP, if_suppressed - MIN_GAIN);
            let whole = found.map(|(_, group)| (group, joined(self.parts(group), [part.clone()])));
            match whole.filter(|(_, whole)| self.is_satisfied_by(whole) && self.may_stay_without(kept)) {
                Some((group, whole)) => {
                    self.suppressed_records -= self.suppressed.remove(kept).records;
                    self.replace(group, whole);
                }
                None => kept += 1,
            }
        }
        None
    }

    /// Whether the suppressed records satisfy the models without one part, or none is left.
    fn may_stay_without(&self, at: usize) -> bool {
        let others = self.suppressed.iter().enumerate().filter(|(other, _)| *other != at);
        let records = self.suppressed_records - self.suppressed[at].records;
        let members = || others.flat_map(|(_, part)| &part.members).copied().collect::<Vec<VariantCount>>();
        records == 0 || self.context.requirements.are_met(records, members)
    }
}
