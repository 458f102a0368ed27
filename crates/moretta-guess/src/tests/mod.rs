//! Guesses on ordinary tables and on malformed ones.

mod always;
mod columns;
mod dice;
mod offices;
mod people;
mod real;
mod repeated;

use moretta_core::{policy::Policy, privacy::MODELS};
use moretta_synthetic::{self as synthetic, People};

use super::*;
use dice::Dice;
use people::names_of_people;

/// Guesses of a table that the sample has all records of.
fn guess_rows(columns: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> Guesses {
    let rows: Vec<Vec<String>> = rows.into_iter().collect();
    let facts: Vec<ColumnFacts> =
        facts_of(columns, &rows).into_iter().map(|column| ColumnFacts { complete: true, ..column }).collect();
    guess(&facts, &ColumnSets::of_rows(columns.len(), &rows))
}

/// Facts of a table that has more records than the sample.
fn facts_of(columns: &[&str], rows: &[Vec<String>]) -> Vec<ColumnFacts> {
    let columns: Vec<String> = columns.iter().map(|name| (*name).to_owned()).collect();
    facts(&columns, rows)
}

/// Guess for a column of 500 records.
fn one(name: &str, value: impl Fn(usize) -> String) -> Guess {
    // Another column, so that the one in question is not the only quasi-identifier; the two are independent.
    let rows = (0..500).map(|row| vec![value(row), Dice::new(row as u64).below(2).to_string()]);
    let guesses = guess_rows(&[name, "sex"], rows);
    parsed(&guesses);
    guesses.columns[0].clone()
}

/// Parses the draft policy, with and without its examples.
fn parsed(guesses: &Guesses) -> Policy {
    let text = policy_text(guesses, "people.csv");
    let policy = Policy::parse(&text, &["best"]).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let named: Vec<_> = policy.columns.iter().map(|column| (&column.name, column.role)).collect();
    let guessed: Vec<_> = guesses.columns.iter().map(|column| (&column.name, column.role)).collect();
    assert_eq!(named, guessed);
    for block in text.split("\n\n").filter(|block| block.lines().any(|line| line.starts_with("[columns."))) {
        assert!(block.starts_with("# CONFIRM: ") || block.contains("\n# CONFIRM: "), "{block}");
    }
    assert!(
        text.lines().all(|line| line.chars().count() <= 140 || line.starts_with(['[', 'm']) || line.contains(" = "))
    );
    let all = uncommented(&text);
    let full = Policy::parse(&all, &["best"]).unwrap_or_else(|error| panic!("{error}\n{all}"));
    assert_eq!(full.columns.len(), policy.columns.len());
    policy
}

/// Returns the text with every example enabled.
fn uncommented(text: &str) -> String {
    let mut starts: Vec<String> = ["[input]", "hierarchy = ", "missing = [", "delimiter = "].map(str::to_owned).into();
    for entry in MODELS {
        starts.push(entry.header());
        starts.extend(entry.keys.iter().map(|key| format!("{key} = ")));
    }
    let line = |line: &str| match line.strip_prefix("# ") {
        Some(rest) if starts.iter().any(|start| rest.starts_with(start)) => format!("{rest}\n"),
        _ => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

fn roles(guesses: &Guesses, role: Role) -> Vec<&str> {
    guesses.columns.iter().filter(|column| column.role == role).map(|column| column.name.as_str()).collect()
}

const ADULT: [&str; 15] = [
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "income",
];

fn adult_like() -> Guesses {
    let rows = (0..2000usize).map(|row| {
        let pick = |name: &str, many: usize| format!("{name}-{}", row * 7919 % many);
        let missing = |text: String| if row % 17 == 0 { "?".to_owned() } else { text };
        vec![
            (17 + row * 31 % 74).to_string(),
            missing(pick("class", 8)),
            (12_285 + row * 104_729 % 1_000_003).to_string(),
            pick("edu", 16),
            (1 + row * 7919 % 16).to_string(),
            pick("mar", 7),
            missing(pick("occ", 14)),
            pick("rel", 6),
            pick("race", 5),
            ["Male", "Female"][row % 2].to_owned(),
            (if row % 9 == 0 { row * 13 % 99_999 } else { 0 }).to_string(),
            (if row % 11 == 0 { row * 7 % 4000 } else { 0 }).to_string(),
            (1 + row * 5 % 99).to_string(),
            pick("country", 41),
            ["<=50K", ">50K"][usize::from(row % 4 == 0)].to_owned(),
        ]
    });
    guess_rows(&ADULT, rows)
}

fn assert_adult(guesses: &Guesses) {
    assert_eq!(roles(guesses, Role::Class), ["income"]);
    assert_eq!(roles(guesses, Role::Identifier), ["fnlwgt"]);
    assert_eq!(roles(guesses, Role::QuasiIdentifier).len(), 13);
    assert_eq!(guesses.columns[0].hierarchy, Some(Suggestion::Widths(vec![5.0, 10.0, 20.0])));
    assert!(guesses.columns[2].why.contains("survey weight"));
    assert_eq!(guesses.columns[3].hierarchy, Some(Suggestion::Groups));
    assert_eq!(guesses.columns[9].hierarchy, None);
}

#[test]
fn adult_like_columns() {
    let guesses = adult_like();
    assert_adult(&guesses);
    let policy = parsed(&guesses);
    assert_eq!(policy.privacy.k(), Some(10));
    let text = policy_text(&guesses, "adult.csv");
    assert!(
        text.contains("missing = \"category\"                  # CONFIRM: missing in 118 of 2,000 records"),
        "{text}"
    );
    assert!(text.contains("# hierarchy = { widths = [5, 10, 20] }\n"));
    assert!(text.contains("# [[privacy.l-diversity]]\n# column = \"income\"\n# l = 2\n"));
}

#[test]
fn made_up_people() {
    let people = People::new(7);
    let mut lines = String::new();
    for index in 0..3000 {
        people.person(index).write_csv(&mut lines);
    }
    let rows = lines.lines().map(|line| line.split(',').map(str::to_owned).collect());
    let guesses = guess_rows(&synthetic::COLUMNS, rows);
    parsed(&guesses);
    assert_eq!(roles(&guesses, Role::Identifier), ["name"]);
    let quasi = ["age", "sex", "postcode", "education", "occupation", "marital-status", "income", "insured"];
    assert_eq!(roles(&guesses, Role::QuasiIdentifier), quasi);
    assert_eq!(roles(&guesses, Role::Sensitive), ["diagnosis"]);
    let postcode = &guesses.columns[3];
    assert_eq!((postcode.kind, &postcode.hierarchy), (Kind::Category, &Some(Suggestion::Prefix(vec![4, 3, 2, 1]))));
    let text = policy_text(&guesses, "people.csv");
    assert!(
        text.contains("\n[[privacy.l-diversity]]\ncolumn = \"diagnosis\"\nl = 3\n") && text.contains("# t = 0.2\n")
    );
}

#[test]
fn german_credit_like() {
    let columns =
        ["credit-history", "amount", "employment", "personal-status-and-sex", "age", "telephone", "foreign", "risk"];
    let rows = (0..1000usize).map(|row| {
        let code = |start: usize, many: usize| format!("A{}", start + row * 7 % many);
        let amount = (250 + row * 7919 % 18_000).to_string();
        let risk = ["good", "bad"][usize::from(row % 3 == 0)].to_owned();
        let age = (19 + row % 57).to_string();
        vec![code(30, 5), amount, code(71, 5), code(91, 5), age, code(191, 2), code(201, 2), risk]
    });
    let guesses = guess_rows(&columns, rows);
    parsed(&guesses);
    assert_eq!(roles(&guesses, Role::Class), ["risk"]);
    assert_eq!(roles(&guesses, Role::Sensitive), ["credit-history"]);
    assert_eq!(roles(&guesses, Role::Insensitive), Vec::<&str>::new());
    let phone = &guesses.columns[5];
    assert_eq!(phone.role, Role::QuasiIdentifier);
    assert!(phone.why.contains("too few to identify a person"), "{}", phone.why);
}

#[test]
fn identifiers_by_their_values() {
    let why = |guess: &Guess| {
        assert_eq!(guess.role, Role::Identifier, "{guess:?}");
        guess.why.clone()
    };
    assert!(why(&one("x", |row| format!("p{row}@example.org"))).contains("e-mail"));
    assert!(why(&one("x", |row| format!("+49 30 12{row:05}"))).contains("phone"));
    assert!(why(&one("x", |row| format!("{row:08x}-0000-4000-8000-000000000000"))).contains("looks like an id"));
    let unique = why(&one("x", |row| format!("someone {row}")));
    assert!(unique.contains("500 different values in 500 records: it names nearly every record"), "{unique}");
    assert!(why(&one("x", |row| (row + 1000).to_string())).contains("looks like an id"));
    assert!(why(&one("case nr", |row| (row * 7919).to_string())).contains("looks like an id"));
    assert!(
        why(&one("x", |row| format!("a long story of what happened on the {} day", row / 2 + 1))).contains("free text")
    );
    assert_eq!(one("Name", |row| format!("Ada {}", row / 3)).role, Role::Identifier);
    let measured = one("x", |row| format!("{}.25", row * 3));
    assert!(measured.role == Role::QuasiIdentifier && measured.notes[0].contains("make it an identifier"));
}

#[test]
fn codes_dates_years_and_numbers() {
    let zip = one("ZIP", |row| (10_000 + row % 90).to_string());
    assert_eq!(
        (zip.role, zip.kind, zip.hierarchy),
        (Role::QuasiIdentifier, Kind::Category, Some(Suggestion::Prefix(vec![4, 3, 2, 1])))
    );
    let code = one("x", |row| format!("{:05}", row % 90));
    assert_eq!((code.role, code.kind), (Role::QuasiIdentifier, Kind::Category));
    let british = one("postcode", |row| format!("SW{}A {}BB", row % 9, row % 7));
    assert_eq!((british.kind, british.hierarchy), (Kind::Category, Some(Suggestion::Prefix(vec![7, 6, 4, 2]))));
    assert_eq!(one("zip", |row| format!("{}**", row % 90)).hierarchy, Some(Suggestion::Groups), "cut already");
    let year = one("birthYear", |row| (1930 + row % 70).to_string());
    assert_eq!((year.role, year.kind), (Role::QuasiIdentifier, Kind::Number));
    assert!(one("year", |row| (row % 70 * 1000).to_string()).why.contains("in doubt"));
    assert_eq!(one("weight", |row| (50 + row % 60).to_string()).role, Role::QuasiIdentifier);
    assert_eq!(one("weight", |row| (5000 + row % 9).to_string()).role, Role::Insensitive, "a survey weight of groups");
    assert_eq!(one("weight", |row| (5000 + row % 300).to_string()).role, Role::Identifier, "many are unique");
    let clicks = one("number of clicks", |row| (row % 90).to_string());
    assert_eq!((clicks.role, clicks.kind), (Role::QuasiIdentifier, Kind::Number));
}

#[test]
fn dates_and_how_they_are_written() {
    type Form = fn(usize) -> String;
    let clear: [(Form, Option<&str>); 4] = [
        (|row| format!("2024-01-{:02}", row % 28 + 1), None),
        (|row| format!("{}.3.1984", row % 28 + 1), Some("%d.%m.%Y")),
        (|row| (19_840_301 + row % 28).to_string(), Some("%Y%m%d")),
        (|row| format!("3/{}/1984", row % 28 + 1), Some("%m/%d/%Y")),
    ];
    for (form, format) in clear {
        let date = one("x", form);
        assert_eq!((date.role, date.kind, date.format), (Role::QuasiIdentifier, Kind::Date, format));
        assert_eq!((date.hierarchy, date.notes.len()), (Some(Suggestion::Dates), 0));
    }
    let unclear: [(Form, &str); 2] = [
        (|row| format!("0{}/0{}/2020", row % 9 + 1, row % 7 + 1), "fit all values"),
        (|row| format!("3/{}/84", row % 28 + 1), "four-digit years"),
    ];
    for (form, says) in unclear {
        let date = one("x", form);
        assert_eq!((date.role, date.kind, date.format), (Role::QuasiIdentifier, Kind::Category, None));
        assert!(date.notes[0].contains(says), "{:?}", date.notes);
    }
}

#[test]
fn lengths_of_codes_are_spread_evenly() {
    let found = [1, 2, 5, 6, 8, 10].map(lengths);
    let expected = [vec![], vec![1], vec![4, 3, 2, 1], vec![5, 4, 3, 2], vec![7, 6, 4, 2], vec![9, 7, 5, 3]];
    assert_eq!(found.map(Option::unwrap_or_default), expected);
}

#[test]
fn there_is_at_most_one_class() {
    let rows = (0..100usize).map(|row| vec![(row % 2).to_string(), (row % 3).to_string(), (row / 7 % 2).to_string()]);
    let guesses = guess_rows(&["risk label", "target", "done"], rows);
    parsed(&guesses);
    assert_eq!(roles(&guesses, Role::Class), ["target"]);
    assert_eq!(roles(&guesses, Role::Sensitive), ["risk label"]);
    assert_eq!(roles(&guesses, Role::QuasiIdentifier), ["done"]);
}

#[test]
fn missing_markers_are_named_and_other_texts_are_not() {
    let rows = (0..100usize).map(|row| {
        let country = ["DE", "FR", "NA", "IT", "ES", "PL", "AT"][row % 7].to_owned();
        let job = ["N/A", "unknown", "smith", "baker", ""][row % 5].to_owned();
        vec![country, job, row.to_string()]
    });
    let guesses = guess_rows(&["country", "job", "hours"], rows);
    assert_eq!(guesses.markers, ["N/A", "unknown"]);
    assert_eq!((guesses.columns[0].missing, guesses.columns[1].missing), (0, 60));
    let policy = parsed(&guesses);
    assert_eq!(policy.input.missing, ["", "?", "N/A", "unknown"]);
    assert_eq!(policy.columns[1].missing, moretta_core::schema::MissingRule::Category);
}

#[test]
fn empty_and_constant_columns() {
    let empty = one("x", |_| String::new());
    assert_eq!((empty.role, empty.different, empty.missing), (Role::Insensitive, 0, 500));
    assert_eq!(one("x", |_| "the same".to_owned()).role, Role::Insensitive);
    assert_eq!(one("x", |_| "7".to_owned()).role, Role::Insensitive);
    assert_eq!(one("country", |_| "?".to_owned()).role, Role::Insensitive);
    assert!(
        one("x", |row| if row == 3 { "*".to_owned() } else { "a".to_owned() }).notes[0].contains("already a release")
    );
    let rows = vec![vec![String::new(), "1".to_owned()]; 30];
    let guesses = guess(&facts_of(&["x", "y"], &rows), &ColumnSets::of_rows(2, &rows));
    parsed(&guesses);
    assert_eq!(guesses.columns[0].role, Role::Identifier, "records after the sample are unknown");
    assert_eq!(guesses.columns[1].role, Role::QuasiIdentifier);
}

#[test]
fn there_is_always_a_quasi_identifier() {
    for name in ["name", "salary", "fnlwgt", "target", ""] {
        for many in [0, 1, 3, 200] {
            let rows = (0..many).map(|row| vec![format!("{}.5", row * row)]);
            let guesses = guess_rows(&[name], rows);
            parsed(&guesses);
            assert_eq!(guesses.columns[0].role, Role::QuasiIdentifier);
        }
    }
    let rows = (0..200usize).map(|row| vec![format!("Ada {row}"), (row * 7).to_string(), (row % 50 * 3).to_string()]);
    let guesses = guess_rows(&["name", "speed", "force"], rows);
    assert_eq!(roles(&guesses, Role::QuasiIdentifier), ["force"]);
    let rows = (0..200usize).map(|row| vec![format!("Ada {row}"), "x".to_owned()]);
    let guesses = guess_rows(&["name", "of"], rows);
    assert!(guesses.columns[1].why.starts_with("a policy needs a quasi-identifier"));
    let none = guess_rows(&[], []);
    assert_eq!(none.columns, []);
    assert!(policy_text(&none, "").starts_with("# Draft policy"));
}

#[test]
fn weird_names_are_quoted_and_repeated_ones_are_named_once() {
    let columns = ["weird name.x", "a\"b\\c", "größe", "", "line\nbreak\u{1b}", "[columns.y]", "#", "größe", "k = 2"];
    let rows = (0..30usize).map(|row| vec![(row % 3).to_string(); 9]);
    let guesses = guess_rows(&columns, rows);
    assert_eq!(guesses.repeated, ["größe"]);
    assert_eq!(parsed(&guesses).columns.len(), 8);
    let text = policy_text(&guesses, "evil\n[columns.z]\nrole = \"class\"");
    assert!(text.contains("[columns.\"weird name.x\"]\n"));
    assert!(Policy::parse(&text, &["best"]).unwrap().column("z").is_none());
}

#[test]
fn widths_are_round_and_fit_the_range() {
    assert_eq!(widths(73.0, true), Some(vec![5.0, 10.0, 20.0]));
    assert_eq!(widths(15.0, true), Some(vec![2.0, 4.0, 8.0]));
    assert_eq!(widths(4.0, true), Some(vec![2.0]));
    assert_eq!(widths(1.0, true), None);
    assert_eq!(widths(1.0, false), Some(vec![0.1, 0.2, 0.4]));
    assert_eq!(widths(99_999.0, true), Some(vec![10_000.0, 20_000.0, 40_000.0]));
    for range in [0.0, -1.0, f64::INFINITY, f64::NAN, f64::MAX, f64::MIN_POSITIVE] {
        assert_eq!(widths(range, false), None, "{range}");
    }
}

/// A number behind a few letters is the number of a person, if the name says a person and it repeats.
#[test]
fn numbers_with_a_prefix_are_persons() {
    let rows: Vec<Vec<String>> = (0..1200)
        .map(|n| vec![format!("P{}", 100 + n / 6), format!("PAT-{:04}", n / 6), (20 + n / 6 % 60).to_string()])
        .collect();
    for (names, expected) in [
        (["participant_id", "code", "age"], [Role::Person, Role::Identifier]),
        (["ward", "patient", "age"], [Role::QuasiIdentifier, Role::Person]),
    ] {
        let columns = names.map(String::from);
        let sets = ColumnSets::of_rows(columns.len(), &rows);
        let guesses = guess(&facts(&columns, &rows), &sets);
        let roles: Vec<Role> = guesses.columns.iter().map(|column| column.role).collect();
        assert_eq!(roles[..2], expected, "{names:?}");
    }
}

/// The columns that stay unchanged single out at most one in a hundred records. A table of one column has an exception,
/// because a policy needs a quasi-identifier, and a table of one record, which every column singles out.
fn assert_kept_columns_single_out_few(guesses: &Guesses, columns: &[String], sets: &ColumnSets) {
    let role_of = |name: &String| guesses.columns.iter().find(|guess| guess.name == *name).map(|guess| guess.role);
    let is_kept = |name: &String| {
        let role = role_of(name);
        // A repeated name is one column of the policy, the first.
        [Role::Sensitive, Role::Class, Role::Insensitive].into_iter().any(|kept| role == Some(kept))
    };
    let first = |at: usize| !columns[..at].contains(&columns[at]);
    let kept: Vec<usize> = (0..columns.len()).filter(|&at| first(at) && is_kept(&columns[at])).collect();
    let unique = if kept.is_empty() { 0 } else { sets.unique(&kept) };
    assert!(sets.records() == 1 || unique * 100 <= sets.records(), "{unique} of {} records are unique", sets.records());
}
