//! Top-down local recoding (Xu, Wang, Pei, Wang, Shi, Fu, KDD 2006): splits the records in two around two distant
//! records, recursively.
//!
//! Guarantees: every group satisfies every privacy model and is released as the smallest box around its records. For
//! whom: a data holder who wants a low loss over all columns at once, each by its weight.
//!
//! How (`split.rs`):
//! 1. Two distant records: from a random record u take the farthest record v, from v the farthest next u; three rounds.
//! 2. All other records, in random order, go to the side whose loss (records times weighted loss of its box) grows
//!    less. To compare the losses after adding the record, not their growth, would send records to the smaller side
//!    wherever they belong: five times the loss on Adult with eight columns and k = 10.
//! 3. A side is split again while it satisfies the models. A side that does not is *violating*.
//! 4. Each violating group, in order, joins the group whose loss grows least, or takes the missing records from a group
//!    that keeps k, whichever adds less loss; rounds of this until none is violating (`local/merger.rs`). With models
//!    other than k-anonymity, groups only join.
//! 5. Records move between groups while the loss falls (`local/polish.rs`, `polish`).
//!
//! A large table is first split, by the same splits, into *blocks* of at most some ten thousand records, each with the
//! violating sides that were split off on the way to it. Violating groups look for others only in their block, so that
//! the time per group does not grow with the table. Blocks run in parallel; the report has their number. On Adult
//! enlarged to 300,000 records the loss rises by 0.2 % and the time falls to a fifth.
//!
//! Records with equal quasi-identifiers are one point with a count, and are separated only if a group takes some of
//! them. The nearest group is found through a tree over the boxes (`local/box_tree.rs`), with the result of a full
//! scan. Cost: O(t p log t) for t distinct tuples and p columns if splits are balanced, at worst O(t^2 p); then one
//! search of the block's tree per violating group.

mod split;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use self::split::SplitResult;
use super::{
    AcceptedObjectives, Method, MethodEntry, Observer, Outcome, Parameter, SearchError, SearchMemory, Task,
    check_possible,
    cluster::{Cluster, Clustering},
    local::{GroupMerger, GroupRequirements, LossTable, PolishLimits, polish, suppression_bytes, with_suppression},
    precision,
    size::TaskSize,
};
use crate::objective::LossMetric;

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
    objectives: AcceptedObjectives::Precision(LossMetric::Ncp),
    build: |choice, objectives| {
        Ok(Box::new(LocalTopDown(LocalTopDownParams { loss: precision(objectives), ..choice.read_parameters()? })))
    },
};

/// Parameters of the method.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct LocalTopDownParams {
    /// Maximum records per block, where splits allow; 0: one block; `None`: by k.
    pub block: Option<u64>,
    /// Whether records move between groups in the end.
    pub polish: bool,
    /// Loss metric to minimize.
    #[serde(skip)]
    pub loss: LossMetric,
}

impl Default for LocalTopDownParams {
    fn default() -> Self {
        Self { block: None, polish: true, loss: LossMetric::Ncp }
    }
}

/// Default maximum records per block.
const BLOCK_RECORDS: u64 = 40_000;
/// Minimum of groups of minimum size for which the default block has room.
const MIN_BLOCK_GROUPS: u64 = 2_000;

/// Top-down local recoding.
#[derive(Debug, Clone, Copy)]
pub struct LocalTopDown(pub LocalTopDownParams);

impl LocalTopDown {
    /// Maximum records per block, where splits allow.
    fn block_records(&self, task: &Task<'_>) -> u64 {
        let default_block = || BLOCK_RECORDS.max(MIN_BLOCK_GROUPS * GroupRequirements::of(task).min_records);
        match self.0.block.unwrap_or_else(default_block) {
            0 => u64::MAX,
            block => block,
        }
    }
}

impl Method for LocalTopDown {
    fn memory(&self, task: &Task<'_>) -> SearchMemory {
        let size = TaskSize::of(task).with_whole_tuples();
        let block_tuples = self.block_records(task).min(size.tuples);
        let blocks_at_once = size.threads.min(size.tuples.div_ceil(block_tuples.max(1)));
        let block_groups = size.groups * block_tuples / size.tuples.max(1);
        // About as many parts violate the models as satisfy them.
        let parts = (2 * size.groups).min(size.tuples);
        let clusters = size.clusters(parts, size.members());
        let merging = size.box_tree(2 * block_groups).max(size.polish(block_tuples, block_groups));
        let peak = clusters
            + (blocks_at_once * merging).max(size.outcome()).max(16 * size.tuples)
            + LossTable::bytes(task.profile);
        SearchMemory { peak: peak + suppression_bytes(task, &size), groups: Some(size.groups) }
    }

    fn run(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Outcome, SearchError> {
        with_suppression(task, self.0.loss, observer, |task, observer| self.search(task, observer))
    }
}

impl LocalTopDown {
    fn search(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Clustering, SearchError> {
        check_possible(task)?;
        let params = self.0;
        let loss_table = LossTable::new(task.profile, params.loss);
        let SplitResult { blocks, splits, stop } = split::split(task, &loss_table, self.block_records(task), observer);
        let num_blocks = blocks.len() as u64;
        let of_blocks: Vec<(Vec<Cluster>, [u64; 6])> = blocks
            .into_par_iter()
            .map(|parts| {
                let mut merger = GroupMerger::new(task, &loss_table, parts);
                while merger.has_violating() && stop.get().is_none() {
                    merger.round(true, observer).map(|reason| stop.get_or_init(|| reason));
                }
                merger.finish_with_fallback();
                let mut work = [merger.joined, merger.taken, merger.costs(), 0, 0, 0];
                let mut clusters: Vec<Cluster> = merger.into_groups().into_iter().map(|(group, _)| group).collect();
                if params.polish {
                    let polished = polish(task, &loss_table, &mut clusters, PolishLimits::default(), observer);
                    work[3..].iter_mut().zip(polished.work()).for_each(|(work, (_, steps))| *work = steps);
                    polished.stop.map(|reason| stop.get_or_init(|| reason));
                }
                (clusters, work)
            })
            .collect();
        let mut work = vec![("blocks", num_blocks), ("splits", splits)];
        for (index, name) in ["joined", "taken", "costs", "moved", "exchanged", "dissolved"].into_iter().enumerate() {
            work.push((name, of_blocks.iter().map(|(_, work)| work[index]).sum()));
        }
        let clusters = of_blocks.into_iter().flat_map(|(clusters, _)| clusters).collect();
        Ok(Clustering::new(clusters, stop.into_inner(), work))
    }
}
