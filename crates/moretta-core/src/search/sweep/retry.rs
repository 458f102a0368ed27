//! Sweeps the groups with the highest loss per record again, in other orders, and keeps the best result.
//!
//! Why: a sweep leaves the records that are hardest to group for the end; on Adult with k = 100 the last quarter of the
//! groups has three fifths of the loss. How: the records of the worst 3 to 15 % of the groups and the leftovers are
//! swept again. Each attempt multiplies the loss of every column by a random factor near 1, which changes the order of
//! boxes with similar losses. Cost: one sweep of these records per attempt.

use rayon::prelude::*;

use super::{context::SweepContext, pass::SweepResult};
use crate::{
    ids::TupleId,
    search::{Observer, Stop, cluster::Cluster, local::assign_leftovers, rng::hash_seed},
};

/// Attempts per round. All start from the same groups and run in parallel; the best one is kept.
const BATCH: u32 = 4;

/// An attempt retries the worst groups; their share is drawn uniformly from this range.
const RETRIED_SHARE: std::ops::Range<f64> = 0.03..0.15;

/// With more groups there are no retries: the worst few are then a small part of the loss.
const MAX_GROUPS: usize = 400;

/// Maximum absolute logarithm of a factor: factors are between 0.82 and 1.22.
const MAX_LOG_FACTOR: f64 = 0.2;

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RetryCounts {
    /// Number of attempts.
    pub tried: u64,
    /// Number of rounds that lowered the loss.
    pub better: u64,
    pub stop: Option<Stop>,
}

/// An attempt that lowers the loss.
struct Improvement {
    /// Change of the total loss, negative.
    change: f64,
    /// Number of groups that it replaces, the first of the old ones.
    replaced: usize,
    result: SweepResult,
}

impl SweepContext<'_> {
    /// Makes up to `retries` attempts, in rounds; ends after a round that does not lower the loss.
    pub(super) fn improve(&self, result: &mut SweepResult, retries: u32, observer: &dyn Observer) -> RetryCounts {
        let mut counts = RetryCounts::default();
        let mut from = 0;
        while from < retries && (2..=MAX_GROUPS).contains(&result.groups.len()) && counts.stop.is_none() {
            let to = retries.min(from + BATCH);
            self.sort_by_loss(&mut result.groups);
            let attempts: Vec<Option<Improvement>> =
                (from..to).into_par_iter().map(|number| self.attempt(result, number, observer)).collect();
            counts.tried += u64::from(to - from);
            counts.stop = observer.stop();
            let best = attempts.into_iter().flatten().min_by(|a, b| a.change.total_cmp(&b.change));
            let Some(best) = best else { break };
            counts.better += 1;
            result.groups.drain(..best.replaced);
            result.groups.extend(best.result.groups);
            result.left = best.result.left;
            from = to;
        }
        counts
    }

    /// Sorts groups by decreasing loss of their boxes.
    fn sort_by_loss(&self, groups: &mut Vec<Vec<TupleId>>) {
        let loss = |tuples: &Vec<TupleId>| self.loss_table.of(&Cluster::of_tuples(self.task, tuples).ranges);
        let mut by_loss: Vec<(f64, Vec<TupleId>)> = groups.drain(..).map(|tuples| (loss(&tuples), tuples)).collect();
        by_loss.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        groups.extend(by_loss.into_iter().map(|(_, tuples)| tuples));
    }

    /// Sweeps some of the groups of highest loss and the leftovers again. Returns `None` if the loss does not fall.
    fn attempt(&self, result: &SweepResult, number: u32, observer: &dyn Observer) -> Option<Improvement> {
        let seed = hash_seed(self.task.seed, u64::from(number) + 1);
        let uniform = |range: std::ops::Range<f64>, number: u64| {
            range.start + (range.end - range.start) * (hash_seed(seed, number) >> 11) as f64 / (1u64 << 53) as f64
        };
        let factor = |column: u64| uniform(-MAX_LOG_FACTOR..MAX_LOG_FACTOR, column + 1).exp();
        let factors: Vec<f64> = (0..self.columns.len() as u64).map(factor).collect();
        let count = ((result.groups.len() as f64 * uniform(RETRIED_SHARE, 0)) as usize).max(2).min(result.groups.len());
        let (worst, left) = (&result.groups[..count], &result.left);
        let mut tuples: Vec<TupleId> = worst.iter().flatten().chain(left).copied().collect();
        tuples.sort_unstable();
        let again = self.sweep(&tuples, &factors, observer);
        let loss_before = self.total_loss(worst, left);
        let change = self.total_loss(&again.groups, &again.left) - loss_before;
        (change < 0.0 && observer.stop().is_none()).then_some(Improvement { change, replaced: count, result: again })
    }

    /// Total loss of groups after the leftovers have joined them.
    fn total_loss(&self, groups: &[Vec<TupleId>], left: &[TupleId]) -> f64 {
        let mut clusters: Vec<Cluster> = groups.iter().map(|tuples| Cluster::of_tuples(self.task, tuples)).collect();
        assign_leftovers(self.task, &self.loss_table, &mut clusters, &Cluster::of_tuples(self.task, left).members);
        clusters.iter().map(|cluster| cluster.records() as f64 * self.loss_table.of(&cluster.ranges)).sum()
    }
}
