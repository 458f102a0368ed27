//! Same seed, same bytes; all values are in the hierarchies; correlations as in the
//! tables; as many distinct tuples as requested.

use std::collections::{HashMap, HashSet};

use super::*;

const SEED: u64 = 20_240_229;

fn lines(people: &People, records: u64) -> String {
    let mut csv = header();
    for index in 0..records {
        people.person(index).write_csv(&mut csv);
    }
    csv
}

/// FNV-1a hash, to detect changes.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn sample() -> impl Iterator<Item = Person> {
    let people = People::new(SEED);
    (0..100_000).map(move |index| people.person(index))
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    assert!(count >= 30.0, "too few to speak of a mean");
    sum / count
}

fn cell<'a>(line: &'a str, column: &str) -> &'a str {
    let at = COLUMNS.iter().position(|&c| c == column).unwrap();
    line.split(',').nth(at).unwrap()
}

/// A change of these numbers changes the file of every seed: add it to the changelog.
#[test]
fn a_seed_always_gives_the_same_people() {
    assert_eq!(hash(&lines(&People::new(1), 1000)), 9_284_666_693_222_811_889);
    assert_eq!(hash(&lines(&People::with_distinct(1, 500), 1000)), 10_853_167_339_907_784_728);
}

#[test]
fn indices_name_the_rows_they_are_meant_to() {
    use tables::*;
    assert_eq!(SEXES[FEMALE], "female");
    for (index, label) in [
        (CHILD, "Child below school age"),
        (PUPIL, "Pupil or apprentice"),
        (STUDENT, "University student"),
        (HOMEMAKER, "Homemaker"),
        (UNEMPLOYED, "Looking for work"),
        (RETIRED, "Retired"),
    ] {
        assert_eq!(OCCUPATIONS[index].label, label);
    }
    for (index, label) in [
        (LOWER_SECONDARY, "Lower secondary school"),
        (UPPER_SECONDARY, "Upper secondary school"),
        (BACHELOR, "Bachelor's degree"),
        (DOCTORATE, "Doctorate"),
    ] {
        assert_eq!(EDUCATIONS[index].label, label);
    }
}

#[test]
fn seeds_and_records_differ() {
    let all: HashSet<_> = (0..50)
        .flat_map(|seed| {
            let people = People::new(seed);
            (0..50).map(move |index| {
                let person = people.person(index);
                (person.postcode, person.name, person.age, person.income)
            })
        })
        .collect();
    assert!(all.len() >= 2495, "{} of 2500 are distinct", all.len());
}

#[test]
fn a_person_does_not_depend_on_how_many_are_asked_for_nor_in_which_order() {
    for people in [People::new(SEED), People::with_distinct(SEED, 300)] {
        let forwards: Vec<Person> = (0..1000).map(|index| people.person(index)).collect();
        let mut backwards: Vec<Person> = (0..1000).rev().map(|index| people.person(index)).collect();
        backwards.reverse();
        assert_eq!(forwards, backwards);
        assert!(lines(&people, 1000).starts_with(&lines(&people, 100)));
    }
    assert_eq!(People::new(SEED).person(u64::MAX), People::new(SEED).person(u64::MAX));
}

#[test]
fn a_line_holds_what_the_person_says() {
    let person = People::new(SEED).person(3);
    let mut line = String::new();
    person.write_csv(&mut line);
    let expected = format!(
        "{},{},{},{:05},{},{},{},{},{},{}\n",
        person.name(),
        person.age(),
        person.sex(),
        person.postcode(),
        person.education(),
        person.occupation(),
        person.marital_status(),
        person.income(),
        person.diagnosis(),
        person.insured()
    );
    assert_eq!(line, expected);
    let mut bench = String::new();
    person.write_bench_csv(&mut bench);
    assert_eq!(line, format!("{},{bench}", person.name()));
    assert_eq!(header(), format!("name,{}", bench_header()));
}

#[test]
fn no_line_needs_quoting() {
    let csv = lines(&People::new(SEED), 20_000);
    assert!(!csv.contains(['"', ';', '\r', '*']));
    assert!(csv.lines().all(|line| line.split(',').count() == COLUMNS.len()));
    assert!(csv.lines().all(|line| { line.split(',').all(|cell| !cell.is_empty() && cell.trim() == cell) }));
}

#[test]
fn a_bench_line_has_about_a_hundred_bytes() {
    let mut csv = String::new();
    sample().for_each(|person| person.write_bench_csv(&mut csv));
    let bytes = csv.len() / 100_000;
    assert!((90..=120).contains(&bytes), "{bytes} bytes");
}

#[test]
fn hierarchies_are_trees_in_which_every_value_is_a_leaf() {
    let csv = lines(&People::new(SEED), 100_000);
    let mut columns = Vec::new();
    for column in COLUMNS {
        let Some(text) = hierarchy(column) else {
            continue;
        };
        columns.push(column);
        let rows: Vec<Vec<&str>> = text.lines().map(|row| row.split(';').collect()).collect();
        let mut parents = HashMap::new();
        for row in &rows {
            assert_eq!(row.len(), rows[0].len(), "{column}: {row:?}");
            assert_eq!(row.last(), Some(&"*"), "{column}: {row:?}");
            for pair in row.windows(2).filter(|pair| pair[0] != pair[1]) {
                let parent = *parents.entry(pair[0]).or_insert(pair[1]);
                assert_eq!(parent, pair[1], "{column}: two parents of {}", pair[0]);
            }
        }
        let leaves: HashSet<&str> = rows.iter().map(|row| row[0]).collect();
        assert_eq!(leaves.len(), rows.len(), "{column}: a leaf comes twice");
        assert!(parents.values().all(|parent| !leaves.contains(parent)), "{column}: a leaf above a node");

        let values: HashSet<&str> = csv.lines().skip(1).map(|line| cell(line, column)).collect();
        assert!(values.is_subset(&leaves), "{column}: {:?}", values.difference(&leaves).next());
        // Rare postcodes may be missing from a sample, but no other value.
        assert!(values.len() * 100 >= leaves.len() * 95, "{column}: values that never come");
    }
    assert_eq!(columns, ["sex", "postcode", "education", "occupation", "marital-status", "diagnosis"]);
}

#[test]
fn the_policies_name_every_column_and_every_hierarchy() {
    [policy(), demo_policy()].map(check_policy);
}

fn check_policy(text: &str) {
    let policy: toml::Table = text.parse().unwrap();
    let columns = policy["columns"].as_table().unwrap();
    assert_eq!(columns.keys().collect::<Vec<_>>(), COLUMNS.iter().collect::<Vec<_>>());
    for (name, column) in columns {
        let quasi = column["role"].as_str() == Some("quasi-identifier");
        let file = format!("hierarchies/{name}.csv");
        match column.get("hierarchy").and_then(|text| text.as_str()) {
            Some("free") => assert!(["age", "income"].contains(&name.as_str())),
            Some(text) => assert!(text == file && hierarchy(name).is_some(), "{name}"),
            None => assert!(!quasi, "{name}"),
        }
    }
    let rare = policy["privacy"]["template"][0]["values"].as_array().unwrap();
    for value in rare {
        let label = value.as_str().unwrap();
        assert!(diagnoses::DIAGNOSES.iter().any(|d| d.label == label), "{label}");
    }
}

#[test]
fn postcodes_are_many_and_skewed() {
    let mut counts: HashMap<u32, u32> = HashMap::new();
    for person in sample() {
        *counts.entry(person.postcode()).or_default() += 1;
    }
    assert!((1000..4000).contains(&counts.len()), "{} postcodes", counts.len());
    let mut counts: Vec<u32> = counts.into_values().collect();
    counts.sort_unstable();
    let tenth: u32 = counts.iter().rev().take(counts.len() / 10).sum();
    assert!((30_000..60_000).contains(&tenth), "{tenth} live in a tenth of the postcodes");
}

#[test]
fn children_are_children() {
    for person in sample().filter(|person| person.age() < 16) {
        assert_eq!(person.marital_status(), "Never married");
        assert!(usize::from(person.education) <= tables::LOWER_SECONDARY);
        assert!(usize::from(person.occupation) <= tables::PUPIL);
        assert_eq!(person.income(), 0);
    }
    assert!(sample().all(|person| person.age() >= 25 || person.education() != "Doctorate"));
    assert!(sample().all(|person| person.age() < 100 && person.income() % 500 == 0));
}

#[test]
fn income_rises_with_education_and_differs_by_sex_and_age() {
    let grown: Vec<Person> = sample().filter(|p| (30..65).contains(&p.age())).collect();
    let income = |keep: &dyn Fn(&Person) -> bool| mean(grown.iter().filter(|p| keep(p)).map(|p| f64::from(p.income())));
    let by_education: Vec<f64> =
        (0..tables::EDUCATIONS.len()).map(|level| income(&|p| usize::from(p.education) == level)).collect();
    assert!(by_education.is_sorted(), "{by_education:?}");
    assert!(by_education[tables::DOCTORATE] > 2.5 * by_education[0], "{by_education:?}");
    assert!(income(&|p| p.sex() == "male") > 1.1 * income(&|p| p.sex() == "female"));
    let nurses = |ages: std::ops::Range<u8>| {
        mean(
            sample()
                .filter(|p| p.occupation() == "Nurse or midwife" && ages.contains(&p.age()))
                .map(|p| f64::from(p.income())),
        )
    };
    assert!(nurses(45..60) > 1.2 * nurses(20..25));
}

#[test]
fn marital_status_occupation_and_education_follow_age_and_sex() {
    let age = |status: &str| mean(sample().filter(|p| p.marital_status() == status).map(|p| f64::from(p.age())));
    assert!(age("Widowed") > age("Divorced") + 10.0);
    assert!(age("Divorced") > age("Never married") + 20.0);
    let women = |occupation: &str| {
        mean(sample().filter(|p| p.occupation() == occupation).map(|p| f64::from(u8::from(p.sex() == "female"))))
    };
    assert!(women("Nurse or midwife") > 0.7 && women("Motor mechanic") < 0.15);
    assert!(women("Retired") > 0.5 && women("Pupil or apprentice") < 0.5);
    let degree = |ages: std::ops::Range<u8>| {
        mean(
            sample()
                .filter(|p| ages.contains(&p.age()))
                .map(|p| f64::from(u8::from(usize::from(p.education) >= tables::BACHELOR))),
        )
    };
    assert!(degree(25..35) > 2.0 * degree(65..100));
}

#[test]
fn diagnoses_follow_age_and_sex_and_some_are_rare() {
    let share = |diagnosis: &str, keep: &dyn Fn(&Person) -> bool| {
        mean(sample().filter(|p| keep(p)).map(|p| f64::from(u8::from(p.diagnosis() == diagnosis))))
    };
    assert_eq!(share("Malignant neoplasm of prostate", &|p| p.sex() == "female"), 0.0);
    assert_eq!(share("Complication of pregnancy", &|p| p.sex() == "male" || p.age() < 16), 0.0);
    assert!(
        share("Essential hypertension", &|p| p.age() >= 60) > 5.0 * share("Essential hypertension", &|p| p.age() < 45)
    );
    assert!(share("Asthma", &|p| p.age() < 16) > 2.0 * share("Asthma", &|p| p.age() >= 60));
    let rare = share("HIV infection", &|_| true);
    assert!((0.001..0.01).contains(&rare), "{rare}");
    assert!(share("Essential hypertension", &|_| true) > 0.1);
}

#[test]
fn insurance_follows_income() {
    let share = |insured: &str, keep: &dyn Fn(&Person) -> bool| {
        mean(sample().filter(|p| p.age() >= 18 && keep(p)).map(|p| f64::from(u8::from(p.insured() == insured))))
    };
    assert!(share("private", &|p| p.income() >= 65_000) > 0.5);
    assert!(share("private", &|p| p.income() < 45_000) < 0.1);
    assert!(share("uninsured", &|p| p.income() < 12_000) > 3.0 * share("uninsured", &|p| p.income() >= 25_000));
    assert!(share("statutory", &|_| true) > 0.6);
}

#[test]
fn with_distinct_gives_about_as_many_tuples_as_asked_for() {
    for (prototypes, records) in [(1, 100), (1_000, 10_000), (30_000, 300_000)] {
        let people = People::with_distinct(SEED, prototypes);
        let mut counts: HashMap<u64, u64> = HashMap::new();
        for index in 0..records {
            *counts.entry(people.person(index).grouped()).or_default() += 1;
        }
        let distinct = counts.len() as u64;
        assert!(distinct <= prototypes && distinct * 100 >= prototypes * 97, "{distinct} of {prototypes}");
        if prototypes > 1 {
            let most = counts.values().max().unwrap();
            assert!(*most > 20 * records / prototypes, "not skewed: {most} at most");
        }
    }
    assert_eq!(People::with_distinct(SEED, 0).person(0).age(), People::with_distinct(SEED, 1).person(0).age());
}

#[test]
fn with_distinct_keeps_all_columns_but_the_name() {
    let people = People::with_distinct(SEED, 100);
    let (mut names, mut rest) = (HashSet::new(), HashSet::new());
    for index in 0..5000 {
        let mut line = String::new();
        people.person(index).write_bench_csv(&mut line);
        rest.insert(line);
        names.insert(people.person(index).name());
    }
    assert!(rest.len() <= 100);
    assert!(names.len() > 1000);
}
