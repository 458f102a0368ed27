//! `moretta frontier` and `anonymize --at`: the path in every output format, and releases of its steps.

use serde_json::Value;

use crate::{
    folder::{Folder, Run},
    people,
};

/// Eight people with a method that has a path, and a hierarchy for age.
fn climbing() -> Folder {
    let folder = Folder::with_people();
    folder.edit("policy.toml", "\"mondrian\"", "\"bottom-up-generalization\"\ntake-back = false");
    folder.edit("policy.toml", "type = \"number\"", "type = \"number\"\nhierarchy = { widths = [10, 20] }");
    folder
}

fn frontier(folder: &Folder, more: &[&str]) -> Run {
    folder.run(&[&["frontier", "people.csv", "--policy", "policy.toml"], more].concat())
}

fn json(folder: &Folder) -> Value {
    let run = frontier(folder, &["--json"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    serde_json::from_str(&run.stdout).unwrap()
}

fn points(found: &Value) -> &Vec<Value> {
    found["points"].as_array().unwrap()
}

/// Compares up to rounding: sums over a table and over a coarser one differ in the last digits.
fn assert_alike(a: &Value, b: &Value) {
    for (name, value) in a.as_object().unwrap() {
        let (a, b) = (value.as_f64().unwrap_or(-1.0), b[name].as_f64().unwrap_or(-1.0));
        assert!((a - b).abs() <= 1e-9 * a.abs().max(1.0), "{name}: {a} {b}");
    }
}

#[test]
fn the_terminal_shows_the_steps_that_matter() {
    let folder = climbing();
    insta::assert_snapshot!("frontier-tiny", frontier(&folder, &["--all"]).stdout);
    let folder = people::folder(1000);
    folder.edit("policy.toml", "\"mondrian\"", "\"bottom-up-generalization\"\ntake-back = false");
    folder.edit("policy.toml", "hierarchy = \"free\"", "hierarchy = { widths = [5, 10, 20, 40] }");
    let said = frontier(&folder, &[]).stdout;
    assert!(said.lines().all(|line| line.chars().count() <= 100), "{said}");
    insta::assert_snapshot!("frontier", said);
}

#[test]
fn the_path_goes_from_the_table_as_it_is_to_the_root() {
    let folder = climbing();
    let found = json(&folder);
    let points = points(&found);
    let (first, last) = (&points[0], &points[points.len() - 1]);
    assert_eq!((&first["step"], &first["action"], &first["measures"]["gcp"]), (&0.into(), &Value::Null, &0.0.into()));
    assert_eq!((last["anonymity"].as_u64(), last["groups"].as_u64()), (Some(8), Some(1)));
    assert_eq!((found["rows"].as_u64(), found["k"].as_u64()), (Some(8), Some(2)));
    let anonymity = |point: &Value| point["anonymity"].as_u64().unwrap();
    assert!(points.windows(2).all(|two| anonymity(&two[0]) <= anonymity(&two[1])));
    let reached = points.iter().position(|point| anonymity(point) >= 2).unwrap();
    assert_eq!(found["holds"]["step"].as_u64(), Some(reached as u64));
    assert_eq!(json(&folder), found, "the same again");
}

#[test]
fn every_form_of_output_has_every_point() {
    let folder = climbing();
    let found = json(&folder);
    let steps = points(&found).len();
    for name in ["f.csv", "f.svg", "f.html"] {
        let run = frontier(&folder, &["--output", name]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert!(run.stdout.starts_with(&format!("wrote {name}: {} steps", steps - 1)), "{}", run.stdout);
        assert_eq!(frontier(&folder, &["--output", name]).code, 2, "{name} is there already");
        assert_eq!(frontier(&folder, &["--output", name, "--overwrite"]).code, 0);
    }
    let csv = folder.read("f.csv");
    assert_eq!(people::rows(&csv).len(), steps + 1);
    assert_eq!(people::column(&csv, "step").last(), Some(&(steps - 1).to_string()));
    let gcp = |index: usize| points(&found)[index]["measures"]["gcp"].as_f64().unwrap();
    for (index, text) in people::column(&csv, "gcp").iter().enumerate() {
        assert_eq!(text.parse::<f64>().unwrap(), gcp(index));
    }
    let (svg, html) = (folder.read("f.svg"), folder.read("f.html"));
    for page in [&svg, &html] {
        assert!(!page.contains("NaN") && !page.contains("<script") && page.contains("k = 2"));
        for measure in ["gcp", "lm", "dm", "nil_inf"] {
            assert!(page.contains(&format!(">{measure}<")), "{measure}");
        }
        assert!(!page.contains(">cm<"), "there is no class");
    }
    assert!(svg.starts_with("<?xml") && svg.contains("xmlns=\"http://www.w3.org/2000/svg\""));
    assert!(html.contains("default-src 'none'") && html.contains("is the first that satisfies the policy"));
    assert!(svg.contains("those of the generalization path") && html.contains("those of the generalization path"));
    assert!(html.contains("No step suppresses records."));
    let run = frontier(&folder, &["--output", "f.json"]);
    assert!(run.code == 2 && run.stderr.contains("`--json`"), "{}", run.stderr);
}

#[test]
fn another_method_is_replaced_with_a_note() {
    let folder = climbing();
    let own = json(&folder);
    folder.edit("policy.toml", "\"bottom-up-generalization\"\ntake-back = false", "\"mondrian\"");
    let run = frontier(&folder, &["--json"]);
    assert_eq!(run.code, 0);
    assert!(run.stderr.contains("`mondrian`") && run.stderr.contains("`bottom-up-generalization`"), "{}", run.stderr);
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(found["method"], own["method"]);
    assert_eq!(found["policy_method"], "mondrian");
    for name in ["f.svg", "f.html"] {
        let run = frontier(&folder, &["--output", name]);
        assert!(run.stdout.contains("release with k = 2") && !run.stdout.contains("--at"), "{}", run.stdout);
        assert!(folder.read(name).contains("the method of the policy, has none"), "{name}");
    }
    let run = folder.anonymize(&["--at", "1"]);
    assert_eq!(run.code, 2, "{}", run.stderr);
    assert!(run.stderr.contains("`mondrian`") && run.stderr.contains("`bottom-up-generalization`"), "{}", run.stderr);
}

#[test]
fn a_point_where_everything_is_starred_is_not_in_the_panel_of_cm() {
    let folder = people::folder(200);
    folder.edit("policy.toml", "\"mondrian\"", "\"bottom-up-generalization\"");
    folder.edit("policy.toml", "hierarchy = \"free\"", "hierarchy = { widths = [5, 10, 20, 40] }");
    let run = frontier(&folder, &["--output", "f.html"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let page = folder.read("f.html");
    assert_eq!(page.matches("Not shown: the step at which all values are *").count(), 1);
    assert!(page.contains("so it loses less, often much less"));
}

#[test]
fn a_point_is_released_as_it_was_measured() {
    let folder = climbing();
    let found = json(&folder);
    let holds = found["holds"]["step"].as_u64().unwrap() as usize;
    for at in holds..points(&found).len() {
        let run = folder.anonymize(&["--at", &at.to_string(), "--json", "--overwrite"]);
        assert_eq!(run.code, 0, "{at}: {}", run.stderr);
        let report: Value = serde_json::from_str(&run.stdout).unwrap();
        let point = &points(&found)[at];
        assert_alike(&report["measures"], &point["measures"]);
        assert_eq!(report["privacy"]["smallest_group"], point["anonymity"]);
        assert_eq!(report["path"].as_array().unwrap().len(), at + 1);
        assert_eq!(report["path"][at], *point);
        assert_eq!(report["work"]["steps"].as_u64(), Some(at as u64));
        folder.ok(&["check", "out.csv", "-p", "policy.toml"]);
    }
}

#[test]
fn a_point_that_breaks_the_policy_does_not_leave() {
    let folder = climbing();
    let found = json(&folder);
    let (holds, last) = (&found["holds"]["step"], points(&found).len() - 1);
    let run = folder.anonymize(&["--at", "0"]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    for part in [
        "step 0 does not",
        "the worst has 1 record",
        "k = 2",
        &format!("step {holds} is the first that satisfies the policy"),
    ] {
        assert!(run.stderr.contains(part), "{part}: {}", run.stderr);
    }
    let run = folder.anonymize(&["--at", "99"]);
    assert_eq!(run.code, 2);
    for part in [format!("the last step is {last}"), format!("step {holds} is the first that satisfies the policy")] {
        assert!(run.stderr.contains(&part), "{}", run.stderr);
    }
    for wrong in ["x", "-1"] {
        let run = folder.anonymize(&["--at", wrong]);
        assert_eq!(run.code, 2);
        assert!(run.stderr.contains(&format!("`{wrong}` is not a step; steps are numbered from 0")), "{}", run.stderr);
    }
    assert!(!folder.path("out.csv").exists());
}

#[test]
fn what_may_be_suppressed_is_suppressed_at_a_point() {
    let folder = people::folder(2000);
    folder.edit("policy.toml", "\"mondrian\"", "\"bottom-up-generalization\"\ntake-back = false");
    folder.edit("policy.toml", "hierarchy = \"free\"", "hierarchy = { widths = [5, 10, 20, 40] }");
    let without = json(&folder)["holds"]["step"].as_u64().unwrap();
    folder.edit("policy.toml", "k = 10", "k = 10\nmax-suppressed = 0.05");
    let found = json(&folder);
    let (step, suppressed) = (found["holds"]["step"].as_u64().unwrap(), found["holds"]["suppressed_rows"].as_u64());
    assert!(step < without && suppressed > Some(0) && suppressed <= Some(100), "{step} {without} {suppressed:?}");
    let run = folder.anonymize(&["--at", &step.to_string(), "--json"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report["suppressed_rows"].as_u64(), suppressed);
    folder.ok(&["check", "out.csv", "-p", "policy.toml"]);
    let run = folder.anonymize(&["--at", &(step - 1).to_string(), "--overwrite"]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert!(run.stderr.contains("records suppressed"), "{}", run.stderr);
}

#[test]
fn a_report_tells_the_way_there() {
    let folder = climbing();
    let run = folder.anonymize(&["--report", "r.html", "--report", "r.json"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let report: Value = serde_json::from_str(&folder.read("r.json")).unwrap();
    let path = report["path"].as_array().unwrap();
    assert!(path.len() > 1 && path[0]["step"] == 0);
    assert_alike(&path[path.len() - 1]["measures"], &report["measures"]);
    assert!(folder.read("r.html").contains("Generalization path"));
    // An interval between the ages of two people is not in a hierarchy, so no page may show it.
    folder.edit("policy.toml", "hierarchy = { widths = [10, 20] }", "hierarchy = \"free\"");
    let run = frontier(&folder, &["--output", "f.html"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let page = folder.read("f.html");
    assert!(page.contains("age → the whole range") && !page.contains("[34, 51]"));
    assert!(!frontier(&folder, &["--all"]).stdout.contains("[34, 51]"));
}

#[test]
fn a_policy_that_holds_at_no_step_is_told_plainly() {
    let folder = climbing();
    let diversity = "[[privacy.l-diversity]]\ncolumn = \"diagnosis\"\nl = 7\nkind = \"distinct\"";
    folder.edit("policy.toml", "k = 2", &format!("k = 2\n{diversity}"));
    let run = frontier(&folder, &[]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(
        run.stdout.contains("no step satisfies the policy, not even with all values fully generalized"),
        "{}",
        run.stdout
    );
    assert!(!run.stdout.contains("--at"), "{}", run.stdout);
}
