use proptest::prelude::*;

use super::random;
use crate::search::{
    Task,
    cluster::Cluster,
    local::{
        LossTable,
        box_tree::{BoxTree, GroupBox},
    },
    rng::hash_seed,
};

/// Full scan: the group of least cost, the first of equals.
fn scan(groups: &[Option<Cluster>], cost: impl Fn(u32, &Cluster) -> Option<f64>) -> Option<(f64, u32)> {
    let costs = (0u32..).zip(groups).filter_map(|(at, group)| Some((cost(at, group.as_ref()?)?, at)));
    costs.min_by(|a, b| a.0.total_cmp(&b.0))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_nearest_group_is_the_one_that_a_full_scan_finds(rows in random::rows(), weights in prop::array::uniform3(1u32..4), seed: u64) {
        let table = random::table(&rows, 2, weights, 0, true);
        let task = Task { profile: &table.profile, models: &table.models, max_suppressed: 0, seed };
        let loss_table = LossTable::new(&table.profile, crate::objective::LossMetric::Ncp);
        let everything = table.profile.everything();
        let mut groups: Vec<Option<Cluster>> =
            everything.iter().map(|&member| Some(Cluster::around(&task, vec![member]))).collect();
        let group_boxes = groups.iter().flatten().map(|group| GroupBox { ranges: &group.ranges, records: group.records() });
        let mut boxes = BoxTree::new(&loss_table, group_boxes);
        for step in 0..everything.len() as u64 * 2 {
            let at = (hash_seed(seed, step) % everything.len() as u64) as u32;
            let Some(group) = groups[at as usize].clone() else { continue };
            let growth = |other: u32, cluster: &Cluster| {
                let in_column = |column: usize| {
                    let (one, whole) = (group.ranges[column], cluster.ranges[column]);
                    let around = loss_table.column(column, one.0.min(whole.0), one.1.max(whole.1));
                    let more = around - loss_table.column(column, whole.0, whole.1);
                    group.records() as f64 * around + cluster.records() as f64 * more
                };
                (other != at).then(|| (0..loss_table.columns()).map(in_column).sum())
            };
            let nearest = boxes.nearest(at);
            prop_assert_eq!(nearest, scan(&groups, growth));
            // Cost of the nearest record of each group that has more than two.
            let nearest_record = |other: u32, cluster: &Cluster| {
                let codes = |member: &crate::profile::VariantCount| table.profile.codes(table.profile.tuple_of(member.variant));
                let costs = cluster.members.iter().map(|member| 3.0 * loss_table.with(&group.ranges, codes(member)));
                (other != at && cluster.records() > 2).then(|| costs.fold(f64::MAX, f64::min))
            };
            let offer = |other: u32| groups[other as usize].as_ref().and_then(|cluster| nearest_record(other, cluster));
            prop_assert_eq!(boxes.cheapest_giver(at, 2, 3.0, offer), scan(&groups, nearest_record));
            // Join the nearest group, or shrink to the first member.
            let Some((_, other)) = nearest else { break };
            if step % 5 == 0 {
                let less = Cluster::around(&task, vec![group.members[0]]);
                boxes.change(at, GroupBox { ranges: &less.ranges, records: less.records() });
                groups[at as usize] = Some(less);
            } else {
                let mut whole = groups[other as usize].take().unwrap();
                whole.join(group);
                groups[at as usize] = None;
                boxes.change(other, GroupBox { ranges: &whole.ranges, records: whole.records() });
                groups[other as usize] = Some(whole);
                boxes.remove(at);
            }
        }
    }
}
