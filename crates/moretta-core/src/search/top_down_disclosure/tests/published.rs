//! The exact sequence of the reference on the data of the paper, if it is available.

use rayon::prelude::*;

use super::{reference::Reference, run};
use crate::{
    search::{
        Task,
        top_down_disclosure::{Criterion, TopDownParams},
    },
    testing::{TestTable, data, select},
};

/// All columns but the sensitive ones are known; the rarer half of the sensitive values is guarded.
fn table(text: &str, columns: &[&str], sensitive: &[&str], class: &str, max_confidence: f64) -> TestTable {
    let known: Vec<&str> = columns.iter().copied().filter(|column| !sensitive.contains(column)).collect();
    let given: Vec<String> = known.iter().map(|name| format!("\"{name}\"")).collect();
    let mut policy = String::new();
    for column in sensitive {
        policy += &format!(
            "[[privacy.template]]\ngiven = [{}]\ncolumn = \"{column}\"\nrarest = 0.5\nmax-confidence = {max_confidence}\n",
            given.join(", ")
        );
    }
    for name in &known {
        policy += &format!("[columns.{name}]\nrole = \"quasi-identifier\"\n");
    }
    for name in sensitive {
        policy += &format!("[columns.{name}]\nrole = \"sensitive\"\n");
    }
    policy += &format!("[columns.{class}]\nrole = \"class\"\n");
    let order: Vec<&str> = known.iter().chain(sensitive).copied().chain([class]).collect();
    let rows: Vec<String> = select(text, &order).into_iter().filter(|row| !row.contains('?')).collect();
    let rows: Vec<(&str, u64)> = rows.iter().map(|row| (row.as_str(), 1)).collect();
    TestTable::new(&policy, &[], &rows)
}

/// Compares the sequences for every number of sensitive columns and every threshold.
fn same_sequences(text: &str, columns: &[&str], ranking: &[&str], class: &str) {
    let all = (1..=ranking.len()).flat_map(|top| (1..10).map(move |tenths| (top, tenths)));
    let disclosed: Vec<usize> = all
        .collect::<Vec<_>>()
        .into_par_iter()
        .map(|(top, tenths)| {
            let table = table(text, columns, &ranking[..top], class, f64::from(tenths) / 10.0);
            let task = Task { profile: &table.profile, models: &table.models, max_suppressed: 0, seed: 0 };
            let mut reference = Reference::new(&task, Criterion::Class, 8);
            let Ok(outcome) = run(&table, TopDownParams::default()) else {
                assert!(!reference.allows(None), "Top{top}, h = 0.{tenths}");
                return 0;
            };
            let expected: Vec<_> = reference.run().iter().map(|step| (step.column, step.disclosed)).collect();
            let changes = outcome.path[1..].iter().flat_map(|step| &step.changes);
            let found: Vec<_> = changes.map(|(column, cell)| (column.index(), *cell)).collect();
            assert_eq!(found, expected, "Top{top}, h = 0.{tenths}");
            found.len()
        })
        .collect();
    assert!(disclosed.iter().any(|&disclosed| disclosed > 10), "{disclosed:?}");
}

const ADULT: [&str; 8] =
    ["occupation", "education", "native-country", "marital-status", "sex", "race", "workclass", "relationship"];

#[test]
fn on_adult() {
    let Some(text) = data("adult/adult_train.csv", "on_adult") else { return };
    same_sequences(&text, &ADULT, &["marital-status", "relationship", "education", "sex"], "income");
}

#[test]
fn on_crx() {
    let Some(text) = data("crx/crx.csv", "on_crx") else { return };
    // A record with a missing value anywhere is left out.
    let complete = |(at, line): &(usize, &str)| *at == 0 || !line.contains('?');
    let text: String = text.lines().enumerate().filter(complete).map(|(_, line)| format!("{line}\n")).collect();
    let columns = ["A1", "A4", "A5", "A6", "A7", "A9", "A10", "A12", "A13"];
    same_sequences(&text, &columns, &["A9", "A10", "A7", "A6"], "A16");
}

#[test]
fn on_german() {
    let Some(text) = data("german/german.csv", "on_german") else { return };
    let columns = [
        "status-account",
        "credit-history",
        "purpose",
        "bonds",
        "employment",
        "personal-status-and-sex",
        "other-debtors",
        "property",
        "installment-plans",
        "housing",
        "job",
        "telephone",
        "foreign",
    ];
    let ranking = ["status-account", "credit-history", "bonds", "installment-plans", "purpose", "other-debtors"];
    same_sequences(&text, &columns, &ranking, "risk");
}
