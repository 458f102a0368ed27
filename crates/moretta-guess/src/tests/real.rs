//! Guesses on public data, if it is available: in `MORETTA_DATA`, or next to the workspace.

use std::path::PathBuf;

use super::*;

/// Reads a plain CSV file of the data folder; `None` if there is no such folder.
fn read(path: &str) -> Option<Vec<ColumnFacts>> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("MORETTA_DATA").map_or_else(beside, PathBuf::from);
    let Ok(text) = std::fs::read_to_string(folder.join(path)) else {
        println!("SKIPPED: no {path} in {}; set MORETTA_DATA to the folder that holds it", folder.display());
        return None;
    };
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    let columns = lines.next()?;
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    Some(table(&columns, lines))
}

#[test]
fn adult() {
    for (file, records) in [("adult/adult_train.csv", 30_162), ("adult/adult_train_with_missing.csv", 32_561)] {
        let Some(facts) = read(file) else { return };
        let guesses = guess(&facts);
        assert_eq!(guesses.records, records);
        assert_adult(&guesses);
        parsed(&guesses);
        assert!(guesses.markers.is_empty(), "`?` is one by default");
        println!("{}", policy_text(&guesses, file));
    }
}

#[test]
fn german() {
    let Some(facts) = read("german/german.csv") else { return };
    let guesses = guess(&facts);
    parsed(&guesses);
    assert_eq!(roles(&guesses, Role::Class), ["risk"]);
    assert_eq!(roles(&guesses, Role::Identifier), Vec::<&str>::new());
    let quasi = roles(&guesses, Role::QuasiIdentifier);
    for name in ["employment", "personal-status-and-sex", "age", "housing", "job", "telephone", "foreign"] {
        assert!(quasi.contains(&name), "{name}");
    }
    println!("{}", policy_text(&guesses, "german.csv"));
}

#[test]
fn crx() {
    let Some(facts) = read("crx/crx.csv") else { return };
    let guesses = guess(&facts);
    parsed(&guesses);
    assert_eq!(roles(&guesses, Role::Class), ["A16"]);
    assert_eq!(roles(&guesses, Role::Identifier), Vec::<&str>::new());
    assert!(guesses.columns[0].missing > 0);
    println!("{}", policy_text(&guesses, "crx.csv"));
}
