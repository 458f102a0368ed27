//! Columns of a hospital, a bank and a statistics office, each with the role and the type that a data steward would
//! choose. The tables are made from a seed: no value is of a real person.

use moretta_core::schema::{Kind, Role};

use super::{dice::Dice, guess_rows, names_of_people, parsed};
use crate::Guess;

/// A column: its name, its role, and its type if that matters.
pub(super) type Expected = (&'static str, Role, Option<Kind>);

use Kind::{Category, Date, Number};
use Role::{Class, Household, Identifier, Insensitive, Person, QuasiIdentifier, Sensitive};

pub(super) fn assert_guesses(expected: &[Expected], rows: Vec<Vec<String>>) -> Vec<Guess> {
    let names: Vec<&str> = expected.iter().map(|(name, ..)| *name).collect();
    let guesses = guess_rows(&names, rows);
    parsed(&guesses);
    let wrong: Vec<String> = expected
        .iter()
        .zip(&guesses.columns)
        .filter(|((_, role, kind), guess)| guess.role != *role || kind.is_some_and(|kind| guess.kind != kind))
        .map(|((name, role, kind), guess)| {
            format!(
                "{name}: {} {:?} instead of {} {kind:?}: {} {:?}",
                guess.role.name(),
                guess.kind,
                role.name(),
                guess.why,
                guess.notes
            )
        })
        .collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    guesses.columns
}

pub(super) fn note_of<'a>(columns: &'a [Guess], name: &str) -> &'a [String] {
    &columns.iter().find(|column| column.name == name).expect("a column of the table").notes
}

/// Stays in a hospital; a patient has one to six of them.
#[test]
fn a_hospital() {
    const STAYS: usize = 2_600;
    let mut dice = Dice::new(20);
    let names = names_of_people(&mut dice, 500);
    let diagnoses: Vec<(String, String)> = (0..30)
        .map(|number| {
            let letter = b"CEFIJKMNS"[number % 9] as char;
            (format!("{letter}{:02}.{}", 10 + number, number % 10), format!("Störung Nr. {number} der Gruppe {letter}"))
        })
        .collect();
    let procedures: Vec<String> =
        (0..20).map(|number| format!("{}-{}.{}", [1, 3, 5, 8][number % 4], 200 + 13 * number, number % 8)).collect();
    let mut rows = Vec::new();
    let mut patient = 0;
    while rows.len() < STAYS {
        patient += 1;
        let number = 1_000_000 + dice.below(8_000_000);
        let (born, sex) = (1930 + dice.below(80), dice.below(2));
        let first = &names[dice.below(names.len())].0;
        for _ in 0..1 + dice.below(6) / 2 {
            let diagnosis = dice.skewed(diagnoses.len());
            let (code, text) = &diagnoses[diagnosis];
            let stay = 1 + dice.skewed(34);
            let admitted = dice.below(700);
            let others: Vec<&str> =
                (0..dice.below(4)).map(|_| diagnoses[dice.skewed(diagnoses.len())].0.as_str()).collect();
            let words =
                ["Patient", "klagt", "über", "Schmerzen", "seit", "einigen", "Tagen", "nach", "Sturz", "im", "Haus"];
            let report: Vec<&str> = (0..9).map(|_| words[dice.below(words.len())]).collect();
            rows.push(vec![
                (rows.len() + 1).to_string(),
                number.to_string(),
                (20_240_000_000 + dice.below(9_999_999)).to_string(),
                dice.uuid(),
                code.clone(),
                text.clone(),
                procedures[diagnosis % procedures.len()].clone(),
                others.join(";"),
                format!("{}{}", ["CHI", "INN", "GYN", "URO"][dice.below(4)], 1 + dice.below(5)),
                dice.date(2022, admitted, "dmy"),
                dice.date(2022, admitted + stay, "iso"),
                born.to_string(),
                stay.to_string(),
                ["m", "w"][sex].to_owned(),
                first.clone(),
                format!("{} {}", report.join(" "), dice.below(100_000)),
                ["no", "yes"][usize::from(dice.below(5) == 0)].to_owned(),
                format!(
                    "{}.{:03}.{:03}.{:03}.{:03}",
                    1 + dice.below(9),
                    dice.below(1000),
                    dice.below(1000),
                    dice.below(1000),
                    dice.below(1000)
                ),
                (1 + dice.skewed(8)).to_string(),
                "0815".to_owned(),
                ["no", "yes"][usize::from(dice.below(4) == 0)].to_owned(),
                (1 + dice.below(900)).to_string() + "." + &dice.below(10).to_string(),
            ]);
        }
    }
    assert!(patient < 2_000);
    let expected: [Expected; 22] = [
        ("lfd", Identifier, None),
        ("patient_nr", Person, None),
        ("fallnummer", Identifier, None),
        ("visit", Identifier, None),
        ("code", Sensitive, Some(Category)),
        ("bezeichnung", Sensitive, Some(Category)),
        ("ops", Sensitive, Some(Category)),
        ("weitere", Identifier, None),
        ("station", QuasiIdentifier, Some(Category)),
        ("aufnahme", QuasiIdentifier, Some(Date)),
        ("discharged", QuasiIdentifier, Some(Date)),
        ("geb", QuasiIdentifier, Some(Number)),
        ("los_days", QuasiIdentifier, Some(Number)),
        ("geschlecht", QuasiIdentifier, Some(Category)),
        ("spalte15", Identifier, None),
        ("befund", Identifier, None),
        ("readmitted", Class, Some(Category)),
        ("kosten", Identifier, None),
        ("admission_type_id", QuasiIdentifier, Some(Category)),
        ("mandant", Insensitive, None),
        ("raucher", Sensitive, Some(Category)),
        ("crp", QuasiIdentifier, Some(Number)),
    ];
    let columns = assert_guesses(&expected, rows);
    assert!(note_of(&columns, "code")[0].contains("`bezeichnung`"), "copies: {:?}", note_of(&columns, "code"));
    assert!(note_of(&columns, "patient_nr")[0].contains("persons"));
}

/// Customers of a bank, each once.
#[test]
fn a_bank() {
    let mut dice = Dice::new(21);
    let names = names_of_people(&mut dice, 900);
    let branches: Vec<(String, String)> = (0..40)
        .map(|number| {
            (format!("B{:03}", 7 * number), ["Graz", "Lyon", "Leeds", "Porto", "Bern"][number % 5].to_owned())
        })
        .collect();
    let rows = (0..3_000)
        .map(|_| {
            let (branch, town) = &branches[dice.skewed(branches.len())];
            let (first, last) = &names[dice.below(names.len())];
            let maiden = if dice.below(4) == 0 { names[dice.below(names.len())].1.clone() } else { String::new() };
            let (south, east) = (dice.below(9_000_000), dice.below(9_000_000));
            vec![
                format!("K{:07}", dice.below(9_999_999)),
                last.clone(),
                maiden,
                format!("{} {first} {last}", ["Dr.", "Mr.", "Frau"][dice.below(3)]),
                (10_000 * (1 + dice.skewed(60))).to_string(),
                (dice.below(400) * dice.below(400)).to_string(),
                format!("{}.{:02}", dice.below(90_000), dice.below(100)),
                format!("{:05}", 1_000 + 10 * dice.below(3_000)),
                format!("47.{south:07}"),
                format!("8.{east:07}"),
                (1 + dice.skewed(6)).to_string(),
                (1 + dice.below(3)).to_string(),
                branch.clone(),
                town.clone(),
                usize::from(dice.below(5) == 0).to_string(),
                dice.date(2001, dice.clone().below(7_000), "mdy"),
                format!("DE{:02}{:018}", dice.below(90), dice.below(999_999_999)),
                format!("+49 {} {}", 100 + dice.below(900), 1_000_000 + dice.below(8_000_000)),
                ["ja", "nein"][dice.below(2)].to_owned(),
                (19 + dice.skewed(60)).to_string(),
                ["EUR", "CHF"][usize::from(dice.below(9) == 0)].to_owned(),
            ]
        })
        .collect();
    let expected: [Expected; 21] = [
        ("custno", Identifier, None),
        ("last", Identifier, None),
        ("maiden", Identifier, None),
        ("contact", Identifier, None),
        ("limit_bal", QuasiIdentifier, Some(Number)),
        ("bill_amt1", QuasiIdentifier, Some(Number)),
        ("v7", QuasiIdentifier, Some(Number)),
        ("zip", QuasiIdentifier, Some(Category)),
        ("pos_a", Identifier, None),
        ("pos_b", Identifier, None),
        ("EDUC", QuasiIdentifier, Some(Category)),
        ("MARRIAGE", QuasiIdentifier, Some(Category)),
        ("branch_id", QuasiIdentifier, Some(Category)),
        ("town", QuasiIdentifier, Some(Category)),
        ("default.next.month", Class, Some(Category)),
        ("customer_since", QuasiIdentifier, Some(Date)),
        ("account", Identifier, None),
        ("call", Identifier, None),
        ("newsletter", QuasiIdentifier, Some(Category)),
        ("age", QuasiIdentifier, Some(Number)),
        ("currency", Insensitive, None),
    ];
    let columns = assert_guesses(&expected, rows);
    assert!(note_of(&columns, "branch_id").iter().any(|note| note.contains("`town`")));
}

/// A survey of persons in households.
#[test]
fn a_statistics_office() {
    let mut dice = Dice::new(22);
    let names = names_of_people(&mut dice, 800);
    let occupations: Vec<(String, String)> = (0..200)
        .map(|number| ((111 + 37 * number + dice.below(9)).to_string(), format!("Tätigkeit {number}")))
        .collect();
    let mut rows: Vec<Vec<String>> = Vec::new();
    let (mut household, mut calibration) = (0, 0);
    while rows.len() < 4_000 {
        household += 1;
        let region = 1 + dice.skewed(16);
        let weight = format!("{}.{}", 80 + 17 * (region % 5), region % 5);
        let surname = names[dice.below(names.len())].1.clone();
        for member in 0..1 + dice.below(5) {
            let (code, text) = &occupations[dice.skewed(occupations.len())];
            let age = dice.below(95);
            // Weights of two records in a row have a mean of 1, and so have all.
            calibration = if rows.len().is_multiple_of(2) { dice.below(5_000) } else { 10_000 - calibration };
            let interview = dice.date(2023, dice.clone().below(60), "iso");
            rows.push(vec![
                household.to_string(),
                (member + 1).to_string(),
                (100_000_000 + 7 * dice.below(90_000_000)).to_string(),
                format!("{}{}", 1 + dice.below(9), dice.below(99_999_999)),
                surname.clone(),
                age.to_string(),
                (2023 - age).to_string(),
                (1 + usize::from(dice.below(2) == 0)).to_string(),
                (1 + dice.skewed(5)).to_string(),
                (1 + dice.skewed(4)).to_string(),
                region.to_string(),
                format!("{:02}{:03}{:03}", region, dice.below(7) * 111, dice.below(3) * 12),
                weight.clone(),
                format!("{:.4}", 0.5 + calibration as f64 / 10_000.0),
                code.clone(),
                text.clone(),
                (100 * dice.below(900)).to_string(),
                (dice.skewed(12)).to_string(),
                dice.skewed(7).to_string(),
                interview.clone(),
                interview,
                "DE".to_owned(),
                ["oui", "non"][dice.below(2)].to_owned(),
                (if age > 17 { 97 } else { age }).to_string(),
            ]);
        }
    }
    let expected: [Expected; 24] = [
        ("ori_hid", Household, None),
        ("pernr", QuasiIdentifier, Some(Category)),
        ("caseid", Identifier, None),
        ("q0", Identifier, None),
        ("nom", Identifier, None),
        ("AGE", QuasiIdentifier, Some(Number)),
        ("year", QuasiIdentifier, Some(Number)),
        ("SEX", QuasiIdentifier, Some(Category)),
        ("RACE", QuasiIdentifier, Some(Category)),
        ("MARSTAT", QuasiIdentifier, Some(Category)),
        ("REGION", QuasiIdentifier, Some(Category)),
        ("ags", QuasiIdentifier, Some(Category)),
        ("WEIGHT", QuasiIdentifier, None),
        ("calib", Identifier, None),
        ("occ1990", QuasiIdentifier, Some(Category)),
        ("activity", QuasiIdentifier, Some(Category)),
        ("earnings", QuasiIdentifier, Some(Number)),
        ("relig", Sensitive, Some(Category)),
        ("NUMYOUNG", QuasiIdentifier, Some(Number)),
        ("visit1", QuasiIdentifier, Some(Date)),
        ("visit2", QuasiIdentifier, Some(Date)),
        ("land", Insensitive, None),
        ("telework", QuasiIdentifier, Some(Category)),
        ("AGEYOUNG", QuasiIdentifier, Some(Category)),
    ];
    let columns = assert_guesses(&expected, rows);
    assert!(note_of(&columns, "visit1").iter().any(|note| note.contains("`visit2`")));
    assert!(note_of(&columns, "visit2").iter().all(|note| !note.contains("`visit1`")), "one note for the group");
    assert!(note_of(&columns, "occ1990").iter().any(|note| note.contains("`activity`")));
}
