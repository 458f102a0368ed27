use proptest::prelude::*;

use super::{clusters, reference, run};
use crate::{
    hierarchy::{Hierarchies, Tree, TreeBuilder},
    testing::TestTable,
};

const TREE: &str = "a;a;x;*\nb;g;x;*\nc;g;x;*\nd;d;d;*\ne;h;y;*\nf;h;y;*\nu;h;y;*\nw;i;y;*\nj;i;y;*";

/// Numbers, a tree with leaves at all depths and more that do not occur, a flat column; some values are missing.
fn rows() -> impl Strategy<Value = Vec<(String, u64)>> {
    let row = (0..60u32, 0..8usize, 0..5u32, 0..3u32, 1..4u64).prop_map(|(number, leaf, flat, s, records)| {
        let number = if number > 55 { "?".to_owned() } else { (number * number % 50).to_string() };
        (format!("{number},{},f{flat},s{s}", ["a", "b", "c", "d", "e", "f", "?", "w"][leaf]), records)
    });
    prop::collection::vec(row, 1..120)
}

fn policy(k: u64, weights: [u32; 3], number: &str, missing: &str) -> String {
    format!(
        "privacy.k = {k}\n[columns.n]\nrole = \"quasi-identifier\"\nweight = {}\n{number}\nmissing = \"{missing}\"\n\
         type = \"number\"\n[columns.t]\nrole = \"quasi-identifier\"\nhierarchy = \"t.csv\"\nweight = {}\n\
         missing = \"{missing}\"\n[columns.f]\nrole = \"quasi-identifier\"\nweight = {}\n[columns.s]\n\
         role = \"sensitive\"\n",
        weights[0], weights[1], weights[2]
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn equals_its_naive_reference(
        rows in rows(),
        k in 2u64..12,
        weights in prop::array::uniform3(1u32..4),
        number in 0usize..3,
        suppress: bool,
        seed: u64,
    ) {
        let number = ["", "hierarchy = { widths = [5, 10, 20] }", "hierarchy = { bins = [0, 7, 8, 30, 60] }"][number];
        let missing = if suppress { "suppress" } else { "category" };
        let rows: Vec<(&str, u64)> = rows.iter().map(|(row, records)| (row.as_str(), *records)).collect();
        let table = TestTable::new(&policy(k, weights, number, missing), &[("t", TREE)], &rows);
        if table.profile.records() < k {
            return Ok(());
        }
        let outcome = run(&table, None, seed);
        let (expected, distances) = reference::clusters(&table.profile, k as usize, seed);
        prop_assert!(clusters(&table, &outcome) == expected);
        let counted = outcome.work.iter().find(|(name, _)| *name == "distances_of_a_full_search").unwrap().1;
        prop_assert_eq!(counted, distances);
    }
}

/// A tree as deep as it has leaves, over the numbers from 0 on.
fn chain(leaves: u32) -> Tree {
    let mut builder = TreeBuilder::default();
    let mut above = TreeBuilder::ROOT;
    for leaf in 0..leaves - 1 {
        builder.add(leaf.to_string(), above);
        above = builder.add(format!("n{leaf}"), above);
    }
    builder.add((leaves - 1).to_string(), above);
    builder.build()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    /// The columns have too many values for tables of all ranges.
    #[test]
    fn equals_its_naive_reference_on_columns_with_many_values(factor in 1u32..900, k in 2u64..7, seed: u64) {
        let policy = format!(
            "privacy.k = {k}\n[columns.n]\nrole = \"quasi-identifier\"\n[columns.t]\nrole = \"quasi-identifier\"\n\
             type = \"number\"\nhierarchy = \"t.csv\"\n[columns.f]\nrole = \"quasi-identifier\"\n"
        );
        let rows: Vec<String> = (0..900).map(|n| format!("{},{},f{}", n * factor % 907, n * n % 887, n % 3)).collect();
        let rows: Vec<(&str, u64)> = rows.iter().map(|row| (row.as_str(), 1)).collect();
        let table = TestTable::with_trees(&policy, Hierarchies::from_iter([("t".to_owned(), chain(900))]), &rows);
        let outcome = run(&table, None, seed);
        prop_assert!(clusters(&table, &outcome) == reference::clusters(&table.profile, k as usize, seed).0);
    }
}
