//! One pass of the sweep over a set of tuples.
//!
//! A pass takes the boxes of all level vectors in order of increasing loss and turns the remaining records of a box
//! into a group if they satisfy the models. Ties go to the level vector of lower mean loss.
//!
//! Why a lazy queue: listing and sorting all boxes would cost tuples x vectors. Why it gives the same order: the loss
//! of a box is fixed and records are only ever removed, so the next box of a vector can only come later. A key is
//! therefore a lower bound that stays valid, and the boxes before the next key precede all others.
//!
//! How: a priority queue has one entry per level vector, keyed by a lower bound on the loss of the vector's next box
//! with enough records. The first [`BATCH`] vectors are popped and grouped in parallel. Of their boxes, those before
//! the next key in the queue are ready; the best of the others is the vector's new key. Ready boxes are taken in order;
//! a box that lost records to an earlier one is checked with what remains.
//!
//! ```text
//! queue   A 0.0  B 0.2  C 1.0  D 1.2        two vectors per batch: pop A and B; all boxes before 1.0 (C) are ready
//! group   A: boxes 0.0, 0.6, 1.5            ready: A 0.0, B 0.2, A 0.6; new key of A: 1.5
//!         B: boxes 0.2                      B has no other box with enough records: it leaves the queue
//! queue   C 1.0  D 1.2  A 1.5
//! ```
//!
//! Cost: per grouping, the entries of one prefix table (at most a quarter of them without records). On Adult most
//! vectors are grouped two or three times (counters `regrouped` and `tuples_looked_at` in the report).

use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use rayon::prelude::*;

use super::{
    context::{LevelVectors, SweepContext},
    grouping::{CandidateGroup, EntryGrouper, GroupingRequest, Priority},
    levels::Level,
    prefix_tables::PrefixTable,
};
use crate::{
    ids::TupleId,
    search::{CancelOnly, Observer, Stop, cluster::members_of, local::GroupRequirements},
};

/// Level vectors grouped per round; affects speed only.
const BATCH: usize = 64;

/// Minimum level vectors per rayon task; affects speed only.
const MIN_TASK_VECTORS: usize = 8;

pub(super) struct SweepResult {
    pub groups: Vec<Vec<TupleId>>,
    /// Tuples that are in no group, in order.
    pub left: Vec<TupleId>,
    pub stop: Stop,
    /// Number of times a level vector was grouped.
    pub regrouped: u64,
    /// Number of prefix table entries scanned by those groupings.
    pub looked_at: u64,
    /// Number of level vectors of all rounds.
    pub vectors: u64,
    /// Number of codes that were read to grow level vectors.
    pub seed_work: u64,
}

impl SweepResult {
    /// No groups yet.
    pub(super) fn new(left: Vec<TupleId>) -> Self {
        Self { groups: Vec::new(), left, stop: Stop::Finished, regrouped: 0, looked_at: 0, vectors: 0, seed_work: 0 }
    }

    /// Adds the groups and the work of another result.
    pub(super) fn add(&mut self, other: Self) {
        self.groups.extend(other.groups);
        self.regrouped += other.regrouped;
        self.looked_at += other.looked_at;
        self.vectors += other.vectors;
        self.seed_work += other.seed_work;
    }
}

impl SweepContext<'_> {
    /// Sweeps each block on its own, in parallel, then the tuples that are left in all blocks together.
    pub(super) fn sweep_blocks(&self, blocks: &[Vec<TupleId>], observer: &dyn Observer) -> SweepResult {
        let factors = vec![1.0; self.columns.len()];
        if let [all] = blocks {
            return self.sweep(all, &factors, observer);
        }
        let finished = AtomicU64::new(0);
        let sweep_block = |block: &Vec<TupleId>| {
            let result = self.sweep(block, &factors, &CancelOnly(observer));
            let done = finished.fetch_add(block.len() as u64, Relaxed) + block.len() as u64;
            observer.progress(done, self.task.profile.tuples() as u64);
            result
        };
        let of_blocks: Vec<SweepResult> = blocks.par_iter().map(sweep_block).collect();
        let mut left: Vec<TupleId> = of_blocks.iter().flat_map(|result| &result.left).copied().collect();
        left.sort_unstable();
        let mut all = self.sweep(&left, &factors, &CancelOnly(observer));
        of_blocks.into_iter().for_each(|result| all.add(result));
        all
    }

    /// Sweeps some tuples. `factors` scales the loss of each column of the profile in the order of boxes.
    pub(super) fn sweep(&self, tuples: &[TupleId], factors: &[f64], observer: &dyn Observer) -> SweepResult {
        if self.is_grown {
            return self.sweep_grown(tuples, factors, observer);
        }
        Pass::new(self, tuples, self.all_by_mean_loss(factors), factors).run(f64::INFINITY, tuples.len(), observer)
    }

    /// Estimated lookups of codes and losses that a sweep took.
    pub(super) fn work(&self, result: &SweepResult) -> u64 {
        result.seed_work + result.looked_at * (self.composites.len() as u64 + 2)
    }

    /// Builds the table of each level combination of the prefix columns.
    fn prefix_tables(&self, tuples: &[TupleId], factors: &[f64]) -> Vec<PrefixTable> {
        let suffix_hash = |tuple: &TupleId| {
            let columns = self.columns[self.prefix_len..].iter();
            let hashes = columns.map(|column| column.levels[0].hashes[column.codes[tuple.index()] as usize]);
            hashes.fold(0, u64::wrapping_add)
        };
        let suffix_hashes: Vec<u64> = tuples.iter().map(suffix_hash).collect();
        let table = |prefix| PrefixTable::new(self, &self.prefix_levels(prefix), factors, tuples, &suffix_hashes);
        (0..self.num_prefixes()).into_par_iter().map(table).collect()
    }
}

/// State of one pass. A tuple's rank is its index in `tuples`.
pub(super) struct Pass<'a> {
    context: &'a SweepContext<'a>,
    tuples: &'a [TupleId],
    requirements: GroupRequirements<'a>,
    vectors: LevelVectors,
    /// By composite column and its level.
    composite_levels: Vec<Vec<Level>>,
    /// By level combination of the prefix columns.
    tables: Vec<PrefixTable>,
    queue: BinaryHeap<Reverse<Priority>>,
    /// Ranks of the tuples that are in no group yet.
    remaining: Vec<u32>,
    /// By rank.
    is_remaining: Vec<bool>,
    groups: Vec<Vec<TupleId>>,
    regrouped: u64,
    looked_at: u64,
}

impl<'a> Pass<'a> {
    pub(super) fn new(
        context: &'a SweepContext<'a>,
        tuples: &'a [TupleId],
        vectors: LevelVectors,
        factors: &[f64],
    ) -> Self {
        let mut pass = Self {
            context,
            tuples,
            requirements: GroupRequirements::of(context.task),
            vectors,
            composite_levels: context.composites.levels(&context.columns, factors),
            tables: context.prefix_tables(tuples, factors),
            queue: BinaryHeap::new(),
            remaining: (0..tuples.len() as u32).collect(),
            is_remaining: vec![true; tuples.len()],
            groups: Vec::new(),
            regrouped: 0,
            looked_at: 0,
        };
        pass.queue = pass.initial_queue();
        pass
    }

    /// Takes all boxes up to a loss. `all` is the number of tuples of the whole sweep, for its progress.
    pub(super) fn run(mut self, max_loss: f64, all: usize, observer: &dyn Observer) -> SweepResult {
        let end = if max_loss.is_finite() { Priority::new(max_loss, usize::MAX) } else { Priority::LAST };
        let mut stop = observer.stop();
        while stop.is_none() && self.queue.peek().is_some_and(|Reverse(next)| *next < end) {
            let ready = self.group_batch(end);
            self.take_groups(ready);
            observer.progress((all - self.remaining.len()) as u64, all as u64);
            stop = observer.stop();
        }
        let left = self.remaining.iter().map(|&rank| self.tuples[rank as usize]).collect();
        let Self { groups, regrouped, looked_at, vectors, .. } = self;
        let stop = stop.unwrap_or(Stop::Finished);
        SweepResult { groups, left, stop, regrouped, looked_at, vectors: vectors.len() as u64, seed_work: 0 }
    }

    /// Queues every level vector with the sum of the minimum losses of its columns, a lower bound on the loss of its
    /// boxes.
    fn initial_queue(&self) -> BinaryHeap<Reverse<Priority>> {
        let Self { context, tables, composite_levels, .. } = self;
        let min_of = |losses: &[f64]| losses.iter().copied().fold(f64::INFINITY, f64::min);
        let prefix_bounds: Vec<f64> = tables.iter().map(|table| min_of(&table.losses)).collect();
        let composite_bounds: Vec<Vec<f64>> =
            composite_levels.iter().map(|levels| levels.iter().map(|level| min_of(&level.losses)).collect()).collect();
        let bound = |(order_index, vector): (usize, &[usize])| {
            let bounds = context.composites.select(&composite_bounds, &context.columns, vector);
            let loss = bounds.into_iter().fold(prefix_bounds[context.prefix_of(vector)], |sum, bound| sum + bound);
            // Boxes sum the columns in another order: their rounded loss may be slightly below this sum.
            Reverse(Priority::new(loss * (1.0 - 1e-12), order_index))
        };
        self.vectors.iter().enumerate().map(bound).collect()
    }

    /// Groups the remaining records by the first vectors of the queue, and queues these again with their new keys.
    /// Returns the boxes that come before all others and before `end`, unsorted.
    fn group_batch(&mut self, end: Priority) -> Vec<CandidateGroup> {
        let popped = std::iter::from_fn(|| self.queue.pop()).take(BATCH);
        let batch: Vec<usize> = popped.map(|Reverse(priority)| priority.order_index).collect();
        let before = self.queue.peek().map_or(end, |Reverse(priority)| end.min(*priority));
        let requests: Vec<GroupingRequest<'_>> = batch.iter().map(|&index| self.request(index, before)).collect();
        let scanned: u64 = requests.iter().map(|request| request.table.hashes.len() as u64).sum();
        let grouped: Vec<(Vec<CandidateGroup>, Option<Priority>)> = requests
            .par_iter()
            .with_min_len(MIN_TASK_VECTORS)
            .map_init(EntryGrouper::default, |grouper, request| grouper.group(request, &self.remaining))
            .collect();
        self.regrouped += batch.len() as u64;
        self.looked_at += scanned;
        let mut ready = Vec::new();
        for (candidates, next) in grouped {
            ready.extend(candidates);
            self.queue.extend(next.map(Reverse));
        }
        ready
    }

    fn request(&self, order_index: usize, before: Priority) -> GroupingRequest<'_> {
        let (context, vector) = (self.context, self.vectors.get(order_index));
        GroupingRequest {
            table: &self.tables[context.prefix_of(vector)],
            levels: context.composites.select(&self.composite_levels, &context.columns, vector),
            order_index,
            min_records: self.requirements.min_records,
            before,
        }
    }

    /// Turns the candidates that satisfy the models into groups, in order of priority, and removes their records.
    fn take_groups(&mut self, mut ready: Vec<CandidateGroup>) {
        let profile = self.context.task.profile;
        ready.sort_by(|a, b| a.priority.cmp(&b.priority).then_with(|| a.ranks.cmp(&b.ranks)));
        for candidate in ready {
            let ranks = candidate.ranks.iter().map(|&rank| rank as usize);
            let ranks: Vec<usize> = ranks.filter(|&rank| self.is_remaining[rank]).collect();
            let group: Vec<TupleId> = ranks.iter().map(|&rank| self.tuples[rank]).collect();
            let records = group.iter().map(|&tuple| profile.tuple_records(tuple)).sum();
            let members = || members_of(profile, group.iter().copied()).collect::<Vec<_>>();
            if !self.requirements.are_met(records, members) {
                continue;
            }
            for (&rank, &tuple) in ranks.iter().zip(&group) {
                self.is_remaining[rank] = false;
                self.tables.iter_mut().for_each(|table| table.remove(rank, profile.tuple_records(tuple)));
            }
            self.groups.push(group);
        }
        self.remaining.retain(|&rank| self.is_remaining[rank as usize]);
        self.tables.iter_mut().for_each(PrefixTable::compact);
    }
}
