//! A result while it is improved: groups, suppressed records and their loss.

use crate::{
    hierarchy::Cell,
    profile::VariantCount,
    recoding::Recoding,
    search::{
        Outcome, Stop, Task,
        cluster::{Cluster, Clustering, outcome},
        local::LossTable,
    },
};

pub(super) struct Solution {
    pub clusters: Vec<Cluster>,
    /// None, or a group that satisfies the models.
    pub suppressed: Vec<VariantCount>,
    /// Why its method was stopped, if it was.
    pub stop: Option<Stop>,
    /// Sum over all records; a suppressed record loses everything.
    pub loss: f64,
}

impl Solution {
    pub(super) fn empty() -> Self {
        Self { clusters: Vec::new(), suppressed: Vec::new(), stop: None, loss: 0.0 }
    }

    /// The groups of a local recoding.
    pub(super) fn of_outcome(task: &Task<'_>, loss_table: &LossTable<'_>, outcome: Outcome) -> Self {
        let stop = Some(outcome.stop).filter(|stop| *stop != Stop::Finished);
        let Recoding::Local(local) = outcome.recoding else { return Self { stop, ..Self::empty() } };
        let groups = local.assignments.iter().map(|assignment| assignment.group.index() + 1).max().unwrap_or(0);
        let mut members: Vec<Vec<VariantCount>> = vec![Vec::new(); groups];
        for assignment in &local.assignments {
            members[assignment.group.index()]
                .push(VariantCount { variant: assignment.variant, records: assignment.records });
        }
        let suppressed = local.suppressed.map_or_else(Vec::new, |group| std::mem::take(&mut members[group.index()]));
        let clusters = members.into_iter().filter(|members| !members.is_empty());
        let clusters = clusters.map(|members| Cluster::around(task, members)).collect();
        let mut solution = Self { clusters, suppressed, stop, loss: 0.0 };
        solution.measure(loss_table);
        solution
    }

    pub(super) fn measure(&mut self, loss_table: &LossTable<'_>) {
        let of_cluster = |cluster: &Cluster| cluster.records() as f64 * loss_table.of(&cluster.ranges);
        let suppressed: u64 = self.suppressed.iter().map(|member| member.records).sum();
        self.loss = self.clusters.iter().map(of_cluster).sum::<f64>() + suppressed as f64 * loss_table.suppressed();
    }

    /// Loss as a share of that of a release with all records suppressed.
    pub(super) fn share_of_max_loss(&self, task: &Task<'_>, loss_table: &LossTable<'_>) -> f64 {
        let max = task.profile.records() as f64 * loss_table.suppressed();
        if max > 0.0 { self.loss / max } else { 0.0 }
    }

    /// Merges groups that are released with equal boxes: in the release they are one group. If it violates a model that
    /// is not closed under union, the group whose loss grows least joins it, until it does not.
    pub(super) fn merge_equal_boxes(&mut self, task: &Task<'_>, loss_table: &LossTable<'_>) {
        if task.models.iter().all(|model| model.is_closed_under_union()) {
            self.measure(loss_table);
            return;
        }
        loop {
            let cells = |cluster: &Cluster| -> Vec<Cell> {
                let columns = task.profile.columns().iter().zip(&cluster.ranges);
                columns.map(|(column, &(first, last))| column.domain.cover(first, last)).collect()
            };
            let mut keyed: Vec<(Vec<CellKey>, Cluster)> = std::mem::take(&mut self.clusters)
                .into_iter()
                .map(|cluster| (cells(&cluster).iter().map(key).collect(), cluster))
                .collect();
            keyed.sort_by(|a, b| a.0.cmp(&b.0));
            for (of_cells, cluster) in keyed {
                match self.clusters.last_mut().filter(|last| cells(last).iter().map(key).eq(of_cells.iter().copied())) {
                    Some(last) => last.join(cluster),
                    None => self.clusters.push(cluster),
                }
            }
            let Some(violating) = self.clusters.iter().position(|cluster| !cluster.satisfies(task)) else { break };
            let cluster = self.clusters.swap_remove(violating);
            let growth = |other: &Cluster| {
                let both =
                    (other.records() + cluster.records()) as f64 * loss_table.union(&other.ranges, &cluster.ranges);
                both - other.records() as f64 * loss_table.of(&other.ranges)
            };
            let nearest =
                self.clusters.iter_mut().map(|other| (growth(other), other)).min_by(|a, b| a.0.total_cmp(&b.0));
            match nearest {
                Some((_, other)) => other.join(cluster),
                None => {
                    // All records are one group, which satisfies the models.
                    self.clusters.push(cluster);
                    break;
                }
            }
        }
        self.measure(loss_table);
    }

    pub(super) fn into_outcome(self, task: &Task<'_>, stop: Option<Stop>, work: Vec<(&'static str, u64)>) -> Outcome {
        let Self { clusters, suppressed, .. } = self;
        outcome(task, Clustering { clusters, suppressed, stop, work })
    }
}

type CellKey = (u32, u32, Option<u32>);

fn key(cell: &Cell) -> CellKey {
    (cell.first, cell.last, cell.node().map(|node| node.0))
}
