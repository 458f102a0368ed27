//! LKC-privacy, templates that are implied by others, and policies that no release can satisfy.

use serde_json::{Value, json};

use crate::{folder::Folder, people};

fn add(folder: &Folder, lines: &str) {
    folder.write("policy.toml", folder.read("policy.toml") + lines);
}

fn template(given: &str, value: &str, most: f64) -> String {
    format!(
        "[[privacy.template]]\ngiven = [{given}]\ncolumn = \"diagnosis\"\nvalues = [\"{value}\"]\nmax-confidence = \
         {most:?}\n"
    )
}

/// The people of the demo, with LKC-privacy as the only model.
fn lkc(method: &str, lines: &str) -> Folder {
    let folder = people::folder(1000);
    let policy = folder.read("policy.toml");
    let (head, rest) = (policy.find("[privacy]").unwrap(), policy.find("[method]").unwrap());
    folder.write("policy.toml", format!("{}[privacy.lkc]\n{lines}\n{}", &policy[..head], &policy[rest..]));
    folder.edit("policy.toml", "\"mondrian\"", &format!("\"{method}\""));
    folder
}

/// Returns the smallest group and the highest confidence of a diagnosis over all pairs of columns.
fn naive(text: &str, columns: &[&str]) -> (u64, f64) {
    let diagnosis = people::column(text, "diagnosis");
    let mut found = (u64::MAX, 0.0f64);
    for (index, a) in columns.iter().enumerate() {
        for b in &columns[..index] {
            let known: Vec<(String, String)> =
                people::column(text, a).into_iter().zip(people::column(text, b)).collect();
            for one in &known {
                let alike: Vec<&String> =
                    diagnosis.iter().zip(&known).filter(|(_, k)| *k == one).map(|(d, _)| d).collect();
                let most = alike.iter().map(|d| alike.iter().filter(|other| *other == d).count()).max().unwrap();
                found.0 = found.0.min(alike.len() as u64);
                found.1 = found.1.max(most as f64 / alike.len() as f64);
            }
        }
    }
    found
}

#[test]
fn any_two_columns_give_away_no_more_than_asked() {
    for method in ["mondrian", "bottom-up-generalization", "top-down-disclosure"] {
        let folder = lkc(method, "l = 2\nk = 5\nc = 0.6");
        let run = folder.anonymize(&["--seed", "1", "--json", "--recoding", "r.json", "--report", "r.html"]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert!(!run.stderr.contains("no privacy model protects"), "{}", run.stderr);
        let report: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(report["policy"]["privacy"]["lkc"], json!({"l": 2, "k": 5, "c": 0.6}));
        assert_eq!(report["privacy"]["models"].as_array().unwrap().len(), 1, "one line for all pairs");
        let found = &report["privacy"]["lkc"];
        let quasi: Vec<&str> =
            report["columns"].as_array().unwrap().iter().map(|c| c["name"].as_str().unwrap()).collect();
        let (smallest, confidence) = naive(&folder.read("out.csv"), &quasi);
        assert_eq!((&found["l"], &found["k"], &found["c"]), (&json!(2), &json!(5), &json!(0.6)));
        assert_eq!(found["smallest_group"], json!(smallest), "{method}");
        assert!((found["confidence"].as_f64().unwrap() - confidence).abs() < 1e-12, "{method}: {found} {confidence}");
        assert!(smallest >= 5 && confidence <= 0.6);
        let said = folder.ok(&["check", "out.csv", "-p", "policy.toml"]);
        assert!(said.contains("ok     LKC-privacy (any 2 of "), "{said}");
        let checked = folder.ok(&["check", "out.csv", "-p", "policy.toml", "--json"]);
        assert_eq!(&serde_json::from_str::<Value>(&checked).unwrap()["privacy"]["lkc"], found);
        // Boxes of a local recoding overlap, so `apply` may choose another box than the original; labels of a global
        // one do not.
        if method != "mondrian" {
            folder.ok(&["apply", "people.csv", "--recoding", "r.json", "-o", "again.csv"]);
        }
    }
}

#[test]
fn a_file_that_breaks_it_is_told_what_is_worst() {
    let folder = lkc("mondrian", "l = 2\nk = 5\nc = 0.6");
    let run = folder.run(&["check", "people.csv", "-p", "policy.toml"]);
    assert_eq!(run.code, 1);
    let line = run.stdout.lines().find(|line| line.contains("LKC-privacy")).unwrap();
    assert!(line.contains("FAIL") && line.contains("1 record and confidence 1.000 (diagnosis, given "), "{line}");
    assert!(line.contains(" groups; worst group has "), "records would count once for each pair of columns: {line}");
}

#[test]
fn templates_that_follow_from_others_are_named() {
    let folder = Folder::with_people();
    add(&folder, &template("\"age\"", "flu", 0.9));
    add(&folder, &template("\"age\", \"sex\"", "flu", 0.8));
    add(&folder, &template("\"sex\"", "asthma", 0.7));
    add(&folder, &template("\"age\", \"sex\"", "flu", 0.8));
    let run = folder.anonymize(&["--seed", "1", "--report", "r.json"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let notes: Vec<&str> = run.stdout.lines().filter(|line| line.starts_with("  note")).collect();
    insta::assert_snapshot!("redundant-templates", notes.join("\n"));
    let report: Value = serde_json::from_str(&folder.read("r.json")).unwrap();
    let templates = report["privacy"]["templates"].as_array().unwrap();
    let implied_by: Vec<Option<u64>> =
        templates.iter().map(|t| t.get("implied_by").map(|by| by.as_u64().unwrap())).collect();
    assert_eq!(implied_by, [Some(1), None, None, Some(1)]);
    // Redundant templates are verified too.
    assert_eq!(report["privacy"]["models"].as_array().unwrap().len(), 5);
}

#[test]
fn redundant_templates_are_named_once_and_their_values_where_the_policy_does() {
    let rarest = |given: &str, share: f64, most: f64| {
        format!(
            "[[privacy.template]]\ngiven = [{given}]\ncolumn = \"diagnosis\"\nrarest = {share:?}\nmax-confidence = \
             {most:?}\n"
        )
    };
    let folder = Folder::with_people();
    add(&folder, &rarest("\"age\"", 1.0, 0.95));
    add(&folder, &rarest("\"age\", \"sex\"", 0.5, 0.95));
    add(&folder, &rarest("\"age\", \"sex\"", 0.5, 0.95));
    add(&folder, &template("\"sex\"", "flu\", \"asthma", 0.97));
    add(&folder, &template("\"sex\", \"age\"", "flu", 0.96));
    let run = folder.anonymize(&["--seed", "1"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let notes: Vec<&str> =
        run.stdout.lines().filter(|line| line.starts_with("  note   ") && line.contains("template")).collect();
    insta::assert_snapshot!("redundant-rarest", notes.join("\n"));
}

fn refused(folder: &Folder) -> String {
    let before = folder.files();
    let run = folder.anonymize(&["--report", "r.html", "--recoding", "r.json"]);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{}", run.stderr);
    assert_eq!(folder.files(), before, "something was written");
    run.stderr
}

#[test]
fn every_limit_that_cannot_be_met_is_named_with_its_figure() {
    for method in ["mondrian", "bottom-up-generalization", "top-down-disclosure"] {
        let folder = Folder::with_people();
        folder.edit("policy.toml", "\"mondrian\"", &format!("\"{method}\""));
        add(&folder, &template("\"age\"", "flu", 0.1));
        add(&folder, &template("\"age\"", "asthma", 0.5));
        add(&folder, &template("\"age\", \"sex\"", "diabetes", 0.2));
        insta::assert_snapshot!("unsatisfiable", refused(&folder));
    }
}

#[test]
fn what_no_release_can_meet_is_said_once_for_all_columns() {
    for (lines, expected) in [
        (
            "l = 2\nk = 9\nc = 0.6",
            "there would be 8 records, which violates LKC-privacy (any 2 of 3 columns known: k = 9",
        ),
        (
            "l = 1\nk = 2\nc = 0.3",
            "there would be confidence 0.375 (diagnosis), which violates LKC-privacy (any 1 of 3",
        ),
        (
            "l = 3\nk = 9\nc = 0.3",
            "8 records and confidence 0.375 (diagnosis), which violates LKC-privacy (all 3 columns",
        ),
    ] {
        let folder = Folder::with_people();
        add(&folder, &format!("[privacy.lkc]\n{lines}\n"));
        let said = refused(&folder);
        assert!(said.contains(expected) && said.matches("LKC").count() == 1, "{said}");
    }
}

#[test]
fn a_population_is_at_least_the_table() {
    let folder = Folder::with_people();
    folder.edit("policy.toml", "[privacy]", "[input]\npopulation = 7\n\n[privacy]");
    let run = folder.anonymize(&[]);
    assert_eq!(run.code, 2);
    assert!(
        run.stderr.contains("policy.toml: `population` in [input] is 7, but the table has 8 records"),
        "{}",
        run.stderr
    );
    assert!(!folder.path("out.csv").exists());
    // A group of two records, in a sample of one percent of the population: 0.01 / 0.99² x (0.01 ln 0.01 + 0.99).
    for (population, highest) in [(8, 0.5), (800, 0.009_631_1)] {
        let text = folder.read("policy.toml");
        let (at, end) = (text.find("population = ").unwrap(), text.find("\n\n[privacy]").unwrap());
        folder.write("policy.toml", format!("{}population = {population}{}", &text[..at], &text[end..]));
        let report = folder.anonymize(&["--seed", "1", "--json", "--overwrite"]).stdout;
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        assert_eq!(report["risk"]["population"], population);
        let found = report["risk"]["after"]["journalist"]["highest"].as_f64().unwrap();
        assert!((found - highest).abs() < 1e-6, "{found}");
        assert_eq!(report["risk"]["after"]["prosecutor"]["highest"], 0.5);
    }
}
