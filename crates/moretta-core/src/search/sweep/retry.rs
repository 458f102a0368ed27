//! The worst groups again, in other orders.
//!
//! A sweep leaves what is hardest for the end: on Adult with k = 100 the last quarter of the groups bears three fifths of the loss. In
//! which order their boxes have their turns matters little for each and much for all together, so some orders are tried, in each
//! of which every column's loss counts a little more or less, and the best is kept.

use rayon::prelude::*;

use super::{context::SweepContext, pass::SweepResult};
use crate::{
    ids::TupleId,
    search::{
        Observer, Stop,
        cluster::Cluster,
        local::{LossTable, assign_leftovers},
        rng::hash_seed,
    },
};

/// So many are tried at once, from the same groups.
const BATCH: u32 = 4;

/// The share of groups that are tried again.
const RETRIED_SHARE: std::ops::Range<f64> = 0.03..0.15;

/// With more groups than this the last ones weigh little.
const MAX_GROUPS: usize = 400;

/// A column's loss counts by at most this power of e more or less.
const MAX_LOG_FACTOR: f64 = 0.2;

/// How often it was tried and how often it paid.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RetryCounts {
    pub tried: u64,
    pub better: u64,
    /// What it was stopped for.
    pub stop: Option<Stop>,
}

/// RetryCounts so often, and stops when it does not pay.
pub(super) fn improve(
    context: &SweepContext<'_>,
    loss_table: &LossTable<'_>,
    result: &mut SweepResult,
    retries: u32,
    observer: &dyn Observer,
) -> RetryCounts {
    let mut counts = RetryCounts::default();
    let mut from = 0;
    while from < retries && (2..=MAX_GROUPS).contains(&result.groups.len()) && counts.stop.is_none() {
        let to = retries.min(from + BATCH);
        let loss = |tuples: &Vec<TupleId>| loss_table.of(&Cluster::of_tuples(context.task, tuples).ranges);
        let mut groups: Vec<(f64, Vec<TupleId>)> =
            std::mem::take(&mut result.groups).into_iter().map(|tuples| (loss(&tuples), tuples)).collect();
        groups.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        result.groups = groups.into_iter().map(|(_, tuples)| tuples).collect();
        let better: Vec<Option<(f64, usize, SweepResult)>> =
            (from..to).into_par_iter().map(|number| attempt(context, loss_table, result, number, observer)).collect();
        counts.tried += u64::from(to - from);
        counts.stop = observer.stop();
        let best = better.into_iter().flatten().min_by(|a, b| a.0.total_cmp(&b.0));
        let Some((_, count, better)) = best else { break };
        counts.better += 1;
        result.groups.drain(..count);
        result.groups.extend(better.groups);
        result.left = better.left;
        from = to;
    }
    counts
}

/// Sweeps some of the worst groups anew: by how much the loss falls, how many groups, and what became of them.
fn attempt(
    context: &SweepContext<'_>,
    loss_table: &LossTable<'_>,
    result: &SweepResult,
    number: u32,
    observer: &dyn Observer,
) -> Option<(f64, usize, SweepResult)> {
    let seed = hash_seed(context.task.seed, u64::from(number) + 1);
    let between = |range: std::ops::Range<f64>, number: u64| {
        range.start + (range.end - range.start) * (hash_seed(seed, number) >> 11) as f64 / (1u64 << 53) as f64
    };
    let columns = context.columns.len() as u64;
    let factors: Vec<f64> =
        (0..columns).map(|column| between(-MAX_LOG_FACTOR..MAX_LOG_FACTOR, column + 1).exp()).collect();
    let count = ((result.groups.len() as f64 * between(RETRIED_SHARE, 0)) as usize).max(2).min(result.groups.len());
    let (worst, left) = (&result.groups[..count], &result.left);
    let mut tuples: Vec<TupleId> = worst.iter().flatten().chain(left).copied().collect();
    tuples.sort_unstable();
    let again = context.sweep(&tuples, &factors, observer);
    let change = total(context, loss_table, &again.groups, &again.left) - total(context, loss_table, worst, left);
    (change < 0.0 && observer.stop().is_none()).then_some((change, count, again))
}

/// What groups lose, with what is left over put where it costs least.
fn total(context: &SweepContext<'_>, loss_table: &LossTable<'_>, groups: &[Vec<TupleId>], left: &[TupleId]) -> f64 {
    let mut clusters: Vec<Cluster> = groups.iter().map(|tuples| Cluster::of_tuples(context.task, tuples)).collect();
    assign_leftovers(context.task, loss_table, &mut clusters, &Cluster::of_tuples(context.task, left).members);
    clusters.iter().map(|cluster| cluster.records() as f64 * loss_table.of(&cluster.ranges)).sum()
}
