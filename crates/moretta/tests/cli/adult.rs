//! The real Adult data, if it is available.

use crate::folder::{Folder, real_data};

const NUMBERS: [&str; 2] = ["age", "education-num"];
const CATEGORIES: [&str; 6] = ["workclass", "marital-status", "occupation", "race", "sex", "native-country"];
const OTHERS: [&str; 6] = ["fnlwgt", "education", "relationship", "capital-gain", "capital-loss", "hours-per-week"];

fn policy(data: &std::path::Path, k: u64) -> String {
    let mut text = format!("version = 1\n[privacy]\nk = {k}\n[release]\nexact = {OTHERS:?}\n");
    for name in NUMBERS {
        text += &format!("[columns.{name}]\nrole = \"quasi-identifier\"\ntype = \"number\"\n");
    }
    for name in CATEGORIES {
        let file = data.join(format!("adult/hierarchies-arx/{name}.csv"));
        text += &format!("[columns.{name}]\nrole = \"quasi-identifier\"\nhierarchy = '{}'\n", file.display());
    }
    for name in OTHERS {
        text += &format!("[columns.{name}]\nrole = \"insensitive\"\n");
    }
    text + "[columns.income]\nrole = \"class\"\n"
}

#[test]
fn adult_is_released_and_checked_for_every_k() {
    let Some(data) = real_data("adult_is_released_and_checked_for_every_k") else { return };
    let train = data.join("adult/adult_train.csv");
    let train = train.to_str().unwrap();
    let folder = Folder::empty();
    for k in [2, 3, 5, 10, 25, 50, 100, 250, 500] {
        folder.write("policy.toml", policy(&data, k));
        let report = folder.ok(&["anonymize", train, "-p", "policy.toml", "-o", "out.csv", "--overwrite", "--json"]);
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        assert!(report["privacy"]["smallest_group"].as_u64().unwrap() >= k);
        folder.ok(&["check", "out.csv", "-p", "policy.toml"]);
        // The best results of other Mondrian implementations at these k, with the same setup.
        let others = [(5, 0.102), (10, 0.156), (50, 0.303), (100, 0.371)];
        if let Some((_, best)) = others.iter().find(|(at, _)| *at == k) {
            let gcp = report["measures"]["gcp"].as_f64().unwrap();
            assert!(gcp < *best, "k = {k}: {gcp} against {best}");
        }
        let raw = folder.run(&["check", train, "-p", "policy.toml"]);
        assert_eq!(raw.code, 1);
        assert!(raw.stdout.contains("first records of the worst groups: 1; 3; 4"), "{}", raw.stdout);
    }
}

#[test]
fn missing_values_of_adult_are_counted_or_kept() {
    let Some(data) = real_data("missing_values_of_adult_are_counted_or_kept") else { return };
    let train = data.join("adult/adult_train_with_missing.csv");
    let train = train.to_str().unwrap();
    let folder = Folder::empty();
    folder.write("policy.toml", policy(&data, 10));
    let run = folder.run(&["anonymize", train, "-p", "policy.toml", "-o", "out.csv"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("one of 1836 missing"), "{}", run.stderr);
    for rule in ["category", "suppress"] {
        let text = CATEGORIES.iter().fold(policy(&data, 10), |text, name| {
            text.replace(&format!("[columns.{name}]\n"), &format!("[columns.{name}]\nmissing = \"{rule}\"\n"))
        });
        folder.write("policy.toml", text);
        folder.ok(&["anonymize", train, "-p", "policy.toml", "-o", "out.csv", "--overwrite"]);
        folder.ok(&["check", "out.csv", "-p", "policy.toml"]);
    }
}

#[test]
fn the_example_policy_serves_adult() {
    let Some(data) = real_data("the_example_policy_serves_adult") else { return };
    let policy = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/adult/policy.toml");
    let train = data.join("adult/adult_train.csv");
    let folder = Folder::empty();
    folder.ok(&["anonymize", train.to_str().unwrap(), "-p", policy, "-o", "out.csv", "--report", "report.html"]);
    folder.ok(&["check", "out.csv", "-p", policy]);
}
