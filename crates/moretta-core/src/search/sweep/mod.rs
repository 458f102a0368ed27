//! Least-loss-first sweep: local recoding that forms the least lossy groups first. Developed for this project, not
//! published.
//!
//! Guarantees: every group satisfies every privacy model and is released as the smallest box around its records. For
//! whom: a data holder whose columns have hierarchies, with any k and any privacy model that is closed under union (all
//! built-in ones are if records are counted). If all columns have hierarchies, it lost less than every other method of
//! this program (docs/results/sweep.md). With free numbers other methods may lose less.
//!
//! # How
//!
//! A *level* is a depth of a column's tree (free numbers get a tree of halves, `taxonomy.rs`). A *level vector* has one
//! level per column; it divides the table into *boxes*, one node per column, and the loss of a box is the sum over its
//! nodes. The sweep visits all boxes of all level vectors in order of increasing loss. If the remaining records of a
//! box satisfy the models, they become a group and are removed. So each record gets about the smallest box that it can
//! share with enough records that found no smaller one.
//!
//! ```text
//! k = 2; age: value < decade (loss 0.2) < * (loss 1); sex: value < * (loss 1)
//!
//! loss   level vector        box           remaining records in the box      records left
//!                                                                            21F 21F 24F 24M 27M 31M 38F
//! 0      (value,  value)     (21, F)       21F 21F      -> group 1           24F 24M 27M 31M 38F
//! 0.2    (decade, value)     (20-29, M)    24M 27M      -> group 2           24F 31M 38F
//! 0.2    (decade, value)     (20-29, F)    24F          too few
//! 1      (*,      value)     (*, F)        24F 38F      -> group 3           31M
//! end    31M is left over and joins group 2, whose loss grows least by it
//! ```
//!
//! Phases of [`Sweep::run`]:
//! 1. A large table is split into blocks with Mondrian, each swept on its own, in parallel; what is left in all blocks
//!    is then swept together (`block`).
//! 2. The sweep (`pass.rs`), grouping by level vector (`grouping.rs`) from tables of merged tuples
//!    (`prefix_tables.rs`).
//! 3. The groups with the highest loss per record are swept again in other orders (`retry.rs`, `retries`).
//! 4. Leftovers, records that no box could take, join the groups whose loss grows least. A group that violates a model
//!    after that is merged with another. Nothing is suppressed.
//! 5. Records move between groups while the loss falls (`polish`), by default only if a column has free numbers or level
//!    vectors are grown: otherwise it gains little.
//!
//! If there are more level vectors than may be tried (`vectors`), those of a pass are grown from records
//! (`grown_vectors.rs`), and a sweep has several passes.
//!
//! Cost: each level vector groups the remaining records a few times (two or three on Adult); most records are removed
//! early. Polishing stops when it has taken about as much work as the sweep.

mod composite;
mod context;
mod grouping;
mod grown_vectors;
mod levels;
mod pass;
mod prefix_tables;
mod retry;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use self::{context::SweepContext, pass::SweepResult};
use super::{
    AcceptedObjectives, Method, MethodEntry, Observer, Outcome, Parameter, SearchError, SearchMemory, Stop, Task,
    check_possible,
    cluster::{Cluster, Clustering, members_of},
    local::{
        GroupMerger, GroupRequirements, LossTable, PolishLimits, assign_leftovers, polish, split_rest,
        suppression_bytes, with_suppression,
    },
    mondrian, precision,
    size::TaskSize,
};
use crate::{
    ids::TupleId,
    objective::LossMetric,
    profile::{Profile, VariantCount},
};

pub(super) const ENTRY: MethodEntry = MethodEntry {
    name: "sweep",
    summary: "local recoding: repeatedly forms the group with the lowest loss from the remaining records; lowest loss for columns with hierarchies",
    parameters: &[
        Parameter::new(
            "vectors",
            "20000",
            "maximum number of level vectors tried; if there are more, they are grown from records and their nearest records",
        ),
        Parameter::new(
            "retries",
            "4",
            "attempts to regroup the worst groups in other orders, four at a time, of which the best is kept; only if there are at most 400 groups; 0: none",
        ),
        Parameter::new(
            "polish",
            "by table",
            "finally move records between groups while the loss falls; default: only if a column has numbers or dates without a hierarchy, or if there are more level vectors than may be tried; otherwise it gains little",
        ),
        Parameter::new(
            "block",
            "by size",
            "partition the table into blocks of at least this many records and sweep each separately; default: at least 20,000 records and 500 times the minimum group size, if there are more than 100,000 distinct tuples; smaller blocks if there are more level vectors than may be tried; 0: never",
        ),
    ],
    objectives: AcceptedObjectives::Precision(LossMetric::Lm),
    build: |choice, objectives| {
        let params = SweepParams { loss: precision(objectives), ..choice.read_parameters()? };
        match params.vectors {
            0 => Err(choice.error("vectors", "`vectors` is 0; it must be a whole number of at least 1")),
            _ => Ok(Box::new(Sweep(params))),
        }
    },
};

/// Tables with more distinct tuples are split into blocks, unless the policy sets `block`.
const MAX_UNDIVIDED_TUPLES: usize = 100_000;

/// Default minimum records per block.
const BLOCK_RECORDS: u64 = 20_000;
/// Default minimum records times columns per block if level vectors are grown: each seed reads its whole block. On 73,489
/// records of 14 columns, k = 5, one block took 60 s of one core.
const GROWN_BLOCK_CODES: u64 = 120_000;
/// Default minimum of groups of minimum size that fit in a block.
const MIN_BLOCK_GROUPS: u64 = 500;

/// Lookups of a sweep, per column, that take as long as one growth of a group in polishing with its share of the search
/// tree: with 1, polishing took 36 s after a sweep of 18 s (73,489 records, 14 columns, k = 5).
const POLISH_LOOKUPS: u64 = 3;

/// Maximum pairs of leftover and group that are compared one by one; above it, a tree over the boxes of the groups is
/// searched.
const MAX_SCANNED_PAIRS: usize = 10_000_000;

/// Parameters of the method.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct SweepParams {
    /// Maximum number of level vectors, at least 1.
    pub vectors: u32,
    /// Attempts to sweep the groups of highest loss per record again.
    pub retries: u32,
    /// Whether records move between groups in the end; `None`: only if a column has free numbers or level vectors are
    /// grown.
    pub polish: Option<bool>,
    /// Minimum records per block; 0: one block; `None`: by the size of the table.
    pub block: Option<u64>,
    /// Loss metric to minimize.
    #[serde(skip)]
    pub loss: LossMetric,
}

impl Default for SweepParams {
    fn default() -> Self {
        Self { vectors: 20_000, retries: 4, polish: None, block: None, loss: LossMetric::Lm }
    }
}

/// The least-loss-first sweep.
#[derive(Debug, Clone, Copy)]
pub struct Sweep(pub SweepParams);

impl Method for Sweep {
    fn memory(&self, task: &Task<'_>) -> SearchMemory {
        let size = TaskSize::of(task).with_whole_tuples();
        let min_records = self.0.block.unwrap_or_else(|| self.default_block(task));
        let undivided = min_records == 0 || size.records < 2 * min_records;
        let (block_tuples, blocks_at_once) =
            if undivided { (size.tuples, 1) } else { ((2 * min_records).min(size.tuples), size.threads) };
        let levels = levels::size(task.profile, self.0.vectors as usize);
        let codes = 8 * size.columns * size.tuples;
        let threads = size.threads / blocks_at_once;
        let pass = context::pass_bytes(block_tuples, size.columns, levels.vectors, threads) + levels.composites;
        let passes = blocks_at_once * pass;
        let is_grown = u128::from(levels.vectors) < Self::all_vectors(task.profile);
        let levels = levels.columns + TaskSize::halving_trees(task);
        let groups = size.groups * 40 + 8 * size.tuples;
        let clusters = size.clusters(size.groups, size.members());
        let polish = if self.polishes(task, is_grown) { size.polish(size.tuples, size.groups) } else { clusters };
        let end = clusters.max(polish).max(clusters + size.outcome());
        let blocks = if undivided { 0 } else { size.splits() };
        let peak = levels + codes + blocks.max(groups + passes.max(end)) + LossTable::bytes(task.profile);
        SearchMemory { peak: peak + suppression_bytes(task, &size), groups: Some(size.groups) }
    }

    fn run(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Outcome, SearchError> {
        with_suppression(task, self.0.loss, observer, |task, observer| self.search(task, observer))
    }
}

impl Sweep {
    fn search(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Clustering, SearchError> {
        check_possible(task)?;
        let profile = task.profile;
        if profile.tuples() == 0 {
            return Ok(Clustering::new(Vec::new(), None, Vec::new()));
        }
        let params = self.0;
        let levels = levels::levels_of_columns(profile, params.loss, params.vectors as usize);
        let loss_table = LossTable::new(profile, params.loss);
        let context = SweepContext::new(task, loss_table, levels, params.vectors as usize);
        let blocks = self.blocks(task, observer);
        let mut result = context.sweep_blocks(&blocks, observer);
        let retries = context.improve(&mut result, params.retries, observer);
        let loss_table = &context.loss_table;
        let (mut clusters, leftovers) = clusters_and_leftovers(task, &result);
        let merge_stop = if leftovers.len() * clusters.len() <= MAX_SCANNED_PAIRS {
            assign_leftovers(task, loss_table, &mut clusters, &leftovers);
            None
        } else {
            merge_leftovers(task, loss_table, &mut clusters, &leftovers, observer)
        };
        let max_costs = context.work(&result) / (POLISH_LOOKUPS * loss_table.columns().max(1) as u64);
        let limits = PolishLimits { max_costs, ..PolishLimits::default() };
        let polishes = self.polishes(task, context.is_grown);
        let polished = polishes.then(|| polish(task, loss_table, &mut clusters, limits, observer));
        let mut work = vec![
            ("blocks", blocks.len() as u64),
            ("vectors", result.vectors),
            ("regrouped", result.regrouped),
            ("tuples_looked_at", result.looked_at),
            ("tried_again", retries.tried),
            ("better", retries.better),
            ("leftovers", leftovers.iter().map(|member| member.records).sum()),
        ];
        work.extend(polished.iter().flat_map(|polished| polished.work()));
        // The last phase that was stopped says why.
        let stop = polished.and_then(|polished| polished.stop).or(merge_stop).or(retries.stop);
        Ok(Clustering::new(clusters, stop.or(Some(result.stop).filter(|stop| *stop != Stop::Finished)), work))
    }
}

impl Sweep {
    /// Number of all level vectors of a table. A sweep tries at most `vectors` of them.
    pub(super) fn all_vectors(profile: &Profile) -> u128 {
        levels::all_vectors(profile)
    }

    /// Whether records move between groups in the end.
    fn polishes(&self, task: &Task<'_>, is_grown: bool) -> bool {
        let has_free_numbers = || task.profile.columns().iter().any(|column| column.domain.tree().is_none());
        self.0.polish.unwrap_or_else(|| is_grown || has_free_numbers())
    }

    /// Minimum records per block if the policy sets none; 0: one block.
    fn default_block(&self, task: &Task<'_>) -> u64 {
        let (profile, groups) = (task.profile, MIN_BLOCK_GROUPS * GroupRequirements::of(task).min_records);
        if Self::all_vectors(profile) > u128::from(self.0.vectors) {
            return groups.max(GROWN_BLOCK_CODES / profile.columns().len().max(1) as u64);
        }
        if profile.tuples() <= MAX_UNDIVIDED_TUPLES { 0 } else { BLOCK_RECORDS.max(groups) }
    }

    /// Returns the tuples of each block.
    fn blocks(&self, task: &Task<'_>, observer: &dyn Observer) -> Vec<Vec<TupleId>> {
        let profile = task.profile;
        let min_records = self.0.block.unwrap_or_else(|| self.default_block(task));
        if min_records == 0 || profile.records() < 2 * min_records {
            return vec![(0..profile.tuples() as u32).map(TupleId).collect()];
        }
        let tuples_of = |members: Vec<VariantCount>| {
            let mut tuples: Vec<TupleId> = members.iter().map(|member| profile.tuple_of(member.variant)).collect();
            tuples.dedup();
            tuples
        };
        mondrian::split(task, profile.everything(), min_records, observer).into_iter().map(tuples_of).collect()
    }
}

/// Turns the groups of a sweep into clusters; returns them with the records that are in none. A sweep that was stopped
/// leaves many records: these are split by Mondrian if they satisfy the models together.
fn clusters_and_leftovers(task: &Task<'_>, result: &SweepResult) -> (Vec<Cluster>, Vec<VariantCount>) {
    let mut clusters: Vec<Cluster> = result.groups.iter().map(|tuples| Cluster::of_tuples(task, tuples)).collect();
    let left = members_of(task.profile, result.left.iter().copied()).collect();
    let is_complete = result.stop == Stop::Finished;
    let leftovers = if is_complete { left } else { split_rest(task, &mut clusters, left) };
    (clusters, leftovers)
}

/// Adds many leftovers to the clusters whose loss grows least, through a search tree over the boxes of the clusters:
/// with models other than k-anonymity there may be many. Returns why it was stopped, if it was.
fn merge_leftovers(
    task: &Task<'_>,
    loss_table: &LossTable<'_>,
    clusters: &mut Vec<Cluster>,
    leftovers: &[VariantCount],
    observer: &dyn Observer,
) -> Option<Stop> {
    let tuples = leftovers.chunk_by(|a, b| task.profile.tuple_of(a.variant) == task.profile.tuple_of(b.variant));
    clusters.extend(tuples.map(|members| Cluster::around(task, members.to_vec())));
    let mut merger = GroupMerger::new(task, loss_table, std::mem::take(clusters));
    let mut stop = None;
    while merger.has_violating() && stop.is_none() {
        stop = merger.round(false, observer);
    }
    merger.finish_with_fallback();
    clusters.extend(merger.into_groups().into_iter().map(|(cluster, _)| cluster));
    stop
}
