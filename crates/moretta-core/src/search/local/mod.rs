//! What methods share that group records which are alike.

mod boxes;
mod cluster;
mod leftovers;
mod penalties;
mod polish;
mod pool;
mod supply;
#[cfg(test)]
mod tests;

pub(super) use self::{
    cluster::{Cluster, groups, in_a_hurry},
    leftovers::place,
    penalties::{Penalties, Reach},
    polish::polish,
    pool::Pool,
    supply::Supply,
};

use super::Task;
use crate::privacy::Limit;

/// What a group must have, in records: no model holds for fewer.
pub(super) fn least_records(task: &Task<'_>) -> u64 {
    task.models.iter().map(|model| model.least_records()).max().unwrap_or(1).max(1)
}

/// Whether so many records are also enough.
pub(super) fn records_are_enough(task: &Task<'_>) -> bool {
    let only_records = |limits: Vec<Limit>| limits.iter().all(|limit| matches!(limit, Limit::Records(_)));
    task.models.iter().all(|model| model.limits().is_some_and(only_records))
}
