//! A release of a table in memory is that of the same table as a file, and nothing is handed over that was not published.

use std::{path::PathBuf, sync::Arc};

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray, StringViewArray};
use moretta_core::observer::NoObserver;
use moretta_engine::{MemoryTable, TableSlot};
use moretta_flow::{
    Anonymize, Apply, Check, Destination, Earlier, ErrorKind, Input, Measure, Output, PolicySource, PolicyValue,
    RecodingSource, ReleaseOptions, Resources, Session,
};

const POLICY: &str = "version = 1\nprivacy.k = 3\nmethod.name = \"mondrian\"\n[columns]\nname.role = \"identifier\"\n\
                      age.role = \"quasi-identifier\"\ncity = { role = \"quasi-identifier\", hierarchy = \"city.csv\" }\n";
const CITIES: &str = "Rome;south;*\nBari;south;*\nTurin;north;*\n";

fn people() -> MemoryTable {
    let ages: Int64Array = (0..60).map(|at| Some(20 + at * 7 % 31)).collect();
    let names: StringArray = (0..60).map(|at| Some(format!("p{at}"))).collect();
    let cities: StringViewArray = (0..60).map(|at| Some(["Rome", "Bari", "Turin"][at % 3])).collect();
    let columns: [(&str, ArrayRef); 3] =
        [("name", Arc::new(names)), ("age", Arc::new(ages)), ("city", Arc::new(cities))];
    let batch = RecordBatch::try_from_iter(columns).expect("a batch");
    MemoryTable::new("people", &batch.schema(), vec![batch.slice(0, 40), batch.slice(40, 20)]).expect("a table")
}

fn policy(text: &str) -> PolicySource {
    let tree = moretta_core::hierarchy::file::parse(CITIES).expect("a hierarchy");
    let hierarchies = [("city".to_owned(), tree)].into_iter().collect();
    PolicySource::Value(PolicyValue {
        name: "p.toml".into(),
        text: text.to_owned(),
        folder: PathBuf::new(),
        hierarchies,
    })
}

fn request(release: Destination, text: &str) -> Anonymize {
    Anonymize {
        input: people().into(),
        policy: policy(text),
        output: Output { release, reports: Vec::new(), overwrite: false, format: None },
        recoding: None,
        earlier: Earlier::default(),
        options: ReleaseOptions { seed: Some(1.into()), recoding: true, ..ReleaseOptions::default() },
    }
}

#[test]
fn a_table_has_the_release_of_a_file() {
    let session = Session::new(Resources::default(), &NoObserver).expect("a session");
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let slot = TableSlot::default();
    let made = session.anonymize_with_recoding(&request(Destination::Memory(slot.clone()), POLICY)).expect("a release");
    let table = slot.take().expect("a table");
    session.anonymize(&request(path("out.csv").into(), POLICY)).expect("a file");
    session.write_release(&table, &made.report, &path("written.csv"), false).expect("written");
    let written = std::fs::read_to_string(path("written.csv")).expect("a file");
    assert_eq!(written, std::fs::read_to_string(path("out.csv")).expect("a file"));
    assert!(written.starts_with("age,city\n") && written.lines().count() == 61);

    let released: Input = table.clone().into();
    assert!(session.check(&Check { released: released.clone(), policy: policy(POLICY) }).expect("a verdict").holds());
    let measured = session.measure(&Measure { original: people().into(), released, policy: policy(POLICY) });
    assert_eq!(measured.expect("measures").measures, made.report.measures);

    let applied = TableSlot::default();
    let output =
        Output { release: Destination::Memory(applied.clone()), reports: Vec::new(), overwrite: false, format: None };
    let recoding = RecodingSource::Value(made.recoding.expect("a recoding").to_json());
    let (seed, time_limit) = (Some(1.into()), None);
    let request =
        Apply { input: people().into(), recoding, output, seed, keep_order: false, compare: false, time_limit };
    session.apply(&request).expect("applied");
    assert_eq!(applied.take().expect("a table").records(), 60);
}

#[test]
fn nothing_is_handed_over_after_an_error() {
    let session = Session::new(Resources::default(), &NoObserver).expect("a session");
    let slot = TableSlot::default();
    let refused = request(Destination::Memory(slot.clone()), &POLICY.replace("k = 3", "k = 61"));
    let error = session.anonymize(&refused).expect_err("an error");
    assert_eq!((error.kind, slot.take().is_none()), (ErrorKind::Unsatisfied, true));
    let missing = request(Destination::Memory(slot.clone()), &POLICY.replace("age.role", "agee.role"));
    let error = session.anonymize(&missing).expect_err("an error");
    assert_eq!((error.kind, slot.take().is_none()), (ErrorKind::Input, true), "{error}");
    let wrong = request(Destination::Memory(slot.clone()), &POLICY.replace("mondrian", "mondrain"));
    let error = session.anonymize(&wrong).expect_err("an error");
    assert_eq!((error.kind, error.place.and_then(|place| place.line)), (ErrorKind::Policy, Some(3)));
}
