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

fn tables() -> impl Strategy<Value = Vec<ColumnFacts>> {
    let column = (name(), prop::collection::vec((value(), 0u64..400), 0..40), any::<bool>());
    let column = column.prop_map(|(name, values, complete)| {
        let values: BTreeSet<(String, u64)> = values.into_iter().collect();
        let records = values.iter().map(|(_, count)| count).sum();
        ColumnFacts { name, values: values.into_iter().collect(), records, complete }
    });
    prop::collection::vec(column, 1..6)
}

proptest! {
    #[test]
    fn the_text_is_a_policy_without_a_value_of_the_data(facts in tables(), source in any::<String>()) {
        let guesses = guess(&facts);
        parsed(&guesses);
        let text = policy_text(&guesses, "table.csv");
        let names: String = facts.iter().map(|column| column.name.as_str()).collect();
        for (value, _) in facts.iter().flat_map(|column| &column.values) {
            let harmless = value.chars().count() <= 3 || patterns::is_missing_marker(value) || names.contains(value.as_str());
            prop_assert!(harmless || !text.contains(value.as_str()), "{} in\n{}", value, text);
        }
        let named = policy_text(&guesses, &source);
        prop_assert!(Policy::parse(&named, &["sweep"]).is_ok(), "{}", named);
    }

    #[test]
    fn counts_that_overflow_and_do_not_add_up_are_no_trouble(counts in prop::collection::vec(any::<u64>(), 0..5), records: u64) {
        let values = counts.into_iter().enumerate().map(|(index, count)| (format!("v{index}"), count)).collect();
        parsed(&guess(&[ColumnFacts { name: "x".into(), values, records, complete: true }]));
    }

    #[test]
    fn rows_may_be_ragged(rows in prop::collection::vec(prop::collection::vec("[ab]{0,2}", 0..4), 0..9)) {
        let columns = ["a", "b"].map(String::from);
        let facts = facts(&columns, &rows);
        for column in &facts {
            prop_assert_eq!(column.values.iter().map(|(_, count)| count).sum::<u64>(), rows.len() as u64);
        }
        parsed(&guess(&facts));
    }
}
