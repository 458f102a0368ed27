//! Several records per person: groups are counted in persons, by an independent count that joins release and original.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::{
    folder::{Folder, Run, real_data},
    memory::METHODS,
    people::{self, rows},
};

const VISITS: &str = "version = 1\n[privacy]\nk = 5\n[columns]\npatient.role = \"person\"\nhome.role = \"household\"\n\
                      born.role = \"quasi-identifier\"\nward.role = \"quasi-identifier\"\nill.role = \"sensitive\"\n";

/// Visits of 60 patients, who live in 25 homes: most have several, some a dozen.
fn visits() -> String {
    let mut text = "patient,home,born,ward,ill\n".to_owned();
    for patient in 0..60u32 {
        for visit in 0..1 + patient * patient % 13 {
            let (born, ward) = (1940 + patient * 7 % 50, (patient + visit) % 3);
            let ill = ["flu", "hiv", "cold", "asthma"][(patient * 3 + visit * visit) as usize % 4];
            text += &format!("P-{patient},H{},{born},w{ward},{ill}\n", patient % 25);
        }
    }
    text
}

fn folder() -> Folder {
    let folder = Folder::empty();
    folder.write("visits.csv", visits()).write("policy.toml", VISITS);
    folder
}

fn anonymize(folder: &Folder, input: &str, more: &[&str]) -> Run {
    let fixed = ["anonymize", input, "-p", "policy.toml", "-o", "out.csv", "--overwrite", "--seed", "1"];
    folder.run(&[&fixed[..], more].concat())
}

/// Distinct persons of each group of a release in the order of its original.
fn persons_by_group(original: &str, release: &str, person: &str, quasi: &[&str]) -> Vec<usize> {
    let (original, release) = (rows(original), rows(release));
    assert_eq!(original.len(), release.len());
    let at = |header: &[String], name: &str| header.iter().position(|known| known == name);
    let person = at(&original[0], person).unwrap();
    let quasi: Vec<usize> = quasi.iter().map(|name| at(&release[0], name).unwrap()).collect();
    let mut groups: BTreeMap<Vec<&str>, BTreeSet<&str>> = BTreeMap::new();
    for (before, after) in original.iter().zip(&release).skip(1) {
        groups.entry(quasi.iter().map(|&at| after[at].as_str()).collect()).or_default().insert(&before[person]);
    }
    groups.into_values().map(|persons| persons.len()).collect()
}

#[test]
fn every_method_makes_groups_of_k_persons() {
    let folder = folder();
    for method in METHODS {
        folder.write("policy.toml", format!("{VISITS}[method]\nname = \"{method}\"\n"));
        let run = anonymize(&folder, "visits.csv", &["--keep-order", "--json"]);
        assert_eq!(run.code, 0, "{method}: {}", run.stderr);
        let (original, release) = (folder.read("visits.csv"), folder.read("out.csv"));
        assert_eq!(rows(&release)[0], ["born", "ward", "ill"], "{method}");
        assert!(!release.contains("P-") && !release.contains(",H"), "{method}");
        let persons = persons_by_group(&original, &release, "patient", &["born", "ward"]);
        let smallest = persons.iter().min().copied().unwrap();
        assert!(smallest >= 5 && persons.len() > 1, "{method}: {persons:?}");
        let report: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(report["input"]["persons"], 60);
        assert_eq!(report["privacy"]["smallest_group"], smallest, "{method}");
        assert_eq!(report["groups"], persons.len(), "{method}");
        let highest = report["risk"]["after"]["prosecutor"]["highest"].as_f64().unwrap();
        assert!((highest - 1.0 / smallest as f64).abs() < 1e-12, "{method}: {highest}");
        assert!(report["risk"]["household"]["after"]["mean"].as_f64().unwrap() > 0.0, "{method}");
    }
}

/// The same table with a number per record: releases and figures are those of records.
#[test]
fn if_every_record_has_its_own_person_nothing_changes() {
    let folder = folder();
    let text = visits();
    let mut lines = text.lines().enumerate();
    let (_, header) = lines.next().unwrap();
    let own: String = lines.map(|(at, line)| format!("Q-{at}{}\n", &line[line.find(',').unwrap()..])).collect();
    folder.write("own.csv", format!("{header}\n{own}"));
    let figures = |role: &str| {
        let policy = VISITS.replace("patient.role = \"person\"", &format!("patient.role = \"{role}\""));
        // The random steps of the default method depend on how many records are equal.
        folder.write("policy.toml", policy + "[method]\nname = \"sweep\"\n");
        let run = anonymize(&folder, "own.csv", &["--keep-order", "--json"]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        let report: Value = serde_json::from_str(&run.stdout).unwrap();
        let risk = &report["risk"];
        let figures = ["before", "after"].map(|when| {
            ["highest", "mean", "above_threshold", "unique"]
                .map(|figure| risk[when]["prosecutor"][figure].as_f64().unwrap())
        });
        (report["privacy"]["smallest_group"].clone(), report["groups"].clone(), figures)
    };
    let (persons, records) = (figures("person"), figures("identifier"));
    assert_eq!((&persons.0, &persons.1), (&records.0, &records.1));
    for (persons, records) in persons.2.iter().flatten().zip(records.2.iter().flatten()) {
        assert!((persons - records).abs() < 1e-12, "{persons} and {records}");
    }
}

#[test]
fn other_models_count_persons_too() {
    let folder = folder();
    let lkc = "[privacy.lkc]\nl = 1\nk = 6\nc = 0.8\n";
    folder.write("policy.toml", format!("{VISITS}{lkc}[method]\nname = \"sweep\"\n"));
    let run = anonymize(&folder, "visits.csv", &[]);
    assert_eq!(run.code, 2, "{}", run.stderr);
    let message = "two groups that satisfy LKC-privacy (any 1 of 2 columns known: k = 6 persons, confidence at most 0.8) \
                   may violate it together; use `best`";
    assert!(run.stderr.contains(message), "{}", run.stderr);
    folder.edit("policy.toml", "\"sweep\"", "\"genetic\"");
    let run = anonymize(&folder, "visits.csv", &["--keep-order"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let (original, release) = (folder.read("visits.csv"), folder.read("out.csv"));
    for known in ["born", "ward"] {
        let persons = persons_by_group(&original, &release, "patient", &[known]);
        assert!(persons.iter().all(|persons| *persons >= 6), "{known}: {persons:?}");
        let (known, ill) = (people::column(&release, known), people::column(&release, "ill"));
        type Texts = BTreeSet<String>;
        let mut groups: BTreeMap<&str, (Texts, BTreeMap<&str, Texts>)> = BTreeMap::new();
        for ((known, ill), patient) in known.iter().zip(&ill).zip(people::column(&original, "patient")) {
            let (all, by_value) = groups.entry(known).or_default();
            all.insert(patient.clone());
            by_value.entry(ill).or_default().insert(patient);
        }
        for (all, by_value) in groups.values() {
            let most = by_value.values().map(BTreeSet::len).max().unwrap();
            assert!(most as f64 <= 0.8 * all.len() as f64 + 1e-9, "{most} of {} persons", all.len());
        }
    }
}

#[test]
fn distinct_values_of_one_person_are_warned_of() {
    let folder = folder();
    let rule = |kind: &str| format!("{VISITS}[[privacy.l-diversity]]\ncolumn = \"ill\"\nl = 2\nkind = \"{kind}\"\n");
    folder.write("policy.toml", rule("distinct"));
    let warning = "one person with several records can have all of them";
    let run = anonymize(&folder, "visits.csv", &[]);
    assert_eq!((run.code, run.stderr.matches(warning).count()), (0, 1), "{}", run.stderr);
    folder.write("policy.toml", rule("entropy") + "[method]\nname = \"genetic\"\n");
    let run = anonymize(&folder, "visits.csv", &[]);
    assert_eq!((run.code, run.stderr.matches(warning).count()), (0, 0), "{}", run.stderr);
}

/// A policy, the arguments, the exit code and parts of the message.
type Refused<'a> = (&'a str, &'a [&'a str], i32, &'a [&'a str]);

#[test]
fn what_cannot_count_persons_says_so() {
    let folder = folder();
    let run = anonymize(&folder, "visits.csv", &["--recoding", "recoding.json"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let release = ["anonymize", "visits.csv", "-p", "policy.toml", "-o", "x.csv"];
    let twice = VISITS.replace("home.role", "born.role");
    let also = VISITS.replace("home.role = \"household\"", "home.role = \"person\"");
    let (many, typed) = (
        VISITS.replace("k = 5", "k = 61"),
        VISITS.replace("home.role = \"household\"", "home = { role = \"household\", type = \"number\" }"),
    );
    let refused: &[Refused<'_>] = &[
        (&twice, &release, 2, &["policy.toml, line 7", "is set twice"]),
        (&also, &release, 2, &["policy.toml, line 6", "`home` and `patient` both have the role \"person\""]),
        (&typed, &release, 2, &["policy.toml, line 6", "`type` has no effect for role \"household\""]),
        (&many, &release, 1, &["in one group there would be 60 persons, which violates k-anonymity (k = 61 persons)"]),
        (
            VISITS,
            &["check", "out.csv", "-p", "policy.toml"],
            2,
            &["out.csv", "`patient`", "cannot be judged by k-anonymity"],
        ),
        (VISITS, &["check", "visits.csv", "-p", "policy.toml"], 2, &["this column, which must not be released"]),
        (
            VISITS,
            &["inferences", "visits.csv", "-p", "policy.toml"],
            2,
            &["policy.toml", "`inferences` counts records"],
        ),
        (
            VISITS,
            &["linkage", "out.csv", "out.csv", "-p", "policy.toml"],
            2,
            &["policy.toml", "`linkage` counts records"],
        ),
        (
            VISITS,
            &["anonymize", "visits.csv", "-p", "policy.toml", "-o", "x.csv", "--earlier", "out.csv"],
            2,
            &["policy.toml", "`--earlier` counts records"],
        ),
    ];
    for (policy, arguments, code, says) in refused {
        folder.write("policy.toml", policy);
        let before = folder.files();
        let run = folder.run(arguments);
        assert_eq!(run.code, *code, "{arguments:?}: {}{}", run.stdout, run.stderr);
        assert_eq!(run.stderr.matches("error:").count(), 1, "{}", run.stderr);
        says.iter().for_each(|said| assert!(run.stderr.contains(said), "{said:?}: {}", run.stderr));
        assert!(!run.stderr.contains("P-"), "{}", run.stderr);
        assert!(folder.files() == before, "{arguments:?}");
    }
}

#[test]
fn other_requests_count_persons() {
    let folder = folder();
    // Boxes of the default method overlap more, so that its recoding need not fit the same table again.
    folder.write("policy.toml", format!("{VISITS}[method]\nname = \"sweep\"\n"));
    let run = anonymize(&folder, "visits.csv", &["--recoding", "recoding.json", "--report", "report.html"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.contains(" of 60 persons in ") && run.stdout.contains("unique persons: "), "{}", run.stdout);
    let page = folder.read("report.html");
    assert!(!page.contains("P-1") && page.contains("is shared by at least 5 persons"), "persons on the page");
    folder.ok(&["measure", "visits.csv", "out.csv", "-p", "policy.toml"]);
    folder.ok(&["queries", "visits.csv", "out.csv", "-p", "policy.toml", "--count", "20"]);
    let applied = ["apply", "visits.csv", "--recoding", "recoding.json", "-o", "again.csv", "--keep-order"];
    folder.ok(&applied);
    let persons = persons_by_group(&folder.read("visits.csv"), &folder.read("again.csv"), "patient", &["born", "ward"]);
    assert!(persons.iter().all(|persons| *persons >= 5), "{persons:?}");
    let frontier = folder.ok(&["frontier", "visits.csv", "-p", "policy.toml", "--json"]);
    let frontier: Value = serde_json::from_str(&frontier).unwrap();
    let last = frontier["points"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(last["anonymity"], 60, "all persons in one group");
    let compared = folder.ok(&["compare", "visits.csv", "-p", "policy.toml", "--methods", "sweep,mondrian", "--json"]);
    let compared: Value = serde_json::from_str(&compared).unwrap();
    assert_eq!(compared["persons"], 60);
    for row in compared["rows"].as_array().unwrap() {
        assert!((5..=60).contains(&row["smallest_group"].as_u64().unwrap()), "{row}");
    }
}

/// 8,376 records of 1,152 patients: counted in records, groups of ten held as few as four persons.
#[test]
fn patients_of_synthea_are_in_groups_of_ten_persons() {
    let Some(data) = real_data("patients_of_synthea_are_in_groups_of_ten_persons") else { return };
    let conditions = data.join("more/synthea/conditions.csv");
    let Ok(original) = std::fs::read_to_string(&conditions) else {
        eprintln!("SKIPPED patients_of_synthea_are_in_groups_of_ten_persons: no {}", conditions.display());
        return;
    };
    let folder = Folder::empty();
    let policy = "version = 1\n[privacy]\nk = 10\n[[privacy.l-diversity]]\ncolumn = \"CODE\"\nl = 2\n[columns]\n\
                  PATIENT.role = \"person\"\nENCOUNTER.role = \"identifier\"\nCODE.role = \"sensitive\"\n\
                  START = { role = \"quasi-identifier\", type = \"date\" }\n\
                  STOP = { role = \"quasi-identifier\", type = \"date\", missing = \"category\" }\n\
                  DESCRIPTION = { role = \"quasi-identifier\", type = \"category\" }\n";
    for method in METHODS {
        let short = if method == "genetic" { "iterations = 2000\npopulation = 200\n" } else { "" };
        folder.write("policy.toml", format!("{policy}[method]\nname = \"{method}\"\n{short}"));
        let run = anonymize(&folder, conditions.to_str().unwrap(), &["--keep-order", "--json"]);
        assert_eq!(run.code, 0, "{method}: {}", run.stderr);
        let persons =
            persons_by_group(&original, &folder.read("out.csv"), "PATIENT", &["START", "STOP", "DESCRIPTION"]);
        let smallest = persons.iter().min().copied().unwrap();
        let report: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(
            (&report["input"]["persons"], &report["privacy"]["smallest_group"]),
            (&1152.into(), &smallest.into())
        );
        assert!(smallest >= 10, "{method}: {smallest} persons");
        eprintln!("{method}: {} groups, smallest {smallest} persons, gcp {}", persons.len(), report["measures"]["gcp"]);
    }
}

/// A value that all records of a person repeat, and no other person has, finds the person, although no record is
/// unique.
#[test]
fn a_pseudonym_in_a_kept_column_is_refused() {
    let folder = folder();
    let with_pseudonym: String = visits()
        .lines()
        .map(|line| {
            let patient = line.split(',').next().unwrap();
            format!("{line},{}\n", if patient == "patient" { "card".to_owned() } else { format!("C{patient}") })
        })
        .collect();
    folder.write("visits.csv", with_pseudonym).edit("policy.toml", "ill.role", "card.role = \"insensitive\"\nill.role");
    let run = anonymize(&folder, "visits.csv", &[]);
    assert!(run.code == 1 && run.stderr.contains("finds") && run.stderr.contains("(100.0 %)"), "{}", run.stderr);
    assert!(!folder.path("out.csv").exists());
}

#[test]
fn the_report_of_persons_shows_no_rows_and_the_largest_share_of_a_person() {
    let folder = folder();
    let run = anonymize(&folder, "visits.csv", &["--keep-order", "--report", "r.json", "--report", "r.html"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let report: Value = serde_json::from_str(&folder.read("r.json")).unwrap();
    assert!(
        report.get("typical_rows").is_none_or(Value::is_null) && report.get("statistics").is_none_or(Value::is_null)
    );
    // Counted from the texts.
    let (original, release) = (rows(&visits()), rows(&folder.read("out.csv")));
    let mut groups: BTreeMap<[&str; 2], BTreeMap<&str, f64>> = BTreeMap::new();
    for (before, after) in original.iter().zip(&release).skip(1) {
        let person = groups.entry([&after[0], &after[1]]).or_default();
        *person.entry(&before[0]).or_default() += 1.0;
    }
    assert_eq!(release[0][..2], ["born", "ward"]);
    let share = |persons: &BTreeMap<&str, f64>| {
        persons.values().fold(0.0, |a: f64, b| a.max(*b)) / persons.values().sum::<f64>()
    };
    let largest = groups.values().map(share).fold(0.0, f64::max);
    assert!((report["risk"]["largest_share"].as_f64().unwrap() - largest).abs() < 1e-9, "{largest}");
    assert!(folder.read("r.html").contains("of the records of a group"));
}

#[test]
fn shares_need_a_number_of_every_person() {
    let folder = folder();
    let template =
        "[[privacy.template]]\ngiven = [\"ward\"]\ncolumn = \"ill\"\nvalues = [\"hiv\"]\nmax-confidence = 0.9\n";
    folder.edit("policy.toml", "patient.role = \"person\"", "patient = { role = \"person\", missing = \"category\" }");
    assert_eq!(anonymize(&folder, "visits.csv", &[]).code, 0, "k alone");
    folder.edit(
        "policy.toml",
        "[columns]",
        &format!("{template}[method]\nname = \"genetic\"\niterations = 50\n[columns]"),
    );
    let run = anonymize(&folder, "visits.csv", &[]);
    assert!(run.code != 0 && run.stderr.contains("count as one person, which is too few"), "{}", run.stderr);
}
