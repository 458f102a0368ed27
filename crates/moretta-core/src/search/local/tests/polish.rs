//! Polishing never raises the loss and keeps the models satisfied.

use proptest::prelude::*;

use crate::{
    objective::LossMetric,
    profile::VariantCount,
    search::{
        NoObserver, Task,
        cluster::Cluster,
        local::{GroupRequirements, LossTable, PolishLimits, polish},
        mondrian,
    },
    testing::{After, TestTable},
};

fn total(loss_table: &LossTable<'_>, clusters: &[Cluster]) -> f64 {
    clusters.iter().map(|cluster| cluster.records() as f64 * loss_table.of(&cluster.ranges)).sum()
}

/// All records, variant by variant.
fn records(clusters: &[Cluster]) -> Vec<VariantCount> {
    let mut all: Vec<VariantCount> = clusters.iter().flat_map(|cluster| &cluster.members).copied().collect();
    all.sort_unstable();
    let same = all.chunk_by(|a, b| a.variant == b.variant);
    same.map(|same| VariantCount { records: same.iter().map(|member| member.records).sum(), ..same[0] }).collect()
}

/// Splits the table with Mondrian and mixes the records of each two neighboring groups, so that polishing has something
/// to gain.
fn badly_split(task: &Task<'_>) -> Vec<Cluster> {
    let parts = mondrian::split(task, task.profile.everything(), 1, &NoObserver);
    let mut clusters: Vec<Cluster> = Vec::new();
    for pair in parts.chunks(2) {
        let all: Vec<VariantCount> = pair.concat();
        let (odd, even): (Vec<_>, Vec<_>) = all.iter().enumerate().partition(|(at, _)| at % 2 == 1);
        let halves =
            [odd, even].map(|half| Cluster::around(task, half.into_iter().map(|(_, member)| *member).collect()));
        if halves.iter().all(|half| half.satisfies(task)) {
            clusters.extend(halves);
        } else {
            clusters.push(Cluster::around(task, all));
        }
    }
    clusters
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_loss_falls_and_everything_else_stays(
        rows in prop::collection::vec((0..12u32, 0..6u32, 0..4u32, 1..3u64), 8..80),
        k in 2u64..6,
        diverse: bool,
        most in 1u64..3,
    ) {
        let rows: Vec<(String, u64)> =
            rows.into_iter().map(|(a, b, s, records)| (format!("{a},c{b},s{s}"), records)).collect();
        let rows: Vec<(&str, u64)> = rows.iter().map(|(row, records)| (row.as_str(), *records)).collect();
        let rule = if diverse { "[[privacy.l-diversity]]\ncolumn = \"s\"\nl = 2\n" } else { "" };
        let policy = format!(
            "privacy.k = {k}\n[columns.a]\nrole = \"quasi-identifier\"\nweight = 2\n[columns.b]\nrole = \"quasi-identifier\"\n\
             [columns.s]\nrole = \"sensitive\"\n{rule}"
        );
        let table = TestTable::new(&policy, &[], &rows);
        let task = Task { profile: &table.profile, models: &table.models, max_suppressed: 0, seed: 1 };
        prop_assume!(Cluster::around(&task, table.profile.everything()).satisfies(&task));
        let before = badly_split(&task);
        let largest = before.iter().map(Cluster::records).max().unwrap_or(0);
        let most = largest.max(most * GroupRequirements::of(&task).min_records);
        for loss in [LossMetric::Ncp, LossMetric::Lm] {
            let loss_table = LossTable::new(&table.profile, loss);
            let mut after = before.clone();
            let limits = PolishLimits { max_records: most, ..PolishLimits::default() };
            let done = polish(&task, &loss_table, &mut after, limits, &NoObserver);
            let (lost, now) = (total(&loss_table, &before), total(&loss_table, &after));
            let steps = done.moved + done.exchanged + done.dissolved;
            prop_assert!(if steps > 0 { now < lost } else { (now - lost).abs() < 1e-9 }, "{done:?}: {lost} to {now}");
            prop_assert_eq!(records(&after), records(&before));
            for cluster in &after {
                prop_assert!(cluster.satisfies(&task) && cluster.records() <= most);
                prop_assert_eq!(cluster, &Cluster::around(&task, cluster.members.clone()));
            }
            prop_assert_eq!(GroupRequirements::of(&task).min_records_suffice, !diverse);
            let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
            let mut again = before.clone();
            alone.install(|| polish(&task, &loss_table, &mut again, limits, &NoObserver));
            prop_assert_eq!(&after, &again);
            let mut stopped = before.clone();
            polish(&task, &loss_table, &mut stopped, limits, &After::asked(0));
            prop_assert_eq!(total(&loss_table, &stopped), lost);
            // A limit of work ends it early: the groups still satisfy the models and lose no more than before.
            let mut short = before.clone();
            polish(&task, &loss_table, &mut short, PolishLimits { max_costs: 5, ..limits }, &NoObserver);
            prop_assert!(total(&loss_table, &short) <= lost + 1e-9 && records(&short) == records(&before));
            prop_assert!(short.iter().all(|cluster| cluster.satisfies(&task)));
        }
    }
}
