//! Numbers without a hierarchy, with and without missing values.

use super::run;
use crate::{
    search::{Outcome, top_down_disclosure::TopDownParams},
    testing::TestTable,
};

/// `people` are pairs of an age and a class.
fn table(k: u64, people: impl Iterator<Item = (String, String)>) -> TestTable {
    let policy = format!(
        "privacy.k = {k}\n[columns.age]\nrole = \"quasi-identifier\"\ntype = \"number\"\nmissing = \"suppress\"\n\
         [columns.class]\nrole = \"class\""
    );
    let rows: Vec<String> = people.map(|(age, class)| format!("{age},{class}")).collect();
    let rows: Vec<(&str, u64)> = rows.iter().map(|row| (row.as_str(), 1)).collect();
    TestTable::new(&policy, &[], &rows)
}

/// Labels of the released cells, in order of the numbers.
fn disclosed(table: &TestTable, outcome: &Outcome) -> Vec<String> {
    let crate::recoding::Recoding::Global(cut) = &outcome.recoding else { panic!("a global recoding") };
    let mut labels: Vec<String> =
        cut.cells[0].iter().map(|cell| table.profile.columns()[0].domain.label(*cell)).collect();
    labels.dedup();
    labels
}

fn class(age: usize) -> String {
    if age % 100 < 40 { "young" } else { ["old", "young"][age % 7 / 6] }.to_owned()
}

#[test]
fn a_few_missing_numbers_do_not_keep_all_others_suppressed() {
    let people = (0..1000).map(|n| ((n % 100).to_string(), class(n)));
    let table = table(5, people.chain([("?".to_owned(), class(50)), ("?".to_owned(), class(1))]));
    let outcome = run(&table, TopDownParams::default()).expect("it can be met");
    let disclosed = disclosed(&table, &outcome);
    // Two records are fewer than k, so some numbers remain `*` with them.
    assert_eq!(disclosed.last().map(String::as_str), Some("*"));
    assert!(disclosed.len() > 10, "{disclosed:?}");
}

#[test]
fn enough_missing_numbers_are_separated_first() {
    let people = (0..1000).map(|n| ((n % 100).to_string(), class(n)));
    let table = table(5, people.chain((0..20).map(|n| ("?".to_owned(), class(n * 10)))));
    let outcome = run(&table, TopDownParams::default()).expect("it can be met");
    let first: Vec<String> =
        outcome.path[1].changes.iter().map(|(column, cell)| table.profile.domain(*column).label(*cell)).collect();
    assert_eq!(first, ["[0, 99]", "*"]);
    // Every age from 40 on. Below 40 all are young, so a single age carries no further information.
    assert_eq!(disclosed(&table, &outcome).len(), 62);
}

#[test]
fn a_point_with_too_few_records_on_one_side_does_not_count_as_a_try() {
    // The best points are all close to 3, where fewer than k are younger.
    let people = (0..100).map(|age| (age.to_string(), if age < 4 { "a" } else { ["a", "b"][age % 2] }.to_owned()));
    let table = table(20, people);
    let outcome = run(&table, TopDownParams::default()).expect("it can be met");
    assert!(disclosed(&table, &outcome).len() > 1);
}
