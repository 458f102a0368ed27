use proptest::prelude::*;

use super::{BOTH, BOTTOM_UP, TOP_DOWN, run, tuples};
use crate::{
    hierarchy::{Hierarchies, Tree, TreeBuilder},
    search::{
        Method, NoObserver, Task,
        local_top_down::{self, LocalTopDown},
    },
    testing::TestTable,
    verify::verify_against,
};

const TREE: &str = "a;a;x;*\nb;g;x;*\nc;g;x;*\nd;d;d;*\ne;h;y;*\nf;h;y;*\nu;h;y;*\nw;i;y;*\nj;i;y;*";

/// Numbers, a tree with leaves at all depths and more that do not occur, a flat column; some values are missing.
pub(super) fn rows() -> impl Strategy<Value = Vec<(String, u64)>> {
    let row = (0..60u32, 0..8usize, 0..5u32, 0..3u32, 1..4u64).prop_map(|(number, leaf, flat, s, records)| {
        let number = if number > 55 { "?".to_owned() } else { (number * number % 50).to_string() };
        (format!("{number},{},f{flat},s{s}", ["a", "b", "c", "d", "e", "f", "?", "w"][leaf]), records)
    });
    prop::collection::vec(row, 1..120)
}

pub(super) fn table(rows: &[(String, u64)], k: u64, weights: [u32; 3], number: usize, suppress: bool) -> TestTable {
    table_with(&format!("privacy.k = {k}\n"), rows, weights, number, suppress)
}

/// The same under other models; `privacy` is how the policy begins.
fn table_with(privacy: &str, rows: &[(String, u64)], weights: [u32; 3], number: usize, suppress: bool) -> TestTable {
    let number = ["", "hierarchy = { widths = [5, 10, 20] }", "hierarchy = { bins = [0, 7, 8, 30, 60] }"][number];
    let missing = if suppress { "suppress" } else { "category" };
    let policy = format!(
        "{privacy}[columns.n]\nrole = \"quasi-identifier\"\nweight = {}\n{number}\nmissing = \"{missing}\"\n\
         type = \"number\"\n[columns.t]\nrole = \"quasi-identifier\"\nhierarchy = \"t.csv\"\nweight = {}\n\
         missing = \"{missing}\"\n[columns.f]\nrole = \"quasi-identifier\"\nweight = {}\n[columns.s]\n\
         role = \"sensitive\"\n",
        weights[0], weights[1], weights[2]
    );
    let rows: Vec<(&str, u64)> = rows.iter().map(|(row, records)| (row.as_str(), *records)).collect();
    TestTable::new(&policy, &[("t", TREE)], &rows)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn bottom_up_groups_have_k_to_2k_records_after_few_rounds(
        rows in rows(),
        k in 2u64..12,
        weights in prop::array::uniform3(1u32..4),
        number in 0usize..3,
        suppress: bool,
        seed: u64,
    ) {
        let table = table(&rows, k, weights, number, suppress);
        if table.profile.records() < k {
            return Ok(());
        }
        let outcome = run(&BOTTOM_UP, &table, seed);
        let rounds = outcome.work.iter().find(|(name, _)| *name == "rounds").unwrap().1;
        prop_assert!(rounds <= u64::from(k.next_power_of_two().ilog2()), "{rounds} rounds");
        let groups = tuples(&table, &outcome);
        prop_assert_eq!(groups.iter().map(Vec::len).sum::<usize>() as u64, table.profile.records());
        for group in groups {
            let (size, one_tuple) = (group.len() as u64, group.first() == group.last());
            prop_assert!(size >= k && (size < 2 * k || one_tuple), "{size} records");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn blocks_of_any_size_hold_on_any_number_of_threads(
        rows in rows(),
        k in 2u64..12,
        block in 1u64..100,
        diverse: bool,
        seed: u64,
    ) {
        let more = if diverse { "[[privacy.l-diversity]]\ncolumn = \"s\"\nl = 2\n" } else { "" };
        let table = table_with(&format!("privacy.k = {k}\n{more}"), &rows, [1, 2, 3], 0, true);
        let method = |block: u64| LocalTopDown(local_top_down::LocalTopDownParams { block: Some(block), ..local_top_down::LocalTopDownParams::default() });
        let task = Task { profile: &table.profile, models: &table.models, max_suppressed: 0, seed };
        let Ok(outcome) = method(block).run(&task, &NoObserver) else { return Ok(()) };
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let alone = alone.install(|| run(&method(block), &table, seed));
        prop_assert_eq!(tuples(&table, &outcome), tuples(&table, &alone));
        prop_assert!(verify_against(&table.profile, outcome.recoding, &table.models, &table.policy, 0).is_ok());
        let whole = run(&method(table.profile.records()), &table, seed);
        prop_assert_eq!(tuples(&table, &whole), tuples(&table, &run(&TOP_DOWN, &table, seed)));
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

#[test]
fn a_chain_needs_no_stack() {
    let policy = "privacy.k = 2\n[columns.t]\nrole = \"quasi-identifier\"\ntype = \"number\"\nhierarchy = \"t.csv\"\n";
    let rows: Vec<String> = (0..4000).map(|n| n.to_string()).collect();
    let rows: Vec<(&str, u64)> = rows.iter().map(|row| (row.as_str(), 1)).collect();
    let table = TestTable::with_trees(policy, Hierarchies::from_iter([("t".to_owned(), chain(4000))]), &rows);
    for method in BOTH {
        let recoding = run(method, &table, 1).recoding;
        assert!(verify_against(&table.profile, recoding, &table.models, &table.policy, 0).is_ok());
    }
}
