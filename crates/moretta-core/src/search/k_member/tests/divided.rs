//! Clustering in blocks.

use super::{clusters, run};
use crate::{search::mondrian, testing::TestTable, verify::verify_against};

#[test]
fn each_block_is_clustered_on_its_own() {
    let policy = "privacy.k = 3\n[columns.a]\nrole = \"quasi-identifier\"\n[columns.b]\nrole = \"quasi-identifier\"\n";
    let rows: Vec<String> = (0..200u32).map(|n| format!("{},b{}", n * n % 97, n % 7)).collect();
    let rows: Vec<(&str, u64)> = rows.iter().map(|row| (row.as_str(), 1)).collect();
    let table = TestTable::new(policy, &[], &rows);
    let task = crate::search::Task { profile: &table.profile, models: &table.models, max_suppressed: 0, seed: 1 };
    let blocks = mondrian::split(&task, table.profile.everything(), 40, &crate::search::NoObserver);
    let records = |block: &Vec<crate::profile::VariantCount>| block.iter().map(|member| member.records).sum::<u64>();
    assert!(blocks.len() > 2 && blocks.iter().all(|block| records(block) >= 40));
    let outcome = run(&table, Some(40), 1);
    assert_eq!(outcome.work[0], ("blocks", blocks.len() as u64));
    let block_of = |tuple| {
        let inside = |member: &crate::profile::VariantCount| table.profile.tuple_of(member.variant) == tuple;
        blocks.iter().position(|block| block.iter().any(inside))
    };
    let mut seen = vec![0; blocks.len()];
    for cluster in clusters(&table, &outcome) {
        let block = block_of(cluster[0]).unwrap();
        assert!(cluster.iter().all(|&tuple| block_of(tuple) == Some(block)) && (3..6).contains(&cluster.len()));
        seen[block] += cluster.len() as u64;
    }
    assert_eq!(seen, blocks.iter().map(records).collect::<Vec<_>>());
    assert!(verify_against(&table.profile, outcome.recoding, &table.models, &table.policy, 0).is_ok());
}
