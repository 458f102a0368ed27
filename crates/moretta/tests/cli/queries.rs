//! `moretta queries`: every output format, the user's own queries, and every kind of released cell.

use serde_json::Value;

use crate::{
    folder::{Folder, Run, real_data},
    people,
};

const OWN: &str = "\
[[query]]
count = true

[[query]]
count = true
where = { age = [34, 36], sex = \"f\" }

[[query]]
sum = \"age\"
where = { zip = \"53711\" }

[[query]]
count = true
where = { age = [90, 99] }
";

fn queries(folder: &Folder, more: &[&str]) -> Run {
    folder.run(&[&["queries", "people.csv", "out.csv", "--policy", "policy.toml"], more].concat())
}

fn ok(folder: &Folder, more: &[&str]) -> String {
    let run = queries(folder, more);
    assert_eq!(run.code, 0, "{}", run.stderr);
    run.stdout
}

fn json(folder: &Folder, more: &[&str]) -> Value {
    serde_json::from_str(&ok(folder, &[&["--json"], more].concat())).unwrap()
}

/// Synthetic people and a release of them.
fn released(people: u64) -> Folder {
    let folder = people::folder(people);
    assert_eq!(folder.anonymize(&["--seed", "1"]).code, 0);
    folder
}

/// Eight people released in two groups: ages up to 36, and from 47.
fn two_groups() -> Folder {
    let folder = Folder::with_people();
    let mut table = "age,sex,zip,diagnosis\n".to_owned();
    for diagnosis in ["flu", "asthma", "diabetes", "flu"] {
        table += &format!("\"[34, 36]\",*,5371*,{diagnosis}\n");
    }
    for diagnosis in ["flu", "asthma", "diabetes", "asthma"] {
        table += &format!("\"[47, 51]\",*,53711,{diagnosis}\n");
    }
    folder.write("out.csv", table).write("own.toml", OWN);
    folder
}

#[test]
fn random_queries() {
    let folder = released(2000);
    let before = folder.files();
    let more = ["--count", "200", "--seed", "3", "--columns", "2"];
    let said = ok(&folder, &more);
    insta::assert_snapshot!("queries", said);
    assert_eq!(said, ok(&folder, &[&more[..], &["--threads", "1"]].concat()), "the same on any number of threads");
    assert!(queries(&folder, &more).stderr.is_empty(), "errors alone give no answer away");
    let found = json(&folder, &more);
    assert_eq!((&found["rows"], &found["seed"], &found["columns"]), (&2000.into(), &3.into(), &2.into()));
    let workloads = found["workloads"].as_array().unwrap();
    let names: Vec<_> = workloads.iter().map(|of| (of["aggregate"].as_str().unwrap(), of["column"].as_str())).collect();
    assert_eq!(names, [("count", None), ("sum", Some("age"))]);
    for workload in workloads {
        assert_eq!(workload["errors"]["queries"], 200);
        assert!(workload["drawn"].as_u64().unwrap() >= 200);
        let classes = workload["by_selectivity"].as_array().unwrap();
        let counted: u64 = classes.iter().map(|class| class["queries"].as_u64().unwrap()).sum();
        assert_eq!((classes.len(), counted), (4, 200));
        let mean = workload["errors"]["mean"].as_f64().unwrap();
        assert!(0.0 < mean && mean < 10.0, "{mean}");
    }
    assert!(found.get("queries").is_none(), "a random query may be about a single person");
    assert_ne!(found["workloads"], json(&folder, &["--count", "200", "--columns", "2"])["workloads"]);
    assert_eq!(folder.files(), before, "nothing is written");
}

#[test]
fn the_table_as_it_is_answers_without_error() {
    let folder = people::folder(500);
    folder.write("out.csv", folder.read("people.csv"));
    for workload in json(&folder, &["--count", "50"])["workloads"].as_array().unwrap() {
        assert!(workload["errors"]["mean"].as_f64().unwrap() < 1e-9, "{workload}");
    }
}

#[test]
fn too_few_queries_are_told() {
    let folder = Folder::with_people();
    let zeros: String = (0..4).map(|n| format!("P{n},0,f,53711,flu\n")).collect();
    folder.write("people.csv", format!("name,age,sex,zip,diagnosis\n{zeros}"));
    folder.write("out.csv", format!("age,sex,zip,diagnosis\n{}", "0,f,53711,flu\n".repeat(4)));
    let said = ok(&folder, &["--count", "2"]);
    assert!(said.contains("SUM(age): 0 of 2,000 drawn have a nonzero answer\n  too few: 2 were requested"), "{said}");
}

#[test]
fn own_queries() {
    let folder = two_groups();
    let run = queries(&folder, &["--queries", "own.toml"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(run.stderr, "note: this shows true answers: it is as confidential as people.csv\n");
    insta::assert_snapshot!("queries-own", run.stdout);
    let found = json(&folder, &["--queries", "own.toml"]);
    let field = |at: usize, name: &str| found["queries"][at][name].as_f64();
    assert_eq!((field(0, "truth"), field(0, "answer"), field(0, "error")), (Some(8.0), Some(8.0), Some(0.0)));
    // All ages of [34, 36], and one of two sexes of `*`: half of four records.
    assert_eq!((field(1, "truth"), field(1, "answer"), field(1, "records")), (Some(3.0), Some(2.0), Some(3.0)));
    // A third of the first four records with mean age 35, and all of the others with mean age 49.
    let answer = field(2, "answer").unwrap();
    assert!((answer - (4.0 / 3.0 * 35.0 + 4.0 * 49.0)).abs() < 1e-9, "{answer}");
    assert_eq!((field(2, "truth"), field(3, "truth"), field(3, "error")), (Some(119.0), Some(0.0), None));
    assert_eq!(found["queries"][1]["where"], serde_json::json!({"age": "[34, 36]", "sex": "f"}));
    assert_eq!(found["workloads"][0]["errors"]["queries"], 2);
}

#[test]
fn answers_and_pictures_are_files() {
    let folder = two_groups();
    let said = ok(&folder, &["--queries", "own.toml", "--output", "a.csv"]);
    assert!(said.ends_with("wrote a.csv: 4 queries\n"), "{said}");
    let rows = people::rows(&folder.read("a.csv"));
    assert_eq!(rows[0].join(","), "query,aggregate,column,where,records,truth,answer,error");
    assert_eq!(rows[2][..7].join(";"), "2;count;;age [34, 36], sex f;3;3;2");
    assert_eq!((rows.len(), rows[4][7].as_str()), (5, ""));
    assert_eq!(queries(&folder, &["--output", "a.csv"]).code, 2, "it is there already");
    ok(&folder, &["--count", "10", "--output", "a.csv", "--overwrite"]);
    let rows = people::rows(&folder.read("a.csv"));
    assert!(rows.len() == 21 && rows[1..].iter().all(|row| row[3].is_empty() && row[5] != "0"), "{rows:?}");

    let run = queries(&folder, &["--count", "50", "-o", "a.svg"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let picture = folder.read("a.svg");
    assert!(picture.starts_with("<?xml") && picture.contains("COUNT, 50 queries") && picture.contains("SUM(age)"));
    assert!(!picture.contains("NaN") && !picture.contains("inf"), "{picture}");
}

#[test]
fn sets_and_means_are_answered_too() {
    let folder = people::folder(1000);
    let policy = folder.read("policy.toml");
    let form = "labels = \"set\"\nnumbers = \"mean\"\n";
    match policy.contains("[release]\n") {
        true => folder.edit("policy.toml", "[release]\n", &format!("[release]\n{form}")),
        false => folder.write("policy.toml", format!("{policy}\n[release]\n{form}")),
    };
    let run = folder.anonymize(&["--seed", "1"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    for workload in json(&folder, &["--count", "50", "--columns", "1"])["workloads"].as_array().unwrap() {
        assert_eq!(workload["errors"]["queries"], 50);
    }
}

#[test]
fn adult_is_answered_in_seconds() {
    let Some(data) = real_data("adult_is_answered_in_seconds") else { return };
    let mut policy = "version = 1\n[privacy]\nk = 10\n[columns.age]\nrole = \"quasi-identifier\"\n".to_owned();
    for name in ["occupation", "education", "native-country", "marital-status", "sex", "race", "workclass"] {
        let file = data.join(format!("adult/hierarchies/{name}.csv"));
        policy += &format!("[columns.{name}]\nrole = \"quasi-identifier\"\nhierarchy = '{}'\n", file.display());
    }
    for name in ["income", "fnlwgt", "education-num", "relationship", "capital-gain", "capital-loss", "hours-per-week"]
    {
        policy += &format!("[columns.{name}]\nrole = \"insensitive\"\n");
    }
    let folder = Folder::empty();
    folder.write("policy.toml", policy);
    let train = data.join("adult/adult_train.csv").to_str().unwrap().to_owned();
    folder.ok(&["anonymize", &train, "-p", "policy.toml", "-o", "out.csv", "--seed", "1"]);
    let said = folder.ok(&["queries", &train, "out.csv", "-p", "policy.toml", "--json"]);
    let found: Value = serde_json::from_str(&said).unwrap();
    for workload in found["workloads"].as_array().unwrap() {
        assert_eq!(workload["errors"]["queries"], 1000, "{said}");
    }
}
