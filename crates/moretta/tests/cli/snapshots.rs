//! Snapshots of the output of commands. Run `cargo insta review` after an intended change.

use crate::{folder::Folder, people};

/// Masks times and seeds, which differ between runs.
fn steady(text: &str) -> String {
    let steady =
        |line: &str| if line.trim_start().starts_with("time") { "  time   …".to_owned() } else { line.to_owned() };
    text.lines().map(|line| steady(line) + "\n").collect()
}

#[test]
fn help() {
    let folder = Folder::empty();
    insta::assert_snapshot!("help", folder.ok(&["--help"]));
    insta::assert_snapshot!("help-anonymize", folder.ok(&["anonymize", "--help"]));
    insta::assert_snapshot!("help-frontier", folder.ok(&["frontier", "--help"]));
    insta::assert_snapshot!("help-queries", folder.ok(&["queries", "--help"]));
    insta::assert_snapshot!("help-compare", folder.ok(&["compare", "--help"]));
}

#[test]
fn lists() {
    let folder = Folder::empty();
    insta::assert_snapshot!("methods", folder.ok(&["methods"]));
    insta::assert_snapshot!("measures", folder.ok(&["measures"]));
    insta::assert_snapshot!("models", folder.ok(&["models"]));
    insta::assert_snapshot!("formats", folder.ok(&["formats"]));
}

#[test]
fn a_release_and_its_check() {
    let folder = people::folder(1000);
    insta::assert_snapshot!("anonymize", steady(&folder.anonymize(&["--seed", "1"]).stdout));
    insta::assert_snapshot!("check-holds", folder.ok(&["check", "out.csv", "-p", "policy.toml"]));
    insta::assert_snapshot!("check-breaks", folder.run(&["check", "people.csv", "-p", "policy.toml"]).stdout);
    insta::assert_snapshot!("measure", folder.ok(&["measure", "people.csv", "out.csv", "-p", "policy.toml"]));
}

#[test]
fn an_evaluation() {
    let folder = people::folder_to_predict(2000);
    folder.write("test.csv", people::table(1, 2000..3000));
    let said = folder.ok(&["evaluate", "people.csv", "-p", "policy.toml", "--test", "test.csv", "--seed", "1"]);
    insta::assert_snapshot!("evaluate", said);
}

#[test]
fn a_report() {
    let folder = Folder::with_people();
    let report = folder.anonymize(&["--seed", "1", "--json"]).stdout;
    let mut report: serde_json::Value = serde_json::from_str(&report).unwrap();
    report["release"]["sha256"] = "…".into();
    report["provenance"]["created"] = "…".into();
    report["seconds"] = "…".into();
    report["peak_memory_bytes"] = "…".into();
    insta::assert_snapshot!("report", serde_json::to_string_pretty(&report).unwrap());
}

#[test]
fn a_wrong_policy_is_shown() {
    let folder = Folder::with_people();
    folder.edit("policy.toml", "quasi-identifier", "quasi-identifer");
    insta::assert_snapshot!("wrong-policy", folder.anonymize(&[]).stderr);
    let folder = Folder::with_people();
    folder.edit("people.csv", "name,age", "ssn,age");
    insta::assert_snapshot!("wrong-columns", folder.anonymize(&[]).stderr);
}

#[test]
fn a_policy_to_edit() {
    let folder = people::folder(2000);
    insta::assert_snapshot!("init", folder.ok(&["init", "people.csv"]));
}

#[test]
fn a_hierarchy() {
    let folder = people::folder(1);
    insta::assert_snapshot!("hierarchy-show", folder.ok(&["hierarchy", "show", "hierarchies/education.csv"]));
    insta::assert_snapshot!("help-hierarchy-build", folder.ok(&["hierarchy", "build", "--help"]));
    insta::assert_snapshot!("help-hierarchy-convert", folder.ok(&["hierarchy", "convert", "--help"]));
    insta::assert_snapshot!("help-hierarchy-show", folder.ok(&["hierarchy", "show", "--help"]));
}

#[test]
fn hierarchies_from_the_data() {
    let folder = Folder::empty();
    // Squares: larger values are farther apart and rarer.
    let rows: String = (0..12).flat_map(|i| vec![format!("{}\n", i * i); 13 - i]).collect();
    folder.write("t.csv", "n\n".to_owned() + &rows);
    let built = |method: &str, more: &[&str]| {
        let file = format!("{method}.csv");
        let mut arguments = vec!["hierarchy", "build", "t.csv", "--column", "n", "--method", method, "-o", &file];
        arguments.extend(more);
        let said = folder.ok(&arguments);
        folder.ok(&["hierarchy", "check", &file, "t.csv", "--column", "n"]);
        said + &folder.ok(&["hierarchy", "show", &file])
    };
    insta::assert_snapshot!("hierarchy-iotf", built("iotf", &[]));
    insta::assert_snapshot!("hierarchy-iotf-levels", built("iotf", &["--levels", "3", "--overwrite"]));
    insta::assert_snapshot!("hierarchy-otf", built("otf", &[]));
    insta::assert_snapshot!("hierarchy-chu", built("chu", &["--threshold", "3"]));
    insta::assert_snapshot!("hierarchy-han", built("han", &["--fan-out", "3"]));
    insta::assert_snapshot!("hierarchy-equal-width", built("equal-width", &["--parts", "4,2"]));
    insta::assert_snapshot!("hierarchy-equal-frequency", built("equal-frequency", &["--parts", "4,2"]));
    folder.ok(&["hierarchy", "show", "iotf.csv", "-o", "iotf.svg"]);
    insta::assert_snapshot!("hierarchy-svg", folder.read("iotf.svg"));
}
