//! Top-down local recoding (Xu, Wang, Pei, Wang, Shi, Fu, KDD 2006): split the records in two around two that are far
//! apart, again and again.
//!
//! Guarantees: every group satisfies every privacy model and is released as the smallest box around its records. For
//! whom: a holder who wants little lost in all columns at once, each as much as it weighs.
//!
//! A set of more than k records is split: from any record u the farthest is v, from v the farthest is the next u, three
//! rounds; the others come in a random order, each to the side whose penalty (its records times the weighted certainty
//! penalty of its box) grows less by it. To compare what the penalties grow to, and not by how much, would push records
//! to the smaller side wherever they belong: on Adult with eight columns and k = 10 that loses five times as much. A
//! side is split in turn where it holds. Sides that do not are short. Then each short group, in order, joins the group whose
//! penalty grows least by it, or takes the records that it is short of from a group that keeps k, whichever adds
//! less; rounds of that until none is short. With models other than k, groups only join.
//!
//! A large table is split into *blocks* first: sets of at most some ten thousand records that the same splits lead to, each with
//! the short sets that were split off on the way to it. A short group looks for others in its block alone, so that the time it
//! takes does not grow with the table; blocks go on in parallel, and the report counts them. On Adult enlarged to 300,000 records
//! that loses two thousandths more and takes a fifth of the time.
//!
//! Records with equal quasi-identifiers are one point with a count, and part only where some of them are taken. The nearest
//! group is found through a tree over the boxes of all groups (`local/boxes.rs`), and is the one that a look at every
//! group of the block would find. Cost: O(t p log t) for t distinct tuples and p columns where splits are balanced, at worst
//! O(t^2 p); then for each short group a search of the tree of its block.

mod split;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use self::split::Split;
use super::{
    Method, MethodEntry, Minimises, Observer, Outcome, Parameter, SearchError, Task, check_possible,
    cluster::{Cluster, outcome},
    local::{Needs, Penalties, Pool, polish},
    precision,
};
use crate::objective::Loss;

pub(super) const ENTRY: MethodEntry = MethodEntry {
    name: "local-top-down",
    summary: "local recoding: recursively splits the records around two distant ones; supports every privacy model",
    parameters: &[
        Parameter::new("polish", "true", "finally move records between groups while the loss falls"),
        Parameter::new(
            "block",
            "by k",
            "groups that violate the policy merge with or take records from groups of their block, of about this many records; default: 40,000 or 2,000 k, whichever is more; 0: the whole table",
        ),
    ],
    minimises: Minimises::Precision(Loss::Ncp),
    build: |choice, goals| Ok(Box::new(LocalTopDown(Settings { loss: precision(goals), ..choice.read_parameters()? }))),
};

/// The method's parameters.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Settings {
    /// At most so many records in a block; 0: one block.
    pub block: Option<u64>,
    /// Whether records move between groups in the end.
    pub polish: bool,
    /// What is to be little.
    #[serde(skip)]
    pub loss: Loss,
}

impl Default for Settings {
    fn default() -> Self {
        Self { block: None, polish: true, loss: Loss::Ncp }
    }
}

/// The records of a block, unless the policy says how many.
const USUAL_BLOCK: u64 = 40_000;
/// So many groups a block must have room for.
const LEAST_GROUPS: u64 = 2_000;

/// The method.
#[derive(Debug, Clone, Copy)]
pub struct LocalTopDown(pub Settings);

impl Method for LocalTopDown {
    fn run(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Outcome, SearchError> {
        check_possible(task)?;
        let penalties = Penalties::new(task.profile, self.0.loss);
        let block = self.0.block.unwrap_or_else(|| USUAL_BLOCK.max(LEAST_GROUPS * Needs::of(task).least));
        let block = if block == 0 { u64::MAX } else { block };
        let Split { blocks, splits, stop } = split::split(task, &penalties, block, observer);
        let count = blocks.len() as u64;
        let whole: Vec<(Vec<Cluster>, [u64; 6])> = blocks
            .into_par_iter()
            .map(|parts| {
                let mut pool = Pool::new(task, &penalties, parts);
                while pool.is_short() && stop.get().is_none() {
                    pool.round(true, observer).map(|reason| stop.get_or_init(|| reason));
                }
                pool.hurry();
                let mut work = [pool.joined, pool.taken, pool.costs(), 0, 0, 0];
                let mut clusters: Vec<Cluster> = pool.into_groups().into_iter().map(|(group, _)| group).collect();
                if self.0.polish {
                    let polished = polish(task, &penalties, &mut clusters, u64::MAX, observer);
                    work[3..].iter_mut().zip(polished.work()).for_each(|(work, (_, steps))| *work = steps);
                    polished.stop.map(|reason| stop.get_or_init(|| reason));
                }
                (clusters, work)
            })
            .collect();
        let mut work = vec![("blocks", count), ("splits", splits)];
        for (at, name) in ["joined", "taken", "costs", "moved", "exchanged", "dissolved"].into_iter().enumerate() {
            work.push((name, whole.iter().map(|(_, work)| work[at]).sum()));
        }
        let clusters = whole.into_iter().flat_map(|(clusters, _)| clusters).collect();
        Ok(outcome(task, clusters, stop.into_inner(), work))
    }
}
