//! Reference implementations of both passes, and helpers to run the engine on files.
#![allow(dead_code)]

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use moretta_core::{
    counts::{Change, Counts, KeyColumn, RecordOrder, Rewrite, Share},
    engine::{ReadBackProof, Staged},
    observer::NoObserver,
    seed::Seed,
};
use moretta_engine::{CsvOptions, EngineOptions, LocalEngine, Source, Target};

/// Rows of texts; the first is the header.
pub type TextTable = Vec<Vec<String>>;

/// Parses CSV character by character.
pub fn parse(text: &str, delimiter: char) -> TextTable {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (mut rows, mut row, mut cell) = (Vec::new(), Vec::new(), String::new());
    let mut characters = text.chars().peekable();
    let (mut quoted, mut any) = (false, false);
    while let Some(character) = characters.next() {
        any = true;
        match character {
            '"' if quoted && characters.peek() == Some(&'"') => {
                characters.next();
                cell.push('"');
            }
            '"' => quoted = !quoted,
            '\r' if !quoted && characters.peek() == Some(&'\n') => {}
            '\n' if !quoted => {
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
                any = false;
            }
            other if other == delimiter && !quoted => row.push(std::mem::take(&mut cell)),
            other => cell.push(other),
        }
    }
    if any {
        row.push(cell);
        rows.push(row);
    }
    rows
}

/// Parses CSV as the least careful of other readers do: a record also ends at a CR outside quotes, and lines that are
/// blank or begin with `#`, after blanks, are skipped.
pub fn parse_as_others(text: &str, delimiter: char) -> TextTable {
    let (mut quoted, mut start, mut records) = (false, 0, Vec::new());
    for (at, byte) in text.bytes().enumerate() {
        quoted ^= byte == b'"';
        if !quoted && matches!(byte, b'\n' | b'\r') {
            records.push(&text[start..at]);
            start = at + 1;
        }
    }
    records.push(&text[start..]);
    let is_blank = |character: char| character.is_whitespace() && character != delimiter;
    let skipped = |record: &str| matches!(record.trim_start_matches(is_blank).chars().next(), None | Some('#'));
    records.retain(|record| !skipped(record));
    records.iter().flat_map(|record| parse(&format!("{record}\n"), delimiter)).collect()
}

/// Count and first record (from 1) of each distinct row.
pub type Groups = BTreeMap<Vec<String>, (u64, u64)>;

/// Reference implementation of the first pass.
pub fn group(table: &TextTable, columns: &[usize]) -> Groups {
    let mut groups = Groups::new();
    for (at, row) in table[1..].iter().enumerate() {
        let key = columns.iter().map(|&column| row[column].clone()).collect();
        groups.entry(key).or_insert((0, at as u64 + 1)).0 += 1;
    }
    groups
}

/// Converts counts to [`Groups`] and checks their invariants.
pub fn groups(counts: &Counts) -> Groups {
    let mut groups = Groups::new();
    for row in 0..counts.rows() {
        let codes = counts.row(row);
        let key = codes.iter().zip(&counts.columns).map(|(&code, column)| column.values[code as usize].to_string());
        let old = groups.insert(key.collect(), (counts.counts[row], counts.first_record(row).expect("numbered")));
        assert_eq!(old, None, "a row occurs twice");
    }
    for (at, column) in counts.columns.iter().enumerate() {
        assert_eq!(column.values.len(), column.first_records.as_ref().expect("numbered").len());
        for (code, (value, &first)) in
            column.values.iter().zip(column.first_records.as_ref().expect("numbered")).enumerate()
        {
            let rows = groups.iter().filter(|(key, _)| *key[at] == **value);
            assert_eq!(rows.map(|(_, (_, first))| *first).min(), Some(first), "value {code}");
        }
    }
    assert_eq!(counts.counts.iter().sum::<u64>(), counts.records);
    groups
}

pub fn open(path: &Path) -> Source {
    Source::open(&path.to_string_lossy(), &CsvOptions::default()).expect("source")
}

pub fn engine(path: &Path, options: &EngineOptions) -> LocalEngine {
    LocalEngine::with_options(open(path), options.clone())
}

pub fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| name.to_string()).collect()
}

/// Runs the second pass and publishes the file.
pub fn rewrite(input: &Path, options: &EngineOptions, rewrite: &Rewrite, output: &Path) -> PathBuf {
    let target = Target { overwrite: true, ..Target::new(output).expect("target") };
    let staged = engine(input, options).stage(rewrite, &target, &NoObserver).expect("rewrite");
    assert!(staged.path().file_name().expect("name").to_string_lossy().starts_with(".moretta-"));
    assert_eq!(staged.open().expect("reads back").columns().len() + rewrite.dropped.len(), open(input).columns().len());
    staged.publish(ReadBackProof::for_tests()).expect("published");
    output.to_path_buf()
}

/// Names of all files of a folder, including hidden ones.
pub fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .expect("folder")
        .map(|entry| entry.expect("entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// A rewrite that divides the records of every row among up to three of `groups` groups. Labels name column and group.
pub fn shares(counts: &Counts, groups: u32, rewritten: &[bool], order: RecordOrder, seed: u64) -> Rewrite {
    let (mut offsets, mut shares) = (vec![0], Vec::new());
    for (row, &records) in counts.counts.iter().enumerate() {
        let parts = (row as u64 % 3 + 1).min(records).min(u64::from(groups));
        for part in 0..parts {
            let group = (row as u32 + part as u32) % groups;
            shares.push(Share { group, records: records * (part + 1) / parts - records * part / parts });
        }
        offsets.push(shares.len() as u32);
    }
    let labels = (0..rewritten.iter().filter(|&&rewritten| rewritten).count())
        .map(|column| (0..groups).map(|group| format!("c{column}, g{group}").into()).collect())
        .collect();
    Rewrite {
        key: key(counts, rewritten),
        change: Change::Shares { rows: counts.codes.clone(), offsets, shares, labels },
        dropped: vec![],
        renotated: Vec::new(),
        order,
        seed: Seed::Number(seed),
    }
}

pub fn key(counts: &Counts, rewritten: &[bool]) -> Vec<KeyColumn> {
    counts
        .columns
        .iter()
        .zip(rewritten)
        .map(|(column, &rewritten)| KeyColumn { name: column.name.clone(), values: column.values.clone(), rewritten })
        .collect()
}
