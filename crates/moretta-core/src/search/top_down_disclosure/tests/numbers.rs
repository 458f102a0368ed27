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

/// Labels of the released cells in the order of the numbers, each label once.
fn disclosed(table: &TestTable, outcome: &Outcome) -> Vec<String> {
    let crate::recoding::Recoding::Global(cut) = &outcome.recoding else {
        panic!("the method returned a local recoding")
    };
    let mut labels: Vec<String> =
        cut.cells[0].iter().map(|cell| table.profile.columns()[0].domain.label(*cell)).collect();
    labels.dedup();
    labels
}

/// Class of the `n`-th person, whose age is `n % 100`: young below 40; above, old except for every seventh person.
fn class(n: usize) -> String {
    if n % 100 < 40 { "young" } else { ["old", "young"][n % 7 / 6] }.to_owned()
}

#[test]
fn a_few_missing_numbers_do_not_keep_all_others_suppressed() {
    let people = (0..1000).map(|n| ((n % 100).to_string(), class(n)));
    let table = table(5, people.chain([("?".to_owned(), class(50)), ("?".to_owned(), class(1))]));
    let outcome = run(&table, TopDownParams::default()).expect("a valid recoding");
    let disclosed = disclosed(&table, &outcome);
    // Two missing numbers are fewer than k, so some other numbers must be released as `*` too.
    assert_eq!(disclosed.last().map(String::as_str), Some("*"));
    assert!(disclosed.len() > 10, "{disclosed:?}");
}

#[test]
fn at_least_k_missing_numbers_are_separated_first() {
    let people = (0..1000).map(|n| ((n % 100).to_string(), class(n)));
    let table = table(5, people.chain((0..20).map(|n| ("?".to_owned(), class(n * 10)))));
    let outcome = run(&table, TopDownParams::default()).expect("a valid recoding");
    let first: Vec<String> =
        outcome.path[1].changes.iter().map(|(column, cell)| table.profile.domain(*column).label(*cell)).collect();
    assert_eq!(first, ["[0, 99]", "*"]);
    // [0, 39], the 60 ages from 40 on, and `*`. Below 40 all are young, so a split would carry no further information.
    assert_eq!(disclosed(&table, &outcome).len(), 62);
}

#[test]
fn tries_are_not_spent_on_splits_with_fewer_than_k_records_on_one_side() {
    // The 8 splits with the highest gain (`tries` is 8) are after ages from 1 to 10: fewer than k records are younger.
    let people = (0..100).map(|age| (age.to_string(), if age < 4 { "a" } else { ["a", "b"][age % 2] }.to_owned()));
    let table = table(20, people);
    let outcome = run(&table, TopDownParams::default()).expect("a valid recoding");
    assert!(disclosed(&table, &outcome).len() > 1);
}
