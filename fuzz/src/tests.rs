//! Tests of the fuzzer: it repeats cases, and it notices what it is there to notice.

use std::{cell::Cell, fs, path::Path};

use moretta_flow::ErrorKind;

use crate::{
    case::{Case, Outcome, record_panics, usual},
    csv::{parse, parse_any, print},
    job::{Job, Notes, REPORTS, listing},
    judge::Persons,
    kinds::{KINDS, Kind, Source, anonymize},
    mutate::{Format, MAX_BYTES, mutate},
    release,
    rng::Rng,
    stock::Stock,
    worker::{Work, run_cases},
};

/// Names and contents of the files of a folder.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let read = |name: &std::path::PathBuf| (name.display().to_string(), fs::read(folder.join(name)).expect("a file"));
    listing(folder).iter().map(read).collect()
}

fn outcome(kind: &Kind, seed: u64, folder: &Path) -> Outcome {
    Case { kind, seed, folder, program: None, max_memory_kb: u64::MAX }.run(&mut usual)
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

fn work(seed: u64, folder: &Path) -> Work {
    Work { seconds: 0, seed, kinds: Vec::new(), folder: folder.to_owned(), program: None, guided: false }
}

fn named((kind, seed): (&'static Kind, u64)) -> (&'static str, u64) {
    (kind.name, seed)
}

#[test]
fn a_seed_determines_all_cases_of_a_run() {
    let round: usize = KINDS.iter().map(|kind| kind.share as usize).sum();
    let work = |seed| work(seed, Path::new(""));
    let first: Vec<_> = work(5).cases().map(named).take(3 * round).collect();
    assert!(first.iter().zip(5..).all(|((_, seed), expected)| *seed == expected));
    // The worker after one that died after 17 cases goes on with the same sequence.
    assert_eq!(first[17..], work(5 + 17).cases().map(named).take(3 * round - 17).collect::<Vec<_>>());
    for kind in KINDS {
        let number = first[..round].iter().filter(|(name, _)| *name == kind.name).count();
        assert_eq!(number, kind.share as usize, "{}", kind.name);
        // Also a short run has cases of all kinds.
        let longest = 2 * round.div_ceil(kind.share as usize);
        assert!(
            first.windows(longest).all(|window| window.iter().any(|(name, _)| *name == kind.name)),
            "{}",
            kind.name
        );
    }
    let some = Work { kinds: vec!["csv".to_owned()], ..work(7) };
    assert_eq!(some.cases().map(named).take(2).collect::<Vec<_>>(), [("csv", 7), ("csv", 8)]);
}

#[test]
fn guided_runs_have_no_cases_without_a_mutated_file() {
    let guided = |kinds: &[&str]| {
        let kinds = kinds.iter().map(|kind| (*kind).to_owned()).collect();
        Work { kinds, guided: true, ..work(1, Path::new("")) }.cases()
    };
    assert!(guided(&[]).take(200).all(|(kind, _)| matches!(kind.source, Source::Mutated(_))));
    assert!(guided(&["tables"]).next().is_none());
}

#[test]
fn a_worker_ends_after_a_case_with_too_much_memory() {
    let folder = tempfile::tempdir().expect("folder");
    let work = Work { kinds: vec!["csv".to_owned()], ..work(1, folder.path()) };
    let number = |max_memory_kb| {
        let asked = Cell::new(0);
        let three = || asked.replace(asked.get() + 1) < 3;
        run_cases(&work, None, max_memory_kb, three)
    };
    assert_eq!(number(u64::MAX), 3);
    assert_eq!(number(0), 1);
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

/// A stock that the program refuses would test the refusal only, whatever is mutated.
#[test]
fn most_stocks_can_be_released() {
    const STOCKS: u64 = 60;
    let mut released = 0;
    for seed in 0..STOCKS {
        let folder = tempfile::tempdir().expect("folder");
        let mut rng = Rng::new("stock", seed);
        Stock::persons(&mut rng).write(folder.path(), ',').expect("written");
        match anonymize(&mut rng, "table.csv", "out.csv").run(folder.path(), &Notes::default()) {
            Ok(_) => released += 1,
            // A few small random tables cannot satisfy their policy, or lack the guarded value.
            Err(error) => assert!(
                error.kind == ErrorKind::Unsatisfied || error.message.contains("does not occur"),
                "stock {seed}: {}",
                error.message
            ),
        }
    }
    assert!(released * 10 >= STOCKS * 8, "{released} of {STOCKS}");
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

#[test]
fn mutated_files_are_bounded() {
    let mut rng = Rng::new("bound", 1);
    let row = |at: usize| format!("{at},{}\n", "x".repeat(1000));
    let files = [
        (Format::Json, format!("[{}]", vec!["\"cell\""; 20_000].join(",")).into_bytes()),
        (Format::Csv, (0..300).map(row).collect::<String>().into_bytes()),
    ];
    for (format, file) in files {
        let mut largest = 0;
        for _ in 0..300 {
            let mut data = file.clone();
            mutate(&mut rng, format, &mut data, &file);
            largest = largest.max(data.len());
        }
        assert!(largest <= MAX_BYTES, "{format:?}: {largest} bytes");
        assert!(largest > 2 * file.len(), "{format:?}: {largest} bytes; files should grow");
    }
}

/// A table of 24 persons, its release under k = 4 with recoding and reports, and `out.csv`, which `apply` made of it.
fn applied(folder: &Path) -> Job {
    let rows: String = (0..24).map(|at| format!("Nqx{at:03},{},city{:03},{}\n", 20 + at, at % 3, at % 2)).collect();
    fs::write(folder.join("table.csv"), format!("name,age,city,ill\n{rows}")).expect("a file");
    let roles =
        [("name", "identifier"), ("age", "quasi-identifier"), ("city", "quasi-identifier"), ("ill", "sensitive")];
    let columns: String = roles.map(|(name, role)| format!("[columns.{name}]\nrole = \"{role}\"\n")).concat();
    let privacy = "[privacy]\nk = 4\n[[privacy.l-diversity]]\ncolumn = \"ill\"\nl = 2\n";
    fs::write(folder.join("policy.toml"), format!("version = 1\n{privacy}{columns}")).expect("a file");
    let (input, keep_order) = ("table.csv", false);
    let made =
        Job::Anonymize { input, output: "first.csv", seed: 1, threads: 1, keep_order, extras: true, earlier: None };
    made.run(folder, &Notes::default()).expect("a release");
    assert_eq!(release::judge(&made, folder), Ok(()));
    fs::remove_file(folder.join("policy.toml")).expect("the policy");
    REPORTS.iter().for_each(|name| fs::remove_file(folder.join(name)).expect("a report"));
    let apply = Job::Apply { input, output: "out.csv", keep_order, extras: true };
    apply.run(folder, &Notes::default()).expect("a release");
    apply
}

#[test]
fn a_release_of_apply_is_judged_by_the_policy_inside_the_recoding() {
    let folder = tempfile::tempdir().expect("folder");
    let folder = folder.path();
    let apply = applied(folder);
    assert_eq!(release::judge(&apply, folder), Ok(()));
    let released = fs::read_to_string(folder.join("out.csv")).expect("the release");
    let signature = |text: String| {
        fs::write(folder.join("out.csv"), text).expect("a file");
        release::judge(&apply, folder).expect_err("a violation").lines().next().map(str::to_owned).unwrap_or_default()
    };
    assert_eq!(signature(format!("{released}99,city000,1\n")), "release has a group below k");
    let with_name: String = released.lines().map(|line| format!("{line},name\n")).collect();
    assert_eq!(signature(with_name), "identifier released");
    assert_eq!(
        signature("age,city,ill\n\"[20, 43]\",city999,x,y\n".to_owned()),
        "release is not a CSV table to RFC 4180 readers"
    );
    let one_illness = "age,city,ill\n".to_owned() + &"\"[20, 43]\",*,1\n".repeat(24);
    assert_eq!(signature(one_illness), "check finds that a release violates its policy");
}

#[test]
fn a_page_that_names_a_rare_cell_is_noticed() {
    let folder = tempfile::tempdir().expect("folder");
    let folder = folder.path();
    let apply = applied(folder);
    let page = fs::read_to_string(folder.join(REPORTS[1])).expect("the page");
    assert!(!page.contains("city001"), "8 of 24 records");
    fs::write(folder.join(REPORTS[1]), page.replace("</main>", "<p>city001</p></main>")).expect("a file");
    let violation = release::judge(&apply, folder).expect_err("a violation");
    assert_eq!(violation, "page names a cell of fewer than max(k, 10) records\n`city001` in city");
}

#[test]
fn cells_are_recognized_in_a_page() {
    let page = "<head>Nqx001</head><body class=\"Nqx002\">a&lt;b &amp; Nqx003<b>Nqx\u{a0}004</b></body>";
    let shown = release::shown_text(page);
    assert!(release::names(&shown, "Nqx003") && release::names(&shown, "a<b &") && release::names(&shown, " Nqx 004"));
    assert!(!release::names(&shown, "Nqx001") && !release::names(&shown, "Nqx002"), "not shown");
    for (text, named) in [
        ("the value 12345.", true),
        ("[12345, 12399]", false),
        ("[12000, 12345)", false),
        ("[12345]", true),
        ("0.12345", false),
        ("12345.5 %", false),
        ("12345–12399", false),
        ("12000–12345", false),
        ("up to 12345", false),
        ("12345 or more", false),
        ("12345 records", true),
    ] {
        assert_eq!(release::names(text, "12345"), named, "{text}");
    }
    let cells = [
        ("1234567", 9),
        ("1234567.0", 1),
        ("flu type b", 9),
        ("Flu-Type B", 9),
        ("1234568", 9),
        ("abc", 1),
        ("1.125", 1),
    ];
    assert_eq!(release::rare(&cells, 10), ["1234568"]);
}
