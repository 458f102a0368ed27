//! Releases of synthetic people, from input to verified file.

use crate::{
    folder::Folder,
    people::{column, folder, rows, table},
};

fn sorted(mut values: Vec<String>) -> Vec<String> {
    values.sort();
    values
}

#[test]
fn a_release_keeps_rows_and_untouched_columns_and_drops_identifiers() {
    let folder = folder(3000);
    let run = folder.anonymize(&["--seed", "1"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let (before, after) = (folder.read("people.csv"), folder.read("out.csv"));
    assert_eq!(rows(&after).len(), rows(&before).len());
    assert!(!rows(&after)[0].contains(&"name".to_owned()));
    for name in ["income", "diagnosis", "insured"] {
        assert_eq!(sorted(column(&after, name)), sorted(column(&before, name)));
    }
    assert!(folder.ok(&["check", "out.csv", "-p", "policy.toml"]).contains("  ok "));
}

#[test]
fn the_seed_alone_decides_the_bytes() {
    // Several blocks of input, so that threads really share the work.
    let folder = folder(30_000);
    folder.edit("policy.toml", "name = \"mondrian\"", "name = \"mondrian\"\nrelaxed = true");
    let release = |more: &[&str]| {
        let run = folder.anonymize(&[more, &["--overwrite"]].concat());
        assert_eq!(run.code, 0, "{}", run.stderr);
        folder.read("out.csv")
    };
    let one = release(&["--seed", "7", "--threads", "1"]);
    assert!(one == release(&["--seed", "7", "--threads", "2"]));
    assert!(one == release(&["--seed", "7", "--threads", "5"]));
    let other = release(&["--seed", "8"]);
    assert!(one != other);
    assert_ne!(column(&one, "income"), column(&folder.read("people.csv"), "income"), "shuffled");
    let kept = release(&["--seed", "7", "--keep-order"]);
    assert_eq!(column(&kept, "income"), column(&folder.read("people.csv"), "income"), "in order");
    assert!(release(&[]) != release(&[]), "without a seed every release has another order");
}

#[test]
fn the_default_reports_what_it_tried_and_more_effort_loses_no_more() {
    let folder = folder(1500);
    folder.edit("policy.toml", "name = \"mondrian\"", "name = \"best\"");
    let release = |effort: &str| -> serde_json::Value {
        let run = folder.anonymize(&["--seed", "7", "--effort", effort, "--overwrite", "--json"]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        folder.ok(&["check", "out.csv", "-p", "policy.toml"]);
        serde_json::from_str(&run.stdout).unwrap()
    };
    let losses = |report: &serde_json::Value| -> Vec<f64> {
        let tried = report["tried"].as_array().unwrap().iter();
        tried.map(|tried| tried["loss"].as_f64().unwrap()).collect()
    };
    let (low, high) = (release("low"), release("high"));
    assert_eq!(high["policy"]["method"]["effort"], "high");
    let names = low["tried"].as_array().unwrap().iter().map(|tried| tried["method"].as_str().unwrap());
    let names: Vec<&str> = names.collect();
    assert_eq!((names[0], names[names.len() - 1]), ("mondrian", "best"));
    let (low, high) = (losses(&low), losses(&high));
    let (low_best, high_best) = (low[low.len() - 1], high[high.len() - 1]);
    assert!(low[..low.len() - 1] == high[..high.len() - 1] && low.iter().all(|loss| low_best <= *loss));
    assert!(high_best < low_best, "{high_best} instead of {low_best}");
    let summary = folder.ok(&["anonymize", "people.csv", "-p", "policy.toml", "-o", "out.csv", "--overwrite"]);
    assert!(summary.contains("  tried  mondrian 0."), "{summary}");
}

#[test]
fn every_form_of_release_passes_its_check() {
    let folder = folder(2000);
    let policy = folder.read("policy.toml");
    for labels in ["node", "set"] {
        for numbers in ["interval", "mean", "median", "midpoint"] {
            let release = format!("[release]\nlabels = \"{labels}\"\nnumbers = \"{numbers}\"\n");
            folder.write("policy.toml", policy.replace("[release]\n", &release));
            let run = folder.anonymize(&["--overwrite"]);
            assert_eq!(run.code, 0, "{labels} {numbers}: {}", run.stderr);
            folder.ok(&["check", "out.csv", "-p", "policy.toml"]);
            let measured = folder.ok(&["measure", "people.csv", "out.csv", "-p", "policy.toml", "--json"]);
            let measured: serde_json::Value = serde_json::from_str(&measured).unwrap();
            assert_eq!(measured["gcp"].is_number(), numbers == "interval", "{measured}");
            assert!(measured["dm"].is_number());
        }
    }
}

#[test]
fn what_the_report_says_was_lost_is_what_the_files_show() {
    let folder = folder(2000);
    let run = folder.anonymize(&["--json", "--report", "r.json", "--report", "r.html"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report, serde_json::from_str::<serde_json::Value>(&folder.read("r.json")).unwrap());
    for field in [
        "version",
        "input",
        "policy",
        "method",
        "seed",
        "stop",
        "privacy",
        "suppressed_rows",
        "groups",
        "measures",
        "path",
        "work",
        "seconds",
        "peak_memory_bytes",
    ] {
        assert!(report.get(field).is_some(), "{field}");
    }
    assert_eq!(report["input"]["rows"], 2000);
    assert_eq!(report["stop"], "finished");
    assert!(report["privacy"]["smallest_group"].as_u64().unwrap() >= 10);
    assert!(report["privacy"]["templates"][0]["confidence"].as_f64().unwrap() <= 0.2);
    let measured = folder.ok(&["measure", "people.csv", "out.csv", "-p", "policy.toml", "--json"]);
    let measured: serde_json::Value = serde_json::from_str(&measured).unwrap();
    for (name, value) in measured.as_object().unwrap() {
        match (value.as_f64(), report["measures"][name].as_f64()) {
            (Some(a), Some(b)) => assert!((a - b).abs() <= 1e-9 * a.abs().max(1.0), "{name}: {a} {b}"),
            (a, b) => assert_eq!(a, b, "{name}"),
        }
    }
    assert!(folder.read("r.html").starts_with("<!DOCTYPE html>"));
}

#[test]
fn what_the_release_is_for_is_in_summary_report_and_recoding() {
    let folder = folder(1000);
    let policy = folder.read("policy.toml").replace("\"mondrian\"", "\"sweep\"");
    folder.write("policy.toml", policy + "\n[measure]\nname = \"lm\"\nweight = 2\n");
    let run = folder.anonymize(&["--seed", "1", "--report", "r.json", "--recoding", "c.json"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    let report = json(&folder.read("r.json"));
    assert_eq!(report["policy"]["measure"], serde_json::json!({"name": "lm", "weight": 2.0}));
    assert_eq!(json(&folder.read("c.json"))["policy"]["measure"], report["policy"]["measure"]);
    let objective = &report["goals"][0];
    assert_eq!(
        (&objective["measure"], &objective["weight"], objective.get("column")),
        (&"lm".into(), &2.0.into(), None)
    );
    let (value, lm) = (objective["value"].as_f64().unwrap(), report["measures"]["lm"].as_f64().unwrap());
    assert!((value - lm).abs() < 1e-9, "{value} {lm}");
    assert!(run.stdout.contains(&format!("  goal   lm = {value:.4} (weight 2)\n")), "{}", run.stdout);
}

#[test]
fn two_classes_are_two_columns_of_which_the_first_is_measured() {
    let folder = folder(1000);
    let cm = |run: &str| serde_json::from_str::<serde_json::Value>(run).unwrap()["measures"]["cm"].as_f64().unwrap();
    let one = cm(&folder.anonymize(&["--seed", "1", "--json"]).stdout);
    // Incomes come before the class, and nearly all are unique.
    folder.edit("policy.toml", "role = \"insensitive\"", "role = \"class\"");
    let two = cm(&folder.anonymize(&["--seed", "1", "--json", "--overwrite"]).stdout);
    assert!(two > 0.5 && one < 0.5, "{one} {two}");
}

#[test]
fn parquet_folders_and_patterns_release_the_same_table() {
    let folder = folder(2000);
    let release = |input: &str, output: &str| {
        folder.ok(&[
            "anonymize",
            input,
            "-p",
            "policy.toml",
            "-o",
            output,
            "--seed",
            "3",
            "--keep-order",
            "--overwrite",
        ]);
    };
    release("people.csv", "one.csv");
    folder.write("parts/a.csv", table(1, 0..900)).write("parts/b.csv", table(1, 900..2000));
    release("parts", "parts.csv");
    release("parts/?.csv", "pattern.csv");
    assert!(folder.read("one.csv") == folder.read("parts.csv"));
    assert!(folder.read("one.csv") == folder.read("pattern.csv"));
    release("people.csv", "out.parquet");
    folder.ok(&["check", "out.parquet", "-p", "policy.toml"]);
    folder.ok(&["measure", "people.csv", "out.parquet", "-p", "policy.toml"]);
}

#[test]
fn a_file_that_was_touched_afterwards_fails_its_check() {
    let folder = folder(1000);
    folder.anonymize(&[]);
    let text = folder.read("out.csv");
    // Not `female`, which would become `fe*`; and a line without earlier duplicates, to know the record number.
    let lines: Vec<&str> = text.lines().collect();
    let record = (500..).find(|&at| lines[at].contains(",male,") && !lines[..at].contains(&lines[at])).unwrap();
    folder.write("out.csv", text.replacen(lines[record], &lines[record].replacen(",male,", ",*,", 1), 1));
    let run = folder.run(&["check", "out.csv", "-p", "policy.toml"]);
    assert_eq!(run.code, 1, "{}", run.stdout);
    assert!(run.stdout.contains("FAIL") && run.stdout.contains(&record.to_string()), "{}", run.stdout);
    let raw = folder.run(&["check", "people.csv", "-p", "policy.toml", "--json"]);
    assert_eq!(raw.code, 1);
    let raw: serde_json::Value = serde_json::from_str(&raw.stdout).unwrap();
    assert_eq!((&raw["holds"], &raw["identifiers_present"][0]), (&false.into(), &"name".into()));
}

#[test]
fn a_label_that_does_not_stand_for_all_values_below_it_is_reported() {
    let folder = Folder::empty();
    let jobs = ["clerk"; 6].into_iter().chain(["baker", "carter", "dyer", "weaver"]);
    folder.write("people.csv", jobs.fold("job\n".to_owned(), |text, job| text + job + "\n"));
    let policy = |partial: bool| {
        let method = format!("name = \"bottom-up-generalization\"\npartial = {partial}");
        format!("version = 1\n[privacy]\nk = 2\n[method]\n{method}\n[columns.job]\nrole = \"quasi-identifier\"\n")
    };
    folder.write("policy.toml", policy(true));
    let run = folder.anonymize(&["--report", "r.json", "--report", "r.html"]);
    assert!(run.stdout.contains("in job, a label does not stand for values that are released"), "{}", run.stdout);
    let report: serde_json::Value = serde_json::from_str(&folder.read("r.json")).unwrap();
    assert_eq!(report["nested"], serde_json::json!(["job"]));
    let page = folder.read("r.html");
    assert!(page.contains("values that are released with a narrower label") && page.contains("partial = true"));
    let checked = folder.ok(&["check", "out.csv", "-p", "policy.toml"]);
    assert!(checked.contains("10 records in 2 groups") && checked.contains("4 records have *"), "{checked}");
    let checked = folder.ok(&["check", "out.csv", "-p", "policy.toml", "--json"]);
    assert!(checked.contains("\"suppressed_rows\": 4"), "{checked}");
    folder.write("policy.toml", policy(false));
    let run = folder.anonymize(&["--overwrite"]);
    assert!(run.stdout.contains("in 1 group,") && !run.stdout.contains("a label excludes"), "{}", run.stdout);
}

#[test]
fn a_recoding_serves_new_people() {
    let folder = folder(4000);
    folder.anonymize(&["--recoding", "r.json"]);
    // The same people: boxes overlap, so a few groups may become too small.
    folder.edit("r.json", "\"max-suppressed\": 0.0", "\"max-suppressed\": 0.01");
    folder.ok(&["apply", "people.csv", "--recoding", "r.json", "-o", "again.csv"]);
    folder.ok(&["check", "again.csv", "-p", "policy.toml"]);
    // Other people: more suppression than the policy allows is refused with a message.
    folder.write("new.csv", table(2, 0..4000));
    let run = folder.run(&["apply", "new.csv", "--recoding", "r.json", "-o", "new-out.csv"]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert!(run.stderr.contains("records would be suppressed; the policy allows 40"), "{}", run.stderr);
    assert!(run.stderr.contains("save the recoding again with `anonymize --recoding`"), "{}", run.stderr);
    assert!(!folder.path("new-out.csv").exists());
    folder.edit("r.json", "\"max-suppressed\": 0.01", "\"max-suppressed\": 1.0");
    folder.ok(&["apply", "new.csv", "--recoding", "r.json", "-o", "new-out.csv"]);
    folder.ok(&["check", "new-out.csv", "-p", "policy.toml"]);
    assert!(column(&folder.read("new-out.csv"), "sex").contains(&"*".to_owned()));
}

#[test]
fn a_missing_value_is_what_the_policy_says() {
    for (rule, printed) in [("category", "?"), ("suppress", "*")] {
        let folder = Folder::with_people();
        folder.edit("people.csv", "Ann,34,f", "Ann,34,?").edit("people.csv", "Cat,34,f", "Cat,34,?");
        let rule = format!("[columns.sex]\nmissing = \"{rule}\"");
        folder.edit("policy.toml", "[columns.sex]", &rule);
        let run = folder.anonymize(&["--keep-order"]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert_eq!(column(&folder.read("out.csv"), "sex")[0], printed);
        folder.ok(&["check", "out.csv", "-p", "policy.toml"]);
    }
}

#[test]
fn a_time_limit_gives_a_valid_release() {
    let folder = folder(3000);
    let run = folder.anonymize(&["--time-limit", "0s", "--json"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report["stop"], "out-of-time");
    folder.ok(&["check", "out.csv", "-p", "policy.toml"]);
}

#[test]
fn a_missing_value_in_a_printed_set_is_a_released_form() {
    let folder = Folder::with_people();
    folder.edit("people.csv", "Dan,51,m,53713", "Dan,51,m,");
    folder.edit("policy.toml", "hierarchy = \"zip.csv\"", "hierarchy = \"zip.csv\"\nmissing = \"category\"");
    folder.edit("policy.toml", "k = 2", "k = 8");
    folder.write("policy.toml", folder.read("policy.toml") + "[release]\nlabels = \"set\"\n");
    let run = folder.anonymize(&[]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(column(&folder.read("out.csv"), "zip")[0].starts_with('{'));
    folder.ok(&["check", "out.csv", "-p", "policy.toml"]);
}

#[test]
fn a_search_without_time_says_that_nothing_is_told() {
    let folder = folder(300);
    folder.edit("policy.toml", "\"mondrian\"", "\"genetic\"\npopulation = 20\niterations = 200");
    let run = folder.anonymize(&["--seed", "1", "--time-limit", "0s"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.contains("stopped at the time limit before any value could be disclosed"), "{}", run.stdout);
    let run = folder.anonymize(&["--seed", "1", "--overwrite"]);
    assert!(!run.stdout.contains("stopped"), "{}", run.stdout);
}
