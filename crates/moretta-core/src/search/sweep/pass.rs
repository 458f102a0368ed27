//! One sweep over some tuples.
//!
//! Every box that a combination of levels makes has its turn, the least lossy first; of equals that of the less lossy combination. At its
//! turn the records in it that are left become a group, if they hold. So the order is that of all boxes of all combinations; but
//! a box of too few records may be passed over, and records only ever leave. So for each combination the next turn is
//! known that could matter, and only the combinations that come first are grouped anew, some at a time and in
//! parallel, as far as the turn of the next combination.

use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use rayon::prelude::*;

use super::{
    context::{LevelVector, SweepContext},
    grouping::{CandidateGroup, Grouping, GroupingRequest, Priority},
    prefix_tables::PrefixTable,
};
use crate::{
    ids::TupleId,
    search::{CancelOnly, Observer, Stop, cluster::members_of, local::GroupRequirements},
};

/// So many combinations are grouped at once.
const BATCH: usize = 64;

/// So many of them one after the other.
const MIN_TASK_VECTORS: usize = 8;

/// What a sweep did.
pub(super) struct SweepResult {
    pub groups: Vec<Vec<TupleId>>,
    pub left: Vec<TupleId>,
    pub stop: Stop,
    pub regrouped: u64,
    pub looked_at: u64,
}

impl SweepContext<'_> {
    /// Sweeps each block on its own, and what is left of all of them together.
    pub(super) fn sweep_blocks(&self, blocks: &[Vec<TupleId>], observer: &dyn Observer) -> SweepResult {
        let factors = vec![1.0; self.columns.len()];
        if let [all] = blocks {
            return self.sweep(all, &factors, observer);
        }
        let done = AtomicU64::new(0);
        let sweep = |block: &Vec<TupleId>| {
            let result = self.sweep(block, &factors, &CancelOnly(observer));
            let done = done.fetch_add(block.len() as u64, Relaxed) + block.len() as u64;
            observer.progress(done, self.task.profile.tuples() as u64);
            result
        };
        let of_blocks: Vec<SweepResult> = blocks.par_iter().map(sweep).collect();
        let mut left: Vec<TupleId> = of_blocks.iter().flat_map(|result| &result.left).copied().collect();
        left.sort_unstable();
        let mut all = self.sweep(&left, &factors, &CancelOnly(observer));
        for result in of_blocks {
            all.groups.extend(result.groups);
            (all.regrouped, all.looked_at) = (all.regrouped + result.regrouped, all.looked_at + result.looked_at);
        }
        all
    }

    /// Sweeps some tuples, with each column's loss times its factor in the order.
    pub(super) fn sweep(&self, tuples: &[TupleId], factors: &[f64], observer: &dyn Observer) -> SweepResult {
        let task = self.task;
        let requirements = GroupRequirements::of(task);
        let order = self.vectors_by_mean_loss(factors);
        let composite_levels = self.composites.levels(&self.columns, factors);
        let mut tables = self.prefix_tables(tuples, factors);
        let mut left: Vec<u32> = (0..tuples.len() as u32).collect();
        let mut is_left = vec![true; tuples.len()];
        let mut result =
            SweepResult { groups: Vec::new(), left: Vec::new(), stop: Stop::Finished, regrouped: 0, looked_at: 0 };
        // At first a turn is not known, but what no box of the combination loses less than.
        let least_of = |losses: &[f64]| losses.iter().copied().fold(f64::INFINITY, f64::min);
        let prefix_bounds: Vec<f64> = tables.iter().map(|table| least_of(&table.losses)).collect();
        let composite_bounds: Vec<Vec<f64>> = composite_levels
            .iter()
            .map(|composite| composite.iter().map(|level| least_of(&level.losses)).collect())
            .collect();
        let bound = |(place, &vector): (usize, &LevelVector)| {
            let others = self.composites.select(&composite_bounds, &self.columns, &self.levels_of(vector));
            let loss = others.into_iter().fold(prefix_bounds[self.prefix_of(vector)], |sum, own| sum + own);
            // Rounded in another order it may be greater.
            Reverse(Priority::new(loss * (1.0 - 1e-12), place))
        };
        let mut queue: BinaryHeap<Reverse<Priority>> = order.iter().enumerate().map(bound).collect();
        let mut stop = observer.stop();
        while stop.is_none() && !queue.is_empty() {
            let now: Vec<usize> =
                std::iter::from_fn(|| queue.pop()).take(BATCH).map(|Reverse(priority)| priority.vector).collect();
            let before = queue.peek().map_or(Priority::LAST, |Reverse(priority)| *priority);
            let wanted = |&place: &usize| {
                let vector = order[place];
                GroupingRequest {
                    table: &tables[self.prefix_of(vector)],
                    levels: self.composites.select(&composite_levels, &self.columns, &self.levels_of(vector)),
                    vector: place,
                    min_records: requirements.min_records,
                    before,
                }
            };
            let wanted: Vec<GroupingRequest<'_>> = now.iter().map(wanted).collect();
            result.regrouped += now.len() as u64;
            result.looked_at += wanted.iter().map(|wanted| wanted.table.hashes.len() as u64).sum::<u64>();
            let group = |grouping: &mut Grouping, wanted: &GroupingRequest<'_>| {
                let mut found = Vec::new();
                let next = grouping.groups(wanted, &left, &mut found);
                (found, next)
            };
            let found: Vec<(Vec<CandidateGroup>, Option<Priority>)> =
                wanted.par_iter().with_min_len(MIN_TASK_VECTORS).map_init(Grouping::default, group).collect();
            let mut ready = Vec::new();
            for (found, next) in found {
                ready.extend(found);
                queue.extend(next.map(Reverse));
            }
            ready.sort_by(|a, b| a.priority.cmp(&b.priority).then_with(|| a.ranks.cmp(&b.ranks)));
            for mut group in ready {
                group.ranks.retain(|&rank| is_left[rank as usize]);
                let group: Vec<(usize, TupleId)> =
                    group.ranks.iter().map(|&rank| (rank as usize, tuples[rank as usize])).collect();
                let records: u64 = group.iter().map(|(_, tuple)| task.profile.tuple_records(*tuple)).sum();
                let members: Vec<TupleId> = group.iter().map(|(_, tuple)| *tuple).collect();
                if !requirements
                    .are_met(records, || members_of(task.profile, members.iter().copied()).collect::<Vec<_>>())
                {
                    continue;
                }
                for (rank, tuple) in group {
                    is_left[rank] = false;
                    tables.iter_mut().for_each(|table| table.remove(rank, task.profile.tuple_records(tuple)));
                }
                result.groups.push(members);
            }
            left.retain(|&rank| is_left[rank as usize]);
            tables.iter_mut().for_each(PrefixTable::tidy);
            observer.progress((tuples.len() - left.len()) as u64, tuples.len() as u64);
            stop = observer.stop();
        }
        result.left = left.into_iter().map(|rank| tuples[rank as usize]).collect();
        result.stop = stop.unwrap_or(Stop::Finished);
        result
    }

    /// The list of each combination of the trunk.
    fn prefix_tables(&self, tuples: &[TupleId], factors: &[f64]) -> Vec<PrefixTable> {
        let others = |tuple: &TupleId| {
            let others = self.columns[self.prefix_len..].iter();
            let hashes = others.map(|column| column.levels[0].hashes[column.codes[tuple.index()] as usize]);
            hashes.fold(0, u64::wrapping_add)
        };
        let others: Vec<u64> = tuples.iter().map(others).collect();
        let table = |prefix: usize| PrefixTable::new(self, &self.prefix_levels(prefix), factors, tuples, &others);
        (0..self.num_prefixes()).into_par_iter().map(table).collect()
    }
}
