//! Parquet as input and output: all types, nulls, several files, any division of the work.

mod common;

use std::{collections::HashMap, fs::File, path::Path, sync::Arc};

use arrow_array::{cast::AsArray, types::Int32Type, *};
use arrow_schema::{DataType, Field, Schema};
use moretta_core::{
    counts::{Change, Counts, RecordOrder, RenotatedColumn, Rewrite},
    notation::Notation,
    observer::NoObserver,
    seed::Seed,
};
use moretta_engine::{CsvOptions, EngineError, EngineOptions, FileKind, Format, LocalEngine, Source, Target};
use parquet::{
    arrow::{ArrowWriter, arrow_reader::ParquetRecordBatchReaderBuilder},
    file::properties::WriterProperties,
};

use common::*;

const RECORDS: usize = 400;

/// A column of every type with a text form, each with nulls, and a list, which has no text form.
fn batch() -> RecordBatch {
    let numbers = || (0..RECORDS as i64).map(|at| (at % 7 != 3).then_some(at % 5));
    let texts: Vec<Option<String>> = numbers().map(|number| number.map(|number| format!("t{number}, \"x\""))).collect();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("text", Arc::new(StringArray::from(texts.clone()))),
        ("large", Arc::new(LargeStringArray::from(texts.clone()))),
        ("view", Arc::new(StringViewArray::from_iter(texts.iter().map(Option::as_deref)))),
        ("dictionary", Arc::new(texts.iter().map(Option::as_deref).collect::<DictionaryArray<Int32Type>>())),
        ("int", Arc::new(numbers().map(|number| number.map(|number| number as i32 - 2)).collect::<Int32Array>())),
        ("tiny", Arc::new(numbers().map(|number| number.map(|number| number as u8)).collect::<UInt8Array>())),
        ("long", Arc::new(numbers().map(|number| number.map(|number| number - (1 << 60))).collect::<Int64Array>())),
        ("float", Arc::new(numbers().map(|number| number.map(|number| number as f64 / 4.0)).collect::<Float64Array>())),
        (
            "single",
            Arc::new(numbers().map(|number| number.map(|number| number as f32 / 10.0)).collect::<Float32Array>()),
        ),
        ("bool", Arc::new(numbers().map(|number| number.map(|number| number > 2)).collect::<BooleanArray>())),
        (
            "date",
            Arc::new(numbers().map(|number| number.map(|number| 19_874 + number as i32)).collect::<Date32Array>()),
        ),
        (
            "stamp",
            Arc::new(
                numbers()
                    .map(|number| number.map(|number| 1_717_156_800_123 + number))
                    .collect::<TimestampMillisecondArray>(),
            ),
        ),
        (
            "zoned",
            Arc::new(
                numbers()
                    .map(|number| number.map(|number| number * 1_000_000))
                    .collect::<TimestampMicrosecondArray>()
                    .with_timezone("UTC"),
            ),
        ),
        (
            "decimal",
            Arc::new(
                numbers()
                    .map(|number| number.map(|number| i128::from(number) * 150 - 225))
                    .collect::<Decimal128Array>()
                    .with_precision_and_scale(10, 2)
                    .expect("decimal"),
            ),
        ),
        (
            "list",
            Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(
                (0..RECORDS).map(|at| Some(vec![Some(at as i32)])),
            )),
        ),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true)))
        .expect("batch")
}

fn store(batch: &RecordBatch, path: &Path, group: usize) {
    let properties =
        WriterProperties::builder().set_max_row_group_row_count(Some(group)).set_data_page_row_count_limit(16).build();
    let mut writer =
        ArrowWriter::try_new(File::create(path).expect("create"), batch.schema(), Some(properties)).expect("writer");
    writer.write(batch).expect("write");
    writer.close().expect("close");
}

fn load(path: &Path) -> RecordBatch {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).expect("open")).expect("reader");
    let schema = reader.schema().clone();
    let batches: Vec<RecordBatch> = reader.build().expect("reader").map(|batch| batch.expect("batch")).collect();
    arrow_select::concat::concat_batches(&schema, &batches).expect("concat")
}

fn copy(order: RecordOrder, dropped: &[&str]) -> Rewrite {
    Rewrite {
        key: vec![],
        change: Change::Map { labels: vec![], suppressed: vec![] },
        dropped: names(dropped),
        renotated: Vec::new(),
        order,
        seed: Seed::Number(9),
    }
}

fn divisions() -> Vec<EngineOptions> {
    let options = |(threads, piece_records, bucket_bytes, shuffle_memory)| EngineOptions {
        threads,
        piece_records,
        bucket_bytes,
        shuffle_memory,
        ..EngineOptions::default()
    };
    [(1, 1 << 16, 1 << 30, 1 << 30), (2, 7, 1_000, 0), (4, 64, 10_000, 5_000)].map(options).to_vec()
}

/// The table as texts, read from a CSV copy of it.
fn as_table(path: &Path, folder: &Path) -> TextTable {
    let out = folder.join("text.csv");
    let table = parse(
        &std::fs::read_to_string(rewrite(path, &EngineOptions::default(), &copy(RecordOrder::Input, &["list"]), &out))
            .expect("read"),
        ',',
    );
    std::fs::remove_file(out).expect("remove");
    table
}

#[test]
fn texts_of_all_types() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("t.parquet");
    store(&batch(), &path, 100);
    let table = as_table(&path, folder.path());
    assert_eq!(table.len(), RECORDS + 1);
    let t = "t1, \"x\"";
    let expected = [
        t,
        t,
        t,
        t,
        "-1",
        "1",
        "-1152921504606846975",
        "0.25",
        "0.1",
        "false",
        "2024-06-01",
        "2024-05-31T12:00:00.124",
        "1970-01-01T00:00:01Z",
        "-0.75",
    ];
    assert_eq!(table[2], expected);
    assert!(table[4].iter().all(String::is_empty));
    assert_eq!(engine(&path, &EngineOptions::default()).first_records(3).expect("sample").rows[1][..14], expected);
}

#[test]
fn groups_of_all_types() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("t.parquet");
    for group_size in [1_000, 90, 16] {
        store(&batch(), &path, group_size);
        let table = as_table(&path, folder.path());
        for options in divisions() {
            let engine = engine(&path, &options);
            for columns in [(0..14).collect::<Vec<_>>(), vec![13, 0, 4], vec![2], vec![9, 1]] {
                let column_names: Vec<String> = columns.iter().map(|&column| table[0][column].clone()).collect();
                let counts = engine.group_and_count(&column_names, &NoObserver).expect("counts");
                assert_eq!(groups(&counts), group(&table, &columns));
            }
        }
    }
    let error =
        engine(&path, &EngineOptions::default()).group_and_count(&names(&["list"]), &NoObserver).expect_err("error");
    assert!(matches!(&error, EngineError::UnsupportedType { column, .. } if column == "list"), "{error}");
    let without_text = engine(&path, &EngineOptions::default()).source().columns_without_text();
    assert!(without_text.iter().enumerate().all(|(column, &is_list)| is_list == (column + 1 == without_text.len())));
}

#[test]
fn copies_keep_types_nulls_and_order() {
    let folder = tempfile::tempdir().expect("folder");
    let (path, out) = (folder.path().join("t.parquet"), folder.path().join("o.parquet"));
    let original = batch();
    store(&original, &path, 90);
    let mut shuffled = None;
    for options in divisions() {
        let copied = load(&rewrite(&path, &options, &copy(RecordOrder::Input, &["text"]), &out));
        for (field, array) in copied.schema().fields().iter().zip(copied.columns()) {
            let old = original.column_by_name(field.name()).expect("column");
            match old.data_type() {
                DataType::Dictionary(..) => assert_eq!(field.data_type(), &DataType::Utf8),
                _ => assert_eq!(array, old),
            }
        }
        rewrite(&path, &options, &copy(RecordOrder::Shuffled, &[]), &out);
        let (bytes, rows) = (std::fs::read(&out).expect("read"), as_table(&out, folder.path()));
        let mut sorted = [rows.clone(), as_table(&path, folder.path())];
        sorted.iter_mut().for_each(|rows| rows.sort());
        assert_eq!(sorted[0], sorted[1]);
        assert_ne!(rows, as_table(&path, folder.path()));
        assert_eq!(*shuffled.get_or_insert_with(|| bytes.clone()), bytes, "the division of the work shows");
    }
    let lists = load(&out);
    let lists = lists.column_by_name("list").expect("list").as_list::<i32>();
    let seen: std::collections::HashSet<i32> =
        (0..RECORDS).map(|at| lists.value(at).as_primitive::<Int32Type>().value(0)).collect();
    assert_eq!(seen.len(), RECORDS);
}

#[test]
fn any_division_and_format_gives_the_same_groups() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("t.parquet");
    store(&batch(), &path, 90);
    let column_names = names(&["int", "large", "view"]);
    let counts = engine(&path, &EngineOptions { threads: 1, ..EngineOptions::default() })
        .group_and_count(&column_names, &NoObserver)
        .expect("counts");
    for order in [RecordOrder::Input, RecordOrder::Shuffled] {
        let mut change = shares(&counts, 5, &[true, true, false], order, 4);
        change.dropped = names(&["list"]);
        let mut tables: Vec<TextTable> = Vec::new();
        for options in divisions() {
            for name in ["o.parquet", "o.csv"] {
                let out = rewrite(&path, &options, &change, &folder.path().join(name));
                let text = rewrite(&out, &options, &copy(RecordOrder::Input, &[]), &folder.path().join("text.csv"));
                tables.push(parse(&std::fs::read_to_string(text).expect("read"), ','));
            }
        }
        assert!(tables.windows(2).all(|pair| pair[0] == pair[1]));
        assert!(tables[0][1][1].starts_with("c1, g"), "{:?}", tables[0][1]);
        // A key column that is not rewritten is copied.
        let mut views: Vec<String> = tables[0][1..].iter().map(|row| row[2].clone()).collect();
        let mut old: Vec<String> = as_table(&path, folder.path())[1..].iter().map(|row| row[2].clone()).collect();
        views.sort();
        old.sort();
        assert_eq!(views, old);
    }
}

/// Keys of a file's key-value metadata.
fn metadata_keys(path: &Path) -> Vec<String> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).expect("open")).expect("reader");
    let entries = reader.metadata().file_metadata().key_value_metadata().cloned().unwrap_or_default();
    entries.into_iter().map(|entry| entry.key).collect()
}

#[test]
fn no_metadata_of_the_input_is_written() {
    let folder = tempfile::tempdir().expect("folder");
    let (path, out) = (folder.path().join("t.parquet"), folder.path().join("o.parquet"));
    let secret = |text: &str| HashMap::from([("note".to_string(), text.to_string())]);
    let item = Field::new("item", DataType::Int32, true).with_metadata(secret("SECRET_ITEM"));
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1)]), None]);
    let (_, offsets, values, nulls) = lists.into_parts();
    let lists = ListArray::new(Arc::new(item), offsets, values, nulls);
    let fields = vec![
        Field::new("a", DataType::Utf8, true).with_metadata(secret("SECRET_COLUMN")),
        Field::new("list", lists.data_type().clone(), true).with_metadata(secret("SECRET_LIST")),
    ];
    let schema = Schema::new(fields).with_metadata(secret("SECRET_SCHEMA"));
    let columns: Vec<ArrayRef> = vec![Arc::new(StringArray::from(vec!["x", "y"])), Arc::new(lists)];
    store(&RecordBatch::try_new(Arc::new(schema), columns).expect("batch"), &path, 10);
    assert!(!load(&path).schema().metadata().is_empty());
    assert!(load(&path).schema().fields().iter().all(|field| !field.metadata().is_empty()));
    for order in [RecordOrder::Input, RecordOrder::Shuffled] {
        rewrite(&path, &EngineOptions::default(), &copy(order, &[]), &out);
        assert_eq!(metadata_keys(&out), ["ARROW:schema"]);
        let copied = load(&out);
        let nested = |field: &Field| match field.data_type() {
            DataType::List(item) => item.metadata().clone(),
            _ => Default::default(),
        };
        assert!(copied.schema().metadata().is_empty());
        let fields = copied.schema().fields().clone();
        assert!(fields.iter().all(|field| field.metadata().is_empty() && nested(field).is_empty()), "{fields:?}");
    }
}

#[test]
fn dates_and_times_are_those_of_every_reader() {
    let folder = tempfile::tempdir().expect("folder");
    let (path, out) = (folder.path().join("t.parquet"), folder.path().join("o.parquet"));
    let day = 86_400_000;
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("date", Arc::new(Date64Array::from(vec![Some(19_874 * day), None]))),
        ("time", Arc::new(Time32SecondArray::from(vec![Some(3_661), None]))),
        ("stamp", Arc::new(TimestampSecondArray::from(vec![Some(1_717_156_800), None]))),
    ];
    let nullable = columns.into_iter().map(|(name, array)| (name, array, true));
    store(&RecordBatch::try_from_iter_with_nullable(nullable).expect("batch"), &path, 10);
    let options = EngineOptions { threads: 1, ..EngineOptions::default() };
    let all = names(&["date", "time", "stamp"]);
    let counts = engine(&path, &options).group_and_count(&all, &NoObserver).expect("counts");
    for order in [RecordOrder::Input, RecordOrder::Shuffled] {
        rewrite(&path, &options, &copy(order, &[]), &out);
        // Without the embedded Arrow schema, as other programs read the file.
        let release = CsvOptions { release: true, ..CsvOptions::default() };
        let source = Source::open(&out.to_string_lossy(), &release).expect("source");
        let again =
            LocalEngine::with_options(source, options.clone()).group_and_count(&all, &NoObserver).expect("counts");
        let sorted = |counts: &Counts| groups(counts).into_keys().collect::<Vec<_>>();
        assert_eq!(sorted(&again), sorted(&counts));
        assert_eq!(sorted(&again)[1], ["2024-05-31", "01:01:01", "2024-05-31T12:00:00"]);
    }
    let dates: ArrayRef = Arc::new(Date64Array::from(vec![19_874 * day + 1]));
    store(&RecordBatch::try_from_iter([("date", dates)]).expect("batch"), &path, 10);
    let target = Target { overwrite: true, ..Target::new(&out).expect("target") };
    let staged = engine(&path, &options).stage(&copy(RecordOrder::Input, &[]), &target, &NoObserver);
    let error = staged.expect_err("error").to_string();
    assert!(error.contains("t.parquet: column `date`") && error.contains("has a time of day"), "{error}");
}

#[test]
fn files_have_to_agree_in_types() {
    let folder = tempfile::tempdir().expect("folder");
    let one = |array: ArrayRef| {
        let schema = Schema::new(vec![Field::new("a", array.data_type().clone(), true)]);
        RecordBatch::try_new(Arc::new(schema), vec![array]).expect("batch")
    };
    store(&one(Arc::new(Int32Array::from(vec![1, 2]))), &folder.path().join("1.parquet"), 10);
    store(&one(Arc::new(Int32Array::from(vec![2, 3]))), &folder.path().join("2.parquet"), 10);
    let counts =
        engine(folder.path(), &EngineOptions::default()).group_and_count(&names(&["a"]), &NoObserver).expect("counts");
    assert_eq!(groups(&counts)[&names(&["2"])], (2, 2));
    store(&one(Arc::new(StringArray::from(vec!["2"]))), &folder.path().join("3.parquet"), 10);
    let error = moretta_engine::Source::open(&folder.path().to_string_lossy(), &Default::default()).expect_err("error");
    assert!(error.to_string().ends_with("column 1 is of type Utf8, not Int32"), "{error}");
}

#[test]
fn a_key_column_of_large_dictionaries_can_be_copied() {
    let folder = tempfile::tempdir().expect("folder");
    let (path, out) = (folder.path().join("t.parquet"), folder.path().join("o.parquet"));
    let values: ArrayRef = Arc::new(LargeStringArray::from(vec!["x", "y"]));
    let large: ArrayRef = Arc::new(DictionaryArray::new(Int32Array::from(vec![0, 1, 1, 0]), values));
    let other: ArrayRef = Arc::new(Int32Array::from(vec![1, 2, 1, 2]));
    store(&RecordBatch::try_from_iter([("large", large), ("other", other)]).expect("batch"), &path, 3);
    let options = EngineOptions { threads: 1, ..EngineOptions::default() };
    let counts = engine(&path, &options).group_and_count(&names(&["large", "other"]), &NoObserver).expect("counts");
    let change = shares(&counts, 2, &[false, true], RecordOrder::Input, 1);
    let copied = load(&rewrite(&path, &options, &change, &out));
    assert_eq!(copied.column(0).as_string::<i32>(), &StringArray::from(vec!["x", "y", "y", "x"]));
}

/// Typed numbers are plain, and a CSV release has them in its own notation.
#[test]
fn typed_numbers_are_written_in_the_notation_of_a_csv_release() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("a.parquet");
    let numbers: ArrayRef = Arc::new(Float64Array::from(vec![1234.5, -2.5, 0.25]));
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["1.234,5", "x", "7"]));
    let schema = Schema::new(vec![
        Field::new("typed", DataType::Float64, false),
        Field::new("text", DataType::Utf8, false),
        Field::new("other", DataType::Utf8, false),
    ]);
    let batch = RecordBatch::try_new(Arc::new(schema), vec![numbers, Arc::clone(&texts), texts]).expect("batch");
    let mut writer = ArrowWriter::try_new(File::create(&path).expect("file"), batch.schema(), None).expect("writer");
    writer.write(&batch).expect("write");
    writer.close().expect("close");
    let german = Notation { decimal: ',', thousands: Some('.') };
    let plain = Notation::PLAIN;
    let engine = || LocalEngine::new(Source::open(&path.to_string_lossy(), &CsvOptions::default()).expect("source"));
    let counts = engine().group_and_count(&names(&["typed", "text"]), &NoObserver).expect("counts");
    assert_eq!(counts.columns.iter().map(|column| column.typed).collect::<Vec<_>>(), [true, false]);
    for (to, expected) in [
        (german, "typed,text,other\n\"1234,5\",\"1.234,5\",\"1.234,5\"\n\"-2,5\",x,x\n\"0,25\",7,7\n"),
        (plain, "typed,text,other\n1234.5,1234.5,\"1.234,5\"\n-2.5,x,x\n0.25,7,7\n"),
    ] {
        let renotated = ["typed", "text"].map(|name| RenotatedColumn {
            name: name.to_owned(),
            from: german,
            to,
            missing: Vec::new(),
        });
        let rewrite = Rewrite { renotated: renotated.to_vec(), ..copy(RecordOrder::Input, &[]) };
        let target = Target::new(folder.path().join("out.csv")).expect("target");
        let staged = engine().stage(&rewrite, &target, &NoObserver).expect("stage");
        assert_eq!(std::fs::read_to_string(staged.path()).expect("text"), expected);
        let target = Target::new(folder.path().join("out.parquet")).expect("target");
        let staged = engine().stage(&rewrite, &target, &NoObserver).expect("stage");
        let read = Source::open_as(
            staged.path(),
            FileKind { format: Format::Parquet, ..FileKind::CSV },
            &CsvOptions::default(),
        )
        .expect("source");
        let counts = LocalEngine::new(read).group_and_count(&names(&["typed", "text"]), &NoObserver).expect("counts");
        assert_eq!(counts.columns.iter().map(|column| column.typed).collect::<Vec<_>>(), [true, false]);
        let text = if to == german { "1.234,5" } else { "1234.5" };
        assert!(counts.columns[1].values.iter().any(|value| **value == *text));
    }
}
