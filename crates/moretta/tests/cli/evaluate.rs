//! `moretta evaluate`.

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
    let printed = folder.ok(&with(&[]));
    assert!(printed.starts_with("nothing to evaluate: no column has the role `class`"), "{printed}");
    let json: serde_json::Value = serde_json::from_str(&folder.ok(&with(&["--json"]))).unwrap();
    assert_eq!(json, serde_json::json!({ "errors": null }));

    let folder = people::folder(500);
    folder.write("test.csv", people::table(1, 0..0));
    let run = folder.run(&with(&[]));
    assert_eq!(run.code, 2, "{}{}", run.stdout, run.stderr);
    assert!(run.stderr.contains("test.csv"), "{}", run.stderr);

    let run = folder.run(&["evaluate", "people.csv", "-p", "policy.toml", "--test", "./people.csv"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("this is the training file"), "{}", run.stderr);

    folder.write("test.csv", "name,age\nAnn,34\n");
    let run = folder.run(&with(&[]));
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("test.csv"), "{}", run.stderr);
}

const FOLDED: [&str; 6] = ["evaluate", "people.csv", "-p", "policy.toml", "--seed", "1"];

fn folded(more: &[&'static str]) -> Vec<&'static str> {
    FOLDED.iter().chain(more).copied().collect()
}

#[test]
fn without_test_records_some_are_held_back_in_turn() {
    let folder = people::folder_to_predict(3001);
    let before = folder.files();
    let said = folder.ok(&folded(&["--json"]));
    assert_eq!(said, folder.ok(&folded(&["--json", "--threads", "1"])), "the same on any number of threads");
    assert_eq!(folder.files(), before, "nothing is written");
    let found = json(&said);
    let folds = found["folds"].as_array().unwrap();
    let sizes: Vec<u64> = folds.iter().map(|fold| fold["records"]["test"].as_u64().unwrap()).collect();
    assert_eq!((sizes.len(), sizes.iter().sum::<u64>()), (5, 3001), "every record is tested once");
    for (fold, size) in folds.iter().zip(&sizes) {
        assert_eq!(fold["records"]["train"].as_u64().unwrap() + size, 3001);
        assert!((600..=601).contains(size));
    }
    for name in ["B", "E", "W", "RE"] {
        let each: Vec<f64> = folds.iter().map(|fold| fold["errors"][name].as_f64().unwrap()).collect();
        let mean = each.iter().sum::<f64>() / 5.0;
        let deviation = (each.iter().map(|error| (error - mean).powi(2)).sum::<f64>() / 4.0).sqrt();
        assert!((found["errors"][name].as_f64().unwrap() - mean).abs() < 1e-12, "{name}");
        assert!((found["spread"][name].as_f64().unwrap() - deviation).abs() < 1e-12, "{name}");
    }
    let said = folder.ok(&folded(&[]));
    assert!(
        said.contains("mean ± standard deviation of 5 splits (3,001 records in all)") && said.contains("±"),
        "{said}"
    );
}

#[test]
fn a_share_is_held_back_as_often_as_one_likes() {
    let folder = people::folder_to_predict(1000);
    let found = json(&folder.ok(&folded(&["--json", "--hold-out", "0.25", "--folds", "3"])));
    let tests: Vec<&Value> = found["folds"].as_array().unwrap().iter().map(|fold| &fold["records"]["test"]).collect();
    assert_eq!(tests, [250, 250, 250]);
    let found = json(&folder.ok(&folded(&["--json", "--hold-out", "0.25", "--folds", "1"])));
    assert_eq!((&found["records"]["train"], &found["spread"]), (&750.into(), &Value::Null));
    let refused = [
        (vec!["--folds", "1"], "--hold-out 0.33"),
        (vec!["--hold-out", "1.5"], "not a share between 0 and 1"),
        (vec!["--hold-out", "0.0001"], "too few"),
        (vec!["--folds", "2", "--test", "people.csv"], "cannot be used with"),
    ];
    for (more, message) in refused {
        let run = folder.run(&folded(&more));
        assert_eq!(run.code, 2, "{more:?}");
        assert!(run.stderr.contains(message), "{more:?}: {}", run.stderr);
    }
}

#[test]
fn what_cannot_be_met_without_the_records_held_back_is_said_to_be_about_them() {
    let folder = people::folder_to_predict(200);
    folder.edit("policy.toml", "k = 10", "k = 170");
    let run = folder.run(&folded(&[]));
    let message = "error: on the training records (without those held out): the policy cannot be satisfied: even with all 160 records in one group";
    assert!(run.code == 1 && run.stderr.contains(message), "{}", run.stderr);
    // With separate test records, nothing is held out.
    folder.edit("policy.toml", "k = 170", "k = 201").write("test.csv", people::table(1, 200..300));
    let run = folder.run(&with(&[]));
    let message = "error: the policy cannot be satisfied: even with all 200 records in one group";
    assert!(run.code == 1 && run.stderr.contains(message), "{}", run.stderr);
}

#[test]
fn a_template_on_a_value_that_is_not_there_is_refused() {
    let folder = people::folder_to_predict(200);
    let text = folder.read("policy.toml")
        + "\n[[privacy.template]]\ngiven = [\"age\"]\ncolumn = \"diagnosis\"\n\
        values = [\"zzz\"]\nmax-confidence = 0.5\n";
    folder.write("policy.toml", text);
    let run = folder.run(&folded(&[]));
    assert!(run.code == 2 && run.stderr.contains("guards `zzz`, which does not occur"), "{}", run.stderr);
}

#[test]
fn what_is_held_back_cannot_leak_into_the_recoding() {
    // One person earns far more than all others. If she is held out, the search must not know her income: the
    // training tables of the other folds include it in the range, that of her fold does not.
    let folder = Folder::empty();
    let mut table = "income,town,rich\n".to_owned();
    (0..99).for_each(|at| table += &format!("{},{},{}\n", 20 + at, ["x", "y"][at % 2], ["no", "yes"][at % 2]));
    folder.write("people.csv", table + "1000000,x,no\n");
    folder.write(
        "policy.toml",
        "version = 1\n[privacy]\nk = 5\n[columns]\nincome = { role = \"quasi-identifier\", type = \"number\" }\n\
         town.role = \"quasi-identifier\"\nrich.role = \"class\"\n",
    );
    let found = json(&folder.ok(&folded(&["--json"])));
    // Width of the widest group as a share of the range: the group of this person spans nearly all of it.
    let widest: Vec<f64> =
        found["folds"].as_array().unwrap().iter().map(|fold| fold["measures"]["nil_inf"].as_f64().unwrap()).collect();
    assert_eq!(widest.iter().filter(|&&widest| widest < 0.3).count(), 1, "{widest:?}");
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
