//! `moretta inferences`: published counts, every output format, original and released files.

use std::{fs, path::Path};

use serde_json::Value;

use crate::{
    folder::{Folder, Run, real_data},
    people,
};

const BANK: &str = "\
Job,Country,Child,Bankruptcy,Rating
Cook,US,No,Current,0/4
Artist,France,No,Current,1/3
Doctor,US,Yes,Never,4/2
Trader,UK,No,Discharged,4/0
Trader,UK,No,Never,1/0
Trader,Canada,No,Never,1/0
Clerk,Canada,No,Never,3/0
Clerk,Canada,No,Discharged,1/0
";

const POLICY: &str = r#"version = 1
[[privacy.template]]
given = ["Job", "Country"]
column = "Bankruptcy"
values = ["Discharged"]
max-confidence = 0.75
[[privacy.template]]
given = ["Child"]
column = "Bankruptcy"
values = ["Never"]
max-confidence = 0.9
[columns]
Job.role = "quasi-identifier"
Country.role = "quasi-identifier"
Child.role = "quasi-identifier"
Bankruptcy.role = "sensitive"
Rating.role = "class"
"#;

/// The 24 bank customers of the paper.
fn bank() -> Folder {
    let mut table = String::new();
    for line in BANK.lines() {
        let Some((known, rating)) = line.rsplit_once(',') else { unreachable!() };
        match rating.split_once('/') {
            None => table += &format!("{line}\n"),
            Some((good, bad)) => {
                let times = |count: &str| count.parse::<usize>().unwrap();
                table += &format!("{known},Good\n").repeat(times(good));
                table += &format!("{known},Bad\n").repeat(times(bad));
            }
        }
    }
    let folder = Folder::empty();
    folder.write("people.csv", table).write("policy.toml", POLICY);
    folder
}

fn inferences(folder: &Folder, more: &[&str]) -> Run {
    folder.run(&[&["inferences", "people.csv", "--policy", "policy.toml"], more].concat())
}

fn edit(folder: &Folder, name: &str, from: &str, to: &str) {
    folder.edit(name, from, to);
}

fn json(folder: &Folder, more: &[&str]) -> Value {
    let run = inferences(folder, &[&["--json"], more].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    serde_json::from_str(&run.stdout).unwrap()
}

fn counts(found: &Value, name: &str) -> Vec<u64> {
    found["counts"].as_array().unwrap().iter().map(|above| above[name].as_u64().unwrap()).collect()
}

#[test]
fn the_banks_traders_are_found_out() {
    let folder = bank();
    let run = inferences(&folder, &["--above", "0.2"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(
        run.stderr,
        "note: the output shows real combinations of values, so it is as confidential as people.csv\n"
    );
    insta::assert_snapshot!("inferences", run.stdout);
    let found = json(&folder, &[]);
    assert_eq!(found["rows"], 24);
    assert_eq!(counts(&found["questions"][0], "inferences"), [2, 1, 1, 1, 0]);
    assert_eq!(counts(&found["questions"][0], "records"), [5, 4, 4, 4, 0]);
    let surest = &found["inferences"].as_array().unwrap().iter().find(|one| one["value"] == "Discharged").unwrap();
    assert_eq!(surest["given"], serde_json::json!({ "Job": "Trader", "Country": "UK" }));
    assert_eq!((&surest["confidence"], &surest["support"], &surest["records"]), (&0.8.into(), &4.into(), &5.into()));
    assert_eq!((&surest["max_confidence"], &surest["broken"]), (&0.75.into(), &true.into()));
    // Doctors are the only ones with children, and have never been bankrupt.
    assert_eq!((&found["broken"]["inferences"], &found["broken"]["records"]), (&2.into(), &10.into()));
}

#[test]
fn a_release_is_read_like_raw_data() {
    let folder = bank();
    let starred = folder.read("people.csv").replace("Trader,UK", "*,*").replace("Trader,Canada", "*,*");
    folder.write("people.csv", starred.replace("Clerk,Canada", "*,*"));
    let found = json(&folder, &["--above", "0"]);
    let starred = &found["inferences"].as_array().unwrap().iter().find(|one| one["value"] == "Discharged").unwrap();
    assert_eq!(starred["given"], serde_json::json!({ "Job": "*", "Country": "*" }));
    assert_eq!((&starred["support"], &starred["records"], &starred["broken"]), (&5.into(), &10.into(), &false.into()));

    // A release has no inference that the policy forbids.
    let folder = people::folder(2000);
    let raw = json(&folder, &[]);
    assert!(raw["broken"]["inferences"].as_u64() > Some(0), "{}", raw["broken"]);
    assert_eq!(folder.anonymize(&["--seed", "1"]).code, 0);
    let said = folder.ok(&["inferences", "out.csv", "-p", "policy.toml"]);
    assert!(said.contains("ok no inference has a confidence above the limit of the policy"), "{said}");
    assert!(said.contains("no inference has a confidence above 50 %"), "{said}");
}

#[test]
fn without_a_template_all_sensitive_values_are_asked_for() {
    let folder = Folder::with_people();
    let said = folder.ok(&["inferences", "people.csv", "-p", "policy.toml"]);
    assert!(said.contains("no template or LKC-privacy in the policy: checking all sensitive values"), "{said}");
    let found = json(&folder, &[]);
    assert_eq!((&found["asked"], &found["broken"]), (&"sensitive-columns".into(), &Value::Null));
    // Ann and Cat share all quasi-identifier values, the others are unique.
    assert_eq!(counts(&found, "inferences"), [8, 8, 6, 6, 6]);
    assert_eq!(counts(&found, "records"), [8, 8, 6, 6, 6]);
}

#[test]
fn lkc_is_asked_about_each_choice_of_columns() {
    let folder = bank();
    let columns = POLICY.split("[columns]").nth(1).unwrap();
    folder.write("policy.toml", format!("version = 1\n[privacy.lkc]\nl = 2\nk = 5\nc = 0.75\n[columns]{columns}"));
    let run = inferences(&folder, &["--above", "0.7"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    insta::assert_snapshot!("inferences-lkc", run.stdout);
    let found = json(&folder, &["--above", "0.7"]);
    assert_eq!((&found["asked"], &found["questions"][0]["any"]), (&"lkc".into(), &2.into()));
    assert_eq!(found["questions"][0]["given"], serde_json::json!(["Job", "Country", "Child"]));
    let listed = found["inferences"].as_array().unwrap();
    assert_eq!(found["listed"]["inferences"], listed.len());
    assert!(listed.iter().all(|one| one["given"].as_object().unwrap().len() == 2 && one["max_confidence"] == 0.75));
    assert!(listed.iter().all(|one| one["broken"] == (one["confidence"].as_f64() > Some(0.75))));
}

#[test]
fn long_lists_are_cut_unless_all_is_asked_for() {
    let folder = people::folder(1000);
    let listed = json(&folder, &[])["inferences"].as_array().unwrap().len();
    let lines = |said: &str| said.lines().filter(|line| line.contains(" of ") && line.contains("given")).count();
    let said = inferences(&folder, &[]).stdout;
    assert!(listed > 20 && lines(&said) == 20, "{listed} {said}");
    assert!(said.ends_with(&format!("… and {} more; use --all to list them\n", listed - 20)), "{said}");
    assert!(said.lines().all(|line| line.chars().count() <= 100), "{said}");
    let all = inferences(&folder, &["--all"]).stdout;
    assert!(lines(&all) == listed && !all.contains("--all"), "{all}");
    assert_eq!(all, inferences(&folder, &["--all", "--threads", "1"]).stdout, "the same on any number of threads");
}

#[test]
fn the_file_has_what_the_json_has() {
    let folder = bank();
    let found = json(&folder, &["--above", "0"]);
    let run = inferences(&folder, &["--above", "0", "--output", "list.csv"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.contains("wrote list.csv: 4 inferences") && !run.stdout.contains("Trader"), "{}", run.stdout);
    assert!(run.stderr.contains("as confidential as people.csv"), "{}", run.stderr);
    let csv = folder.read("list.csv");
    let listed = found["inferences"].as_array().unwrap();
    assert_eq!(people::rows(&csv).len(), listed.len() + 1);
    for name in ["column", "value", "confidence", "support", "records", "max_confidence", "broken"] {
        let text = |value: &Value| value.as_str().map_or(value.to_string(), str::to_owned);
        let expected: Vec<String> = listed.iter().map(|one| text(&one[name])).collect();
        let cells = people::column(&csv, name);
        let same = |(a, b): (&String, &String)| a == b || a.parse::<f64>().ok() == b.parse::<f64>().ok();
        assert!(cells.iter().zip(&expected).all(same), "{name}: {cells:?} {expected:?}");
    }
    for name in ["Job", "Country", "Child"] {
        let known = |one: &Value| one["given"][name].as_str().unwrap_or("").to_owned();
        let expected: Vec<String> = listed.iter().map(known).collect();
        assert_eq!(people::column(&csv, &format!("given.{name}")), expected);
    }
    let run = inferences(&folder, &["--output", "list.csv"]);
    assert!(run.code == 2 && run.stderr.contains("exists;"), "{}", run.stderr);
    assert_eq!(folder.read("list.csv"), csv);
    assert_eq!(inferences(&folder, &["--output", "list.csv", "--overwrite"]).code, 0);
    assert_ne!(folder.read("list.csv"), csv);
}

/// Name, edit of the folder, arguments, and expected message.
type Case = (&'static str, fn(&Folder), &'static [&'static str], &'static str);

#[test]
fn bad_input_is_one_message_and_no_file() {
    let cases: [Case; 10] = [
        ("share", |_| (), &["--above", "1"], "`1` is not a share from 0 to below 1"),
        ("negative", |_| (), &["--above", "-0.1"], "`-0.1` is not a share"),
        ("percent", |_| (), &["--above", "50%"], "`50%` is not a share"),
        ("form", |_| (), &["--output", "list.html"], "list.html: a list of inferences must be named .csv"),
        ("itself", |_| (), &["--output", "people.csv", "--overwrite"], "is an input of this command"),
        ("folder", |_| (), &["--output", "nowhere/list.csv"], "folder nowhere does not exist"),
        ("column", |f| edit(f, "people.csv", "Child", "Kids"), &[], "people.csv: "),
        ("ragged", |f| edit(f, "people.csv", "Doctor,US", "Doctor"), &[], "people.csv, record 9"),
        ("value", |f| edit(f, "policy.toml", "\"Discharged\"", "\"Discharge\""), &[], "did you mean `Discharged`?"),
        ("missing", |f| edit(f, "people.csv", "Current", "?"), &[], "Bankruptcy"),
    ];
    for (name, prepare, more, says) in cases {
        let folder = bank();
        prepare(&folder);
        let before = folder.files();
        let more = if more.contains(&"--output") { more.to_vec() } else { [more, &["--output", "list.csv"]].concat() };
        let run = inferences(&folder, &more);
        assert_eq!(run.code, 2, "{name}: {}", run.stderr);
        assert!(run.stderr.contains(says) && run.stdout.is_empty(), "{name}: {}{}", run.stderr, run.stdout);
        assert_eq!(folder.files(), before, "{name}: nothing is written");
    }
}

/// A policy without sensitive values is no error, so that a list of commands runs through on any table.
#[test]
fn without_a_sensitive_column_there_is_nothing_to_infer() {
    let folder = bank();
    let columns = POLICY.split("[columns]").nth(1).unwrap().replace("sensitive", "insensitive");
    folder.write("policy.toml", format!("version = 1\n[privacy]\nk = 2\n[columns]{columns}"));
    let run = inferences(&folder, &["--output", "list.csv"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.contains("nothing to infer: no column has the role `sensitive`"), "{}", run.stdout);
    assert_eq!(folder.read("list.csv").lines().count(), 1, "the header alone");
    let json: serde_json::Value = serde_json::from_str(&inferences(&folder, &["--json"]).stdout).unwrap();
    assert!(json.is_object());
}

/// A policy that protects the rarer half of the values of each sensitive column, given all other categories.
fn published(table: &str, known: &[&str], sensitive: &[&str], class: &str) -> String {
    let header: Vec<&str> = table.lines().next().unwrap().split(',').collect();
    let mut policy = "version = 1\n".to_owned();
    for column in sensitive {
        policy += &format!(
            "[[privacy.template]]\ngiven = {known:?}\ncolumn = \"{column}\"\nrarest = 0.5\nmax-confidence = 0.9\n"
        );
    }
    for column in header {
        let role = match column {
            _ if known.contains(&column) => "quasi-identifier",
            _ if sensitive.contains(&column) => "sensitive",
            _ if column == class => "class",
            _ => "insensitive",
        };
        policy += &format!("[columns.{column}]\nrole = \"{role}\"\n");
    }
    policy
}

/// Returns the records without missing values.
fn complete(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    text.lines().filter(|line| !line.split(',').any(|cell| cell == "?")).map(|line| format!("{line}\n")).collect()
}

#[test]
fn crx_gives_the_published_counts() {
    let Some(data) = real_data("crx_gives_the_published_counts") else { return };
    let table = complete(&data.join("crx/crx.csv"));
    let policy = published(&table, &["A1", "A4", "A5", "A12", "A13"], &["A9", "A10", "A7", "A6"], "A16");
    let folder = Folder::empty();
    folder.write("people.csv", table).write("policy.toml", policy);
    let found = json(&folder, &[]);
    assert_eq!(found["rows"], 653);
    assert_eq!(counts(&found, "inferences"), [40, 27, 15, 8, 6]);
    assert_eq!(found["inferences"].as_array().unwrap().len(), 15);
    assert_eq!(found["broken"]["inferences"], 6);
}

#[test]
fn german_gives_the_published_counts() {
    let Some(data) = real_data("german_gives_the_published_counts") else { return };
    let table = complete(&data.join("german/german.csv"));
    let known = ["employment", "personal-status-and-sex", "property", "housing", "job", "telephone", "foreign"];
    let sensitive = ["status-account", "credit-history", "bonds", "installment-plans", "purpose", "other-debtors"];
    let folder = Folder::empty();
    folder.write("policy.toml", published(&table, &known, &sensitive, "risk")).write("people.csv", table);
    let found = json(&folder, &[]);
    assert_eq!(found["rows"], 1000);
    assert_eq!(counts(&found, "inferences"), [496, 337, 174, 162, 161]);
}
