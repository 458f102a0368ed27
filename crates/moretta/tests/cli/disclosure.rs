//! `top-down-disclosure`: disclosed values, and stopping at any time.

use serde_json::Value;

use crate::folder::Folder;

const BANK: &str = "\
[[privacy.template]]
given = [\"job\", \"country\"]
column = \"bankruptcy\"
values = [\"Discharged\"]
max-confidence = 0.75
[method]
name = \"top-down-disclosure\"
[columns]
job.role = \"quasi-identifier\"
country.role = \"quasi-identifier\"
bankruptcy.role = \"sensitive\"
rating.role = \"class\"
";

/// Customers: number of good and bad ratings per job and country.
const CUSTOMERS: [(&str, usize, usize); 8] = [
    ("Cook,US,Current", 0, 4),
    ("Artist,France,Current", 1, 3),
    ("Doctor,US,Never", 4, 2),
    ("Trader,UK,Discharged", 4, 0),
    ("Trader,UK,Never", 1, 0),
    ("Trader,Canada,Never", 1, 0),
    ("Clerk,Canada,Never", 3, 0),
    ("Clerk,Canada,Discharged", 1, 0),
];

fn bank() -> Folder {
    let folder = Folder::empty();
    let rated = |(customer, good, bad): &(&str, usize, usize)| {
        format!("{customer},Good\n").repeat(*good) + &format!("{customer},Bad\n").repeat(*bad)
    };
    let rows: String = CUSTOMERS.iter().map(rated).collect();
    folder.write("people.csv", format!("job,country,bankruptcy,rating\n{rows}"));
    folder.write("policy.toml", format!("version = 1\nrelease.exact = [\"rating\"]\n{BANK}"));
    folder
}

/// Returns the distinct pairs of job and country of a release.
fn leaving(folder: &Folder) -> Vec<String> {
    let text = folder.read("out.csv");
    let known = |line: &str| line.splitn(3, ',').take(2).collect::<Vec<_>>().join(",");
    let mut all: Vec<String> = text.lines().skip(1).map(known).collect();
    all.sort();
    all.dedup();
    all
}

#[test]
fn what_would_let_somebody_infer_too_much_stays_suppressed() {
    let folder = bank();
    let run = folder.anonymize(&["--json", "--report", "report.html"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(leaving(&folder), ["*,*", "Artist,France", "Cook,US", "Doctor,US"]);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((&report["suppressed_rows"], &report["starred_rows"]), (&Value::from(0), &Value::from(10)));
    assert_eq!(report["privacy"]["templates"][0]["confidence"], 0.5);
    assert_eq!((&report["stop"], &report["work"]["iterations"]), (&Value::from("finished"), &Value::from(5)));
    let disclosed =
        |point: &Value| ["column", "to"].map(|key| point["changes"][0][key].as_str().unwrap().to_owned()).join(" ");
    let path: Vec<String> = report["path"].as_array().unwrap().iter().skip(2).map(disclosed).collect();
    // Cook, Artist, Doctor, US, France. Fewer than ten customers have each of them but US.
    let [job, country] = ["job a rare value", "country a rare value"];
    assert_eq!(path, [job, job, job, "country US", country]);
    // The page does not name values; it only counts the steps.
    let page = folder.read("report.html");
    assert!(page.contains("All values were suppressed first") && page.contains("job: a value disclosed"));
    folder.ok(&["check", "out.csv", "-p", "policy.toml"]);
}

#[test]
fn at_the_time_limit_what_was_told_so_far_leaves() {
    let folder = bank();
    let run = folder.anonymize(&["--time-limit", "0s", "--json"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report["stop"], "out-of-time");
    assert_eq!(leaving(&folder), ["*,*"]);
    folder.ok(&["check", "out.csv", "-p", "policy.toml"]);
}

#[cfg(unix)]
#[test]
fn interrupted_while_it_searches_what_was_told_so_far_leaves() {
    use std::{process::Stdio, time::Duration};

    // Thousands of values that may all be disclosed; the cost is quadratic, so the search is slow.
    let folder = Folder::empty();
    let rows: String = (0..15_000)
        .map(|code| format!("c{code},{},g\nc{code},x,{}\n", ["x", "y"][code % 2], ["g", "b"][code / 2 % 2]))
        .collect();
    folder.write("people.csv", format!("code,s,class\n{rows}"));
    let template = "[[privacy.template]]\ngiven = [\"code\"]\ncolumn = \"s\"\nvalues = [\"y\"]\nmax-confidence = 0.6";
    let columns = "code.role = \"quasi-identifier\"\ns.role = \"sensitive\"\nclass.role = \"class\"";
    let method = "[method]\nname = \"top-down-disclosure\"";
    folder.write("policy.toml", format!("version = 1\n{template}\n{method}\n[columns]\n{columns}\n"));
    for tenths in [10, 20, 40, 80, 160, 5, 3] {
        let arguments = ["anonymize", "people.csv", "-p", "policy.toml", "-o", "out.csv", "--json", "--overwrite"];
        let child = folder.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(100 * tenths));
        let sent = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        // The search may not have started yet.
        if output.status.code() == Some(130) {
            continue;
        }
        // On a fast machine it may be finished already.
        if !sent.success() || output.stdout.is_empty() {
            continue;
        }
        assert_eq!(output.status.code(), Some(0), "{said}");
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        if report["stop"] == "finished" {
            continue;
        }
        assert_eq!(report["stop"], "cancelled");
        assert!(said.contains("interrupted"), "{said}");
        assert!((1..15_000).contains(&report["work"]["iterations"].as_u64().unwrap()));
        folder.ok(&["check", "out.csv", "-p", "policy.toml"]);
        return;
    }
    panic!("it could not be interrupted while it searched");
}

#[test]
fn templates_and_k_hold_together() {
    let folder = bank();
    folder.edit("policy.toml", "[method]", "[privacy]\nk = 5\n[method]");
    let run = folder.anonymize(&["--json"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert!(report["privacy"]["smallest_group"].as_u64().unwrap() >= 5);
    assert!(report["privacy"]["templates"][0]["confidence"].as_f64().unwrap() <= 0.75);
    assert!(leaving(&folder).len() > 1);
}

#[test]
fn what_nobody_is_taken_to_know_is_named() {
    let folder = bank();
    folder.edit("policy.toml", "given = [\"job\", \"country\"]", "given = [\"job\"]");
    let run = folder.anonymize(&[]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stderr.contains("assumes that attackers do not know `country`"), "{}", run.stderr);
    assert!(folder.read("out.csv").contains(",Canada,"));
}

#[test]
fn the_rarest_values_of_a_release_are_guarded_on_new_records_too() {
    let folder = bank();
    folder.edit("policy.toml", "values = [\"Discharged\"]", "rarest = 0.5");
    folder.ok(&["anonymize", "people.csv", "-p", "policy.toml", "-o", "out.csv", "--recoding", "r.json"]);
    let saved: Value = serde_json::from_str(&folder.read("r.json")).unwrap();
    assert_eq!(saved["policy"]["privacy"]["template"][0]["values"], serde_json::json!(["Discharged"]));
}
