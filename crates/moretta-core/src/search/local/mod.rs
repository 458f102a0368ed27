//! What methods share that group records which are alike.

mod box_tree;
mod item_tree;
mod leftovers;
mod loss_table;
mod merger;
mod polish;
mod remaining;
#[cfg(test)]
mod tests;

pub(super) use self::{
    item_tree::{Below, ItemTree, LEAF, NONE},
    leftovers::assign_leftovers,
    loss_table::{GrowingBox, LossTable},
    merger::GroupMerger,
    polish::polish,
    remaining::RemainingRecords,
};

use super::{NoObserver, Task, cluster::Cluster, mondrian};
use crate::{privacy::Limit, profile::VariantCount};

/// The requirements of a group that satisfies every model.
#[derive(Clone, Copy)]
pub(super) struct GroupRequirements<'a> {
    task: &'a Task<'a>,
    /// Minimum records: no group with fewer satisfies every model.
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

    /// Whether a group of so many records satisfies every model. The members are needed only if their number does not
    /// decide.
    pub(super) fn are_met<M: AsRef<[VariantCount]>>(&self, records: u64, members: impl FnOnce() -> M) -> bool {
        records >= self.min_records && (self.min_records_suffice || self.task.is_satisfied_by(members().as_ref()))
    }

    pub(super) fn are_met_by(&self, cluster: &Cluster) -> bool {
        self.are_met(cluster.records(), || &cluster.members)
    }
}

/// Splits the remaining records when there is no more time, if they hold together; returns what is left over.
pub(super) fn split_rest(task: &Task<'_>, clusters: &mut Vec<Cluster>, rest: Vec<VariantCount>) -> Vec<VariantCount> {
    if rest.is_empty() || !task.is_satisfied_by(&rest) {
        return rest;
    }
    clusters.extend(fallback_split(task, rest));
    Vec::new()
}

/// Splits records that hold together into clusters when there is no more time: fast, with a higher loss.
pub(super) fn fallback_split(task: &Task<'_>, mut members: Vec<VariantCount>) -> Vec<Cluster> {
    members.sort_unstable();
    mondrian::split(task, members, 1, &NoObserver).into_iter().map(|part| Cluster::around(task, part)).collect()
}
