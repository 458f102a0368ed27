//! The files of a release get their names together: nothing is published if one of the names is taken.

use std::{fs, path::Path};

use moretta_core::observer::{Observer, Stage};
use moretta_flow::{Anonymize, Earlier, ErrorKind, Output, ReleaseOptions, Resources, Session};

/// Acts when the written release is read back: before the files get their names.
struct DuringReadBack<F>(F);

impl<F: Fn() + Sync> Observer for DuringReadBack<F> {
    fn stage(&self, stage: Stage) {
        if stage == Stage::Checking {
            self.0();
        }
    }
}

fn request(folder: &Path, overwrite: bool) -> Anonymize {
    fs::write(folder.join("people.csv"), "age\n30\n31\n32\n33\n").expect("people");
    let policy = "version = 1\nprivacy.k = 2\nmethod.name = \"mondrian\"\n[columns.age]\nrole = \"quasi-identifier\"\n";
    fs::write(folder.join("policy.toml"), policy).expect("policy");
    let reports = vec![folder.join("report.json"), folder.join("report.html")];
    Anonymize {
        input: folder.join("people.csv").display().to_string().into(),
        policy: folder.join("policy.toml").into(),
        output: Output { release: folder.join("out.csv").into(), reports, overwrite, format: None },
        recoding: Some(folder.join("recoding.json")),
        earlier: Earlier::default(),
        options: ReleaseOptions::default(),
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_file_that_appears_meanwhile_stops_the_publication_of_all() {
    for appearing in ["out.csv", "report.json", "report.html", "recoding.json"] {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join(appearing);
        let observer = DuringReadBack(|| fs::write(&path, "of another program").expect("written"));
        let session = Session::new(Resources::default(), &observer).expect("a session");
        let error = session.anonymize(&request(folder.path(), false)).expect_err("a taken name");
        assert_eq!(error.kind, ErrorKind::Usage);
        assert_eq!(error.message, format!("{} exists already: give --overwrite to replace it", path.display()));
        let mut expected = vec![appearing, "people.csv", "policy.toml"];
        expected.sort_unstable();
        assert_eq!(names(folder.path()), expected);
        assert_eq!(fs::read_to_string(&path).expect("text"), "of another program");
    }
}

#[test]
fn an_error_names_the_files_that_are_published() {
    let folder = tempfile::tempdir().expect("folder");
    let release = folder.path().join("out.csv");
    // A folder cannot be overwritten by a file, which only the rename finds out.
    let observer = DuringReadBack(|| fs::create_dir(&release).expect("a folder"));
    let session = Session::new(Resources::default(), &observer).expect("a session");
    let error = session.anonymize(&request(folder.path(), true)).expect_err("a folder as target");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let [recoding, json, html] = ["recoding.json", "report.json", "report.html"].map(path);
    assert!(error.message.starts_with(&format!("cannot write {}: ", release.display())), "{}", error.message);
    assert!(error.message.ends_with(&format!("; already published: {recoding}, {json}, {html}")), "{}", error.message);
    let all = ["out.csv", "people.csv", "policy.toml", "recoding.json", "report.html", "report.json"];
    assert_eq!(names(folder.path()), all);

    let folder = tempfile::tempdir().expect("folder");
    let observer = DuringReadBack(|| fs::create_dir(folder.path().join("report.html")).expect("a folder"));
    let session = Session::new(Resources::default(), &observer).expect("a session");
    // The temporary file of a report is created after the read-back, so that its target is refused before any rename.
    let error = session.anonymize(&request(folder.path(), true)).expect_err("a folder as target");
    assert!(error.message.ends_with("report.html: it is a folder"), "{}", error.message);
    assert_eq!(names(folder.path()), ["people.csv", "policy.toml", "report.html"]);
}
