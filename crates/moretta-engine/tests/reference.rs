//! Both passes over CSV compared with their reference implementations, on random tables.

mod common;

use std::collections::BTreeMap;

use moretta_core::{
    counts::{Change, RecordOrder, Rewrite},
    observer::NoObserver,
    seed::Seed,
};
use moretta_engine::EngineOptions;
use proptest::prelude::*;

use common::*;

/// The text of a CSV file, the table in it, and its delimiter.
fn tables() -> impl Strategy<Value = (String, TextTable, char)> {
    let cell = prop_oneof![
        4 => "[a-c]{0,2}",
        1 => "[a,;\"\n\r é€😀]{0,5}",
        1 => "[ #'\r]{0,2}[b\r|]{0,2}",
        1 => Just("\r\n".to_string()),
    ];
    let shape = (1usize..5, 1usize..25, prop::sample::select(vec![',', ';', '\t', '|']), any::<[bool; 4]>());
    (shape, any::<u64>())
        .prop_flat_map(move |((width, records, delimiter, flags), random)| {
            let rows = prop::collection::vec(prop::collection::vec(cell.clone(), width), records);
            (rows, Just((width, delimiter, flags, random)))
        })
        .prop_map(|(rows, (width, delimiter, [crlf, bom, quote_all, last_break], mut random))| {
            // The delimiter of a table of one column cannot be detected.
            let delimiter = if width == 1 { ',' } else { delimiter };
            let mut table: TextTable =
                vec![(0..width).map(|at| format!("c{at}{}", if at == 1 { "\"x" } else { "" })).collect()];
            table.extend(rows);
            let mut text = if bom { "\u{feff}".to_string() } else { String::new() };
            let records = table.len();
            for (at, row) in table.iter().enumerate() {
                let cells: Vec<String> = row
                    .iter()
                    .map(|cell| {
                        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                        // A CR at the end of a cell could be read as part of the line end.
                        let must = cell.contains([delimiter, '"', '\n']) || cell.ends_with('\r');
                        if must || quote_all || random >> 62 == 0 {
                            format!("\"{}\"", cell.replace('"', "\"\""))
                        } else {
                            cell.clone()
                        }
                    })
                    .collect();
                text.push_str(&cells.join(&delimiter.to_string()));
                // Without a line break, a last record of one empty cell would not be a record.
                let blank = cells.len() == 1 && cells[0].is_empty();
                if at + 1 < records || last_break || blank {
                    text.push_str(if crlf { "\r\n" } else { "\n" });
                }
            }
            if width > 1 && last_break && quote_all {
                text.push_str("\n\r\n");
            }
            (text, table, delimiter)
        })
}

fn options() -> impl Strategy<Value = EngineOptions> {
    (1usize..5, 1usize..60, prop::sample::select(vec![0u64, 100, 1 << 20]), 1u64..200).prop_map(
        |(threads, block_size, shuffle_memory, bucket_bytes)| EngineOptions {
            threads,
            block_size,
            shuffle_memory,
            bucket_bytes,
            ..EngineOptions::default()
        },
    )
}

fn sorted(table: &TextTable) -> TextTable {
    let mut rows = table[1..].to_vec();
    rows.sort();
    rows
}

/// The bytes of a file, which are the same in any order of its records if cells keep their quotes.
fn sorted_bytes(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.sort_unstable();
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]

    #[test]
    fn group_and_count((text, table, delimiter) in tables(), options in options(), pick in any::<[bool; 4]>()) {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("t.csv");
        std::fs::write(&path, &text).expect("write");
        let mut parsed = parse(&text, delimiter);
        if table[0].len() > 1 {
            while parsed.last().is_some_and(|row| row.len() == 1) {
                parsed.pop();
            }
        }
        prop_assert_eq!(&parsed, &table);
        let engine = engine(&path, &options);
        prop_assert_eq!(engine.source().columns(), &table[0][..]);
        let columns: Vec<usize> = (0..table[0].len()).rev().filter(|&column| pick[column]).collect();
        let column_names: Vec<String> = columns.iter().map(|&column| table[0][column].clone()).collect();
        let counts = engine.group_and_count(&column_names, &NoObserver).expect("counts");
        prop_assert_eq!(counts.records as usize, table.len() - 1);
        prop_assert_eq!(groups(&counts), group(&table, &columns));
        let sample = engine.first_records(3).expect("sample");
        prop_assert_eq!(&sample.rows[..], &table[1..table.len().min(4)]);
    }

    #[test]
    fn rewrite_by_a_map((text, table, delimiter) in tables(), options in options(), pick in any::<[bool; 4]>(), suppress: bool) {
        let folder = tempfile::tempdir().expect("folder");
        let (path, out) = (folder.path().join("t.csv"), folder.path().join("o.csv"));
        std::fs::write(&path, &text).expect("write");
        let width = table[0].len();
        let columns: Vec<usize> = (0..width).filter(|&column| pick[column] || column == 0).collect();
        let column_names: Vec<String> = columns.iter().map(|&column| table[0][column].clone()).collect();
        let counts = engine(&path, &options).group_and_count(&column_names, &NoObserver).expect("counts");
        let rewritten: Vec<bool> = columns.iter().map(|&column| !suppress || column != 1).collect();
        let label = |value: &str| format!("<{value}>{delimiter}\"");
        let labels = counts.columns.iter().zip(&rewritten).filter(|(_, rewritten)| **rewritten)
            .map(|(column, _)| column.values.iter().map(|value| label(value).into()).collect()).collect();
        let suppressed = if suppress { counts.row(0).to_vec() } else { vec![] };
        let dropped: Vec<usize> = (0..width).filter(|&column| width > 1 && column == width - 1).collect();
        let mut change = Rewrite {
            key: key(&counts, &rewritten),
            change: Change::Map { labels, suppressed },
            dropped: dropped.iter().map(|&column| table[0][column].clone()).collect(),
            renotated: Vec::new(),
            order: RecordOrder::Input,
            seed: Seed::Number(3),
        };
        let hidden: Vec<String> = counts.row(0).iter().zip(&counts.columns).map(|(&code, column)| column.values[code as usize].to_string()).collect();
        let mut expected = table.clone();
        for row in &mut expected[1..] {
            let all = suppress && columns.iter().zip(&hidden).all(|(&column, value)| row[column] == *value);
            for (&column, _) in columns.iter().zip(&rewritten).filter(|(_, rewritten)| **rewritten) {
                row[column] = if all { "*".to_string() } else { label(&row[column]) };
            }
        }
        for row in &mut expected {
            row.truncate(width - dropped.len());
        }
        let written = std::fs::read_to_string(rewrite(&path, &options, &change, &out)).expect("read");
        prop_assert_eq!(&parse(&written, delimiter), &expected);
        prop_assert_eq!(&parse_as_others(&written, delimiter), &expected);
        change.order = RecordOrder::Shuffled;
        let shuffled = std::fs::read_to_string(rewrite(&path, &options, &change, &out)).expect("read");
        prop_assert_eq!(sorted(&parse(&shuffled, delimiter)), sorted(&expected));
        prop_assert_eq!(sorted_bytes(&shuffled), sorted_bytes(&written));
        let other = EngineOptions { threads: options.threads % 4 + 1, block_size: 1 << 20, bucket_bytes: 1 << 20, ..options };
        let again = std::fs::read_to_string(rewrite(&path, &other, &change, &out)).expect("read");
        prop_assert_eq!(shuffled, again);
        // Copied cells are the only ones that may begin like a comment, or be blank in a table of one column.
        let copy = Rewrite { key: vec![], change: Change::Map { labels: vec![], suppressed: vec![] }, dropped: vec![], renotated: Vec::new(), order: RecordOrder::Input, seed: Seed::Number(0) };
        let copied = std::fs::read_to_string(rewrite(&path, &options, &copy, &out)).expect("read");
        prop_assert_eq!(&parse_as_others(&copied, delimiter), &table);
        // Written as Parquet and back as CSV, only quotes change.
        let (parquet, back) = (folder.path().join("o.parquet"), folder.path().join("b.csv"));
        change.order = RecordOrder::Input;
        rewrite(&path, &other, &change, &parquet);
        let back = std::fs::read_to_string(rewrite(&parquet, &other, &copy, &back)).expect("read");
        prop_assert_eq!(&parse(&back, ','), &expected);
        prop_assert_eq!(parse_as_others(&back, ','), expected);
        prop_assert_eq!(files(folder.path()), ["b.csv", "o.csv", "o.parquet", "t.csv"]);
    }

    #[test]
    fn rewrite_by_shares((text, table, delimiter) in tables(), options in options(), seed: u64) {
        let folder = tempfile::tempdir().expect("folder");
        let (path, out) = (folder.path().join("t.csv"), folder.path().join("o.csv"));
        std::fs::write(&path, &text).expect("write");
        let column_names = vec![table[0][0].clone()];
        // One thread, so that the order of rows does not depend on how the work was divided.
        let counts = engine(&path, &EngineOptions { threads: 1, ..options.clone() }).group_and_count(&column_names, &NoObserver).expect("counts");
        let mut change = shares(&counts, 4, &[true], RecordOrder::Input, seed);
        let written = std::fs::read_to_string(rewrite(&path, &options, &change, &out)).expect("read");
        let rows = parse(&written, delimiter);
        prop_assert_eq!(rows.len(), table.len());
        let mut records_by_label: BTreeMap<(String, String), u64> = BTreeMap::new();
        for (row, old) in rows.iter().zip(&table).skip(1) {
            prop_assert_eq!(&row[1..], &old[1..]);
            *records_by_label.entry((old[0].clone(), row[0].clone())).or_default() += 1;
        }
        let Change::Shares { offsets, shares, labels, .. } = &change.change else { unreachable!() };
        for row in 0..counts.rows() {
            let value = &counts.columns[0].values[counts.row(row)[0] as usize];
            for share in &shares[offsets[row] as usize..offsets[row + 1] as usize] {
                let label = &labels[0][share.group as usize];
                prop_assert_eq!(records_by_label.remove(&(value.to_string(), label.to_string())), Some(share.records));
            }
        }
        prop_assert!(records_by_label.is_empty());
        for threads in 1..4 {
            let other = EngineOptions { threads, block_size: 7 * threads, ..options.clone() };
            let again = std::fs::read_to_string(rewrite(&path, &other, &change, &out)).expect("read");
            prop_assert_eq!(&again, &written);
        }
        change.order = RecordOrder::Shuffled;
        let shuffled = std::fs::read_to_string(rewrite(&path, &options, &change, &out)).expect("read");
        prop_assert_eq!(sorted(&parse(&shuffled, delimiter)), sorted(&rows));
        prop_assert_eq!(sorted_bytes(&shuffled), sorted_bytes(&written));
    }
}
