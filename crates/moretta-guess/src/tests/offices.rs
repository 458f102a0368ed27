//! Columns of a court, a census, a laboratory, and of hospitals and offices in French, Spanish and Italian, each with
//! the role that a data steward would choose. The tables are made from a seed: no value is of a real person.

use moretta_core::schema::{Kind::*, Role::*};

use super::{
    columns::{Expected, assert_guesses, note_of},
    dice::Dice,
    guess_rows, names_of_people, one,
};
use crate::Guard;

/// One of a few texts.
fn pick(dice: &mut Dice, of: &[&str]) -> String {
    of[dice.below(of.len())].to_owned()
}

/// Names in lower case, codes that look like sexes, dates that are missing together.
#[test]
fn a_court() {
    let mut dice = Dice::new(30);
    let names = names_of_people(&mut dice, 900);
    let rows = (0..3_000)
        .map(|_| {
            let (first, last) = &names[dice.below(names.len())];
            let (score, day) = (1 + dice.below(10), dice.below(300));
            let arrested = dice.below(10) > 0;
            let time = |dice: &mut Dice| format!("{:02}:{:02}", dice.below(24), dice.below(60));
            let (from, to) = (time(&mut dice), time(&mut dice));
            let jail = |hours: String, later| match arrested {
                true => format!("{} {hours}", dice.date(2013, day + later, "iso")),
                false => String::new(),
            };
            vec![
                first.to_lowercase(),
                last.to_lowercase(),
                pick(&mut dice.clone(), &["F", "M"]),
                jail(from, 0),
                jail(to, 9),
                score.to_string(),
                if score > 5 { "high" } else { "low" }.to_owned(),
                dice.skewed(9).to_string(),
                usize::from(dice.below(4) == 0).to_string(),
                usize::from(dice.below(3) == 0).to_string(),
                pick(&mut dice, &["granted", "refused", "open"]),
            ]
        })
        .collect();
    let expected: [Expected; 11] = [
        ("first", Identifier, None),
        ("last", Identifier, None),
        ("c_charge_degree", Sensitive, Some(Category)),
        ("c_jail_in", QuasiIdentifier, Some(Date)),
        ("c_jail_out", QuasiIdentifier, Some(Date)),
        ("decile_score", QuasiIdentifier, Some(Category)),
        ("score_text", QuasiIdentifier, Some(Category)),
        ("number_of_priors", QuasiIdentifier, Some(Number)),
        ("is_recid", Sensitive, Some(Category)),
        ("two_year_recid", Class, Some(Category)),
        ("Bescheid", QuasiIdentifier, Some(Category)),
    ];
    let columns = assert_guesses(&expected, rows);
    assert!(note_of(&columns, "decile_score").iter().any(|note| note.contains("`score_text`")));
    assert!(
        columns.iter().all(|guess| guess.notes.iter().all(|note| !note.contains("`c_jail_"))),
        "dates that are missing together do not follow from each other"
    );
    let bescheid = columns.last().expect("there are columns");
    assert!(bescheid.why.starts_with("3 different values"), "words are no ids: {}", bescheid.why);
}

/// A number that repeats with both sexes is not of a person.
#[test]
fn a_census() {
    let mut dice = Dice::new(31);
    let mut rows = Vec::new();
    while rows.len() < 3_000 {
        let household = format!("2018HU{:07}", dice.below(9_999_999));
        for member in 0..1 + dice.below(4) {
            rows.push(vec![
                household.clone(),
                (member + 1).to_string(),
                (5 + dice.below(300)).to_string(),
                (1 + dice.below(2)).to_string(),
                dice.below(96).to_string(),
                (1 + dice.skewed(5)).to_string(),
                format!("{:04}", 10 + 97 * dice.skewed(60)),
                (1 + dice.below(4)).to_string(),
            ]);
        }
    }
    let expected: [Expected; 8] = [
        ("SERIALNO", Household, None),
        ("SPORDER", QuasiIdentifier, Some(Category)),
        ("PWGTP", Identifier, None),
        ("SEX", QuasiIdentifier, Some(Category)),
        ("AGEP", QuasiIdentifier, Some(Number)),
        ("MAR", QuasiIdentifier, Some(Category)),
        ("OCCP", QuasiIdentifier, Some(Category)),
        ("JobSatisfaction", Insensitive, None),
    ];
    let columns = assert_guesses(&expected, rows);
    assert!(columns[0].why.contains("differ in `SEX`"), "{}", columns[0].why);
    assert!(columns[7].why.contains("an opinion"), "{}", columns[7].why);
}

/// Results of a laboratory: a label is not a class if it names a code.
#[test]
fn a_laboratory() {
    let mut dice = Dice::new(32);
    let items = [("50912", "Creatinine", "mg/dL"), ("50971", "Potassium", "mmol/L"), ("51221", "Hematocrit", "%")];
    let rows = (0..3_000)
        .map(|_| {
            let (item, label, unit) = items[dice.below(3)];
            vec![
                (10_000_000 + 7 * dice.below(400)).to_string(),
                item.to_owned(),
                label.to_owned(),
                unit.to_owned(),
                format!("{}.{}", dice.below(40), dice.below(10)),
                (1_201 + dice.below(4)).to_string(),
                pick(&mut dice, &["Emergency", "Referral", "Transfer"]),
            ]
        })
        .collect();
    let expected: [Expected; 7] = [
        ("subject_id", Person, None),
        ("itemid", QuasiIdentifier, Some(Category)),
        ("label", QuasiIdentifier, Some(Category)),
        ("valueuom", QuasiIdentifier, Some(Category)),
        ("valuenum", QuasiIdentifier, Some(Number)),
        // A place and a way into hospital, not a unit of measurement and the source of a record.
        ("unit_code", QuasiIdentifier, Some(Category)),
        ("admission_source", QuasiIdentifier, Some(Category)),
    ];
    let columns = assert_guesses(&expected, rows);
    assert!(note_of(&columns, "itemid").iter().any(|note| note.contains("`label` and `valueuom` say the same")));
}

/// Of several sensitive columns that would single people out together, the diagnosis stays and is guarded.
#[test]
fn the_diagnosis_is_guarded_before_others() {
    let mut dice = Dice::new(33);
    let rows = (0..4_000)
        .map(|_| {
            vec![
                (20 + dice.below(70)).to_string(),
                format!("{}{:02}.{}", pick(&mut dice, &["E", "I", "M"]), 10 + dice.below(10), dice.below(2)),
                pick(&mut dice, &["never", "former", "current"]),
                format!("{}{:02}A", pick(&mut dice, &["B", "F"]), 20 + dice.below(9)),
                pick(&mut dice, &["no", "yes"]),
            ]
        })
        .collect();
    let expected: [Expected; 5] = [
        ("age", QuasiIdentifier, None),
        ("main_diagnosis", Sensitive, None),
        ("smoker", Sensitive, None),
        ("drg", QuasiIdentifier, None),
        ("readmitted", Class, None),
    ];
    let columns = assert_guesses(&expected, rows);
    assert_eq!(columns[1].guard, Some(Guard::Diversity { l: 3 }));
}

#[test]
fn a_hospital_in_french_and_italian() {
    let mut dice = Dice::new(34);
    let prenoms = ["Solène", "Marie", "Pierre", "Nathalie", "Philippe", "Yannick", "Gwenaëlle", "Isabelle"];
    let illnesses = ["asma bronchiale", "diabete", "ipertensione", "frattura del femore", "nessuna"];
    let rows = (0..2_500)
        .map(|_| {
            let born = dice.below(20_000);
            vec![
                format!("{}{:012}", 1 + dice.below(2), dice.below(999_999_999)),
                pick(&mut dice, &prenoms),
                pick(&mut dice, &["Homme", "Femme"]),
                dice.date(1930, born, "dmy"),
                pick(&mut dice, &["Marié(e)", "Célibataire", "Veuf(ve)", "Pacsé(e)"]),
                format!("{:05}", 1_000 + 10 * dice.skewed(60)),
                (1 + dice.skewed(30)).to_string(),
                pick(&mut dice, &["oui", "non"]),
                pick(&mut dice, &["domicile", "transfert", "décès"]),
                pick(&mut dice, &["Giulia", "Marco", "Luca", "Chiara", "Ermenegilda", "Matteo"]),
                pick(&mut dice, &["maschio", "femmina"]),
                dice.below(95).to_string(),
                pick(&mut dice, &["Roma", "Bari", "Siena"]),
                pick(&mut dice, &illnesses),
                format!("{:05}", 1_000 + 13 * dice.skewed(80)),
                (500 * dice.below(200)).to_string(),
            ]
        })
        .collect();
    let expected: [Expected; 16] = [
        ("numéro_sécu", Identifier, None),
        ("prénom", Identifier, None),
        ("sexe", QuasiIdentifier, Some(Category)),
        ("date_naissance", QuasiIdentifier, Some(Date)),
        ("situation_familiale", QuasiIdentifier, Some(Category)),
        ("code_postal", QuasiIdentifier, Some(Category)),
        ("durée_séjour", QuasiIdentifier, Some(Number)),
        ("fumeur", Sensitive, Some(Category)),
        ("mode_sortie", QuasiIdentifier, Some(Category)),
        ("nome", Identifier, None),
        ("sesso", QuasiIdentifier, Some(Category)),
        ("età", QuasiIdentifier, Some(Number)),
        ("comune_residenza", QuasiIdentifier, Some(Category)),
        ("patologia", Sensitive, Some(Category)),
        ("cap", QuasiIdentifier, Some(Category)),
        ("reddito", QuasiIdentifier, Some(Number)),
    ];
    let columns = assert_guesses(&expected, rows);
    let says = |name: &str, what: &str| {
        let why = &columns.iter().find(|guess| guess.name == name).expect("a column of the table").why;
        assert!(why.contains(what), "{name}: {why}");
    };
    says("situation_familiale", "marital statuses");
    says("durée_séjour", "a duration");
    says("età", "an age");
    says("comune_residenza", "a place");
    says("cap", "a postcode");
    says("reddito", "an amount of money");
}

#[test]
fn an_office_in_spanish() {
    let mut dice = Dice::new(35);
    let nombres = ["Lucía", "Antonio", "Carmen", "Javier", "Begoña", "José", "Alejandro", "Íñigo"];
    let rows = (0..2_500)
        .map(|_| {
            let born = dice.below(20_000);
            vec![
                format!("{:08}{}", dice.below(99_999_999), pick(&mut dice, &["T", "R", "W"])),
                pick(&mut dice, &nombres),
                dice.date(1930, born, "dmy"),
                pick(&mut dice, &["Hombre", "Mujer"]),
                pick(&mut dice, &["Soltero", "Casada", "Viudo"]),
                pick(&mut dice, &["Sevilla", "Murcia", "Bizkaia", "Asturias"]),
                pick(&mut dice, &["Primaria", "Bachillerato"]),
                format!("{}.{:02}", 9_000 + dice.below(40_000), dice.below(100)),
                dice.skewed(5).to_string(),
                pick(&mut dice, &["sí", "no"]),
                pick(&mut dice, &["concedida", "denegada"]),
                pick(&mut dice, &["A", "B", "C", "D"]),
            ]
        })
        .collect();
    let expected: [Expected; 12] = [
        ("dni", Identifier, None),
        ("nombre", Identifier, None),
        ("fecha_nacimiento", QuasiIdentifier, Some(Date)),
        ("sexo", QuasiIdentifier, Some(Category)),
        ("estado_civil", QuasiIdentifier, Some(Category)),
        ("provincia", QuasiIdentifier, Some(Category)),
        ("estudios", QuasiIdentifier, Some(Category)),
        ("ingresos_anuales", QuasiIdentifier, Some(Number)),
        ("num_hijos", QuasiIdentifier, Some(Number)),
        ("fumador", Sensitive, Some(Category)),
        ("resolución", Class, Some(Category)),
        ("partido", Sensitive, Some(Category)),
    ];
    assert_guesses(&expected, rows);
}

/// Zeros as a postcode, the first day of a calendar, a negative number among positive ones: a note without the
/// value, or a text that means a missing value.
#[test]
fn placeholders_are_noticed() {
    let has_note = |name: &str, value: &dyn Fn(&mut Dice) -> String| {
        let guess = one(name, |row| value(&mut Dice::new(row as u64)));
        assert!(!guess.notes.iter().any(|note| note.contains("removed zeros")), "{:?}", guess.notes);
        guess.notes.iter().any(|note| note.contains("looks like a placeholder")) || !guess.missing_texts.is_empty()
    };
    let or = |usual: String, dice: &mut Dice, other: &str| if dice.below(2) == 0 { other.to_owned() } else { usual };
    let postcode = |dice: &mut Dice| (10_000 + 37 * dice.skewed(80)).to_string();
    assert!(has_note("ZIP", &|dice| or(postcode(dice), dice, "0")));
    assert!(has_note("ZIP", &|dice| or(postcode(dice), dice, "99999")));
    assert!(!has_note("ZIP", &postcode));
    let day = |dice: &mut Dice| dice.date(2015, dice.clone().below(900), "iso");
    assert!(has_note("x", &|dice| or(day(dice), dice, "1900-01-01")));
    assert!(!has_note("x", &|dice| or(day(dice), dice, "2015-01-01")));
    let exposure = |dice: &mut Dice| dice.below(60).to_string();
    assert!(has_note("exposure", &|dice| or(exposure(dice), dice, "-99")));
    assert!(!has_note("exposure", &|dice| or(exposure(dice), dice, "0")), "nothing is an amount");
    assert!(!has_note("exposure", &|dice| (dice.below(60) as i64 - 30).to_string()));
}

#[test]
fn two_values_of_a_severity_are_a_class_and_more_are_not() {
    let severity = |values: usize| {
        let rows = (0..900).map(|row| {
            let mut dice = Dice::new(row);
            vec![(30 + dice.below(50)).to_string(), dice.below(values).to_string()]
        });
        guess_rows(&["age", "severity"], rows).columns[1].role
    };
    assert_eq!([severity(2), severity(4)], [Class, Sensitive]);
}
