//! `moretta bound` and `anonymize --bound`: the proven bound beside the loss of a release, or why there is none.

use serde_json::Value;

use crate::folder::Folder;

/// Eight people with hierarchies for all columns.
fn folder(measure: &str) -> Folder {
    let folder = Folder::with_people();
    folder.edit("policy.toml", "type = \"number\"", "type = \"number\"\nhierarchy = { widths = [10, 20] }");
    let method = format!("\"sweep\"\n[measure]\nname = \"{measure}\"");
    folder.edit("policy.toml", "\"mondrian\"", &method);
    folder
}

fn json(folder: &Folder, more: &[&str]) -> Value {
    let found = folder.ok(&[&["bound", "people.csv", "-p", "policy.toml", "--json"], more].concat());
    let mut found: Value = serde_json::from_str(&found).unwrap();
    assert!(found["seconds"].take().is_number());
    found
}

#[test]
fn the_bound_is_beside_the_loss_in_every_output() {
    for (measure, figure) in [("ncp", "gcp"), ("lm", "lm")] {
        let folder = folder(measure);
        let report = folder.anonymize(&["--bound", "--report", "r.json", "--report", "r.html", "--seed", "1"]);
        assert_eq!(report.code, 0, "{}", report.stderr);
        let line = report.stdout.lines().find(|line| line.starts_with("  bound  lost ")).unwrap().to_owned();
        let of_report: Value = serde_json::from_str(&folder.read("r.json")).unwrap();
        let bound = &of_report["bound"];
        let (proven, lost) = (bound["bound"].as_f64().unwrap(), bound["lost"].as_f64().unwrap());
        assert!(0.0 < proven && proven <= lost, "{bound}");
        assert_eq!((&bound["measure"], bound["k"].as_u64()), (&figure.into(), Some(2)));
        assert_eq!(bound["lost"], of_report["measures"][figure]);
        assert!((bound["gap"].as_f64().unwrap() - (lost / proven - 1.0)).abs() < 1e-12);
        let sentence = line.trim_start_matches("  bound  ");
        assert!(sentence.starts_with(&format!("lost {lost:.4} ({figure}); no such release can lose less than ")));
        let html = folder.read("r.html");
        assert!(html.contains(&sentence.replace("lost ", "Lost ")), "{sentence}");
        assert!(html.contains("nodes of these hierarchies, whatever made it"));
        // The command has the same figures.
        let mut same = bound.clone();
        same["seconds"].take();
        assert_eq!(json(&folder, &["--released", "out.csv"]), same);
        let alone = json(&folder, &["--threads", "1"]);
        assert_eq!((&alone["bound"], alone.get("lost")), (&bound["bound"], None));
        let said = folder.ok(&["bound", "people.csv", "-p", "policy.toml", "--time-limit", "10m"]);
        let expected = "no release with groups of at least 2 records along these hierarchies can lose less than 0.";
        assert!(said.starts_with(expected), "{said}");
    }
}

#[test]
fn without_a_bound_the_reason_is_said_and_no_figure() {
    let folder = Folder::with_people();
    let said = folder.ok(&["bound", "people.csv", "-p", "policy.toml"]);
    let sentence = "no lower bound on the loss is known: `age` is released as free intervals, which have no hierarchy";
    assert!(said.starts_with(&format!("{sentence}\n")), "{said}");
    let found = json(&folder, &[]);
    assert!(found["bound"].is_null() && found.get("gap").is_none() && found["unavailable"].is_string(), "{found}");
    let run = folder.anonymize(&["--bound", "--report", "r.html"]);
    assert!(run.code == 0 && run.stdout.contains(&format!("  bound  {sentence}\n")), "{}", run.stdout);
    let html = folder.read("r.html");
    assert!(html.contains("No lower bound on the loss is known: <code>age</code>"), "the page says it");
    assert!(!html.contains("whatever made it"));
    assert!(!folder.anonymize(&["--overwrite"]).stdout.contains("  bound  "), "only if asked");
}

#[test]
fn a_wrong_release_or_policy_is_refused() {
    let folder = folder("ncp");
    folder.write("other.csv", "age,sex,zip,diagnosis\n34,f,53711,flu\n");
    let run = folder.run(&["bound", "people.csv", "-p", "policy.toml", "--released", "other.csv"]);
    assert!(run.code == 2 && run.stderr.contains("this is not a release of that file"), "{}", run.stderr);
    // The original values lose nothing.
    let rows = folder.read("people.csv");
    let kept: String = rows.lines().filter_map(|row| row.split_once(',')).map(|(_, row)| format!("{row}\n")).collect();
    folder.write("original.csv", kept);
    let said = folder.ok(&["bound", "people.csv", "-p", "policy.toml", "--released", "original.csv"]);
    assert!(
        said.contains("the release loses less, so it does not satisfy the policy") && !said.contains("gap"),
        "{said}"
    );
    let run = folder.run(&["bound", "-", "-p", "policy.toml", "--released", "-"]);
    assert!(run.code == 2 && run.stderr.contains("`-` is named twice"), "{}", run.stderr);
    let run = folder.run(&["bound", "people.csv", "-p", "policy.toml", "--time-limit", "soon"]);
    assert_eq!(run.code, 2, "{}", run.stdout);
}
