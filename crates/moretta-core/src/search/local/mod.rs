//! Shared parts of the methods that build groups of similar records (k-member, local top-down, local bottom-up, sweep).
//!
//! The loss of a group is its number of records times the loss of its box (`loss_table.rs`). A tree over the boxes
//! finds the group whose loss grows least by taking records in (`box_tree.rs`, on the skeleton of `item_tree.rs`).
//! Groups that violate a model join others (`merger.rs`), leftovers join groups (`leftovers.rs`), and records move
//! between finished groups while the loss falls (`polish.rs`). Records may be suppressed so that the others lose less
//! (`suppression.rs`, `settle.rs`). `remaining.rs` counts the records of each tuple that are
//! in no group yet.

mod box_tree;
mod item_tree;
mod leftovers;
mod loss_table;
mod merger;
mod polish;
mod remaining;
mod settle;
mod suppression;
#[cfg(test)]
mod tests;

pub(super) use self::{
    item_tree::{Below, ItemTree, LEAF, NONE},
    leftovers::assign_leftovers,
    loss_table::{GrowingBox, LossTable},
    merger::GroupMerger,
    polish::{PolishLimits, polish},
    remaining::RemainingRecords,
    suppression::{MAX_RUNS, suppression_bytes, with_suppression},
};

use super::{NoObserver, Task, cluster::Cluster, mondrian};
use crate::{privacy::Limit, profile::VariantCount};

/// Conditions under which a group satisfies every model.
#[derive(Clone, Copy)]
pub(super) struct GroupRequirements<'a> {
    task: &'a Task<'a>,
    /// No group with fewer records satisfies every model; at least 1.
    pub min_records: u64,
    /// Whether `min_records` records always suffice.
    pub min_records_suffice: bool,
}

impl<'a> GroupRequirements<'a> {
    pub(super) fn of(task: &'a Task<'a>) -> Self {
        let min_records = task.models.iter().map(|model| model.min_records()).max().unwrap_or(1).max(1);
        let only_records = |limits: Vec<Limit>| limits.iter().all(|limit| matches!(limit, Limit::Records(_)));
        let min_records_suffice = task.models.iter().all(|model| model.limits().is_some_and(only_records));
        Self { task, min_records, min_records_suffice }
    }

    /// Whether a group of `records` records satisfies every model. `members` is called only if their number does not
    /// decide.
    pub(super) fn are_met<M: AsRef<[VariantCount]>>(&self, records: u64, members: impl FnOnce() -> M) -> bool {
        records >= self.min_records && (self.min_records_suffice || self.task.is_satisfied_by(members().as_ref()))
    }

    pub(super) fn are_met_by(&self, cluster: &Cluster) -> bool {
        self.are_met(cluster.records(), || &cluster.members)
    }
}

/// Splits the remaining records when a search is stopped, if they satisfy the models together. Returns the leftovers:
/// all of them if they do not, otherwise none.
pub(super) fn split_rest(task: &Task<'_>, clusters: &mut Vec<Cluster>, rest: Vec<VariantCount>) -> Vec<VariantCount> {
    if rest.is_empty() || !task.is_satisfied_by(&rest) {
        return rest;
    }
    clusters.extend(fallback_split(task, rest));
    Vec::new()
}

/// Splits records that satisfy the models together into clusters with Mondrian, for a search that is stopped: fast, but
/// with a higher loss.
pub(super) fn fallback_split(task: &Task<'_>, mut members: Vec<VariantCount>) -> Vec<Cluster> {
    members.sort_unstable();
    mondrian::split(task, members, 1, &NoObserver).into_iter().map(|part| Cluster::around(task, part)).collect()
}
