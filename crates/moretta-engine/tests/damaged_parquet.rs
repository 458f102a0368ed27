//! Damaged Parquet files: an error with the path, never a panic, and never memory that only the damage asks for.
//!
//! `MORETTA_DAMAGED=20000 cargo test -p moretta-engine --test damaged_parquet` damages that many files. With
//! `MORETTA_DAMAGED_FOLDER`, the damaged files are kept there, to be read by the program.

use std::{fs::File, path::Path, sync::Arc};

use arrow_array::{builder::*, types::*, *};
use moretta_core::{
    counts::{Change, RecordOrder, Rewrite},
    observer::NoObserver,
    seed::Seed,
};
use moretta_engine::{CsvOptions, EngineError, EngineOptions, LocalEngine, Source, Target, peak_memory_bytes};
use parquet::{
    arrow::ArrowWriter,
    basic::{Compression, Encoding, ZstdLevel},
    file::properties::{WriterProperties, WriterVersion},
};

/// Files that are damaged by default. A file takes some milliseconds in each pass.
const FILES: usize = 300;
/// Numbers of files on which the decoder panics or panicked, at different places.
const PANICKED: [usize; 5] = [1406, 1566, 1785, 1834, 1858];
/// Records of the original files.
const RECORDS: usize = 300;
/// Maximum memory of the process in bytes.
const MAX_MEMORY: u64 = 500 << 20;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }
}

/// A table of many types, with nulls.
fn table() -> RecordBatch {
    let numbers = || (0..RECORDS as i64).map(|at| (at % 11 != 4).then_some(at * at % 37));
    let texts: Vec<Option<String>> = numbers().map(|number| number.map(|number| format!("text {number}"))).collect();
    let text = || texts.iter().map(Option::as_deref);
    let mut lists = ListBuilder::new(StringBuilder::new());
    for (at, text) in text().enumerate() {
        (0..at % 4).for_each(|_| lists.values().append_option(text));
        lists.append(at % 9 != 2);
    }
    let mut fixed = FixedSizeBinaryBuilder::new(5);
    for number in numbers() {
        match number {
            Some(number) => fixed.append_value([number as u8; 5]).expect("5 bytes"),
            None => fixed.append_null(),
        }
    }
    let decimals = numbers().map(|number| number.map(i128::from)).collect::<Decimal128Array>();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("int", Arc::new(numbers().map(|n| n.map(|n| n as i32)).collect::<Int32Array>())),
        ("long", Arc::new(numbers().collect::<Int64Array>())),
        ("tiny", Arc::new(numbers().map(|n| n.map(|n| n as u8)).collect::<UInt8Array>())),
        ("float", Arc::new(numbers().map(|n| n.map(|n| n as f64 / 3.0)).collect::<Float64Array>())),
        ("bool", Arc::new(numbers().map(|n| n.map(|n| n % 2 == 0)).collect::<BooleanArray>())),
        ("date", Arc::new(numbers().map(|n| n.map(|n| n as i32 + 19_000)).collect::<Date32Array>())),
        ("time", Arc::new(numbers().collect::<Time64MicrosecondArray>())),
        ("stamp", Arc::new(numbers().collect::<TimestampMillisecondArray>().with_timezone("UTC"))),
        ("decimal", Arc::new(decimals.with_precision_and_scale(20, 2).expect("decimal"))),
        ("text", Arc::new(text().collect::<StringArray>())),
        ("large", Arc::new(text().collect::<LargeStringArray>())),
        ("view", Arc::new(text().collect::<StringViewArray>())),
        ("dictionary", Arc::new(text().collect::<DictionaryArray<Int32Type>>())),
        ("binary", Arc::new(text().map(|text| text.map(str::as_bytes)).collect::<BinaryArray>())),
        ("fixed", Arc::new(fixed.finish())),
        ("list", Arc::new(lists.finish())),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true)))
        .expect("batch")
}

/// Intact files: codecs, page versions and encodings.
fn originals(folder: &Path) -> Vec<Vec<u8>> {
    let codecs = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::LZ4_RAW,
        Compression::LZ4,
        Compression::GZIP(Default::default()),
        Compression::ZSTD(ZstdLevel::default()),
    ];
    let write = |(index, codec): (usize, Compression), deltas: bool| {
        let mut properties = WriterProperties::builder()
            .set_compression(codec)
            .set_max_row_group_row_count(Some(128))
            .set_data_page_row_count_limit(50)
            .set_write_batch_size(25)
            .set_writer_version(if index % 2 == 0 { WriterVersion::PARQUET_1_0 } else { WriterVersion::PARQUET_2_0 })
            .set_dictionary_enabled(!deltas);
        if deltas {
            for (column, encoding) in [
                ("int", Encoding::DELTA_BINARY_PACKED),
                ("long", Encoding::DELTA_BINARY_PACKED),
                ("text", Encoding::DELTA_BYTE_ARRAY),
                ("large", Encoding::DELTA_LENGTH_BYTE_ARRAY),
                ("view", Encoding::DELTA_BYTE_ARRAY),
                ("binary", Encoding::DELTA_LENGTH_BYTE_ARRAY),
                ("float", Encoding::BYTE_STREAM_SPLIT),
                ("fixed", Encoding::DELTA_BYTE_ARRAY),
            ] {
                properties = properties.set_column_encoding(column.into(), encoding);
            }
        }
        let path = folder.join("original.parquet");
        let (file, batch) = (File::create(&path).expect("create"), table());
        let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties.build())).expect("writer");
        writer.write(&batch).expect("write");
        writer.close().expect("close");
        std::fs::read(path).expect("read")
    };
    let pairs = codecs.into_iter().enumerate().flat_map(|codec| [(codec, false), (codec, true)]);
    pairs.map(|(codec, deltas)| write(codec, deltas)).collect()
}

/// Changes bits, bytes or runs of bytes, in the whole file or in its footer only, or cuts the file.
fn damage(bytes: &mut Vec<u8>, random: &mut Random) {
    let footer = u32::from_le_bytes(bytes[bytes.len() - 8..bytes.len() - 4].try_into().expect("4 bytes")) as usize;
    let length = bytes.len();
    let start = if random.below(2) == 0 { length.saturating_sub(footer + 8) } else { 0 };
    for _ in 0..=random.below(4) {
        let at = start + random.below(bytes.len().saturating_sub(start));
        match random.below(6) {
            0 | 1 => bytes[at] ^= 1 << random.below(8),
            2 => bytes[at] = random.next() as u8,
            3 => bytes[at] = [0, 0x7F, 0x80, 0xFF][random.below(4)],
            4 => {
                let end = bytes.len().min(at + 1 + random.below(8));
                bytes[at..end].fill_with(|| random.next() as u8 | 0x80);
            }
            _ => {
                let other = random.below(bytes.len());
                bytes.swap(at, other);
            }
        }
    }
    if random.below(8) == 0 {
        bytes.truncate(random.below(length));
    }
}

fn run(path: &Path, folder: &Path) -> Result<(), EngineError> {
    let source = Source::open(&path.to_string_lossy(), &CsvOptions::default())?;
    let columns = source.columns().to_vec();
    let engine = LocalEngine::with_options(source, EngineOptions { threads: 1, ..EngineOptions::default() });
    let sample = engine.first_records(100);
    // Columns whose damaged type has no text form are not counted.
    let countable = |name: &String| {
        !matches!(
            engine.group_and_count(std::slice::from_ref(name), &NoObserver),
            Err(EngineError::UnsupportedType { .. })
        )
    };
    let names: Vec<String> = columns.into_iter().filter(countable).collect();
    let counted = engine.group_and_count(&names, &NoObserver);
    let rewrite = Rewrite {
        key: vec![],
        change: Change::Map { labels: vec![], suppressed: vec![] },
        dropped: vec![],
        renotated: Vec::new(),
        order: RecordOrder::Shuffled,
        seed: Seed::Number(1),
    };
    let target = Target { overwrite: true, ..Target::new(folder.join("out.parquet"))? };
    let staged = engine.stage(&rewrite, &target, &NoObserver);
    sample?;
    counted?;
    staged.map(|_| ())
}

#[test]
fn damaged_files_are_errors() {
    let files = std::env::var("MORETTA_DAMAGED").map_or(FILES, |files| files.parse().expect("a number of files"));
    let temporary = tempfile::tempdir().expect("folder");
    let kept = std::env::var_os("MORETTA_DAMAGED_FOLDER").map(std::path::PathBuf::from);
    let originals = originals(temporary.path());
    let path = temporary.path().join("intact.parquet");
    for original in &originals {
        std::fs::write(&path, original).expect("write");
        run(&path, temporary.path()).expect("an intact file");
    }
    let (mut refused, mut read) = (0, 0);
    for number in (0..files).chain(PANICKED) {
        let mut random = Random(number as u64);
        let mut bytes = originals[random.below(originals.len())].clone();
        damage(&mut bytes, &mut random);
        let folder = kept.as_deref().unwrap_or(temporary.path());
        let path = if kept.is_some() { folder.join(format!("{number}.parquet")) } else { folder.join("d.parquet") };
        std::fs::write(&path, bytes).expect("write");
        match run(&path, temporary.path()) {
            Ok(()) => read += 1,
            Err(error) => {
                refused += 1;
                let message = error.to_string();
                assert!(message.contains("parquet") && !message.contains("panicked"), "file {number}: {message}");
                assert!(!matches!(error, EngineError::InputChanged { .. }), "file {number}: {message}");
            }
        }
        let memory = peak_memory_bytes().unwrap_or(0);
        assert!(memory < MAX_MEMORY, "file {number}: {memory} bytes");
    }
    println!("{files} files: {refused} refused, {read} read, peak {} MB", peak_memory_bytes().unwrap_or(0) >> 20);
    assert!(refused > files / 4, "the damage is too small to test anything");
}
