//! Greedy k-member clustering (Byun, Kamra, Bertino, Li 2007, with the losses of Campan, Cooper, Truta 2011).
//!
//! Guarantees: every group satisfies every privacy model, has barely more records than that takes, and is released as the
//! smallest box around its records. For whom: a holder who wants small groups of records that are alike.
//!
//! A cluster starts with a seed: the first is any record, each later one the record farthest from the seed before. It takes the
//! record whose addition increases its loss least, again and again, until it has k records (or, with other models,
//! until it holds). What is left at the end goes where it costs least. A cluster's loss is its number of records times the
//! weighted certainty penalty of its box; the distance of two records is the loss of the cluster of the two. Ties go to
//! the record that comes first in the order of the quasi-identifiers' values.
//!
//! As published every step looks at every record: n^2 distances. Here the clusters are the same, to the record, but
//! records with equal quasi-identifiers are one point with a count, and a k-d tree over the points whose nodes bound what any
//! point below would cost (`points.rs`, `local/penalties.rs`) finds the next record without looking at most of them
//! (`nearest.rs`). A large table is cut into blocks with Mondrian first, and each block is
//! clustered on its own, in parallel: the report counts the blocks.
//!
//! Cost: a search of the tree per record; measured, about n^1.5 for one block, linear in the number of blocks.

mod clusters;
mod nearest;
mod points;
#[cfg(test)]
mod tests;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use self::clusters::{Clustered, cluster};
use super::{
    Method, MethodEntry, Minimises, Observer, Outcome, Parameter, SearchError, Task,
    chance::chance,
    check_possible,
    cluster::outcome,
    local::{Penalties, place},
    mondrian, precision,
};
use crate::{objective::Loss, profile::Profile};

pub(super) const ENTRY: MethodEntry = MethodEntry {
    name: "k-member",
    summary: "local recoding: grows clusters of about k records, always adding the record that increases the loss least",
    parameters: &[Parameter::new(
        "block",
        "by size",
        "partition the table into blocks of at least this many records and cluster each separately; default: blocks of 50,000 if there are more than 200,000 distinct tuples (with more than 8 columns earlier and smaller); 0: never",
    )],
    minimises: Minimises::Precision(Loss::Ncp),
    build: |choice, goals| Ok(Box::new(KMember(Settings { loss: precision(goals), ..choice.read_parameters()? }))),
};

/// A table with more distinct tuples than this is divided, unless the policy says how.
const UNDIVIDED: u64 = 200_000;

/// The records of a block, unless the policy says how many.
const BLOCK: u64 = 50_000;

/// Up to so many columns that is so; twice as many columns make both a quarter.
const COLUMNS: usize = 8;

/// The method's parameters.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Settings {
    /// At least so many records in a block; 0: one block.
    pub block: Option<u64>,
    /// What is to be little.
    #[serde(skip)]
    pub loss: Loss,
}

/// The method.
#[derive(Debug, Clone, Copy)]
pub struct KMember(pub Settings);

impl Method for KMember {
    fn run(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Outcome, SearchError> {
        check_possible(task)?;
        let everything = task.profile.everything();
        let blocks = match self.0.block.unwrap_or_else(|| usual_block(task.profile)) {
            _ if everything.is_empty() => Vec::new(),
            0 => vec![everything],
            least => mondrian::split(task, everything, least, observer),
        };
        let penalties = Penalties::new(task.profile, self.0.loss);
        let finished = AtomicU64::new(0);
        let done = |records: u64| {
            observer.progress(finished.fetch_add(records, Relaxed) + records, task.profile.records());
        };
        let clustered: Vec<Clustered> = blocks
            .par_iter()
            .enumerate()
            .map(|(block, members)| {
                let seed = chance(task.seed, block as u64);
                let mut found = cluster(task, &penalties, members, seed, observer, &done);
                let leftovers = std::mem::take(&mut found.leftovers);
                place(task, &penalties, &mut found.clusters, &leftovers);
                found
            })
            .collect();
        let sum = |count: fn(&Clustered) -> u64| clustered.iter().map(count).sum();
        let work = vec![
            ("blocks", blocks.len() as u64),
            ("distances", sum(|found| found.work.distances)),
            ("bounds", sum(|found| found.work.bounds)),
            ("distances_of_a_full_search", sum(|found| found.work.naive)),
        ];
        let stop = clustered.iter().find_map(|found| found.stopped);
        let clusters = clustered.into_iter().flat_map(|found| found.clusters).collect();
        Ok(outcome(task, clusters, stop, work))
    }
}

/// The records of a block where the policy does not say; 0: one block. A search tree helps less the more columns there
/// are.
fn usual_block(profile: &Profile) -> u64 {
    let columns = profile.columns().len().max(COLUMNS);
    let fewer = |count: u64| count * (COLUMNS * COLUMNS) as u64 / (columns * columns) as u64;
    if profile.tuples() as u64 > fewer(UNDIVIDED) { fewer(BLOCK).max(1) } else { 0 }
}
