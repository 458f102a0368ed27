//! Tables in memory: the suite of engines in every layout of texts, and equality with files.

use std::{cell::Cell, collections::BTreeMap, sync::Arc};

use arrow_array::{
    ArrayRef, DictionaryArray, Float64Array, Int64Array, LargeStringArray, NullArray, RecordBatch, StringArray,
    StringViewArray,
    types::{Int32Type, UInt8Type},
};
use arrow_schema::{DataType, Field, Schema};
use moretta_core::{
    counts::{Change, Counts, RecordOrder, Rewrite},
    observer::NoObserver,
    seed::Seed,
    testing::engine_suite::{EngineUnderTest, TextTable, engine_suite},
};
use moretta_engine::{
    CsvOptions, EngineError, EngineOptions, LocalEngine, MemoryTable, Source, TableSlot, Target, write_table,
};

/// Number of layouts of a column of texts.
const LAYOUTS: usize = 5;

/// Texts in one of the layouts of Arrow. A dictionary also has values that no record has.
fn column(layout: usize, texts: &[&str]) -> ArrayRef {
    match layout {
        0 => Arc::new(StringArray::from(texts.to_vec())),
        1 => Arc::new(LargeStringArray::from(texts.to_vec())),
        2 => Arc::new(StringViewArray::from(texts.to_vec())),
        3 => Arc::new(texts.iter().map(|text| Some(*text)).collect::<DictionaryArray<Int32Type>>()),
        _ => {
            let padded: Vec<&str> = std::iter::once(&"nobody").chain(texts).copied().collect();
            let all: DictionaryArray<UInt8Type> = padded.into_iter().map(Some).collect();
            Arc::new(all.slice(1, texts.len()))
        }
    }
}

/// A table of several batches, each with offsets into longer arrays, and an empty one.
fn table(columns: &[String], rows: &[Vec<String>], layout: usize) -> MemoryTable {
    let arrays: Vec<ArrayRef> = (0..columns.len())
        .map(|index| column(layout, &rows.iter().map(|row| &*row[index]).collect::<Vec<_>>()))
        .collect();
    let fields: Vec<Field> =
        columns.iter().zip(&arrays).map(|(name, array)| Field::new(name, array.data_type().clone(), false)).collect();
    let schema = Arc::new(Schema::new(fields));
    let all = RecordBatch::try_new(Arc::clone(&schema), arrays).expect("a batch");
    let cut = rows.len() / 3;
    let batches = vec![all.slice(0, cut), all.slice(cut, 0), all.slice(cut, rows.len() - cut)];
    MemoryTable::new("people", &schema, batches).expect("a table")
}

fn engine(table: MemoryTable, threads: usize) -> LocalEngine {
    let options = EngineOptions { threads, piece_records: 7, ..EngineOptions::default() };
    LocalEngine::with_options(Source::of_table(table), options)
}

struct Tables {
    layout: Cell<usize>,
}

impl EngineUnderTest for Tables {
    type Engine = LocalEngine;

    fn engine(&self, text: &TextTable) -> LocalEngine {
        self.layout.set((self.layout.get() + 1) % LAYOUTS);
        engine(table(&text.columns, &text.rows, self.layout.get()), 3)
    }

    fn target(&self) -> Target {
        Target::in_memory(TableSlot::default())
    }

    fn published(&self, target: &Target) -> Option<TextTable> {
        let sample = engine(target.slot.as_ref()?.get()?, 1).first_records(usize::MAX).expect("records");
        Some(TextTable { columns: sample.columns, rows: sample.rows })
    }
}

#[test]
fn tables_in_memory_pass_the_suite() {
    for layout in 0..LAYOUTS {
        engine_suite(&Tables { layout: Cell::new(layout) });
    }
}

fn people() -> (Vec<String>, Vec<Vec<String>>) {
    let columns = ["name", "city", "job"].map(str::to_owned).to_vec();
    let row = |at: usize| vec![format!("p{at}"), format!("c{}", at % 4), format!("j{}", at * at % 5)];
    (columns, (0..100).map(row).collect())
}

/// Number of records by the texts of a row. The order of rows depends on the threads.
fn by_texts(counts: &Counts) -> BTreeMap<Vec<String>, u64> {
    let text = |(column, &code): (usize, &u32)| counts.columns[column].values[code as usize].to_string();
    let texts = |row: usize| counts.row(row).iter().enumerate().map(text).collect();
    (0..counts.rows()).map(|row| (texts(row), counts.counts[row])).collect()
}

#[test]
fn every_layout_has_the_counts_and_the_release_of_a_file() {
    let (columns, rows) = people();
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("people.csv");
    let line = |row: &Vec<String>| row.join(",") + "\n";
    std::fs::write(&path, std::iter::once(&columns).chain(&rows).map(line).collect::<String>()).expect("written");
    let file = LocalEngine::new(Source::open(&path.to_string_lossy(), &CsvOptions::default()).expect("a source"));
    let grouped = columns[1..].to_vec();
    let expected = file.group_and_count(&grouped, &NoObserver).expect("counts");
    let rewrite = Rewrite {
        key: Vec::new(),
        change: Change::Map { labels: Vec::new(), suppressed: Vec::new() },
        dropped: vec!["name".to_owned()],
        renotated: Vec::new(),
        order: RecordOrder::Shuffled,
        seed: Seed::Number(3),
    };
    let shuffled = |engine: &LocalEngine, name: &str| {
        let target = Target::new(folder.path().join(name)).expect("a target");
        std::fs::read(engine.stage(&rewrite, &target, &NoObserver).expect("staged").path()).expect("a release")
    };
    let released = shuffled(&file, "file.csv");
    for layout in 0..LAYOUTS {
        for threads in [1, 3] {
            let engine = engine(table(&columns, &rows, layout), threads);
            let counts = engine.group_and_count(&grouped, &NoObserver).expect("counts");
            assert_eq!(by_texts(&counts), by_texts(&expected), "layout {layout}");
            assert_eq!(shuffled(&engine, "table.csv"), released, "layout {layout}, {threads} threads");
        }
    }
}

#[test]
fn a_published_table_is_written_to_every_format_and_read_back() {
    let (columns, rows) = people();
    let folder = tempfile::tempdir().expect("folder");
    for layout in 0..LAYOUTS {
        for name in ["a.csv", "a.csv.gz", "a.parquet", "a.arrow", "a.arrows"] {
            let path = folder.path().join(format!("{layout}-{name}"));
            let target = Target::new(&path).expect("a target");
            let options = EngineOptions::default();
            write_table(&table(&columns, &rows, layout), &target, &options, &NoObserver).expect("written");
            let read = LocalEngine::new(Source::open(&path.to_string_lossy(), &CsvOptions::default()).expect("opens"));
            assert_eq!(read.first_records(usize::MAX).expect("records").rows, rows, "{name}");
            let again = write_table(&table(&columns, &rows, layout), &target, &options, &NoObserver);
            assert!(matches!(again, Err(EngineError::TargetExists { .. })));
        }
    }
}

#[test]
fn nulls_numbers_and_empty_tables() {
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("null", Arc::new(NullArray::new(3))),
        ("int", Arc::new(Int64Array::from(vec![Some(1), None, Some(1)]))),
        ("float", Arc::new(Float64Array::from(vec![1.5, 1.5, f64::NAN]))),
    ];
    let batch = RecordBatch::try_from_iter(columns).expect("a batch");
    let all = MemoryTable::new("t", &batch.schema(), vec![batch.clone()]).expect("a table");
    assert_eq!(
        engine(all.clone(), 2).first_records(9).expect("records").rows,
        [["", "1", "1.5"], ["", "", "1.5"], ["", "1", "NaN"]]
    );
    let names = ["null", "int"].map(str::to_owned);
    assert_eq!(engine(all, 2).group_and_count(&names, &NoObserver).expect("counts").rows(), 2);
    // No batch, and a batch without records.
    for batches in [Vec::new(), vec![batch.slice(0, 0)]] {
        let empty = MemoryTable::new("t", &batch.schema(), batches).expect("a table");
        assert_eq!(empty.records(), 0);
        let counted = engine(empty, 2).group_and_count(&names, &NoObserver);
        assert!(matches!(counted, Err(EngineError::NoRecords { .. })), "{counted:?}");
    }
    let twice = Schema::new(vec![Field::new("a", DataType::Utf8, true), Field::new("a", DataType::Utf8, true)]);
    let refused = MemoryTable::new("t", &twice, Vec::new()).expect_err("an error").to_string();
    assert!(refused.contains("columns 1 and 2 have the same name"), "{refused}");
}
