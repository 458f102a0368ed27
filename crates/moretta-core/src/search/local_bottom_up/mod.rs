//! Bottom-up local recoding (Xu, Wang, Pei, Wang, Shi, Fu, KDD 2006): merges similar groups until all satisfy the
//! models.
//!
//! Guarantees: every group satisfies every privacy model and is released as the smallest box around its records; with k
//! alone a group has k to 2k - 1 records unless they are of one tuple. For whom: a data holder who wants a low loss
//! over all columns at once, each by its weight, on a table of some ten thousand records.
//!
//! How: at first every tuple is a group. In each round
//! 1. each violating group that no other joined yet in this round joins the group whose loss (records times weighted
//!    loss of its box) grows least (`local/merger.rs`);
//! 2. groups of 2k records or more are divided into groups of k (`divide.rs`); with other models only if all parts
//!    satisfy them.
//!
//! A round at least doubles the smallest group, so with k alone there are at most log2 k rounds, rounded up. Then
//! records move between groups while the loss falls (`local/polish.rs`, `polish`). The only random choice is which of
//! equal records go where.
//!
//! The published algorithm compares the losses after merging, not their growth. That avoids groups that have a high
//! loss already, although they lose little more: on Adult with eight columns the loss is a third to a half higher from
//! k = 5 on, and no lower than that of Mondrian from k = 25 on.
//!
//! The nearest group is found through a tree over the boxes of all groups (`local/box_tree.rs`), with the result of a
//! full scan. Cost: one tree search per violating group and round, at worst O(t^2 p log k) for t distinct tuples and p
//! columns, as published.

mod divide;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use self::divide::divide;
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
    name: "local-bottom-up",
    summary: "local recoding: merges the most similar groups until all satisfy the policy; supports every privacy model",
    parameters: &[Parameter::new("polish", "true", "finally move records between groups while the loss falls")],
    objectives: AcceptedObjectives::Precision(LossMetric::Ncp),
    build: |choice, objectives| {
        Ok(Box::new(LocalBottomUp(LocalBottomUpParams { loss: precision(objectives), ..choice.read_parameters()? })))
    },
};

/// Parameters of the method.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct LocalBottomUpParams {
    /// Whether records move between groups in the end.
    pub polish: bool,
    /// Loss metric to minimize.
    #[serde(skip)]
    pub loss: LossMetric,
}

impl Default for LocalBottomUpParams {
    fn default() -> Self {
        Self { polish: true, loss: LossMetric::Ncp }
    }
}

/// Bottom-up local recoding.
#[derive(Debug, Clone, Copy)]
pub struct LocalBottomUp(pub LocalBottomUpParams);

impl Method for LocalBottomUp {
    fn memory(&self, task: &Task<'_>) -> SearchMemory {
        let size = TaskSize::of(task);
        let start = size.clusters(size.tuples, size.variants) + 24 * size.tuples + size.box_tree(size.tuples);
        let polish = if self.0.polish { size.polish(size.tuples, size.groups) } else { 0 };
        let end = size.clusters(size.groups, size.members()) + size.outcome();
        let peak = size.everything() + start.max(polish).max(end) + LossTable::bytes(task.profile);
        SearchMemory { peak: peak + suppression_bytes(task, &size), groups: Some(size.groups) }
    }

    fn run(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Outcome, SearchError> {
        with_suppression(task, self.0.loss, observer, |task, observer| self.search(task, observer))
    }
}

impl LocalBottomUp {
    fn search(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Clustering, SearchError> {
        check_possible(task)?;
        let loss_table = LossTable::new(task.profile, self.0.loss);
        let everything = task.profile.everything();
        let tuples = everything.chunk_by(|a, b| task.profile.tuple_of(a.variant) == task.profile.tuple_of(b.variant));
        let mut clusters: Vec<Cluster> = tuples.map(|members| Cluster::around(task, members.to_vec())).collect();
        let (mut rounds, mut joined, mut costs, mut stop) = (0, 0, 0, None);
        loop {
            let mut merger = GroupMerger::new(task, &loss_table, clusters);
            let had_violating = merger.has_violating();
            if had_violating {
                rounds += 1;
                stop = merger.round(false, observer);
            }
            if stop.is_some() {
                merger.finish_with_fallback();
            }
            joined += merger.joined;
            costs += merger.costs();
            let groups = merger.into_groups().into_par_iter();
            clusters =
                groups
                    .flat_map_iter(|(group, changed)| {
                        if changed && stop.is_none() { divide(task, &loss_table, group) } else { vec![group] }
                    })
                    .collect();
            if !had_violating || stop.is_some() {
                break;
            }
        }
        let mut work = vec![("rounds", rounds), ("joined", joined), ("costs", costs)];
        if self.0.polish {
            // With k alone groups stay below 2k.
            let GroupRequirements { min_records, min_records_suffice, .. } = GroupRequirements::of(task);
            let max_records = if min_records_suffice { 2 * min_records - 1 } else { u64::MAX };
            let limits = PolishLimits { max_records, ..PolishLimits::default() };
            let polished = polish(task, &loss_table, &mut clusters, limits, observer);
            stop = stop.or(polished.stop);
            work.extend(polished.work());
        }
        Ok(Clustering::new(clusters, stop, work))
    }
}
