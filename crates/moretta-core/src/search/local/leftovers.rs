//! Adds leftovers, records that are in no cluster, to clusters, and merges clusters that violate a model after that.

use super::LossTable;
use crate::{
    profile::VariantCount,
    search::{
        Task,
        cluster::{Cluster, include},
    },
};

/// Adds each record to the cluster whose loss it increases least, the first of equals. Cost: leftovers x clusters.
///
/// A cluster's loss is its number of records times the loss of its box.
pub(in crate::search) fn assign_leftovers(
    task: &Task<'_>,
    loss_table: &LossTable<'_>,
    clusters: &mut Vec<Cluster>,
    leftovers: &[VariantCount],
) {
    if clusters.is_empty() {
        clusters.extend((!leftovers.is_empty()).then(|| Cluster::around(task, leftovers.to_vec())));
        return;
    }
    let mut sizes: Vec<u64> = clusters.iter().map(Cluster::records).collect();
    let mut losses: Vec<f64> = clusters.iter().map(|cluster| loss_table.of(&cluster.ranges)).collect();
    let mut touched = vec![false; clusters.len()];
    for member in leftovers {
        let codes = task.profile.codes(task.profile.tuple_of(member.variant));
        for _ in 0..member.records {
            let growth = |index: usize| {
                let size = sizes[index] as f64;
                (size + 1.0) * loss_table.with(&clusters[index].ranges, codes) - size * losses[index]
            };
            let index = first_min(clusters.len(), growth);
            let cluster = &mut clusters[index];
            cluster.members.push(VariantCount { records: 1, ..*member });
            include(&mut cluster.ranges, codes);
            sizes[index] += 1;
            losses[index] = loss_table.of(&cluster.ranges);
            touched[index] = true;
        }
    }
    merge_violating(task, loss_table, clusters, touched);
}

/// Merges touched clusters that violate a model with the cluster where the loss grows least, until all satisfy the
/// models. Terminates because the models are closed under union and the whole table satisfies them.
fn merge_violating(task: &Task<'_>, loss_table: &LossTable<'_>, clusters: &mut Vec<Cluster>, mut touched: Vec<bool>) {
    let mut at = 0;
    while at < clusters.len() {
        if !touched[at] || clusters[at].satisfies(task) || clusters.len() == 1 {
            at += 1;
            continue;
        }
        let violating = clusters.swap_remove(at);
        touched.swap_remove(at);
        let (size, loss) = (violating.records() as f64, loss_table.of(&violating.ranges));
        let growth = |other: usize| {
            let (cluster, other_size) = (&clusters[other], clusters[other].records() as f64);
            (size + other_size) * loss_table.union(&violating.ranges, &cluster.ranges)
                - size * loss
                - other_size * loss_table.of(&cluster.ranges)
        };
        let other = first_min(clusters.len(), growth);
        clusters[other].join(violating);
        touched[other] = true;
        at = 0;
    }
}

/// Index of the first minimum; 0 if `count` is 0.
fn first_min(count: usize, value: impl Fn(usize) -> f64) -> usize {
    (0..count).map(|index| (value(index), index)).min_by(|a, b| a.0.total_cmp(&b.0)).map_or(0, |(_, index)| index)
}
