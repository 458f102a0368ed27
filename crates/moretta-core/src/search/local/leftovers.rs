//! Records that no cluster was grown for, and clusters that no longer hold with them.

use super::LossTable;
use crate::{
    profile::VariantCount,
    search::{
        Task,
        cluster::{Cluster, include},
    },
};

/// Puts each record into the cluster whose loss it increases least, of equals the first.
///
/// A cluster's loss is its number of records times the penalty of its box.
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
    let mut boxes: Vec<f64> = clusters.iter().map(|cluster| loss_table.of(&cluster.ranges)).collect();
    let mut touched = vec![false; clusters.len()];
    for member in leftovers {
        let codes = task.profile.codes(task.profile.tuple_of(member.variant));
        for _ in 0..member.records {
            let more = |at: usize| {
                let size = sizes[at] as f64;
                (size + 1.0) * loss_table.with(&clusters[at].ranges, codes) - size * boxes[at]
            };
            let at = least(clusters.len(), more);
            let cluster = &mut clusters[at];
            cluster.members.push(VariantCount { records: 1, ..*member });
            include(&mut cluster.ranges, codes);
            sizes[at] += 1;
            boxes[at] = loss_table.of(&cluster.ranges);
            touched[at] = true;
        }
    }
    mend(task, loss_table, clusters, touched);
}

/// Joins clusters that no longer hold with others, where the loss grows least, until all hold. Models are closed under
/// union and the whole table holds, so this comes to an end.
fn mend(task: &Task<'_>, loss_table: &LossTable<'_>, clusters: &mut Vec<Cluster>, mut touched: Vec<bool>) {
    let mut at = 0;
    while at < clusters.len() {
        if !touched[at] || clusters[at].satisfies(task) || clusters.len() == 1 {
            at += 1;
            continue;
        }
        let broken = clusters.swap_remove(at);
        touched.swap_remove(at);
        let (size, own) = (broken.records() as f64, loss_table.of(&broken.ranges));
        let more = |other: usize| {
            let (cluster, others) = (&clusters[other], clusters[other].records() as f64);
            (size + others) * loss_table.union(&broken.ranges, &cluster.ranges)
                - size * own
                - others * loss_table.of(&cluster.ranges)
        };
        let other = least(clusters.len(), more);
        clusters[other].join(broken);
        touched[other] = true;
        at = 0;
    }
}

/// The first of those with the least value.
fn least(count: usize, value: impl Fn(usize) -> f64) -> usize {
    (0..count).map(|at| (value(at), at)).min_by(|a, b| a.0.total_cmp(&b.0)).map_or(0, |(_, at)| at)
}
