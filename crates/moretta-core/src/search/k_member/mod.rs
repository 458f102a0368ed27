//! Greedy k-member clustering (Byun, Kamra, Bertino, Li 2007, with the losses of Campan, Cooper, Truta 2011).
//!
//! Guarantees: every group satisfies every privacy model with few more records than it needs, and is released as the
//! smallest box around its records. For whom: a data holder who wants small groups of similar records.
//!
//! ```text
//! repeat while at least k records remain:
//!     seed     the first is a random record, each later one the record farthest from the seed before
//!     grow     add the record that increases the cluster's loss least,
//!              until the cluster has k records (with other models: until it satisfies them)
//! leftovers    each joins the cluster whose loss grows least
//! ```
//!
//! A cluster's loss is its number of records times the weighted loss of its box; the distance of two records is the
//! loss of the box around both. Ties go to the record that comes first in the order of the quasi-identifiers' values.
//!
//! The published algorithm compares every record at every step: n^2 distances. The clusters here are exactly the same,
//! but records with equal quasi-identifiers are one point with a count, and a k-d tree over the points (`points.rs`)
//! with bounds on the cost of the points below each node (`local/loss_table.rs`) finds the next record without
//! computing most distances (`nearest.rs`). A large table is first split into blocks with Mondrian, clustered in
//! parallel (`blocks` in the report).
//!
//! Cost: one tree search per record; measured, about n^1.5 for one block, linear in the number of blocks.

mod clusters;
mod nearest;
mod points;
#[cfg(test)]
mod tests;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use self::clusters::{BlockClusters, cluster_block};
use super::{
    AcceptedObjectives, Method, MethodEntry, Observer, Outcome, Parameter, SearchError, SearchMemory, Task,
    check_possible,
    cluster::Clustering,
    local::{LossTable, assign_leftovers, suppression_bytes, with_suppression},
    mondrian, precision,
    rng::hash_seed,
    size::TaskSize,
};
use crate::{objective::LossMetric, profile::Profile};

pub(super) const ENTRY: MethodEntry = MethodEntry {
    name: "k-member",
    summary: "local recoding: grows clusters of about k records, always adding the record that increases the loss least",
    parameters: &[Parameter::new(
        "block",
        "by size",
        "partition the table into blocks of at least this many records and cluster each separately; default: blocks of 50,000 if there are more than 200,000 distinct tuples (with more than 8 columns earlier and smaller); 0: never",
    )],
    objectives: AcceptedObjectives::Precision(LossMetric::Ncp),
    build: |choice, objectives| {
        Ok(Box::new(KMember(KMemberParams { loss: precision(objectives), ..choice.read_parameters()? })))
    },
};

/// Tables with more distinct tuples are split into blocks, unless the policy sets `block`.
const MAX_UNDIVIDED_TUPLES: u64 = 200_000;

/// Default minimum records per block.
const BLOCK_RECORDS: u64 = 50_000;

/// Number of columns up to which both defaults apply. With more they fall with the square, a quarter for twice the
/// columns: the search tree helps less the more columns there are.
const BASE_COLUMNS: usize = 8;

/// Parameters of the method.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct KMemberParams {
    /// Minimum records per block; 0: one block; `None`: by the size of the table.
    pub block: Option<u64>,
    /// Loss metric to minimize.
    #[serde(skip)]
    pub loss: LossMetric,
}

/// Greedy k-member clustering.
#[derive(Debug, Clone, Copy)]
pub struct KMember(pub KMemberParams);

impl Method for KMember {
    fn memory(&self, task: &Task<'_>) -> SearchMemory {
        let size = TaskSize::of(task);
        let block_records = self.0.block.unwrap_or_else(|| default_block(task.profile));
        // A block has fewer than twice its minimum of records, if it can be split.
        let undivided = block_records == 0 || 2 * block_records >= size.records;
        let (block_tuples, blocks_at_once) =
            if undivided { (size.tuples, 1) } else { ((2 * block_records).min(size.tuples), size.threads) };
        // Codes, remaining records, the tree over the points, and the queue.
        let of_block = block_tuples * (4 * size.columns + 60) + size.box_tree(block_tuples) / 2;
        // One by one, records of several variants of a tuple are members of their own.
        let members = if size.variants > size.tuples { size.records } else { size.members() + size.groups };
        let clusters = size.clusters(size.groups, members);
        let blocks = size.everything() * 3 / 2;
        let searching = clusters + (blocks_at_once * of_block).max(size.outcome());
        let peak = size.splits().max(blocks + searching) + LossTable::bytes(task.profile);
        SearchMemory { peak: peak + suppression_bytes(task, &size), groups: Some(size.groups) }
    }

    fn run(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Outcome, SearchError> {
        with_suppression(task, self.0.loss, observer, |task, observer| self.search(task, observer))
    }
}

impl KMember {
    fn search(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Clustering, SearchError> {
        check_possible(task)?;
        let everything = task.profile.everything();
        let blocks = match self.0.block.unwrap_or_else(|| default_block(task.profile)) {
            _ if everything.is_empty() => Vec::new(),
            0 => vec![everything],
            min_records => mondrian::split(task, everything, min_records, observer),
        };
        let loss_table = LossTable::new(task.profile, self.0.loss);
        let finished = AtomicU64::new(0);
        let done = |records: u64| {
            observer.progress(finished.fetch_add(records, Relaxed) + records, task.profile.records());
        };
        let clustered: Vec<BlockClusters> = blocks
            .par_iter()
            .enumerate()
            .map(|(block, members)| {
                let seed = hash_seed(task.seed, block as u64);
                let mut found = cluster_block(task, &loss_table, members, seed, observer, &done);
                let leftovers = std::mem::take(&mut found.leftovers);
                assign_leftovers(task, &loss_table, &mut found.clusters, &leftovers);
                found
            })
            .collect();
        let sum = |count: fn(&BlockClusters) -> u64| clustered.iter().map(count).sum();
        let work = vec![
            ("blocks", blocks.len() as u64),
            ("distances", sum(|found| found.work.distances)),
            ("bounds", sum(|found| found.work.bounds)),
            ("distances_of_a_full_search", sum(|found| found.work.naive)),
        ];
        let stop = clustered.iter().find_map(|found| found.stop);
        let clusters = clustered.into_iter().flat_map(|found| found.clusters).collect();
        Ok(Clustering::new(clusters, stop, work))
    }
}

/// Minimum records per block if the policy sets none; 0: one block.
fn default_block(profile: &Profile) -> u64 {
    let columns = profile.columns().len().max(BASE_COLUMNS);
    let scaled = |count: u64| count * (BASE_COLUMNS * BASE_COLUMNS) as u64 / (columns * columns) as u64;
    if profile.tuples() as u64 > scaled(MAX_UNDIVIDED_TUPLES) { scaled(BLOCK_RECORDS).max(1) } else { 0 }
}
