//! Kept columns: their figures equal those of an independent count, and a table whose kept columns single out too many
//! records is not released.

use std::collections::HashMap;

use serde_json::Value;

use crate::{folder::Folder, people};

/// Table, policy and hierarchies of the demo, whose exact income singles out people.
fn folder() -> Folder {
    people::folder(2_000)
}

/// Number of groups, unique records, and records in groups below k, by some columns of a CSV text.
fn counted(text: &str, columns: &[&str], k: u64) -> (u64, u64, u64) {
    let rows = people::rows(text);
    let at = |name: &&str| rows[0].iter().position(|cell| cell == name).unwrap();
    let places: Vec<usize> = columns.iter().map(at).collect();
    let mut groups: HashMap<Vec<&str>, u64> = HashMap::new();
    for row in &rows[1..] {
        *groups.entry(places.iter().map(|&place| row[place].as_str()).collect()).or_default() += 1;
    }
    let below = |k: u64| groups.values().filter(|&&size| size < k).sum();
    (groups.len() as u64, below(2), below(k))
}

fn figures(of: &Value) -> (u64, u64, u64) {
    let [distinct, unique, below] = ["distinct", "unique_rows", "rows_below_k"].map(|name| of[name].as_u64().unwrap());
    (distinct, unique, below)
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn every_command_counts_what_an_attacker_finds() {
    let folder = folder();
    let report = json(&folder.anonymize(&["--seed", "1", "--json"]).stdout);
    let (before, after) = (folder.read("people.csv"), folder.read("out.csv"));
    let kept = ["income", "diagnosis", "insured"];
    let released: Vec<&str> = after.lines().next().unwrap().split(',').collect();
    let check = json(&folder.ok(&["check", "out.csv", "-p", "policy.toml", "--json"]));
    let measure = json(&folder.ok(&["measure", "people.csv", "out.csv", "-p", "policy.toml", "--json"]));
    for found in [&report["kept"], &check["kept"], &measure["kept"]] {
        assert_eq!((&found["rows"], &found["k"]), (&2_000.into(), &10.into()));
        for (column, name) in found["columns"].as_array().unwrap().iter().zip(kept) {
            assert_eq!(column["name"], name);
            assert_eq!(column["exact"], name != "insured");
            assert_eq!(figures(column), counted(&before, &[name], 10), "{name}");
        }
        assert_eq!(figures(&found["together"]), counted(&before, &kept, 10));
        assert_eq!(figures(&found["not_exact"]), counted(&before, &kept[2..], 10));
        assert_eq!(figures(&found["with_quasi_identifiers"]), counted(&after, &released, 10));
    }
    let page = folder.anonymize(&["--seed", "1", "--report", "report.html", "--overwrite"]);
    assert!(page.stdout.contains("all 3 kept columns"), "{}", page.stdout);
    let page = folder.read("report.html");
    let (_, unique, _) = counted(&before, &kept, 10);
    let said = format!("this holds for {unique} of 2,000\u{a0}records");
    let warning = page.find("These guarantees do not cover values that are released exactly.").unwrap();
    assert!(page[warning..].contains(&said), "{said}");
    assert!(warning < page.find("Approved by").unwrap(), "above the signature");
}

#[test]
fn a_table_that_kept_columns_identify_is_not_released() {
    let folder = folder();
    folder.edit("policy.toml", "exact = [\"income\", \"diagnosis\"]", "order = \"shuffled\"");
    let before = folder.files();
    let run = folder.anonymize(&["--report", "report.json", "--recoding", "recoding.json"]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    let (_, unique, _) = counted(&folder.read("people.csv"), &["income", "diagnosis", "insured"], 10);
    let parts = [
        format!(
            "people.csv: an attacker who knows `income`, `diagnosis` and `insured`, which are released unchanged, finds {unique} of 2,000"
        ),
        "`income` has 215 distinct values".to_owned(),
        "[release] exact = [\"income\"]".to_owned(),
    ];
    parts.iter().for_each(|part| assert!(run.stderr.contains(part), "{part}: {}", run.stderr));
    assert!(!run.stderr.contains("searching"), "before the search");
    assert_eq!(folder.files(), before, "nothing is written");
    // The advised policy is accepted by each command.
    folder.edit("policy.toml", "order = \"shuffled\"", "exact = [\"income\"]");
    assert_eq!(folder.anonymize(&[]).code, 0);
    folder.ok(&["check", "out.csv", "-p", "policy.toml"]);
    folder.edit("policy.toml", "exact = [\"income\"]", "order = \"shuffled\"");
    let check = folder.run(&["check", "out.csv", "-p", "policy.toml"]);
    assert_eq!(check.code, 1);
    assert!(
        check.stdout.contains("FAIL   an attacker who knows `income`, `diagnosis` and `insured`"),
        "{}",
        check.stdout
    );
    assert!(check.stdout.contains("unless `[release] exact` lists the columns"), "{}", check.stdout);
    // Requests that release nothing are not refused.
    folder.ok(&["measure", "people.csv", "out.csv", "-p", "policy.toml"]);
    folder.ok(&["inferences", "people.csv", "-p", "policy.toml"]);
}

/// The policy inside a recoding says what may single out records, also among new ones.
#[test]
fn new_records_are_judged_by_the_policy_of_the_recoding() {
    let folder = Folder::empty();
    let policy = "version = 1\nprivacy.k = 2\n[columns]\nage = { role = \"quasi-identifier\", type = \"number\" }\n\
                  room = { role = \"insensitive\" }\n";
    let table = |rooms: u64| {
        let rows: String = (0..300).map(|n| format!("{},r{}\n", 20 + n % 3, n % rooms)).collect();
        format!("age,room\n{rows}")
    };
    folder.write("policy.toml", policy).write("old.csv", table(5)).write("new.csv", table(300));
    folder.ok(&["anonymize", "old.csv", "-p", "policy.toml", "-o", "old.out.csv", "--recoding", "recoding.json"]);
    let before = folder.files();
    let refused = folder.run(&["apply", "new.csv", "--recoding", "recoding.json", "-o", "out.csv"]);
    assert_eq!(refused.code, 1, "{}", refused.stderr);
    for part in ["new.csv: an attacker who knows `room`", "300 of 300 records", "save the recoding again"] {
        assert!(refused.stderr.contains(part), "{part}: {}", refused.stderr);
    }
    assert_eq!(folder.files(), before);
    folder.write("policy.toml", policy.replace("[columns]", "release.exact = [\"room\"]\n[columns]"));
    folder.ok(&[
        "anonymize",
        "old.csv",
        "-p",
        "policy.toml",
        "-o",
        "old.out.csv",
        "--recoding",
        "recoding.json",
        "--overwrite",
    ]);
    let applied = json(&folder.ok(&["apply", "new.csv", "--recoding", "recoding.json", "-o", "out.csv", "--json"]));
    assert_eq!(figures(&applied["kept"]["together"]), (300, 300, 300));
    assert_eq!(applied["policy"]["release"]["exact"], serde_json::json!(["room"]));
}

/// The columns to list are confirmed on all records, not only on the first ones: here these are all alike.
#[test]
fn columns_are_chosen_by_all_records() {
    let folder = Folder::empty();
    let row = |n: u64| if n < 100_000 { "30,x,y\n".to_owned() } else { format!("30,x{n},y\n") };
    let rows: String = (0..110_000).map(row).collect();
    folder.write("people.csv", format!("age,number,other\n{rows}"));
    folder.write(
        "policy.toml",
        "version = 1\nprivacy.k = 2\n[columns]\nage.role = \"quasi-identifier\"\nother.role = \"insensitive\"\n\
         number.role = \"insensitive\"\n",
    );
    let run = folder.anonymize(&[]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert!(run.stderr.contains("exact = [\"number\"]"), "{}", run.stderr);
    assert!(run.stderr.contains("10,000 of 110,000 records (9.1 %)"), "{}", run.stderr);
}
