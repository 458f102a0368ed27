//! Damaged Arrow files, compressed files and texts in other encodings: an error with the path, never a panic, never memory
//! that only the damage asks for, and never fewer records than the file says it has.
//!
//! `MORETTA_DAMAGED=20000 cargo test -p moretta-engine --test damaged_sources` damages that many files.

use std::path::Path;

use moretta_core::{
    counts::{Change, RecordOrder, Rewrite},
    encoding::Encoding,
    observer::NoObserver,
    seed::Seed,
};
use moretta_engine::{CsvOptions, EngineError, EngineOptions, LocalEngine, Source, Target, peak_memory_bytes};

/// Files that are damaged by default. A file takes a few milliseconds.
const FILES: usize = 600;
/// Maximum memory of the process in bytes.
const MAX_MEMORY: u64 = 500 << 20;
/// Records of the original files.
const RECORDS: u64 = 60;

const ORIGINALS: &[(&str, Option<Encoding>)] = &[
    ("coded.arrow", None),
    ("views.arrow", None),
    ("large.arrow", None),
    ("lz4.feather", None),
    ("zstd.feather", None),
    ("stream.arrows", None),
    ("zstd.arrows", None),
    ("gzip.csv.gz", None),
    ("members.csv.gz", None),
    ("zstd.csv.zst", None),
    ("frames.csv.zst", None),
    ("utf16.csv", None),
    ("utf-16be.csv", Some(Encoding::Utf16)),
    ("windows-1252.csv", Some(Encoding::Windows1252)),
];

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

/// Changes bits and bytes, in the whole file or in its last part only, or cuts the file.
fn damage(bytes: &mut Vec<u8>, random: &mut Random) {
    let length = bytes.len();
    let start = if random.below(3) == 0 { length.saturating_sub(600) } else { 0 };
    for _ in 0..=random.below(3) {
        let at = start + random.below(length - start);
        match random.below(5) {
            0 | 1 => bytes[at] ^= 1 << random.below(8),
            2 => bytes[at] = [0, 0x7F, 0x80, 0xFF][random.below(4)],
            3 => {
                let end = length.min(at + 1 + random.below(8));
                bytes[at..end].fill_with(|| random.next() as u8 | 0x80);
            }
            _ => {
                let other = random.below(length);
                bytes.swap(at, other);
            }
        }
    }
    if random.below(8) == 0 {
        bytes.truncate(random.below(length));
    }
}

/// Reads a file twice, and returns its number of records.
fn run(path: &Path, encoding: Option<Encoding>, folder: &Path) -> Result<u64, EngineError> {
    let source = Source::open(&path.to_string_lossy(), &CsvOptions { encoding, ..CsvOptions::default() })?;
    let columns = source.columns().to_vec();
    let engine = LocalEngine::with_options(source, EngineOptions { threads: 2, ..EngineOptions::default() });
    let sample = engine.first_records(100);
    let countable = |name: &String| {
        let counted = engine.group_and_count(std::slice::from_ref(name), &NoObserver);
        !matches!(counted, Err(EngineError::UnsupportedType { .. }))
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
    let output = ["out.arrow", "out.csv.gz", "out.arrows"][names.len() % 3];
    let staged = engine.stage(&rewrite, &Target { overwrite: true, ..Target::new(folder.join(output))? }, &NoObserver);
    sample?;
    let records = counted?.records;
    staged.map(|staged| staged.records().max(records))
}

#[test]
fn damaged_files_are_errors() {
    let files = std::env::var("MORETTA_DAMAGED").map_or(FILES, |files| files.parse().expect("a number of files"));
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/other_tools");
    let folder = tempfile::tempdir().expect("folder");
    for (name, encoding) in ORIGINALS {
        assert_eq!(run(&fixtures.join(name), *encoding, folder.path()).expect("an intact file"), RECORDS, "{name}");
    }
    let (mut refused, mut read) = (0, 0);
    for number in 0..files {
        let mut random = Random(number as u64);
        let (name, encoding) = ORIGINALS[random.below(ORIGINALS.len())];
        let mut bytes = std::fs::read(fixtures.join(name)).expect("original");
        damage(&mut bytes, &mut random);
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).expect("write");
        match run(&path, encoding, folder.path()) {
            Ok(_) => read += 1,
            Err(error) => {
                refused += 1;
                let message = error.to_string();
                let allowed = ["no column", "NUL byte", "changed between", "nested type"];
                let is_named = message.contains(name) || allowed.iter().any(|part| message.contains(part));
                assert!(is_named && !message.contains("panicked"), "file {number} ({name}): {message}");
            }
        }
        let memory = peak_memory_bytes().unwrap_or(0);
        assert!(memory < MAX_MEMORY, "file {number} ({name}): {memory} bytes");
    }
    println!("{files} files: {refused} refused, {read} read, peak {} MB", peak_memory_bytes().unwrap_or(0) >> 20);
    assert!(refused > files / 4, "the damage is too small to test anything");
}

/// Every length to which an Arrow file or a compressed file is cut is an error; a stream may end after a batch.
#[test]
fn files_that_are_cut_off_are_errors() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/other_tools");
    let folder = tempfile::tempdir().expect("folder");
    for name in ["coded.arrow", "zstd.feather", "gzip.csv.gz", "zstd.csv.zst"] {
        let bytes = std::fs::read(fixtures.join(name)).expect("original");
        let path = folder.path().join(name);
        for length in (0..bytes.len()).rev().step_by(if name.contains("csv") { 1 } else { 97 }) {
            std::fs::write(&path, &bytes[..length]).expect("write");
            let error = run(&path, None, folder.path()).expect_err("cut off").to_string();
            assert!(error.contains(name), "{name} cut to {length}: {error}");
        }
    }
}

/// A footer that lists a batch twice would make a table of any size from a small file.
#[test]
fn a_batch_that_the_footer_lists_twice_is_refused() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/other_tools");
    let mut bytes = std::fs::read(fixtures.join("coded.arrow")).expect("original");
    let tail = bytes.len() - 10;
    let length = u32::from_le_bytes(bytes[tail..tail + 4].try_into().expect("4 bytes")) as usize;
    let footer = bytes[tail - length..tail].to_vec();
    let listed = arrow_ipc::root_as_footer(&footer).expect("footer");
    let batches = listed.recordBatches().expect("batches");
    let block = |index: usize| batches.get(index).0;
    let at = footer.windows(24).position(|window| *window == block(1)).expect("the block is in the footer");
    bytes[tail - length + at..][..24].copy_from_slice(&block(0));
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("twice.arrow");
    std::fs::write(&path, bytes).expect("write");
    let error = run(&path, None, folder.path()).expect_err("refused").to_string();
    assert!(error.contains("its footer lists a message twice"), "{error}");
}
