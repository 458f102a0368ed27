//! Tests of the fuzzer: it repeats cases, and it notices what it is there to notice.

use std::{fs, path::Path};

use crate::{
    case::{Case, Outcome, record_panics, usual},
    csv::{parse, parse_any, print},
    job::listing,
    judge::Persons,
    kinds::{KINDS, Kind, Source},
    mutate::{Format, mutate},
    rng::Rng,
    stock::Stock,
};

/// Names and contents of the files of a folder.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let read = |name: &std::path::PathBuf| (name.display().to_string(), fs::read(folder.join(name)).expect("a file"));
    listing(folder).iter().map(read).collect()
}

fn outcome(kind: &Kind, seed: u64, folder: &Path) -> Outcome {
    Case { kind, seed, folder, program: None }.run(&mut usual)
}

#[test]
fn kind_and_seed_determine_a_case() {
    for kind in KINDS {
        let mut different = 0;
        for seed in 0..4 {
            let folders = [(); 3].map(|()| tempfile::tempdir().expect("folder"));
            let [first, again, other] = folders.each_ref().map(tempfile::TempDir::path);
            let result = outcome(kind, seed, first);
            assert_eq!(result, outcome(kind, seed, again), "{}:{seed}", kind.name);
            // Reports have times.
            let stable = |folder| {
                let mut all = contents(folder);
                all.retain(|(name, _)| !name.starts_with("report."));
                all
            };
            assert_eq!(stable(first), stable(again), "{}:{seed}", kind.name);
            outcome(kind, seed + 1000, other);
            different += usize::from(stable(first) != stable(other));
        }
        assert!(different >= 3, "{}: {different} of 4 seeds differ", kind.name);
    }
}

fn panics(_: &mut Rng, _: &Path) -> Result<(), String> {
    Err("nothing here".parse::<u64>().expect("a number").to_string())
}

fn leaves_a_file(_: &mut Rng, folder: &Path) -> Result<(), String> {
    fs::write(folder.join("left"), "").map_err(|error| error.to_string())?;
    Err("broken rule".to_owned())
}

#[test]
fn panics_and_broken_rules_are_outcomes() {
    record_panics();
    let folder = tempfile::tempdir().expect("folder");
    let of = |run| outcome(&Kind { name: "own", share: 1, source: Source::Generated(run) }, 1, folder.path());
    let panic = of(panics);
    assert!(
        matches!(&panic, Outcome::Panic(text) if text.contains("tests.rs") && text.contains("a number")),
        "{panic:?}"
    );
    assert_eq!(of(leaves_a_file), Outcome::Violation("broken rule".to_owned()));
}

#[test]
fn a_message_with_two_cells_is_noticed() {
    let folder = tempfile::tempdir().expect("folder");
    let table = parse("name,born,code\nNqx001,1980-05-06,77123\nNqx002,1999-01-02,88123\n", ',');
    fs::write(folder.path().join("table.csv"), print(&table, ',')).expect("a file");
    let persons = Persons::new(&table, folder.path(), &["table.csv"]);
    assert_eq!(persons.check("`Nqx001` is not a number in column born"), Ok(()));
    assert!(persons.check("the header is Nqx001, 1980-05-06, 77123").is_err());
    assert!(persons.check("Nqx001 and Nqx002").is_err());
    // One cell after all: a quote was opened and never closed.
    fs::write(folder.path().join("table.csv"), "name,born,code\n\"Nqx001,1980-05-06,77123\n").expect("a file");
    let persons = Persons::new(&table, folder.path(), &["table.csv"]);
    assert_eq!(persons.check("`Nqx001,1980-05-06` is too long"), Ok(()));
}

#[test]
fn csv_is_read_as_other_readers_do() {
    let table = vec![vec!["a".to_owned(), "b\"\r,\n".to_owned()], vec![String::new(), "x".to_owned()]];
    assert_eq!(parse(&print(&table, ','), ','), table);
    assert_eq!(parse("a,b\n1,x\ry\n", ',').len(), 3, "a lone CR ends a record");
    let names = ["a".to_owned()];
    assert_eq!(parse_any("a;b\n1;2\n", &names).map(|table| table.len()), Some(2));
    assert_eq!(parse_any("a;b\n1;x\ry\n", &names), None, "ragged");
    assert_eq!(parse_any("", &names), None);
}

#[test]
fn mutations_change_most_files() {
    let mut rng = Rng::new("mutations", 1);
    let stock = Stock::persons(&mut rng);
    let csv = print(&stock.table, ',').into_bytes();
    let json = br#"{"a": [1, {"b": "c"}], "d": null}"#.to_vec();
    let policy = stock.policy.into_bytes();
    let files = [(Format::Toml, policy), (Format::Csv, csv), (Format::Json, json), (Format::Binary, vec![7; 300])];
    for (format, file) in files {
        let changed = (0..500).filter(|_| {
            let mut data = file.clone();
            mutate(&mut rng, format, &mut data, &file);
            data != file
        });
        let changed = changed.count();
        assert!(changed > 400, "{format:?}: {changed} of 500");
    }
}
