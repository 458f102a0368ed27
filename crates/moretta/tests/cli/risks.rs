//! `moretta risks`: counts of a naive twin, no value of a person, messages, limits.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::{
    folder::{Folder, PEOPLE},
    people,
};

fn json(folder: &Folder, more: &[&str]) -> Value {
    serde_json::from_str(&folder.ok(&[&["risks", "people.csv", "--json"], more].concat())).unwrap()
}

#[test]
fn tables_and_json() {
    let folder = people::folder(2000);
    insta::assert_snapshot!("risks", folder.ok(&["risks", "people.csv"]));
    let few = ["risks", "people.csv", "--columns", "postcode,age,sex", "--most", "2"];
    insta::assert_snapshot!("risks-columns", folder.ok(&few));
    insta::assert_snapshot!("risks-json", folder.ok(&[&few[..], &["--json"]].concat()));
    let run = folder.run(&["risks", "people.csv", "-o", "risks.html"]);
    insta::assert_snapshot!("risks-written", run.stdout);
}

#[test]
fn every_pair_has_the_counts_of_the_texts() {
    let folder = people::folder(500);
    let rows = people::rows(&folder.read("people.csv"));
    let found = json(&folder, &[]);
    assert_eq!((&found["records"], found["pairs"].as_array().unwrap().len()), (&500.into(), 45));
    for pair in found["pairs"].as_array().unwrap() {
        let names: Vec<&str> = pair["columns"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        let columns = names.iter().map(|name| rows[0].iter().position(|cell| cell == name).unwrap());
        let columns: Vec<usize> = columns.collect();
        let mut groups: BTreeMap<Vec<&str>, u64> = BTreeMap::new();
        for row in &rows[1..] {
            *groups.entry(columns.iter().map(|&column| row[column].as_str()).collect()).or_default() += 1;
        }
        let alone = groups.values().filter(|&&records| records == 1).count();
        assert_eq!(pair["distinct"], groups.len(), "{names:?}");
        assert_eq!(pair["alone"], alone, "{names:?}");
        assert_eq!(pair["distinction"], groups.len() as f64 / 500.0, "{names:?}");
    }
}

#[test]
fn the_result_does_not_depend_on_threads_or_format() {
    let folder = people::folder(1000);
    let found = json(&folder, &["--threads", "1"]);
    assert_eq!(json(&folder, &["--threads", "5"]), found);
    let text = folder.read("people.csv");
    let (header, records) = text.split_once('\n').unwrap();
    let backward: Vec<&str> = records.lines().rev().collect();
    folder.write("people.csv", format!("{header}\n{}\n", backward.join("\n")));
    assert_eq!(json(&folder, &[]), found);
}

#[test]
fn no_value_is_printed() {
    let folder = Folder::with_people();
    let mut said = folder.ok(&["risks", "people.csv"]) + &folder.ok(&["risks", "people.csv", "--json"]);
    folder.ok(&["risks", "people.csv", "-o", "risks.html"]);
    said += &folder.read("risks.html");
    let words: BTreeSet<&str> = said.split(|c: char| !c.is_alphanumeric()).collect();
    // Two digits may be a count.
    for cell in PEOPLE.lines().skip(1).flat_map(|line| line.split(',')).filter(|cell| cell.len() > 2) {
        assert!(!words.contains(cell), "{cell}");
    }
}

#[test]
fn a_missing_value_is_a_value() {
    let folder = Folder::empty();
    folder.write("people.csv", "a,b\n1,x\n,x\n2,y\n1,\n,\n");
    let found = json(&folder, &[]);
    assert_eq!((&found["columns"][0]["distinct"], &found["columns"][0]["alone"]), (&3.into(), &1.into()));
    assert_eq!(found["together"]["alone"], 5);
}

#[test]
fn wrong_requests_are_refused_with_one_message() {
    let folder = Folder::with_people();
    folder.write("empty.csv", "name,age\n").write("exists.html", "");
    let cases: [(&[&str], &str); 7] = [
        (&["people.csv", "--columns", "age,Zipp"], "people.csv: there is no column `Zipp`; did you mean `zip`?"),
        (&["people.csv", "--columns", "income"], "there is no column `income`; check its name and that the file has a"),
        (&["people.csv", "--columns", "age,sex,age"], "`--columns` names `age` twice"),
        (&["people.csv", "-o", "risks.csv"], "risks.csv: a page must be named .html; `--json` prints JSON"),
        (&["people.csv", "-o", "exists.html"], "exists.html exists; name another file, or use --overwrite"),
        (&["empty.csv"], "empty.csv has a header but no records"),
        (&["people.csv", "--most", "0"], "0 is not in 1..=20"),
    ];
    let before = folder.files();
    for (arguments, message) in cases {
        let run = folder.run(&[&["risks"], arguments].concat());
        assert_eq!((run.code, run.stderr.matches("error:").count()), (2, 1), "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains(message), "{arguments:?}: {}", run.stderr);
        assert!(run.stdout.is_empty() && folder.files() == before, "{arguments:?}");
    }
}
