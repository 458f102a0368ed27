//! `moretta queries`: every output format, the user's own queries, and every kind of released cell.

use serde_json::Value;

use crate::{
    folder::{Folder, Run, real_data},
    people,
};

/// A file of the user's own queries, about the people of [`Folder::with_people`].
const OWN_QUERIES: &str = "\
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

/// Runs `moretta queries` on the release `out.csv`.
fn queries(folder: &Folder, options: &[&str]) -> Run {
    folder.run(&[&["queries", "people.csv", "out.csv", "--policy", "policy.toml"], options].concat())
}

/// Runs `moretta queries`, which must succeed; returns its standard output.
fn ok(folder: &Folder, options: &[&str]) -> String {
    let run = queries(folder, options);
    assert_eq!(run.code, 0, "{}", run.stderr);
    run.stdout
}

fn json(folder: &Folder, options: &[&str]) -> Value {
    serde_json::from_str(&ok(folder, &[&["--json"], options].concat())).unwrap()
}

/// Synthetic people and a release of their table.
fn folder_with_release(people: u64) -> Folder {
    let folder = people::folder(people);
    assert_eq!(folder.anonymize(&["--seed", "1"]).code, 0);
    folder
}

/// Eight people, released in two groups of four: ages 34 to 36, and ages 47 to 51.
fn folder_with_two_groups() -> Folder {
    let folder = Folder::with_people();
    let mut table = "age,sex,zip,diagnosis\n".to_owned();
    for diagnosis in ["flu", "asthma", "diabetes", "flu"] {
        table += &format!("\"[34, 36]\",*,5371*,{diagnosis}\n");
    }
    for diagnosis in ["flu", "asthma", "diabetes", "asthma"] {
        table += &format!("\"[47, 51]\",*,53711,{diagnosis}\n");
    }
    folder.write("out.csv", table).write("own.toml", OWN_QUERIES);
    folder
}

#[test]
fn random_queries() {
    let folder = folder_with_release(2000);
    let before = folder.files();
    let options = ["--count", "200", "--seed", "3", "--columns", "2"];
    let stdout = ok(&folder, &options);
    insta::assert_snapshot!("queries", stdout);
    assert_eq!(
        stdout,
        ok(&folder, &[&options[..], &["--threads", "1"]].concat()),
        "the output depends on the number of threads"
    );
    assert!(queries(&folder, &options).stderr.is_empty(), "no true answer is shown, so no note is expected");
    let found = json(&folder, &options);
    assert_eq!((&found["rows"], &found["seed"], &found["columns"]), (&2000.into(), &3.into(), &2.into()));
    let workloads = found["workloads"].as_array().unwrap();
    let names: Vec<_> =
        workloads.iter().map(|kind| (kind["aggregate"].as_str().unwrap(), kind["column"].as_str())).collect();
    assert_eq!(names, [("count", None), ("sum", Some("age"))]);
    for workload in workloads {
        assert_eq!(workload["errors"]["queries"], 200);
        assert!(workload["drawn"].as_u64().unwrap() >= 200);
        let ranges = workload["by_selectivity"].as_array().unwrap();
        let num_queries: u64 = ranges.iter().map(|range| range["queries"].as_u64().unwrap()).sum();
        assert_eq!((ranges.len(), num_queries), (4, 200));
        let mean = workload["errors"]["mean"].as_f64().unwrap();
        assert!(0.0 < mean && mean < 10.0, "{mean}");
    }
    assert!(found.get("queries").is_none(), "random queries are not shown: one may be about a single person");
    let other_seed = json(&folder, &["--count", "200", "--columns", "2"]);
    assert_ne!(found["workloads"], other_seed["workloads"]);
    assert_eq!(folder.files(), before, "a file was written or changed");
}

#[test]
fn an_unchanged_table_has_no_error() {
    let folder = people::folder(500);
    folder.write("out.csv", folder.read("people.csv"));
    for workload in json(&folder, &["--count", "50"])["workloads"].as_array().unwrap() {
        assert!(workload["errors"]["mean"].as_f64().unwrap() < 1e-9, "{workload}");
    }
}

#[test]
fn too_few_queries_with_a_nonzero_answer_are_reported() {
    let folder = Folder::with_people();
    let zeros: String = (0..4).map(|n| format!("P{n},0,f,53711,flu\n")).collect();
    folder.write("people.csv", format!("name,age,sex,zip,diagnosis\n{zeros}"));
    folder.write("out.csv", format!("age,sex,zip,diagnosis\n{}", "0,f,53711,flu\n".repeat(4)));
    let stdout = ok(&folder, &["--count", "2"]);
    assert!(
        stdout.contains("SUM(age): 0 of 2,000 drawn queries have a nonzero true answer\n  too few: 2 were requested"),
        "{stdout}"
    );
}

#[test]
fn own_queries() {
    let folder = folder_with_two_groups();
    let run = queries(&folder, &["--queries", "own.toml"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(run.stderr, "note: the output shows true answers, so it is as confidential as people.csv\n");
    insta::assert_snapshot!("queries-own", run.stdout);
    let found = json(&folder, &["--queries", "own.toml"]);
    let field = |index: usize, name: &str| found["queries"][index][name].as_f64();
    assert_eq!((field(0, "truth"), field(0, "answer"), field(0, "error")), (Some(8.0), Some(8.0), Some(0.0)));
    // Of the first group, [34, 36] lies inside the queried ages and `f` is one of the two sexes in `*`: the answer is 4
    // / 2.
    assert_eq!((field(1, "truth"), field(1, "answer"), field(1, "records")), (Some(3.0), Some(2.0), Some(3.0)));
    // In the first group, `5371*` covers three zip codes, so a third of its four records count, with the mean age
    // 35 of [34, 36]; in the second group all four count, with the mean age 49 of [47, 51].
    let answer = field(2, "answer").unwrap();
    assert!((answer - (4.0 / 3.0 * 35.0 + 4.0 * 49.0)).abs() < 1e-9, "{answer}");
    assert_eq!((field(2, "truth"), field(3, "truth"), field(3, "error")), (Some(119.0), Some(0.0), None));
    assert_eq!(found["queries"][1]["where"], serde_json::json!({"age": "[34, 36]", "sex": "f"}));
    assert_eq!(found["workloads"][0]["errors"]["queries"], 2);
}

#[test]
fn answers_are_written_as_csv_and_errors_as_a_picture() {
    let folder = folder_with_two_groups();
    let stdout = ok(&folder, &["--queries", "own.toml", "--output", "a.csv"]);
    assert!(stdout.ends_with("wrote a.csv: 4 queries\n"), "{stdout}");
    let rows = people::rows(&folder.read("a.csv"));
    assert_eq!(rows[0].join(","), "query,aggregate,column,where,records,truth,answer,error");
    assert_eq!(rows[2][..7].join(";"), "2;count;;age [34, 36], sex f;3;3;2");
    assert_eq!((rows.len(), rows[4][7].as_str()), (5, ""));
    assert_eq!(
        queries(&folder, &["--output", "a.csv"]).code,
        2,
        "an existing file is overwritten only with --overwrite"
    );
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
fn releases_with_sets_and_means_can_be_queried() {
    let folder = people::folder(1000);
    let policy = folder.read("policy.toml");
    let options = "labels = \"set\"\nnumbers = \"mean\"\n";
    if policy.contains("[release]\n") {
        folder.edit("policy.toml", "[release]\n", &format!("[release]\n{options}"));
    } else {
        folder.write("policy.toml", format!("{policy}\n[release]\n{options}"));
    }
    let run = folder.anonymize(&["--seed", "1"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    for workload in json(&folder, &["--count", "50", "--columns", "1"])["workloads"].as_array().unwrap() {
        assert_eq!(workload["errors"]["queries"], 50);
    }
}

#[test]
fn a_thousand_queries_of_each_kind_are_answered_on_adult() {
    let Some(data) = real_data("a_thousand_queries_of_each_kind_are_answered_on_adult") else { return };
    let mut policy = "version = 1\n[privacy]\nk = 10\n[columns.age]\nrole = \"quasi-identifier\"\n".to_owned();
    for name in ["occupation", "education", "native-country", "marital-status", "sex", "race", "workclass"] {
        let file = data.join(format!("adult/hierarchies/{name}.csv"));
        policy += &format!("[columns.{name}]\nrole = \"quasi-identifier\"\nhierarchy = '{}'\n", file.display());
    }
    let others =
        ["income", "fnlwgt", "education-num", "relationship", "capital-gain", "capital-loss", "hours-per-week"];
    for name in others {
        policy += &format!("[columns.{name}]\nrole = \"insensitive\"\n");
    }
    policy += &format!("[release]\nexact = {others:?}\n");
    let folder = Folder::empty();
    folder.write("policy.toml", policy);
    let train = data.join("adult/adult_train.csv").to_str().unwrap().to_owned();
    folder.ok(&["anonymize", &train, "-p", "policy.toml", "-o", "out.csv", "--seed", "1"]);
    let stdout = folder.ok(&["queries", &train, "out.csv", "-p", "policy.toml", "--json"]);
    let found: Value = serde_json::from_str(&stdout).unwrap();
    for workload in found["workloads"].as_array().unwrap() {
        assert_eq!(workload["errors"]["queries"], 1000, "{stdout}");
    }
}
