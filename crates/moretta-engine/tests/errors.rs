//! Errors of both passes and their messages.

mod common;

use std::{
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
};

use moretta_core::{
    counts::{Change, RecordOrder, Rewrite, Share},
    engine::{ReadBackProof, Staged},
    observer::{NoObserver, Observer, Stop},
    seed::Seed,
};
use moretta_engine::{CsvOptions, EngineError, EngineOptions, LocalEngine, PROCESS_BYTES, Source, Target};

use common::*;

fn message(text: &[u8], options: &EngineOptions) -> String {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("people.csv");
    std::fs::write(&path, text).expect("write");
    let count = || {
        let source = Source::open(&path.to_string_lossy(), &CsvOptions::default())?;
        let columns = source.columns()[..1].to_vec();
        LocalEngine::with_options(source, options.clone()).group_and_count(&columns, &NoObserver)
    };
    let error = count().expect_err("an error").to_string();
    error.replace(&format!("{}/", folder.path().display()), "")
}

#[test]
fn records_that_are_wrong() {
    let table: [(&[u8], &str); 14] = [
        (b"", "people.csv is empty: it should begin with a header that names the columns"),
        (b"a,b\n", "people.csv has a header but no records"),
        (b"a,b\n\r\n\n", "people.csv has a header but no records"),
        (b"a,b\n1,2\n3\n4\n", "people.csv, record 2 (line 3): 1 field where the header has 2"),
        (
            b"a,b\n1,2\n3,4,x\n",
            "people.csv, record 2 (line 3): 3 fields where the header has 2: if its numbers have a decimal comma, the delimiter must be another character, such as `;`, or the numbers must be quoted",
        ),
        (b"a,b\n1,2\nx,y,z\n", "people.csv, record 2 (line 3): 3 fields where the header has 2"),
        (
            b"a,b\n1,2\n# checked\n3,4\n",
            "people.csv, record 2 (line 3): a line that begins with `#`, like a comment: remove comment lines, or quote the field",
        ),
        (b"a,b\n\"1\n\n\",2\n\n3,4\n", "people.csv, record 2 (line 5): a blank line where 2 fields should be"),
        (
            b"a,b\n1,2\n3,5\" nail\n1\n",
            "people.csv, record 2 (line 3): a quote inside field 2, which does not begin with one: quote the whole field and double the quote inside it",
        ),
        (
            b"a,b\n\"1\"x,2\n",
            "people.csv, record 1 (line 2): text after the closing quote of field 1: a quote inside a quoted field has to be doubled",
        ),
        (b"a,b\n1,2\n3,\"4\n5,6\n", "people.csv, record 2 (line 3): the quote that opens field 2 is never closed"),
        (
            b"a,b\n1,2\n3,\xFF\n4\n",
            "people.csv, record 2 (line 3): byte 11 of the file (0xFF) is not UTF-8: if the file has another encoding, set it in [input], for example encoding = \"windows-1252\"; otherwise save it as UTF-8",
        ),
        (b"a,b\n1,2\n3\n4,\xFF\n", "people.csv, record 2 (line 3): 1 field where the header has 2"),
        (b"\xFF\xFEa\0,\0", "people.csv has a header but no records"),
    ];
    for (text, expected) in table {
        for (threads, block_size) in [(1, 1 << 20), (1, 1), (2, 3), (4, 5)] {
            let options = EngineOptions { threads, block_size, ..EngineOptions::default() };
            assert_eq!(message(text, &options), expected);
        }
    }
}

#[test]
fn the_earliest_of_many_wrong_records() {
    let mut text = b"a,b\n".to_vec();
    (0..2_000).for_each(|_| text.extend_from_slice(b"1,2\n"));
    (0..200).for_each(|_| text.extend_from_slice(b"1\n1,2\n"));
    for threads in 1..5 {
        let options = EngineOptions { threads, block_size: 64, ..EngineOptions::default() };
        assert_eq!(message(&text, &options), "people.csv, record 2001 (line 2002): 1 field where the header has 2");
    }
}

fn open_message(pattern: &Path) -> String {
    Source::open(&pattern.to_string_lossy(), &CsvOptions::default()).map(|_| ()).expect_err("an error").to_string()
}

#[test]
fn sources_of_several_files() {
    let folder = tempfile::tempdir().expect("folder");
    let path = |name: &str| folder.path().join(name);
    assert!(open_message(folder.path()).contains("no data file found"));
    assert!(open_message(&path("none.csv")).contains("cannot open"));
    assert!(open_message(&path("*.csv")).contains("no data file found"));
    std::fs::write(path("p2.csv"), "a;b\n3;4\n1;2").expect("write");
    std::fs::write(path("p1.csv"), "a;b\r\n1;2\r\n").expect("write");
    std::fs::write(path("p3.csv"), "a;b\n").expect("write");
    std::fs::write(path(".hidden.csv"), "x\n").expect("write");
    std::fs::write(path("README.md"), "x\n").expect("write");
    for name in ["", "p*.csv", "p?.csv"] {
        let engine = engine(&path(name), &EngineOptions { threads: 2, block_size: 4, ..EngineOptions::default() });
        assert_eq!(engine.source().paths().count(), 3);
        let counts = engine.group_and_count(&names(&["b", "a"]), &NoObserver).expect("counts");
        let expected = [(names(&["2", "1"]), (2, 1)), (names(&["4", "3"]), (1, 2))];
        assert_eq!(groups(&counts), expected.into_iter().collect());
    }
    std::fs::write(path("p4.csv"), "a;c\n").expect("write");
    let message = open_message(folder.path());
    assert!(
        message.contains("p4.csv: its columns differ from those of")
            && message.ends_with(": column 2 has another name")
    );
    std::fs::write(path("p4.parquet"), "").expect("write");
    std::fs::remove_file(path("p4.csv")).expect("remove");
    assert!(open_message(folder.path()).contains("p4.parquet: all files of one input should have one format"));
    assert!(open_message(&path("p4.parquet")).contains("is empty"));
    let error = engine(&path("p1.csv"), &EngineOptions::default())
        .group_and_count(&names(&["z"]), &NoObserver)
        .expect_err("error");
    let expected = "p1.csv: there is no column `z`; check its name and that the file has a header";
    assert!(error.to_string().ends_with(expected), "{error}");
    let error = engine(&path("p1.csv"), &EngineOptions::default())
        .group_and_count(&names(&["A "]), &NoObserver)
        .expect_err("error");
    assert!(error.to_string().ends_with("there is no column `A `; did you mean `a`?"), "{error}");
}

#[test]
fn memory_is_bounded() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("t.csv");
    let rows: String = (0..50_000).map(|at| format!("{at},{}\n", at % 10)).collect();
    std::fs::write(&path, format!("id,digit\n{rows}")).expect("write");
    let limit = PROCESS_BYTES + 1_000_000;
    let options = EngineOptions { threads: 2, memory: Some(limit), block_size: 1 << 14, ..EngineOptions::default() };
    let column_names = names(&["digit", "id"]);
    let EngineError::OutOfMemory(account) =
        engine(&path, &options).group_and_count(&column_names, &NoObserver).expect_err("error")
    else {
        panic!("another error");
    };
    assert_eq!((account.column.as_str(), account.limit), ("id", limit));
    assert!(account.read > 0.01 && account.read < 0.9 && account.needed > 500_000, "{account:?}");
    let options = EngineOptions { memory: Some(account.needed), ..options };
    assert_eq!(engine(&path, &options).group_and_count(&column_names, &NoObserver).expect("counts").rows(), 50_000);
}

/// Groups by four columns of unique values do not fit together, but in turn.
#[test]
fn sets_that_do_not_fit_together_are_counted_in_several_passes() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("t.csv");
    let rows: String = (0..50_000).map(|at| format!("{},{at},{},{at}x,y{at}\n", at % 10, at * 7)).collect();
    std::fs::write(&path, format!("digit,a,b,c,d\n{rows}")).expect("write");
    let sets: Vec<Vec<String>> =
        [&["a"][..], &["b", "digit"], &["digit"], &["c"], &["d"]].into_iter().map(names).collect();
    let counted = |options: &EngineOptions, columns: &[&str], sets: &[Vec<String>]| {
        engine(&path, options).group_with_sizes(&names(columns), sets, &NoObserver)
    };
    let options = EngineOptions { threads: 2, block_size: 1 << 14, ..EngineOptions::default() };
    let (_, expected) = counted(&options, &["digit"], &sets).expect("counts");
    let bounded = EngineOptions { memory: Some(PROCESS_BYTES + 6_000_000), ..options.clone() };
    let (counts, sizes) = counted(&bounded, &["digit"], &sets).expect("counts in several passes");
    assert_eq!((counts.rows(), sizes), (10, expected.clone()));
    assert_eq!(counted(&bounded, &[], &sets).expect("counts").1, expected);
    // Neither a column nor a set that does not fit alone can be counted.
    let bounded = EngineOptions { memory: Some(PROCESS_BYTES + 1_000_000), ..options };
    for (columns, sets) in [(&["a"][..], &sets[2..3]), (&["digit"], &sets[..1])] {
        assert!(matches!(counted(&bounded, columns, sets), Err(EngineError::OutOfMemory(_))), "{columns:?}");
    }
}

struct StopAfter(AtomicUsize);

impl Observer for StopAfter {
    fn stop(&self) -> Option<Stop> {
        let left = self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        left.is_err().then_some(Stop::Cancelled)
    }
}

fn copy(order: RecordOrder) -> Rewrite {
    Rewrite {
        key: vec![],
        change: Change::Map { labels: vec![], suppressed: vec![] },
        dropped: vec![],
        renotated: Vec::new(),
        order,
        seed: Seed::Number(1),
    }
}

#[test]
fn cancelling_leaves_nothing() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("t.csv");
    std::fs::write(&path, format!("a,b\n{}", "1,2\n3,4\n".repeat(500))).expect("write");
    for order in [RecordOrder::Input, RecordOrder::Shuffled] {
        for format in ["csv", "parquet"] {
            let target = Target::new(folder.path().join(format!("o.{format}"))).expect("target");
            for blocks in [0, 1, 5, 40, 62, 64] {
                let options = EngineOptions {
                    threads: 3,
                    block_size: 64,
                    shuffle_memory: 0,
                    bucket_bytes: 500,
                    ..EngineOptions::default()
                };
                let engine = engine(&path, &options);
                let stop = || StopAfter(AtomicUsize::new(blocks));
                assert!(matches!(engine.group_and_count(&names(&["a"]), &stop()), Err(EngineError::Cancelled)));
                let result = engine.stage(&copy(order), &target, &stop());
                assert!(matches!(result, Err(EngineError::Cancelled)), "{result:?}");
                assert_eq!(files(folder.path()), ["t.csv"]);
            }
        }
    }
}

#[test]
fn targets() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("t.csv");
    std::fs::write(&path, "a\n1\n\n").expect("write");
    let engine = engine(&path, &EngineOptions::default());
    assert!(Target::new("out.xls").is_err());
    let missing = Target::new(folder.path().join("no/o.csv")).expect("target");
    let error = engine.stage(&copy(RecordOrder::Input), &missing, &NoObserver).expect_err("error").to_string();
    assert!(error.contains("there is no folder"), "{error}");
    let target = Target::new(folder.path().join("o.csv")).expect("target");
    let replaced = Target { overwrite: true, ..target.clone() };
    let write = |target| engine.stage(&copy(RecordOrder::Input), target, &NoObserver).expect("written");
    let publish = |target| write(target).publish(ReadBackProof::for_tests());
    drop(write(&target));
    assert_eq!(files(folder.path()), ["t.csv"]);
    publish(&target).expect("published");
    assert_eq!(std::fs::read_to_string(&target.path).expect("read"), "a\n1\n\"\"\n");
    let error = publish(&target).expect_err("error").to_string();
    assert!(error.ends_with("exists already: give --overwrite to replace it"), "{error}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| std::fs::metadata(path).expect("file").permissions().mode() & 0o777;
        assert_eq!(mode(&target.path), mode(&path));
        assert_eq!(mode(write(&target).path()), 0o600);
        std::fs::set_permissions(&target.path, std::fs::Permissions::from_mode(0o640)).expect("mode");
        publish(&replaced).expect("published");
        assert_eq!(mode(&target.path), 0o640);
    }
    assert_eq!(files(folder.path()), ["o.csv", "t.csv"]);
}

#[test]
fn an_input_that_changed() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("t.csv");
    let target = Target::new(folder.path().join("o.csv")).expect("target");
    let options = EngineOptions { threads: 2, block_size: 8, ..EngineOptions::default() };
    std::fs::write(&path, "a,b\n1,x\n1,x\n2,y\n1,x\n").expect("write");
    let before = engine(&path, &options);
    let counts = before.group_and_count(&names(&["a", "b"]), &NoObserver).expect("counts");
    let change = shares(&counts, 2, &[true, true], RecordOrder::Shuffled, 1);
    for text in [
        "a,b\n1,x\n1,x\n2,y\n",
        "a,b\n1,x\n1,x\n2,y\n1,x\n1,x\n",
        "a,b\n1,x\n1,x\n2,y\n2,y\n",
        "a,b\n1,x\n1,x\n2,y\n1,y\n",
        "a,b\n1,x\n1,x\n2,y\n3,x\n",
    ] {
        std::fs::write(&path, text).expect("write");
        for order in [RecordOrder::Input, RecordOrder::Shuffled] {
            let change = Rewrite { order, ..change.clone() };
            let result = engine(&path, &options).stage(&change, &target, &NoObserver);
            assert!(matches!(result, Err(EngineError::InputChanged { .. })), "{text} {result:?}");
            assert_eq!(files(folder.path()), ["t.csv"]);
        }
    }
    assert!(matches!(before.stage(&change, &target, &NoObserver), Err(EngineError::InputChanged { .. })));
}

#[test]
fn rewrites_that_do_not_fit() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("t.csv");
    let target = Target::new(folder.path().join("o.csv")).expect("target");
    std::fs::write(&path, "a,b\n1,x\n1,x\n2,y\n").expect("write");
    let engine = engine(&path, &EngineOptions::default());
    let counts = engine.group_and_count(&names(&["a", "b"]), &NoObserver).expect("counts");
    let good = shares(&counts, 2, &[true, true], RecordOrder::Input, 1);
    type Spoil = fn(&mut Rewrite);
    let spoils: [Spoil; 9] = [
        |rewrite| rewrite.dropped = names(&["a", "b"]),
        |rewrite| rewrite.key[0].rewritten = false,
        |rewrite| rewrite.key[0].values[1] = rewrite.key[0].values[0].clone(),
        |rewrite| {
            if let Change::Shares { rows, .. } = &mut rewrite.change {
                rows[0] = 9
            }
        },
        |rewrite| {
            if let Change::Shares { rows, .. } = &mut rewrite.change {
                rows.pop().map_or((), drop)
            }
        },
        |rewrite| {
            if let Change::Shares { shares, .. } = &mut rewrite.change {
                shares.push(Share { group: 0, records: 1 })
            }
        },
        |rewrite| {
            if let Change::Shares { shares, .. } = &mut rewrite.change {
                shares[0].group = 7
            }
        },
        |rewrite| {
            if let Change::Shares { offsets, .. } = &mut rewrite.change {
                offsets[1] = 9
            }
        },
        |rewrite| rewrite.change = Change::Map { labels: vec![vec![]; 2], suppressed: vec![] },
    ];
    engine.stage(&good, &target, &NoObserver).expect("the good one");
    for (at, spoil) in spoils.iter().enumerate() {
        let mut bad = good.clone();
        spoil(&mut bad);
        let result = engine.stage(&bad, &target, &NoObserver);
        assert!(matches!(result, Err(EngineError::BadRewrite { .. })), "{at} {result:?}");
    }
    let bad = Rewrite { dropped: names(&["zip"]), ..good };
    assert!(matches!(engine.stage(&bad, &target, &NoObserver), Err(EngineError::UnknownColumn { .. })));
}
