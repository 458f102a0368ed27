//! Lower limits on shares.

use super::run;
use crate::{
    ids::ColumnId,
    recoding::Recoding,
    search::top_down_disclosure::{Criterion, TopDownParams},
    testing::{NearShares, TestTable},
};

/// The disclosed places if the share of `ill` must be near that of the whole table.
fn disclosed(rows: &[(&str, u64)], factor: u64) -> Vec<String> {
    let policy = "columns.place.role = \"quasi-identifier\"\ncolumns.state.role = \"sensitive\"\nprivacy.k = 2\n";
    let mut table = TestTable::new(policy, &[], rows);
    // Values are numbered in order, so `ill` is the first.
    let near = NearShares::new(&table.profile, vec![ColumnId::from_index(0)], "state", 1, factor);
    table.models = vec![Box::new(near)];
    let params = TopDownParams { measure: Some(Criterion::Lm), ..TopDownParams::default() };
    let Recoding::Global(cut) = run(&table, params).expect("possible").recoding else { panic!("a cut") };
    let domain = &table.profile.columns()[0].domain;
    let codes = (0u32..).zip(&cut.cells[0]).filter(|(_, cell)| !domain.is_star(**cell));
    codes.map(|(code, _)| domain.text(code).to_owned()).collect()
}

#[test]
fn a_value_must_not_be_rare_in_a_group() {
    // The share of `ill` is 1/4 in the table, 1/3 in a, 1/6 in b and 1/4 in c.
    let rows = [("a,ill", 2), ("a,well", 4), ("b,ill", 1), ("b,well", 5), ("c,ill", 2), ("c,well", 6)];
    assert_eq!(disclosed(&rows, 3), ["a", "b", "c"]);
    // It is 1/4 in the table and 1/8 in a, which equals the lower limit for factor 2.
    let rows = [("a,ill", 1), ("a,well", 7), ("b,ill", 3), ("b,well", 5)];
    assert_eq!(disclosed(&rows, 3), ["a", "b"]);
    assert!(disclosed(&rows, 2).is_empty());
}

#[test]
fn a_group_without_the_guarded_value_is_not_made() {
    // No record of b is ill. Once a is disclosed, b and c must stay together.
    let rows = [("a,ill", 2), ("a,well", 4), ("b,well", 3), ("c,ill", 2), ("c,well", 4)];
    assert_eq!(disclosed(&rows, 1000), ["a"]);
}
