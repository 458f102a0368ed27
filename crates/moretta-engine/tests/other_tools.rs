//! Files that other programs wrote (pandas, pyarrow, gzip, zstd, iconv, LibreOffice): the same people in every encoding, compression
//! and format have the same counts and the same release. `fixtures/other_tools/README.md` says how they were made.

mod common;

use std::path::{Path, PathBuf};

use common::{files, groups, names, parse, shares};
use moretta_core::{
    counts::{RecordOrder, Rewrite},
    encoding::Encoding,
    engine::{ReadBackProof, Staged},
    observer::NoObserver,
};
use moretta_engine::{CopiedInput, CsvOptions, EngineOptions, LocalEngine, Source, Target, decode_text};

/// Files and the encoding to declare, if it must be.
const FILES: &[(&str, Option<Encoding>)] = &[
    ("people.csv", None),
    ("people.csv", Some(Encoding::Utf8)),
    ("bom.csv", None),
    ("bom.csv", Some(Encoding::Utf8)),
    ("windows-1252.csv", Some(Encoding::Windows1252)),
    ("latin-1.csv", Some(Encoding::Latin1)),
    ("latin-1.csv", Some(Encoding::Windows1252)),
    ("tabs.tsv", Some(Encoding::Windows1252)),
    ("utf16.csv", None),
    ("utf16.csv", Some(Encoding::Utf16)),
    ("utf16.csv", Some(Encoding::Utf16Le)),
    ("utf-16le.csv", Some(Encoding::Utf16)),
    ("utf-16le.csv", Some(Encoding::Utf16Le)),
    ("utf-16be.csv", Some(Encoding::Utf16)),
    ("utf-16be.csv", Some(Encoding::Utf16Be)),
    ("utf16.csv.gz", None),
    ("pandas.csv.gz", None),
    ("pandas.csv.zst", None),
    ("gzip.csv.gz", None),
    ("zstd.csv.zst", None),
    ("members.csv.gz", None),
    ("frames.csv.zst", None),
    ("libreoffice.csv", None),
    ("libreoffice.tsv", None),
    ("people.parquet", None),
    ("lz4.feather", None),
    ("zstd.feather", None),
    ("coded.arrow", None),
    ("large.arrow", None),
    ("views.arrow", None),
    ("stream.arrows", None),
    ("zstd.arrows", None),
];

/// Names of releases and the encoding of each.
const RELEASES: &[(&str, Option<Encoding>)] = &[
    ("out.csv", None),
    ("out.csv", Some(Encoding::Utf8Bom)),
    ("out.csv", Some(Encoding::Windows1252)),
    ("out.csv", Some(Encoding::Latin1)),
    ("out.csv", Some(Encoding::Utf16)),
    ("out.csv", Some(Encoding::Utf16Be)),
    ("out.csv.gz", None),
    ("out.tsv.gz", Some(Encoding::Utf16)),
    ("out.csv.zst", Some(Encoding::Windows1252)),
    ("out.arrow", None),
    ("out.arrows", None),
    ("out.parquet", None),
];

const COLUMNS: [&str; 5] = ["name", "town", "age", "weight", "illness"];

fn fixtures() -> PathBuf {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/other_tools");
    std::env::var_os("MORETTA_OTHER_TOOLS").map_or(beside, PathBuf::from)
}

fn source(path: &Path, encoding: Option<Encoding>) -> Source {
    let options = CsvOptions { encoding, ..CsvOptions::default() };
    Source::open(&path.to_string_lossy(), &options).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn options(threads: usize) -> EngineOptions {
    EngineOptions {
        threads,
        block_size: 700,
        piece_records: 13,
        shuffle_memory: 900,
        bucket_bytes: 500,
        ..EngineOptions::default()
    }
}

/// Labels for the columns name and age; the others are copied.
fn rewrite(engine: &LocalEngine, order: RecordOrder) -> Rewrite {
    let counts = engine.group_and_count(&names(&["name", "age", "town"]), &NoObserver).expect("counts");
    shares(&counts, 4, &[true, true, false], order, 7)
}

/// Writes a release and returns its bytes.
fn release(engine: &LocalEngine, rewrite: &Rewrite, target: &Target) -> Vec<u8> {
    let staged = engine.stage(rewrite, target, &NoObserver).expect("staged");
    let bytes = std::fs::read(staged.path()).expect("read");
    staged.open().expect("reads back");
    staged.publish(ReadBackProof::for_tests()).expect("published");
    bytes
}

#[test]
fn every_file_has_the_same_counts() {
    let columns = names(&COLUMNS);
    let text = std::fs::read_to_string(fixtures().join("people.csv")).expect("people.csv");
    let all: Vec<usize> = (0..COLUMNS.len()).collect();
    let expected = common::group(&parse(&text, ','), &all);
    for &(file, encoding) in FILES {
        for threads in [1, 3] {
            let engine = LocalEngine::with_options(source(&fixtures().join(file), encoding), options(threads));
            assert_eq!(engine.source().columns(), columns, "{file}");
            let counts =
                engine.group_and_count(&columns, &NoObserver).unwrap_or_else(|error| panic!("{file}: {error}"));
            assert_eq!(groups(&counts), expected, "{file} {encoding:?}");
            let sample = engine.first_records(7).expect("sample");
            assert_eq!(sample.rows, parse(&text, ',')[1..8], "{file}");
        }
    }
}

#[test]
fn every_file_has_the_same_release() {
    let folder = tempfile::tempdir().expect("folder");
    for order in [RecordOrder::Input, RecordOrder::Shuffled] {
        let plain = LocalEngine::with_options(source(&fixtures().join("people.csv"), None), options(1));
        // The rewrite of one file fits all others only if they have the same texts.
        let rewrite = rewrite(&plain, order);
        let target = |name: &str, encoding| {
            let mut target = Target::new(folder.path().join(name)).expect("target");
            (target.overwrite, target.csv.encoding, target.csv.delimiter) = (true, encoding, Some(b','));
            target
        };
        let expected = release(&plain, &rewrite, &target("out.csv", Some(Encoding::Utf8)));
        for &(file, encoding) in FILES {
            for threads in [1, 3] {
                let engine = LocalEngine::with_options(source(&fixtures().join(file), encoding), options(threads));
                let released = release(&engine, &rewrite, &target("out.csv", Some(Encoding::Utf8)));
                assert!(released == expected, "{file} {encoding:?} {order:?}");
            }
        }
    }
}

#[test]
fn every_kind_of_release_has_the_same_records() {
    let folder = tempfile::tempdir().expect("folder");
    let plain = |threads| LocalEngine::with_options(source(&fixtures().join("people.csv"), None), options(threads));
    for order in [RecordOrder::Input, RecordOrder::Shuffled] {
        let rewrite = rewrite(&plain(1), order);
        let mut expected = None;
        for &(name, encoding) in RELEASES {
            let path = folder.path().join(name);
            let mut target = Target::new(&path).expect("target");
            (target.overwrite, target.csv.encoding) = (true, encoding);
            let bytes = release(&plain(1), &rewrite, &target);
            assert!(bytes == release(&plain(3), &rewrite, &target), "{name}: threads change the file");
            let engine = LocalEngine::with_options(source(&path, encoding), options(2));
            let sample = engine.first_records(usize::MAX >> 1).expect("records").rows;
            // Parquet and Arrow may differ from CSV in the order of a shuffle.
            let mut sorted = sample.clone();
            sorted.sort_unstable();
            let expected = expected.get_or_insert_with(|| (sample.clone(), sorted.clone()));
            assert_eq!(sorted, expected.1, "{name} {encoding:?} {order:?}");
            if name.contains("csv") || order == RecordOrder::Input {
                assert_eq!(sample, expected.0, "{name} {encoding:?} {order:?}");
            }
        }
    }
    assert_eq!(files(folder.path()).iter().filter(|name| name.contains("tmp")).count(), 0);
}

/// Our own encoder and iconv write the same bytes.
#[test]
fn a_release_in_the_encoding_of_the_input_has_its_bytes() {
    let folder = tempfile::tempdir().expect("folder");
    for (file, encoding) in [
        ("people.csv", None),
        ("windows-1252.csv", Some(Encoding::Windows1252)),
        ("latin-1.csv", Some(Encoding::Latin1)),
        ("utf-16le.csv", Some(Encoding::Utf16Le)),
        ("utf-16be.csv", Some(Encoding::Utf16Be)),
        ("utf16.csv", None),
    ] {
        let engine = LocalEngine::with_options(source(&fixtures().join(file), encoding), options(2));
        let counts = engine.group_and_count(&names(&["age"]), &NoObserver).expect("counts");
        let copy = Rewrite {
            key: common::key(&counts, &[false]),
            change: moretta_core::counts::Change::Map { labels: Vec::new(), suppressed: Vec::new() },
            dropped: Vec::new(),
            renotated: Vec::new(),
            order: RecordOrder::Input,
            seed: moretta_core::seed::Seed::Number(1),
        };
        let target = Target { overwrite: true, ..Target::new(folder.path().join("out.csv")).expect("target") };
        let input = std::fs::read(fixtures().join(file)).expect("input");
        assert!(release(&engine, &copy, &target) == input, "{file}");
    }
}

#[test]
fn a_copied_stream_is_read_as_its_file() {
    let folder = tempfile::tempdir().expect("folder");
    let columns = names(&COLUMNS);
    let of = |source| {
        groups(&LocalEngine::with_options(source, options(3)).group_and_count(&columns, &NoObserver).expect("counts"))
    };
    let expected = of(source(&fixtures().join("people.csv"), None));
    for &(file, encoding) in FILES {
        let stream = std::fs::File::open(fixtures().join(file)).expect("file");
        let copy = CopiedInput::new(stream, folder.path(), &NoObserver).expect("copy");
        let options = CsvOptions { encoding, ..CsvOptions::default() };
        let opened = Source::open_copy(&copy, None, &options).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert_eq!(of(opened), expected, "{file}");
        assert!(files(folder.path()).is_empty(), "the copy has no name");
    }
}

#[test]
fn the_first_version_of_feather_is_refused() {
    let path = fixtures().join("version1.feather");
    let error = Source::open(&path.to_string_lossy(), &CsvOptions::default()).expect_err("refused").to_string();
    assert!(error.contains("it is Feather of version 1") && error.contains("to_feather"), "{error}");
}

#[test]
fn hierarchies_in_other_encodings_are_decoded() {
    let expected = std::fs::read_to_string(fixtures().join("people.csv")).expect("text");
    for (file, encoding) in [
        ("people.csv", Some(Encoding::Windows1252)),
        ("windows-1252.csv", Some(Encoding::Windows1252)),
        ("latin-1.csv", Some(Encoding::Latin1)),
        ("utf16.csv", None),
        ("utf-16be.csv", Some(Encoding::Utf16)),
    ] {
        let text = decode_text(std::fs::read(fixtures().join(file)).expect("bytes"), encoding).expect("text");
        assert_eq!(text.trim_start_matches('\u{feff}'), expected, "{file}");
    }
}
