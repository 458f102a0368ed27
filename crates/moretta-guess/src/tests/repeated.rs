//! Tables of an insurer, a school and an employer in which something repeats: policy holders, remarks, flags, and
//! coordinates on both sides of the zero meridian. The tables are made from a seed: no value is of a real person.

use moretta_core::schema::{Kind::*, Role::*};

use super::{
    columns::{Expected, assert_guesses, note_of},
    dice::Dice,
    guess_rows, names_of_people, one,
};

/// Claims of 400 people. Several columns say who a person is; in some exports only the name does.
fn claims(dice: &mut Dice) -> Vec<[String; 6]> {
    let names = names_of_people(dice, 400);
    let people: Vec<[String; 4]> = names
        .iter()
        .enumerate()
        .map(|(number, (first, last))| {
            let born = dice.below(20_000);
            [
                format!("{:08}{}", 10_000_019 * (number + 1) % 99_999_989, ["T", "R", "W"][number % 3]),
                format!("{first} {last}"),
                dice.date(1940, born, "dmy"),
                format!("POL-{:07}", 7_919 * (number + 1) % 9_999_991),
            ]
        })
        .collect();
    (0..1_600)
        .map(|claim| {
            let [nif, name, born, contract] = people[dice.below(people.len())].clone();
            [format!("2024/{claim}"), contract, nif, name, born, ["H", "M"][dice.below(2)].to_owned()]
        })
        .collect()
}

/// The official number of a person repeats: k counts persons.
#[test]
fn claims_of_an_insurer() {
    let mut dice = Dice::new(40);
    let rows: Vec<Vec<String>> = claims(&mut dice).into_iter().map(|row| row[..5].to_vec()).collect();
    let expected: [Expected; 5] = [
        ("num_siniestro", Identifier, None),
        ("num_poliza", Identifier, None),
        ("nif_asegurado", Person, None),
        ("nombre", Identifier, None),
        ("fecha_nacimiento", QuasiIdentifier, Some(Date)),
    ];
    let columns = assert_guesses(&expected, rows.clone());
    let of_contract = note_of(&columns, "num_poliza");
    assert!(of_contract.iter().any(|note| note.contains("make it `person`")), "{of_contract:?}");
    // Official numbers under another word, without a word for a person.
    for name in ["dni", "SSN", "passport"] {
        let rows = rows.iter().map(|row| vec![row[2].clone(), row[4].clone()]);
        assert_eq!(guess_rows(&[name, "birth_date"], rows).columns[0].role, Person, "{name}");
        // A number that some do not have says nothing of the others.
        let rows = rows_with_gaps(&rows_of(&claims(&mut Dice::new(40)), &[2, 4]));
        assert_eq!(guess_rows(&[name, "birth_date"], rows).columns[0].role, Identifier, "{name}");
    }
}

fn rows_of(claims: &[[String; 6]], columns: &[usize]) -> Vec<Vec<String>> {
    claims.iter().map(|row| columns.iter().map(|&column| row[column].clone()).collect()).collect()
}

fn rows_with_gaps(rows: &[Vec<String>]) -> Vec<Vec<String>> {
    let gap = |(at, row): (usize, &Vec<String>)| {
        let mut row = row.clone();
        if at % 3 == 0 {
            row[0].clear();
        }
        row
    };
    rows.iter().enumerate().map(gap).collect()
}

/// Without a number, a name that repeats with one date of birth is a person; a name of many persons is not.
#[test]
fn names_that_repeat() {
    let claims = claims(&mut Dice::new(41));
    let guesses = guess_rows(&["nombre", "fecha_nacimiento"], rows_of(&claims, &[3, 4]));
    assert_eq!(guesses.columns[0].role, Person, "{}", guesses.columns[0].why);
    assert!(note_of(&guesses.columns, "nombre").iter().any(|note| note.contains("same name")));
    let mut other = rows_of(&claims, &[3, 4]);
    let mut dice = Dice::new(42);
    for row in &mut other {
        let born = dice.below(20_000);
        row[1] = dice.date(1940, born, "dmy");
    }
    assert_eq!(guess_rows(&["nombre", "fecha_nacimiento"], other).columns[0].role, Identifier);
    assert_eq!(guess_rows(&["nombre", "sexo"], rows_of(&claims, &[3, 5])).columns[0].role, Identifier);
}

/// Half of the remarks are stock phrases; the others are written about one person.
#[test]
fn remarks_of_a_school() {
    let mut dice = Dice::new(43);
    let names = names_of_people(&mut dice, 200);
    let stock =
        ["Brille", "Asthma-Spray liegt im Sekretariat", "Allergie gegen Nüsse und Erdbeeren", "keine Bemerkung"];
    let mut remark = |row: usize| match row % 10 {
        0 => format!("Vater {} hat seit {} Umgangsverbot", names[dice.below(200)].0, dice.date(2022, row, "dmy")),
        _ => stock[row % 4].to_owned(),
    };
    let remarks: Vec<String> = (0..500).map(&mut remark).collect();
    let guess = one("Bemerkung", |row| remarks[row].clone());
    assert_eq!(guess.role, Identifier, "{}", guess.why);
    assert!(guess.why.contains("free text"), "{}", guess.why);
    // Long names of categories are no sentences about one person.
    let groups = ["Leitende Angestellte in Handel und Verwaltung", "Fachkräfte in der Land- und Forstwirtschaft"];
    assert_eq!(one("gruppe", |row| groups[row % 2].to_owned()).role, QuasiIdentifier);
    let rare = |row: usize| match row % 10 {
        0 => format!("Andere Berufe der Gruppe Nummer {row} ohne nähere Angabe"),
        _ => groups[row % 2].to_owned(),
    };
    assert_eq!(one("beruf", rare).role, QuasiIdentifier, "the name says an occupation");
}

#[test]
fn personnel() {
    let mut dice = Dice::new(44);
    let exact = |dice: &mut Dice, low: i64, width: usize| {
        format!("{:.5}", low as f64 + dice.below(width * 100_000) as f64 / 100_000.0)
    };
    let rows = (0..1_500)
        .map(|_| {
            vec![
                exact(&mut dice, 50, 5),
                exact(&mut dice, -3, 4),
                (1 + dice.below(60)).to_string(),
                dice.below(2).to_string(),
                (20 + dice.below(45)).to_string(),
            ]
        })
        .collect();
    let expected: [Expected; 5] = [
        ("home_lat", Identifier, None),
        ("home_lng", Identifier, None),
        ("psu", QuasiIdentifier, Some(Category)),
        ("left_company", QuasiIdentifier, Some(Category)),
        ("age", QuasiIdentifier, Some(Number)),
    ];
    let columns = assert_guesses(&expected, rows);
    assert!(columns[3].why.starts_with("2 different numbers"), "no occupation: {}", columns[3].why);
    // Scores beside each other are no coordinates.
    let mut dice = Dice::new(45);
    let rows = (0..900).map(|_| vec![exact(&mut dice, -2, 4), exact(&mut dice, -2, 4), dice.below(2).to_string()]);
    let rows: Vec<Vec<String>> = rows.collect();
    let roles = guess_rows(&["factor", "score", "sex"], rows).columns;
    assert_eq!([roles[0].role, roles[1].role], [QuasiIdentifier, QuasiIdentifier]);
}

/// Classes of a school, numbers of patients under an unknown name, of stays and of rooms, and income of a household.
#[test]
fn names_that_mean_something_else() {
    let mut dice = Dice::new(46);
    let patients: Vec<(String, String)> = (0..450)
        .map(|number: usize| {
            let born = dice.below(20_000);
            ((10_000_000 + 7_919_003 * number % 89_999_999).to_string(), dice.date(1930, born, "iso"))
        })
        .collect();
    let rows: Vec<Vec<String>> = (0..1_200)
        .map(|row: usize| {
            let (ipp, born) = patients[dice.below(patients.len())].clone();
            vec![
                ipp,
                (230_000_000 + 17 * row).to_string(),
                born,
                (101 + dice.below(40)).to_string(),
                format!("{}{}", 5 + dice.below(2), ["a", "b", "c"][dice.below(3)]),
                ["<25k", "25-50k", "50-100k", ">100k"][dice.below(4)].to_owned(),
                (1 + dice.below(900)).to_string(),
            ]
        })
        .collect();
    let expected: [Expected; 7] = [
        ("IPP", Person, None),
        ("num_sejour", Identifier, None),
        ("born", QuasiIdentifier, Some(Date)),
        ("num_chambre", QuasiIdentifier, None),
        ("Klasse", QuasiIdentifier, Some(Category)),
        ("household_income_band", Sensitive, Some(Category)),
        ("duree_min", QuasiIdentifier, Some(Number)),
    ];
    let columns = assert_guesses(&expected, rows);
    let why = |name: &str| &columns.iter().find(|guess| guess.name == name).expect("a column of the table").why;
    assert!(why("num_sejour").contains("looks like an id"), "{}", why("num_sejour"));
    assert!(why("num_chambre").starts_with("40 different numbers"), "{}", why("num_chambre"));
    assert!(why("household_income_band").contains("income"), "{}", why("household_income_band"));
    assert!(why("duree_min").contains("a duration"), "{}", why("duree_min"));
}
