//! For any table: the text is a valid policy, every guess is marked, and it contains no value of the data.

use super::*;
use proptest::prelude::*;

/// Names with and without a topic.
fn name() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "name",
        "id",
        "e-mail",
        "age",
        "zip",
        "birthDate",
        "year",
        "weight",
        "sex",
        "income",
        "target",
        "diagnosis",
        "fnlwgt",
    ]);
    prop_oneof![known.prop_map(str::to_owned), any::<String>(), "[a-z .\"\\\\#\n=\\[\\]]{0,8}"]
}

/// Texts with a character that no policy has, numbers that equal no count or width, and markers of missing values.
fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-zA-Z0-9 .@\"\\\\#\n-]{0,6}§[a-z0-9 .@-]{0,9}",
        4 => (1_000_000u32..9_999_999).prop_map(|number| format!("{}.{}7", number / 1000, number % 1000)),
        2 => (1u32..99).prop_map(|number| format!("{number:02}")),
        1 => "[0-9]{4}-[01][0-9]-[0-3][0-9]",
        1 => prop::sample::select(vec!["", "?", "NA", "n/a", "-", "NULL", "unknown", "*", "nan", "inf"]).prop_map(str::to_owned),
    ]
}

/// Column names, rows, and whether the sample has all records.
fn tables() -> impl Strategy<Value = (Vec<String>, Vec<Vec<String>>, bool)> {
    let column = (name(), prop::collection::vec(value(), 1..40));
    let columns = prop::collection::vec(column, 1..6);
    (columns, prop::collection::vec(any::<[u8; 5]>(), 0..400), any::<bool>()).prop_map(|(columns, dice, complete)| {
        let cell = |at: usize, dice: &[u8; 5]| columns[at].1[usize::from(dice[at]) % columns[at].1.len()].clone();
        let rows = dice.iter().map(|dice| (0..columns.len()).map(|at| cell(at, dice)).collect()).collect();
        (columns.into_iter().map(|(name, _)| name).collect(), rows, complete)
    })
}

proptest! {
    #[test]
    fn the_text_is_a_policy_without_a_value_of_the_data((columns, rows, complete) in tables(), source in any::<String>()) {
        let facts: Vec<ColumnFacts> =
            facts(&columns, &rows).into_iter().map(|column| ColumnFacts { complete, ..column }).collect();
        let sets = ColumnSets::of_rows(columns.len(), &rows);
        let guesses = guess(&facts, &sets);
        assert_kept_columns_single_out_few(&guesses, &columns, &sets);
        parsed(&guesses);
        let text = policy_text(&guesses, "table.csv");
        let names: String = facts.iter().map(|column| column.name.as_str()).collect();
        for (value, _) in facts.iter().flat_map(|column| &column.values) {
            let harmless = value.chars().count() <= 3 || patterns::is_missing_marker(value) || names.contains(value.as_str());
            prop_assert!(harmless || !text.contains(value.as_str()), "{} in\n{}", value, text);
        }
        let named = policy_text(&guesses, &source);
        prop_assert!(Policy::parse(&named, &["best"]).is_ok(), "{}", named);
    }

    #[test]
    fn counts_that_overflow_and_do_not_add_up_are_no_trouble(counts in prop::collection::vec(any::<u64>(), 0..5), records: u64) {
        let values = counts.into_iter().enumerate().map(|(index, count)| (format!("v{index}"), count)).collect();
        let facts = ColumnFacts { name: "x".into(), values, records, complete: true, ..ColumnFacts::default() };
        parsed(&guess(&[facts], &ColumnSets::of_rows(1, &[])));
    }

    #[test]
    fn rows_may_be_ragged(rows in prop::collection::vec(prop::collection::vec("[ab]{0,2}", 0..4), 0..9)) {
        let columns = ["a", "b"].map(String::from);
        let facts = facts(&columns, &rows);
        for column in &facts {
            prop_assert_eq!(column.values.iter().map(|(_, count)| count).sum::<u64>(), rows.len() as u64);
        }
        parsed(&guess(&facts, &ColumnSets::of_rows(2, &rows)));
    }
}
