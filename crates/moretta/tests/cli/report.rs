//! The report for the signer: its origin, and whether it belongs to a file.

use serde_json::Value;
use std::process::Command;

use crate::{folder::Folder, people};

/// A folder with a release and both reports.
fn folder() -> Folder {
    let folder = people::folder(1_000);
    let run = folder.anonymize(&["--seed", "1", "--report", "report.html", "--report", "report.json"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    folder
}

/// SHA-256 of a file by another program; `None` if there is none.
fn sha256sum(folder: &Folder, name: &str) -> Option<String> {
    let output = Command::new("sha256sum").arg(folder.path(name)).output().ok()?;
    String::from_utf8(output.stdout).ok()?.split(' ').next().map(str::to_owned)
}

#[test]
fn a_report_names_the_files_it_was_made_from() {
    let folder = folder();
    let report: Value = serde_json::from_str(&folder.read("report.json")).unwrap();
    let page = folder.read("report.html");
    let origin = &report["provenance"];
    let created = origin["created"].as_str().unwrap();
    assert!(created.ends_with(" UTC") && created.len() == "2026-11-18 20:15 UTC".len(), "{created}");
    assert_eq!(origin["program"], concat!("moretta ", env!("CARGO_PKG_VERSION")));
    let files: Vec<(&str, &str)> = ["input", "policy"]
        .iter()
        .flat_map(|kind| origin[kind].as_array().unwrap())
        .map(|file| (file["file"].as_str().unwrap(), file["sha256"].as_str().unwrap()))
        .collect();
    let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
    let hierarchies = ["sex.csv", "postcode.csv", "education.csv", "occupation.csv", "marital-status.csv"];
    assert_eq!(names, [&["people.csv", "policy.toml"][..], &hierarchies].concat());
    for (name, sha256) in files {
        let path = if hierarchies.contains(&name) { format!("hierarchies/{name}") } else { name.to_owned() };
        if let Some(expected) = sha256sum(&folder, &path) {
            assert_eq!(sha256, expected, "{name}");
        }
        assert!(page.contains(sha256), "{name}");
    }
    for part in [created, "so that an attacker who finds the group of a person does not learn the diagnosis."] {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("CONFIRM"), "nothing is unconfirmed");
}

#[test]
fn unconfirmed_guesses_are_on_the_page() {
    let folder = people::folder(1_000);
    folder.edit("policy.toml", "k = 10", "k = 10 # CONFIRM\n# CONFIRM: this too");
    assert_eq!(folder.anonymize(&["--report", "report.html", "--report", "report.json"]).code, 0);
    let page = folder.read("report.html");
    assert!(page.contains("2\u{a0}lines are still marked CONFIRM"), "{page}");
    let report: Value = serde_json::from_str(&folder.read("report.json")).unwrap();
    assert_eq!(report["provenance"]["unconfirmed"], 2);
}

#[test]
fn a_report_belongs_to_one_file() {
    let folder = folder();
    folder
        .write("other.csv", folder.read("out.csv") + "\n")
        .write("note.txt", "no report")
        .write("note.html", "<p>none</p>");
    folder.write("short.json", r#"{"release": {"sha256": "abc"}}"#);
    for report in ["report.html", "report.json"] {
        let said = folder.ok(&["report", "verify", report, "out.csv"]);
        assert!(said.contains(&format!("ok     {report} is about out.csv")), "{said}");
        let other = folder.run(&["report", "verify", report, "other.csv"]);
        assert_eq!(other.code, 1, "{}", other.stderr);
        assert!(other.stderr.contains(&format!("{report} is about another file than other.csv")), "{}", other.stderr);
        let json = folder.run(&["report", "verify", report, "other.csv", "--json"]);
        let json: Value = serde_json::from_str(&json.stdout).unwrap();
        assert_eq!(json["matches"], false);
        assert_ne!(json["report_sha256"], json["release_sha256"]);
    }
    for (report, released) in [
        ("note.txt", "out.csv"),
        ("note.html", "out.csv"),
        ("short.json", "out.csv"),
        ("absent.html", "out.csv"),
        ("report.html", "absent.csv"),
    ] {
        let run = folder.run(&["report", "verify", report, released]);
        assert_eq!(run.code, 2, "{report} {released}: {}", run.stderr);
        assert!(run.stdout.is_empty() && run.stderr.starts_with("error: "), "{}", run.stderr);
    }
}

/// The report of an applied recoding names the recoding in place of a policy.
#[test]
fn an_applied_recoding_is_named() {
    let folder = people::folder(1_000);
    assert_eq!(folder.anonymize(&["--recoding", "recoding.json"]).code, 0);
    folder.ok(&["apply", "people.csv", "--recoding", "recoding.json", "-o", "new.csv", "--report", "new.json"]);
    let report: Value = serde_json::from_str(&folder.read("new.json")).unwrap();
    let policy = report["provenance"]["policy"].as_array().unwrap();
    assert_eq!(policy.len(), 1);
    assert_eq!(policy[0]["file"], "recoding.json");
    folder.ok(&["report", "verify", "new.json", "new.csv"]);
}
