//! What a model can still learn, from outside.

use serde_json::Value;

use crate::{
    folder::{Folder, real_data},
    people,
};

const EVALUATE: [&str; 6] = ["evaluate", "people.csv", "--policy", "policy.toml", "--test", "test.csv"];

fn with(more: &[&'static str]) -> Vec<&'static str> {
    EVALUATE.iter().chain(more).copied().collect()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn made_up_people_are_evaluated_on_people_the_search_never_saw() {
    let folder = people::folder_to_predict(3000);
    folder.write("test.csv", people::table(1, 3000..4500));
    let before = folder.files();
    let said = folder.ok(&with(&["--json", "--seed", "1"]));
    assert_eq!(
        said,
        folder.ok(&with(&["--json", "--seed", "1", "--threads", "1"])),
        "the same on any number of threads"
    );
    assert_eq!(folder.files(), before, "nothing is written");
    let found = json(&said);
    assert_eq!((&found["records"]["train"], &found["records"]["test"]), (&3000.into(), &1500.into()));
    let share = |name: &str| found["errors"][name].as_f64().unwrap();
    assert!(0.0 < share("B") && share("B") < share("W") && share("W") < 1.0, "{said}");
    assert!(share("E") < share("W") && share("RE") < share("W"), "{said}");
    assert!(found["records"]["uncovered"].as_u64().unwrap() < 1500);
    assert_eq!(found["method"], "mondrian");
    assert!(found["measures"]["gcp"].as_f64().unwrap() > 0.0);
    let said = folder.ok(&with(&["--seed", "1"]));
    assert!(said.contains("trained on the release") && said.lines().count() >= 5, "{said}");
}

#[test]
fn the_test_records_take_no_part_in_the_search() {
    let folder = people::folder_to_predict(2000);
    let run = |test: String| {
        folder.write("test.csv", test);
        json(&folder.ok(&with(&["--json", "--seed", "1"])))
    };
    let (some, others) = (run(people::table(1, 2000..2500)), run(people::table(9, 0..4000)));
    assert_eq!(some["measures"], others["measures"]);
    assert_ne!(some["errors"], others["errors"]);
}

#[test]
fn without_a_class_or_without_test_records_there_is_nothing_to_evaluate() {
    let folder = people::folder(500);
    folder.write("test.csv", people::table(1, 500..600));
    folder.edit("policy.toml", "role = \"class\"", "role = \"sensitive\"");
    let run = folder.run(&with(&[]));
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("policy.toml: no column has the role `class`"), "{}", run.stderr);

    let folder = people::folder(500);
    folder.write("test.csv", people::table(1, 0..0));
    let run = folder.run(&with(&[]));
    assert_eq!(run.code, 2, "{}{}", run.stdout, run.stderr);
    assert!(run.stderr.contains("test.csv"), "{}", run.stderr);

    folder.write("test.csv", "name,age\nAnn,34\n");
    let run = folder.run(&with(&[]));
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("test.csv"), "{}", run.stderr);
}

#[test]
fn adult_gives_the_published_baselines() {
    let Some(data) = real_data("adult_gives_the_published_baselines") else { return };
    let mut policy = "version = 1\n[privacy]\nk = 10\n[columns.income]\nrole = \"class\"\n".to_owned();
    for name in ["occupation", "education", "native-country", "marital-status", "sex", "race", "workclass"] {
        let file = data.join(format!("adult/hierarchies/{name}.csv"));
        policy += &format!("[columns.{name}]\nrole = \"quasi-identifier\"\nhierarchy = '{}'\n", file.display());
    }
    for name in ["age", "fnlwgt", "education-num", "relationship", "capital-gain", "capital-loss", "hours-per-week"] {
        policy += &format!("[columns.{name}]\nrole = \"insensitive\"\n");
    }
    let folder = Folder::empty();
    folder.write("policy.toml", policy);
    let path = |name: &str| data.join("adult").join(name).to_str().unwrap().to_owned();
    let (train, test) = (path("adult_train.csv"), path("adult_test.csv"));
    let said = folder.ok(&["evaluate", &train, "-p", "policy.toml", "--test", &test, "--json", "--seed", "1"]);
    let errors = &json(&said)["errors"];
    let share = |name: &str| errors[name].as_f64().unwrap();
    assert!((share("B") - 0.174).abs() < 0.005, "{errors}");
    assert!((share("W") - 0.246).abs() < 0.005, "{errors}");
    assert!(share("E") < share("W"), "{errors}");
    assert!(errors["RE"].is_null());
}
