//! The least-loss-first sweep, a method of our own.
//!
//! Guarantees: every group satisfies every privacy model and is released as the smallest box around its records. For whom: a
//! holder whose columns have hierarchies, with any k and any privacy model: where all columns have one it lost less than every
//! other method tried, ours or others'. With free numbers others may lose less (docs/results/sweep.md).
//!
//! A combination of levels, one level for each column, divides the table into boxes. All boxes of all combinations are taken
//! from the least to the most lossy. At its turn, the records in a box that are left become a group if they hold, and leave. So
//! each record leaves in about the smallest box in which there are enough others that have not left in a smaller one. The worst
//! groups, of records that came last, are tried again in other orders (`retries`). What no box releases joins the group that it
//! costs least. In the end records move between groups while the loss falls (`polish`), where a column is free: with
//! hierarchies alone that brings little.
//!
//! A large table is cut into blocks with Mondrian first, each swept on its own, in parallel: the report counts them.
//!
//! A level is a depth of a column's tree; free numbers have a tree of halves, and are released as intervals of their own.
//! Where there are too many combinations, levels that lie close to others are left out (`vectors`).
//!
//! Cost: for each combination what is left, as often as the turn of one of its boxes may have come (`pass.rs`), two or three
//! times; most records leave early.

mod composite;
mod context;
mod grouping;
mod levels;
mod pass;
mod prefix_tables;
mod retry;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use self::context::SweepContext;
use super::{
    AcceptedObjectives, Method, MethodEntry, Observer, Outcome, Parameter, SearchError, Stop, Task, check_possible,
    cluster::{Cluster, members_of, outcome},
    local::{GroupMerger, GroupRequirements, LossTable, assign_leftovers, polish, split_rest},
    mondrian, precision,
};
use crate::{ids::TupleId, objective::LossMetric, profile::VariantCount};

pub(super) const ENTRY: MethodEntry = MethodEntry {
    name: "sweep",
    summary: "local recoding: releases the least lossy box of enough records, then goes on with the rest; loses least where columns have hierarchies",
    parameters: &[
        Parameter::new(
            "vectors",
            "20000",
            "try at most so many combinations of levels; levels that lie close to others are left out",
        ),
        Parameter::new(
            "retries",
            "4",
            "group the worst groups again, so often, in other orders, where there are at most 400; 0: never",
        ),
        Parameter::new(
            "polish",
            "with free numbers",
            "in the end, records move between groups while the loss falls; left out, where a column has numbers or dates without a hierarchy: with hierarchies alone it brings little",
        ),
        Parameter::new(
            "block",
            "by size",
            "cut the table into blocks of at least so many records first, each swept on its own; left out, only a table of more than 100,000 distinct tuples is, into blocks of 20,000 (or 500 k); 0: never",
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

/// Tables of more distinct tuples are cut into blocks, unless the policy says otherwise.
const MAX_UNDIVIDED_TUPLES: usize = 100_000;

/// The records of a block, and for how many groups it has room at least.
const BLOCK_RECORDS: u64 = 20_000;
const MIN_BLOCK_GROUPS: u64 = 500;

/// More leftovers times groups than this are not held against each other.
const MAX_SCANNED_PAIRS: usize = 10_000_000;

/// The method's parameters.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct SweepParams {
    /// At most so many combinations of levels.
    pub vectors: u32,
    /// So often the worst groups are grouped again.
    pub retries: u32,
    /// Whether records move between groups in the end.
    pub polish: Option<bool>,
    /// At least so many records in a block; 0: one block.
    pub block: Option<u64>,
    /// What is to be little.
    #[serde(skip)]
    pub loss: LossMetric,
}

impl Default for SweepParams {
    fn default() -> Self {
        Self { vectors: 20_000, retries: 4, polish: None, block: None, loss: LossMetric::Lm }
    }
}

/// The method.
#[derive(Debug, Clone, Copy)]
pub struct Sweep(pub SweepParams);

impl Method for Sweep {
    fn run(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Outcome, SearchError> {
        check_possible(task)?;
        let profile = task.profile;
        if profile.tuples() == 0 {
            return Ok(outcome(task, Vec::new(), None, Vec::new()));
        }
        let loss = self.0.loss;
        let context = SweepContext::new(task, levels::levels_of_columns(profile, loss, self.0.vectors as usize));
        let loss_table = LossTable::new(profile, loss);
        let blocks = self.blocks(task, observer);
        let mut result = context.sweep_blocks(&blocks, observer);
        let tried = retry::improve(&context, &loss_table, &mut result, self.0.retries, observer);
        let mut clusters: Vec<Cluster> = result.groups.iter().map(|tuples| Cluster::of_tuples(task, tuples)).collect();
        let left = members_of(profile, result.left.iter().copied()).collect();
        let is_complete = result.stop == Stop::Finished;
        let leftovers = if is_complete { left } else { split_rest(task, &mut clusters, left) };
        let mut stop = tried.stop.unwrap_or(result.stop);
        if leftovers.len() * clusters.len() <= MAX_SCANNED_PAIRS {
            assign_leftovers(task, &loss_table, &mut clusters, &leftovers);
        } else {
            stop = merge_leftovers(task, &loss_table, &mut clusters, &leftovers, observer).unwrap_or(stop);
        }
        let mut work = vec![
            ("blocks", blocks.len() as u64),
            ("vectors", context.num_vectors() as u64),
            ("regrouped", result.regrouped),
            ("tuples_looked_at", result.looked_at),
            ("tried_again", tried.tried),
            ("better", tried.better),
            ("leftovers", leftovers.iter().map(|member| member.records).sum()),
        ];
        let has_free = || profile.columns().iter().any(|column| column.domain.tree().is_none());
        if self.0.polish.unwrap_or_else(has_free) {
            let polished = polish(task, &loss_table, &mut clusters, u64::MAX, observer);
            stop = polished.stop.unwrap_or(stop);
            work.extend(polished.work());
        }
        Ok(outcome(task, clusters, Some(stop), work))
    }
}

impl Sweep {
    /// The tuples of each block.
    fn blocks(&self, task: &Task<'_>, observer: &dyn Observer) -> Vec<Vec<TupleId>> {
        let profile = task.profile;
        let usual = || {
            if profile.tuples() > MAX_UNDIVIDED_TUPLES {
                BLOCK_RECORDS.max(MIN_BLOCK_GROUPS * GroupRequirements::of(task).min_records)
            } else {
                0
            }
        };
        let block = self.0.block.unwrap_or_else(usual);
        if block == 0 || profile.records() < 2 * block {
            return vec![(0..profile.tuples() as u32).map(TupleId).collect()];
        }
        let blocks = mondrian::split(task, profile.everything(), block, observer).into_iter();
        let tuples = |members: Vec<VariantCount>| {
            let mut tuples: Vec<TupleId> = members.iter().map(|member| profile.tuple_of(member.variant)).collect();
            tuples.dedup();
            tuples
        };
        blocks.map(tuples).collect()
    }
}

/// What is left over joins groups through the tree over their boxes: with models other than k it may be much.
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
