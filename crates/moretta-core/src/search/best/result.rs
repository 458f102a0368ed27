//! A result while it is improved: groups, suppressed records and their loss.

use crate::{
    privacy::Group,
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

    /// Merges groups until every model holds for the records with equal labels in its columns, if a model is not closed
    /// under union. In the release, groups with equal labels are one group to an attacker who knows these columns only.
    ///
    /// Groups that together violate a model are merged; one that violates it alone joins the group whose loss grows least.
    /// There are fewer groups after each pass, and all records as one group satisfy the models.
    pub(super) fn merge_violating(&mut self, task: &Task<'_>, loss_table: &LossTable<'_>) {
        if !task.models.iter().all(|model| model.is_closed_under_union()) {
            while self.clusters.len() > 1 && self.merge_violating_once(task, loss_table) {}
        }
        self.measure(loss_table);
    }

    /// Returns whether groups were merged.
    fn merge_violating_once(&mut self, task: &Task<'_>, loss_table: &LossTable<'_>) -> bool {
        let columns = task.profile.columns();
        let cell = |cluster: &Cluster, column: usize| {
            let (first, last) = cluster.ranges[column];
            let cell = columns[column].domain.cover(first, last);
            (cell.first, cell.last, cell.node().map(|node| node.0))
        };
        // By group: the first of the groups that it is merged with.
        let mut merged_with: Vec<usize> = (0..self.clusters.len()).collect();
        let mut any = false;
        for model in task.models {
            let key = |cluster: &Cluster| model.scope().iter().map(|column| cell(cluster, column.index())).collect();
            let mut keyed: Vec<(Vec<_>, usize)> = self.clusters.iter().map(key).zip(0..).collect();
            keyed.sort();
            for same in keyed.chunk_by(|a, b| a.0 == b.0) {
                let members: Vec<VariantCount> =
                    same.iter().flat_map(|(_, at)| self.clusters[*at].members.iter().copied()).collect();
                if model.holds(&Group::new(task.profile, &members)) {
                    continue;
                }
                any = true;
                let mut violating: Vec<usize> = same.iter().map(|(_, at)| *at).collect();
                if let [only] = violating[..] {
                    violating.extend(self.nearest(only, loss_table));
                }
                // All groups of the chains end at the smallest number.
                let firsts: Vec<usize> = violating.iter().map(|&at| first_of(&merged_with, at)).collect();
                let least = firsts.iter().copied().min().unwrap_or(0);
                firsts.into_iter().for_each(|first| merged_with[first] = least);
            }
        }
        let mut clusters: Vec<Option<Cluster>> = std::mem::take(&mut self.clusters).into_iter().map(Some).collect();
        for at in (0..clusters.len()).rev() {
            let first = first_of(&merged_with, at);
            if first < at
                && let Some(cluster) = clusters[at].take()
                && let Some(first) = &mut clusters[first]
            {
                first.join(cluster);
            }
        }
        self.clusters = clusters.into_iter().flatten().collect();
        any
    }

    /// The group whose loss grows least if it takes all records of another.
    fn nearest(&self, of: usize, loss_table: &LossTable<'_>) -> Option<usize> {
        let cluster = &self.clusters[of];
        let growth = |other: &Cluster| {
            let both = (other.records() + cluster.records()) as f64 * loss_table.union(&other.ranges, &cluster.ranges);
            both - other.records() as f64 * loss_table.of(&other.ranges)
        };
        let others = self.clusters.iter().enumerate().filter(|(at, _)| *at != of);
        others
            .map(|(at, other)| (growth(other), at))
            .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))
            .map(|found| found.1)
    }

    pub(super) fn into_outcome(self, task: &Task<'_>, stop: Option<Stop>, work: Vec<(&'static str, u64)>) -> Outcome {
        let Self { clusters, suppressed, .. } = self;
        outcome(task, Clustering { clusters, suppressed, stop, work })
    }
}

/// First group of the chain of merged groups.
fn first_of(merged_with: &[usize], mut at: usize) -> usize {
    while merged_with[at] != at {
        at = merged_with[at];
    }
    at
}
