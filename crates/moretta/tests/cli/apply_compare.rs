//! `moretta apply --compare`: how much worse an old recoding is than one made for the new records.

use serde_json::Value;

use crate::{
    folder::{Folder, Run},
    people,
};

/// Methods as in `[method]`; the slow one with few iterations.
const BOTTOM_UP: &str = "\"bottom-up-generalization\"\nmeasure = \"lm\"";
const GENETIC: &str =
    "\"genetic\"\npopulation = 50\niterations = 2000\nseeds = false\nlocal-search = false\npartial = false";

/// The people of the demo, a recoding of them, and new people.
fn folder(method: &str) -> Folder {
    let folder = people::folder(400);
    folder.edit("policy.toml", "\"mondrian\"", method);
    folder.edit("policy.toml", "[privacy]", "[privacy]\nmax-suppressed = 1.0");
    folder.write("new.csv", people::table(2, 0..600));
    let run = folder.anonymize(&["--recoding", "r.json", "--seed", "1"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    folder
}

fn apply(folder: &Folder, input: &str, more: &[&str]) -> Run {
    let mut arguments = vec!["apply", input, "--recoding", "r.json", "-o", "new-out.csv", "--seed", "1", "--overwrite"];
    arguments.extend(more);
    folder.run(&arguments)
}

fn report(run: &Run) -> Value {
    assert_eq!(run.code, 0, "{}", run.stderr);
    serde_json::from_str(&run.stdout).unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn both_are_reported_and_the_release_stays_the_same() {
    for method in [BOTTOM_UP, GENETIC] {
        let folder = folder(method);
        let plain = report(&apply(&folder, "new.csv", &["--json"]));
        assert!(plain.get("compared").is_none(), "nobody asked");
        let released = folder.read("new-out.csv");
        let run = apply(&folder, "new.csv", &["--json", "--compare", "--report", "r.html"]);
        let report = report(&run);
        assert_eq!(folder.read("new-out.csv"), released);
        assert_eq!(report["measures"], plain["measures"]);
        let compared = &report["compared"];
        assert_eq!(compared["stop"], "finished");
        assert_eq!(compared["suppressed_rows"]["applied"], report["suppressed_rows"]);
        assert!(compared["suppressed_rows"]["fresh"].is_u64());
        let measures = compared["measures"].as_array().unwrap();
        let names: Vec<&Value> = measures.iter().map(|measure| &measure["name"]).collect();
        assert_eq!(names, ["lm", "cm"], "{method}");
        assert_eq!(measures[1]["column"], "insured");
        let [applied, fresh] = ["applied", "fresh"].map(|which| number(&measures[0][which]));
        // No search is optimal, so the applied recoding may also lose less.
        assert!(applied > 0.0 && fresh > 0.0, "{method}: {applied} {fresh}");
        // The classification metric does not depend on the range of values.
        assert!((number(&measures[1]["applied"]) - number(&report["measures"]["cm"])).abs() < 1e-12);
        assert!(number(&report["seconds"]["total"]) >= number(&compared["seconds"]));
        let page = folder.read("r.html");
        assert!(page.contains("Comparison with a fresh recoding"));
        let said = apply(&folder, "new.csv", &["--compare"]).stdout;
        let name = method.split('"').nth(1).unwrap();
        assert!(said.contains(&format!("  fresh  search of {name} on these records (")), "{said}");
        assert!(said.contains("         cm of insured") && said.contains(" times as much"), "{said}");
        folder.ok(&["check", "new-out.csv", "-p", "policy.toml"]);
    }
}

/// The fresh recoding is the one that `anonymize` finds with the same seed.
#[test]
fn anew_is_what_anonymize_would_release() {
    let folder = folder(BOTTOM_UP);
    let compared = report(&apply(&folder, "new.csv", &["--json", "--compare"]))["compared"].clone();
    let arguments = ["anonymize", "new.csv", "-p", "policy.toml", "-o", "fresh.csv", "--seed", "1", "--json"];
    let fresh: Value = serde_json::from_str(&folder.ok(&arguments)).unwrap();
    assert_eq!(compared["suppressed_rows"]["fresh"], fresh["suppressed_rows"]);
    for measure in compared["measures"].as_array().unwrap() {
        let found = number(&fresh["measures"][measure["name"].as_str().unwrap()]);
        assert!((number(&measure["fresh"]) - found).abs() < 1e-12, "{measure} {found}");
    }
}

#[test]
fn values_outside_all_intervals_are_what_the_old_recoding_costs() {
    let folder = folder(BOTTOM_UP);
    // Older than anyone in the table of the recoding.
    let older = |line: &str| {
        let mut cells: Vec<String> = line.split(',').map(str::to_owned).collect();
        cells[1] = format!("1{:0>2}", cells[1]);
        cells.join(",") + "\n"
    };
    let text = people::table(2, 0..300);
    assert_eq!(text.split(',').nth(1), Some("age"));
    let (header, rows) = text.split_once('\n').unwrap();
    folder.write("older.csv", format!("{header}\n{}", rows.lines().map(older).collect::<String>()));
    let compared = report(&apply(&folder, "older.csv", &["--json", "--compare"]))["compared"].clone();
    let measures = compared["measures"].as_array().unwrap();
    if compared["suppressed_rows"]["applied"] == 300 {
        assert_eq!(number(&measures[0]["applied"]), folder_columns(&folder) as f64, "everything is lost");
    }
    assert!(number(&measures[0]["fresh"]) < number(&measures[0]["applied"]), "{compared}");
}

fn folder_columns(folder: &Folder) -> usize {
    folder.read("policy.toml").matches("role = \"quasi-identifier\"").count()
}

#[test]
fn at_the_time_limit_the_comparison_says_so() {
    let folder = folder(BOTTOM_UP);
    let run = apply(&folder, "new.csv", &["--compare", "--time-limit", "0s", "--report", "r.json.json"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.contains("stopped at the time limit: more time could reduce its loss"), "{}", run.stdout);
    let report: Value = serde_json::from_str(&folder.read("r.json.json")).unwrap();
    assert_eq!((&report["stop"], &report["compared"]["stop"]), (&"finished".into(), &"out-of-time".into()));
    let run = apply(&folder, "new.csv", &["--time-limit", "1s"]);
    assert!(run.code == 2 && run.stderr.contains("--compare"), "{}", run.stderr);
}

#[test]
fn a_policy_that_cannot_be_met_anew_is_no_obstacle() {
    let folder = Folder::empty();
    folder.write("people.csv", "age,weight\n30,70\n30,72\n40,80\n40,81\n");
    let columns = "[columns.age]\nrole = \"quasi-identifier\"\n[columns.weight]\nrole = \"sensitive\"\n";
    let measure = "[measure]\nname = \"rm\"\ncolumn = \"weight\"\n";
    let head = format!("version = 1\nprivacy.k = 2\nrelease.exact = [\"weight\"]\n[method]\nname = {GENETIC}\n");
    folder.write("policy.toml", head + measure + columns);
    let run = folder.anonymize(&["--recoding", "r.json"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    folder.write("new.csv", "age,weight\n30,heavy\n30,72\n40,80\n40,81\n");
    let compared = report(&apply(&folder, "new.csv", &["--json", "--compare"]))["compared"].clone();
    assert!(compared["refused"].as_str().unwrap().contains("`weight`"), "{compared}");
    assert!(compared["suppressed_rows"]["fresh"].is_null() && compared.get("stop").is_none(), "{compared}");
    let run = apply(&folder, "new.csv", &["--compare", "--report", "r.html"]);
    assert!(
        run.stdout.contains("fresh  genetic found no recoding of these records to compare with: "),
        "{}",
        run.stdout
    );
    assert!(folder.read("r.html").contains("and found none: "));
    assert!(!(run.stdout + &folder.read("r.html")).contains("heavy"), "a value of somebody's");
}
