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
//! Cost: for each combination what is left, as often as the turn of one of its boxes may have come (`release.rs`), two or three
//! times; most records leave early.

mod again;
mod ground;
mod grouping;
mod levels;
mod lists;
mod packs;
mod release;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use self::ground::Ground;
use super::{
    Method, MethodEntry, Minimises, Observer, Outcome, Parameter, SearchError, Stop, Task, check_possible,
    cluster::{Cluster, members_of, outcome},
    local::{Needs, Penalties, Pool, place, polish, split_rest},
    mondrian, precision,
};
use crate::{ids::TupleId, objective::Loss, profile::Member};

pub(super) const ENTRY: MethodEntry = MethodEntry {
    name: "sweep",
    summary: "local recoding: repeatedly forms the group with the lowest loss from the remaining records; lowest loss for columns with hierarchies",
    parameters: &[
        Parameter::new("vectors", "20000", "maximum number of level vectors tried; levels close to others are skipped"),
        Parameter::new(
            "retries",
            "4",
            "number of times the worst groups are regrouped in other orders, if there are at most 400; 0: never",
        ),
        Parameter::new(
            "polish",
            "with free numbers",
            "finally move records between groups while the loss falls; default: only if a column has numbers or dates without a hierarchy, because it gains little with hierarchies alone",
        ),
        Parameter::new(
            "block",
            "by size",
            "partition the table into blocks of at least this many records and sweep each separately; default: blocks of 20,000 (or 500 k) if there are more than 100,000 distinct tuples; 0: never",
        ),
    ],
    minimises: Minimises::Precision(Loss::Lm),
    build: |choice, goals| {
        let settings = Settings { loss: precision(goals), ..choice.read_parameters()? };
        match settings.vectors {
            0 => Err(choice.error("vectors", "`vectors` is 0; it must be a whole number of at least 1")),
            _ => Ok(Box::new(Sweep(settings))),
        }
    },
};

/// Tables of more distinct tuples are cut into blocks, unless the policy says otherwise.
const UNDIVIDED: usize = 100_000;

/// The records of a block, and for how many groups it has room at least.
const BLOCK: u64 = 20_000;
const BLOCK_GROUPS: u64 = 500;

/// More leftovers times groups than this are not held against each other.
const PLACED: usize = 10_000_000;

/// The method's parameters.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Settings {
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
    pub loss: Loss,
}

impl Default for Settings {
    fn default() -> Self {
        Self { vectors: 20_000, retries: 4, polish: None, block: None, loss: Loss::Lm }
    }
}

/// The method.
#[derive(Debug, Clone, Copy)]
pub struct Sweep(pub Settings);

impl Method for Sweep {
    fn run(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Outcome, SearchError> {
        check_possible(task)?;
        let profile = task.profile;
        if profile.tuples() == 0 {
            return Ok(outcome(task, Vec::new(), None, Vec::new()));
        }
        let loss = self.0.loss;
        let ground = Ground::new(task, levels::of_columns(profile, loss, self.0.vectors as usize));
        let penalties = Penalties::new(profile, loss);
        let blocks = self.blocks(task, observer);
        let mut swept = ground.sweep_blocks(&blocks, observer);
        let tried = again::improve(&ground, &penalties, &mut swept, self.0.retries, observer);
        let mut clusters: Vec<Cluster> = swept.groups.iter().map(|tuples| Cluster::of_tuples(task, tuples)).collect();
        let left = members_of(profile, swept.left.iter().copied()).collect();
        let is_complete = swept.stop == Stop::Finished;
        let leftovers = if is_complete { left } else { split_rest(task, &mut clusters, left) };
        let mut stop = tried.stop.unwrap_or(swept.stop);
        if leftovers.len() * clusters.len() <= PLACED {
            place(task, &penalties, &mut clusters, &leftovers);
        } else {
            stop = join(task, &penalties, &mut clusters, &leftovers, observer).unwrap_or(stop);
        }
        let mut work = vec![
            ("blocks", blocks.len() as u64),
            ("vectors", ground.combinations() as u64),
            ("regrouped", swept.regrouped),
            ("tuples_looked_at", swept.looked_at),
            ("tried_again", tried.tried),
            ("better", tried.better),
            ("leftovers", leftovers.iter().map(|member| member.records).sum()),
        ];
        let has_free = || profile.columns().iter().any(|column| column.domain.tree().is_none());
        if self.0.polish.unwrap_or_else(has_free) {
            let polished = polish(task, &penalties, &mut clusters, u64::MAX, observer);
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
        let usual = || if profile.tuples() > UNDIVIDED { BLOCK.max(BLOCK_GROUPS * Needs::of(task).least) } else { 0 };
        let block = self.0.block.unwrap_or_else(usual);
        if block == 0 || profile.records() < 2 * block {
            return vec![(0..profile.tuples() as u32).map(TupleId).collect()];
        }
        let blocks = mondrian::split(task, profile.everything(), block, observer).into_iter();
        let tuples = |members: Vec<Member>| {
            let mut tuples: Vec<TupleId> = members.iter().map(|member| profile.tuple_of(member.variant)).collect();
            tuples.dedup();
            tuples
        };
        blocks.map(tuples).collect()
    }
}

/// What is left over joins groups through the tree over their boxes: with models other than k it may be much.
fn join(
    task: &Task<'_>,
    penalties: &Penalties<'_>,
    clusters: &mut Vec<Cluster>,
    leftovers: &[Member],
    observer: &dyn Observer,
) -> Option<Stop> {
    let tuples = leftovers.chunk_by(|a, b| task.profile.tuple_of(a.variant) == task.profile.tuple_of(b.variant));
    clusters.extend(tuples.map(|members| Cluster::around(task, members.to_vec())));
    let mut pool = Pool::new(task, penalties, std::mem::take(clusters));
    let mut stop = None;
    while pool.is_short() && stop.is_none() {
        stop = pool.round(false, observer);
    }
    pool.hurry();
    clusters.extend(pool.into_groups().into_iter().map(|(cluster, _)| cluster));
    stop
}
