//! The smaller commands.

use std::collections::HashMap;

use crate::{folder::Folder, people};

#[test]
fn the_demo_runs_twice_in_one_folder() {
    let folder = Folder::empty();
    for _ in 0..2 {
        let said = folder.ok(&["demo", "--people", "2000", "--overwrite"]);
        assert!(said.contains("released moretta-demo/released.csv: 2,000 records"), "{said}");
    }
    for name in ["people.csv", "policy.toml", "released.csv", "report.html", "report.json", "recoding.json"] {
        assert!(folder.path("moretta-demo").join(name).is_file(), "{name}");
    }
    folder.ok(&["check", "moretta-demo/released.csv", "-p", "moretta-demo/policy.toml"]);
}

/// Both commands that the demo prints run as they are printed, in a folder whose name needs quotes.
#[test]
fn the_commands_of_the_demo_run_as_printed() {
    let folder = Folder::empty();
    let said = folder.ok(&["demo", "it's a demo", "--people", "500"]);
    let is_command = |line: &&str| line.trim_start_matches("$ ").starts_with(env!("CARGO_BIN_EXE_moretta"));
    let joined = said.replace("\\\n", " ");
    let commands: Vec<&str> = joined.lines().filter(is_command).collect();
    assert_eq!(commands.len(), 2, "{said}");
    for command in commands {
        std::fs::remove_file(folder.path("it's a demo/released.csv")).unwrap();
        let line = format!("{} --overwrite", command.trim_start_matches("$ ").trim_end_matches(" --overwrite"));
        let status =
            std::process::Command::new("sh").args(["-c", &line]).current_dir(folder.path(".")).output().unwrap();
        assert!(status.status.success(), "{line}: {}", String::from_utf8_lossy(&status.stderr));
        assert!(folder.path("it's a demo/released.csv").is_file());
    }
}

#[test]
fn init_may_write_its_policy_beside_the_data() {
    let folder = people::folder(300);
    std::fs::create_dir(folder.path("data")).unwrap();
    std::fs::copy(folder.path("people.csv"), folder.path("data/people.csv")).unwrap();
    folder.ok(&["init", "data", "--output", "data/policy.toml"]);
    let run = folder.run(&["anonymize", "data", "-p", "policy.toml", "-o", "data/out.csv"]);
    assert!(run.code == 2 && run.stderr.contains("is in the input folder data"), "{}", run.stderr);
}

#[test]
fn what_init_writes_can_be_used_as_it_is() {
    let folder = people::folder(3000);
    folder.ok(&["init", "people.csv", "--output", "guessed.toml"]);
    let text = folder.read("guessed.toml");
    assert!(text.contains("CONFIRM"));
    assert_eq!(folder.ok(&["init", "people.csv"]), text, "printed without --output");
    folder.ok(&["anonymize", "people.csv", "-p", "guessed.toml", "-o", "out.csv"]);
    folder.ok(&["check", "out.csv", "-p", "guessed.toml"]);
    assert!(!folder.read("out.csv").starts_with("name,"), "the name was found out");
}

/// A number below `end` for a record and a column, the same in every run.
fn drawn(record: u64, column: u64, end: u64) -> u64 {
    let mixed = (record * 1_000 + column + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 32) % end
}

/// Household numbers, exact amounts and codes singled out nearly all records of a release of an unchanged draft.
#[test]
fn what_init_leaves_unchanged_finds_hardly_a_person() {
    const RECORDS: u64 = 1_500;
    let folder = Folder::empty();
    let mut table = "ori_hid,expend,occ,sex,smoker,diagnosis,unit\n".to_owned();
    for record in 0..RECORDS {
        let draw = |column, end| drawn(record, column, end);
        let cells = [
            (record / 3 + 1).to_string(),
            format!("{}.{:02}", draw(0, 90_000), draw(1, 100)),
            (111 + 37 * draw(2, 100)).to_string(),
            (1 + draw(3, 2)).to_string(),
            ["no", "yes"][usize::from(draw(4, 4) == 0)].to_owned(),
            ["flu", "asthma", "gout", "angina", "cystitis"][draw(5, 5) as usize].to_owned(),
            "mg".to_owned(),
        ];
        table += &(cells.join(",") + "\n");
    }
    folder.write("survey.csv", table.as_str());
    folder.ok(&["init", "survey.csv", "--output", "guessed.toml"]);
    let said = folder.ok(&["anonymize", "survey.csv", "-p", "guessed.toml", "-o", "out.csv"]);
    assert!(said.contains("ok     distinct l-diversity (diagnosis, l = 3)") && said.contains("-> smoker"), "{said}");
    let release = folder.read("out.csv");
    assert_eq!(release.lines().next(), Some("expend,occ,sex,smoker,diagnosis,unit"));
    let kept = |text: &str| {
        let columns = ["smoker", "diagnosis", "unit"].map(|name| people::column(text, name));
        let mut records: HashMap<Vec<String>, u64> = HashMap::new();
        for row in 0..columns[0].len() {
            *records.entry(columns.iter().map(|column| column[row].clone()).collect()).or_default() += 1;
        }
        records
    };
    let (original, released) = (kept(&table), kept(&release));
    assert_eq!(original, released, "these columns are unchanged");
    let found = original.values().filter(|&&records| records == 1).count() as u64;
    assert!(found * 100 <= RECORDS, "{found}");
}

#[test]
fn hierarchies_are_built_shown_and_checked() {
    let folder = Folder::with_people();
    folder.ok(&[
        "hierarchy",
        "build",
        "people.csv",
        "--column",
        "age",
        "--method",
        "widths",
        "--widths",
        "10,20",
        "-o",
        "age.csv",
    ]);
    assert_eq!(folder.read("age.csv").lines().next(), Some("34;\"[30, 39]\";\"[20, 39]\";*"));
    folder.ok(&["hierarchy", "check", "age.csv", "people.csv"]);
    let shown = folder.ok(&["hierarchy", "show", "age.csv"]);
    assert!(shown.contains("[20, 39]"), "{shown}");
    let bins =
        folder.ok(&["hierarchy", "build", "people.csv", "--column", "age", "--method", "bins", "--bins", "0,40,120"]);
    assert!(bins.contains("34;\"[0, 39]\";*"), "{bins}");
    folder.edit("age.csv", "34;", "33;");
    let run = folder.run(&["hierarchy", "check", "age.csv", "people.csv"]);
    assert_eq!(run.code, 1, "{}{}", run.stdout, run.stderr);
    // A policy with the built file gives the same release as one with widths.
    folder.ok(&[
        "hierarchy",
        "build",
        "people.csv",
        "--column",
        "age",
        "--method",
        "widths",
        "--widths",
        "10,20",
        "-o",
        "age.csv",
        "--overwrite",
    ]);
    folder.edit("policy.toml", "type = \"number\"", "type = \"number\"\nhierarchy = \"age.csv\"");
    assert_eq!(folder.anonymize(&["--keep-order"]).code, 0);
    let by_file = folder.read("out.csv");
    folder.edit("policy.toml", "hierarchy = \"age.csv\"", "hierarchy = { widths = [10, 20] }");
    assert_eq!(folder.anonymize(&["--keep-order", "--overwrite"]).code, 0);
    assert_eq!(by_file, folder.read("out.csv"));
}

#[test]
fn a_large_hierarchy_is_folded_to_a_screen() {
    let folder = Folder::empty();
    let values: String = (0..10_000u64).map(|i| format!("{}\n", i * 7919 % 1_000_003)).collect();
    folder.write("t.csv", "n\n".to_owned() + &values);
    folder.ok(&["hierarchy", "build", "t.csv", "--column", "n", "--method", "iotf", "-o", "n.csv"]);
    let shown = folder.ok(&["hierarchy", "show", "n.csv"]);
    assert!((20..=102).contains(&shown.lines().count()), "{shown}");
    assert!(
        shown.lines().all(|line| line.chars().count() < 100) && shown.contains("use --depth to show more levels"),
        "{shown}"
    );
    let deeper = folder.ok(&["hierarchy", "show", "n.csv", "--depth", "8"]);
    assert!(deeper.lines().count() > shown.lines().count());
    folder.ok(&["hierarchy", "show", "n.csv", "--output", "n.svg"]);
    assert!(folder.read("n.svg").len() < 100_000);
    let said = folder.ok(&[
        "hierarchy",
        "build",
        "t.csv",
        "--column",
        "n",
        "--method",
        "iotf",
        "--levels",
        "6",
        "-o",
        "n.csv",
        "--overwrite",
    ]);
    assert!(said.contains(" 6 levels"), "{said}");
}

#[test]
fn lists_come_from_the_registries() {
    let folder = Folder::empty();
    let names = |list: &str| -> Vec<String> {
        let list: serde_json::Value = serde_json::from_str(&folder.ok(&[list, "--json"])).unwrap();
        list.as_array().unwrap().iter().map(|entry| entry["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names("methods"), moretta_core::search::method_names());
    let methods: serde_json::Value = serde_json::from_str(&folder.ok(&["methods", "--json"])).unwrap();
    for (entry, method) in methods.as_array().unwrap().iter().zip(moretta_core::search::METHODS) {
        assert_eq!(
            entry["measure"].as_str(),
            method.objectives.default_metric().map(|loss| loss.name()),
            "null if the method does not accept [measure]"
        );
    }
    assert_eq!(names("measures"), moretta_core::measure::MEASURES.iter().map(|m| m.name).collect::<Vec<_>>());
    assert_eq!(names("models"), moretta_core::privacy::MODELS.iter().map(|m| m.name).collect::<Vec<_>>());
}

#[test]
fn no_color_in_a_pipe() {
    let folder = Folder::with_people();
    let run = folder.anonymize(&[]);
    assert!(!run.stdout.contains('\u{1b}') && !run.stderr.contains('\u{1b}'), "{}{}", run.stdout, run.stderr);
    assert_eq!(
        run.stderr,
        "note: no privacy model protects the sensitive values of `diagnosis`: all records of a group may share one value\n"
    );
}
