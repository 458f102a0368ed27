//! Guesses on public data, if it is available: in `MORETTA_DATA`, or next to the workspace. The snapshots have names of
//! columns, roles, types, reasons and counts, and no values.

use std::{fmt::Write, path::PathBuf};

use super::*;

/// Reads a plain CSV file of the data folder; `None` if there is no such folder.
fn read(path: &str, delimiter: char) -> Option<(Vec<String>, Vec<Vec<String>>)> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("MORETTA_DATA").map_or_else(beside, PathBuf::from);
    let Ok(text) = std::fs::read_to_string(folder.join(path)) else {
        println!("SKIPPED: no {path} in {}; set MORETTA_DATA to the folder that holds it", folder.display());
        return None;
    };
    let mut lines =
        text.lines().map(|line| line.split(delimiter).map(|cell| cell.trim_matches('"').to_owned()).collect());
    Some((lines.next()?, lines.collect()))
}

/// Roles, types and reasons of all columns, and the rules.
fn described(guesses: &Guesses) -> String {
    let mut out = String::new();
    for guess in &guesses.columns {
        let released = guess.role.is_released() && guess.role != Role::Insensitive;
        let kind = if released { format!(" ({})", guess.kind.name()) } else { String::new() };
        _ = writeln!(out, "{}: {}{kind}\n    {}", guess.name, guess.role.name(), guess.why);
        for note in &guess.notes {
            _ = writeln!(out, "    - {note}");
        }
        if let Some(guard) = guess.guard {
            _ = writeln!(out, "    rule: {guard:?}");
        }
    }
    out
}

fn check(name: &str, path: &str, delimiter: char) {
    let Some((columns, rows)) = read(path, delimiter) else { return };
    let facts: Vec<ColumnFacts> =
        facts(&columns, &rows).into_iter().map(|column| ColumnFacts { complete: true, ..column }).collect();
    let sets = ColumnSets::of_rows(columns.len(), &rows);
    let guesses = guess(&facts, &sets);
    parsed(&guesses);
    assert_kept_columns_single_out_few(&guesses, &columns, &sets);
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(name, described(&guesses));
    });
}

#[test]
fn adult() {
    check("adult", "adult/adult_train.csv", ',');
    check("adult-with-missing", "adult/adult_train_with_missing.csv", ',');
}

#[test]
fn german() {
    check("german", "german/german.csv", ',');
}

#[test]
fn crx() {
    check("crx", "crx/crx.csv", ',');
}

#[test]
fn cmc() {
    check("cmc", "more/cmc/cmc.csv", ';');
}

#[test]
fn mach2019() {
    check("mach2019", "more/mach2019/mach2019_int.csv", ';');
}

#[test]
fn free1() {
    check("free1", "more/free1/free1.csv", ',');
}

#[test]
fn synthea_patients() {
    check("synthea-patients", "more/synthea/patients.csv", ';');
}

#[test]
fn synthea_conditions() {
    check("synthea-conditions", "more/synthea/conditions.csv", ',');
}
