//! CSV as it comes: delimiters, decimal marks, separators of thousands, files without a header, missing texts,
//! formulas.
//!
//! The same people are written in every dialect by a writer of the test. The releases, read by a reader of the test and
//! with their numbers in plain notation, must be those of the plain file.

use moretta_synthetic::People;

use crate::folder::Folder;

const NAMES: [&str; 6] = ["age", "weight", "sex", "income", "diagnosis", "note"];

#[derive(Debug, Clone, Copy)]
struct Dialect {
    delimiter: char,
    decimal: char,
    thousands: Option<char>,
    header: bool,
    quote: char,
}

const PLAIN: Dialect = Dialect { delimiter: ',', decimal: '.', thousands: None, header: true, quote: '"' };
const GERMAN: Dialect = Dialect { delimiter: ';', decimal: ',', thousands: Some('.'), header: true, quote: '"' };

fn all() -> Vec<Dialect> {
    let mut all = Vec::new();
    for delimiter in [',', ';', '\t', '|'] {
        for decimal in ['.', ','] {
            for thousands in [None, Some('.'), Some(','), Some(' '), Some('\''), Some('\u{202f}')] {
                for (header, quote) in [(true, '"'), (false, '"'), (true, '\'')] {
                    if thousands != Some(decimal) {
                        all.push(Dialect { delimiter, decimal, thousands, header, quote });
                    }
                }
            }
        }
    }
    all
}

/// Hundredths as a number of a dialect.
fn number(dialect: Dialect, hundredths: u64) -> String {
    let (whole, rest) = ((hundredths / 100).to_string(), hundredths % 100);
    let mut text = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            text.extend(dialect.thousands);
        }
        text.push(digit);
    }
    if rest > 0 {
        text.push(dialect.decimal);
        text += &format!("{rest:02}");
    }
    text
}

fn people(dialect: Dialect, count: u64) -> Vec<Vec<String>> {
    let people = People::new(5);
    let row = |index: u64| {
        let person = people.person(index);
        let weight = match index % 40 {
            0 => "-99".to_owned(),
            _ => number(dialect, 4_000 + index * 7_919 % 9_000),
        };
        vec![
            person.age().to_string(),
            weight,
            person.sex().to_owned(),
            number(dialect, 100_000 + u64::from(person.income()) * 10 + 25),
            person.diagnosis().to_owned(),
            "-".to_owned(),
        ]
    };
    (0..count).map(row).collect()
}

/// Prints a table; a cell is quoted if it has to be.
fn print(dialect: Dialect, rows: &[Vec<String>]) -> String {
    let Dialect { delimiter, quote, .. } = dialect;
    let cell = |cell: &String| match cell.contains([delimiter, quote, '\n']) {
        true => format!("{quote}{}{quote}", cell.replace(quote, &format!("{quote}{quote}"))),
        false => cell.clone(),
    };
    let line = |row: &Vec<String>| row.iter().map(cell).collect::<Vec<_>>().join(&delimiter.to_string()) + "\n";
    let header = if dialect.header { line(&NAMES.map(str::to_owned).to_vec()) } else { String::new() };
    header + &rows.iter().map(line).collect::<String>()
}

/// Reads a table without line breaks in cells, and returns its records.
fn read(dialect: Dialect, text: &str) -> Vec<Vec<String>> {
    let cells = |line: &str| {
        let (mut cells, mut quoted) = (vec![String::new()], false);
        let mut chars = line.chars().peekable();
        while let Some(char) = chars.next() {
            if char == dialect.quote && quoted && chars.peek() == Some(&dialect.quote) {
                cells.last_mut().unwrap().push(chars.next().unwrap());
            } else if char == dialect.quote {
                quoted = !quoted;
            } else if char == dialect.delimiter && !quoted {
                cells.push(String::new());
            } else {
                cells.last_mut().unwrap().push(char);
            }
        }
        cells
    };
    text.lines().skip(usize::from(dialect.header)).map(cells).collect()
}

/// A cell of a number column in plain notation, by replacing characters.
fn plain(dialect: Dialect, cell: &str) -> String {
    let number = |text: &str| {
        let without: String = text.chars().filter(|char| Some(*char) != dialect.thousands).collect();
        without.replace(dialect.decimal, ".")
    };
    let separator = if dialect.decimal == ',' { "; " } else { ", " };
    match cell.split_once(separator) {
        Some((low, high)) => format!("{}, {}", number(low), number(high)),
        None => number(cell),
    }
}

/// Records in plain notation, sorted: the shuffle depends on the labels.
fn plain_rows(dialect: Dialect, text: &str) -> Vec<Vec<String>> {
    let mut rows = read(dialect, text);
    for row in &mut rows {
        for column in [0, 1, 3] {
            row[column] = plain(dialect, &row[column]);
        }
    }
    rows.sort();
    rows
}

fn input(dialect: Dialect) -> String {
    let mut text = format!("[input]\nquote = \"{}\"\n", if dialect.quote == '"' { "\\\"" } else { "'" });
    if dialect.delimiter == '\t' {
        text += "delimiter = \"\\t\"\n";
    } else {
        text += &format!("delimiter = \"{}\"\n", dialect.delimiter);
    }
    if dialect.decimal != '.' {
        text += &format!("decimal = \"{}\"\n", dialect.decimal);
    }
    text += &dialect.thousands.map_or(String::new(), |separator| format!("thousands = \"{separator}\"\n"));
    if !dialect.header {
        text += &format!("header = false\nnames = {NAMES:?}\n");
    }
    text
}

fn policy(dialect: Dialect) -> String {
    // A guarded value is named in the notation of the file.
    let income = number(dialect, 100_000 + u64::from(People::new(5).person(0).income()) * 10 + 25);
    format!(
        "version = 1\n[privacy]\nk = 4\n[[privacy.template]]\ngiven = [\"age\"]\ncolumn = \"income\"\nvalues = \
         [\"{income}\"]\nmax-confidence = 0.9\n[method]\nname = \"mondrian\"\n[columns.age]\nrole = \
         \"quasi-identifier\"\n[columns.weight]\nrole = \"quasi-identifier\"\nhierarchy = \"free\"\nmissing = \"category\"\nmissing-texts = [\"-99\"]\n[columns.sex]\nrole = \
         \"quasi-identifier\"\n[columns.income]\nrole = \"sensitive\"\n[columns.diagnosis]\nrole = \
         \"sensitive\"\n[columns.note]\nrole = \"insensitive\"\n[release]\nexact = [\"income\"]\n{}",
        input(dialect)
    )
}

fn folder(dialect: Dialect, count: u64) -> Folder {
    let folder = Folder::empty();
    folder.write("people.csv", print(dialect, &people(dialect, count))).write("policy.toml", policy(dialect));
    folder
}

fn released(dialect: Dialect, folder: &Folder) -> Vec<Vec<String>> {
    let run = folder.anonymize(&["--seed", "1", "--overwrite"]);
    assert_eq!(run.code, 0, "{dialect:?}: {}", run.stderr);
    plain_rows(dialect, &folder.read("out.csv"))
}

#[test]
fn every_dialect_gives_the_same_release() {
    let expected = released(PLAIN, &folder(PLAIN, 200));
    assert!(expected.iter().any(|row| row[1].starts_with('[') && row[1].contains('.')), "intervals have fractions");
    assert!(expected.iter().any(|row| row[3].len() > 6), "incomes have thousands");
    for (at, dialect) in all().into_iter().enumerate() {
        let folder = folder(dialect, 200);
        assert_eq!(released(dialect, &folder), expected, "{dialect:?}");
        if at % 7 == 0 {
            folder.ok(&["check", "out.csv", "-p", "policy.toml"]);
        }
    }
}

/// The order of labels decides the order in which losses are added, so the last digit of a sum depends on the dialect.
fn rounded(value: serde_json::Value) -> serde_json::Value {
    use serde_json::Value;
    match value {
        Value::Number(number) => format!("{:.9}", number.as_f64().unwrap()).into(),
        Value::Array(values) => values.into_iter().map(rounded).collect(),
        Value::Object(fields) => Value::Object(fields.into_iter().map(|(key, value)| (key, rounded(value))).collect()),
        other => other,
    }
}

#[test]
fn a_release_in_a_dialect_is_checked_measured_queried_and_applied() {
    let (mut expected, mut applied) = (None, None);
    for dialect in [PLAIN, GERMAN, Dialect { header: false, thousands: Some(' '), ..GERMAN }] {
        let folder = folder(dialect, 400);
        let run = folder.anonymize(&["--recoding", "r.json", "--report", "report.html", "--report", "report.json"]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        folder.ok(&["check", "out.csv", "-p", "policy.toml"]);
        let mut found = Vec::new();
        for command in
            ["measure people.csv out.csv -p policy.toml --json", "queries people.csv out.csv -p policy.toml --json"]
        {
            let json = folder.ok(&command.split(' ').collect::<Vec<_>>());
            found.push(rounded(serde_json::from_str(&json).unwrap()));
        }
        folder.ok(&["linkage", "out.csv", "out.csv", "-p", "policy.toml"]);
        folder.ok(&["apply", "people.csv", "--recoding", "r.json", "-o", "again.csv"]);
        folder.ok(&["check", "again.csv", "-p", "policy.toml"]);
        let again = plain_rows(dialect, &folder.read("again.csv"));
        assert_eq!(applied.get_or_insert_with(|| again.clone()), &again, "{dialect:?}");
        // Numbers of reports are plain in every dialect.
        assert_eq!(expected.get_or_insert_with(|| found.clone()), &found, "{dialect:?}");
    }
}

#[test]
fn a_number_column_without_its_dialect_is_noted() {
    let folder = folder(GERMAN, 200);
    let text = folder.read("policy.toml").replace("decimal = \",\"\n", "").replace("thousands = \".\"\n", "");
    let text = text.replace("hierarchy = \"free\"\n", "");
    let from = text.find("[[privacy.template]]").unwrap();
    let to = text.find("[method]").unwrap();
    folder.write("policy.toml", format!("{}{}", &text[..from], &text[to..]));
    let run = folder.anonymize(&["--seed", "1"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let said = run.stderr.replace("\n    ", " ");
    assert!(said.contains("`weight` is read as a category, but its values look like numbers"), "{said}");
    assert!(said.contains("set `decimal = \",\"`"), "{said}");
}

#[test]
fn a_release_may_have_another_dialect() {
    for input in [GERMAN, Dialect { header: false, ..GERMAN }] {
        let folder = folder(input, 200);
        let expected = released(input, &folder);
        let text = folder.read("policy.toml").replace(
            "[release]\n",
            "[release]\ndelimiter = \",\"\ndecimal = \".\"\nheader = true\nguard-formulas = true\n",
        );
        folder.write("policy.toml", text);
        let run = folder.anonymize(&["--seed", "1", "--overwrite", "--recoding", "r.json"]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        let release = folder.read("out.csv");
        assert!(release.starts_with("age,weight,sex,income,diagnosis,note\n"), "{release}");
        // The note `-` could be the start of a formula. Other cells are those of the other release.
        let mut rows = plain_rows(PLAIN, &release);
        assert!(rows.iter().all(|row| row[5] == "'-"));
        rows.iter_mut().for_each(|row| row[5] = "-".to_owned());
        assert_eq!(rows, expected);
        folder.ok(&["check", "out.csv", "-p", "policy.toml"]);
        folder.ok(&["measure", "people.csv", "out.csv", "-p", "policy.toml"]);
        let inferred = |file: &str| folder.ok(&["inferences", file, "-p", "policy.toml"]);
        assert!(inferred("people.csv").contains("income") && inferred("out.csv").contains("income"));
        folder.ok(&["apply", "people.csv", "--recoding", "r.json", "-o", "again.csv"]);
        folder.ok(&["check", "again.csv", "-p", "policy.toml"]);
    }
}

#[test]
fn formulas_are_guarded_and_the_release_is_still_what_was_verified() {
    let folder = Folder::empty();
    let cells = ["=1+1", "'=1+1", "@a", "+49 30", "-5", "-x", "'ok", "a=b"];
    let rows: String = (0..64).map(|at| format!("{},{}\n", at % 4, cells[at % 8])).collect();
    folder.write("people.csv", format!("age,ill\n{rows}")).write(
        "policy.toml",
        "version = 1\nprivacy.k = 4\n[columns.age]\nrole = \"quasi-identifier\"\n[columns.ill]\nrole = \
         \"sensitive\"\n[release]\nguard-formulas = true\n",
    );
    let run = folder.anonymize(&["--seed", "1"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let mut found: Vec<String> = read(PLAIN, &folder.read("out.csv")).into_iter().map(|row| row[1].clone()).collect();
    found.sort();
    found.dedup();
    let mut expected = ["'=1+1", "''=1+1", "'@a", "+49 30", "-5", "'-x", "'ok", "a=b"];
    expected.sort_unstable();
    assert_eq!(found, expected);
    folder.ok(&["check", "out.csv", "-p", "policy.toml"]);
}

#[test]
fn repeated_names_are_numbered_with_a_note() {
    let folder = Folder::with_people();
    folder.edit("people.csv", "name,age,sex", "name,age,age");
    folder.edit("policy.toml", "[columns.sex]", "[columns.age_2]");
    let run = folder.anonymize(&[]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stderr.contains("column 3 of the input: an earlier column has the same name"), "{}", run.stderr);
    assert!(folder.read("out.csv").starts_with("age,age_2,zip,diagnosis\n"));
    folder.ok(&["check", "out.csv", "-p", "policy.toml"]);
}

#[test]
fn init_finds_the_dialect() {
    for (dialect, expected) in [
        (PLAIN, &[][..]),
        (GERMAN, &["delimiter = \";\"", "decimal = \",\"", "thousands = \".\""]),
        (Dialect { thousands: None, ..GERMAN }, &["decimal = \",\""]),
        (Dialect { thousands: Some('\''), delimiter: '\t', ..GERMAN }, &["delimiter = \"\\t\"", "thousands = \"'\""]),
        (Dialect { thousands: Some('\u{202f}'), ..GERMAN }, &["decimal = \",\"", "thousands = \" \""]),
        (Dialect { thousands: Some(','), ..PLAIN }, &["thousands = \",\""]),
        (Dialect { header: false, ..GERMAN }, &["header = false", "decimal = \",\"", "[columns.c1]", "[columns.c6]"]),
    ] {
        let folder = folder(dialect, 600);
        let draft = folder.ok(&["init", "people.csv"]);
        let lines: Vec<&str> = draft.lines().collect();
        for line in expected {
            assert!(lines.contains(line), "{dialect:?}: {line} in\n{draft}");
        }
        assert!(lines.contains(&"missing-texts = [\"-99\"]"), "{dialect:?}:\n{draft}");
        for (key, usual) in [("decimal", dialect.decimal == '.'), ("thousands", dialect.thousands.is_none())] {
            assert_eq!(lines.iter().any(|line| line.starts_with(&format!("{key} ="))), !usual, "{dialect:?}: {key}");
        }
        assert_eq!(lines.contains(&"header = false"), !dialect.header);
        // The draft works.
        folder.write("policy.toml", &draft);
        let run = folder.anonymize(&["--seed", "1"]);
        assert!(run.code == 0 || run.stderr.contains("single out"), "{dialect:?}: {}\n{draft}", run.stderr);
    }
}

#[test]
fn a_hierarchy_is_built_and_checked_in_the_notation_of_the_file() {
    let folder = folder(Dialect { thousands: None, ..GERMAN }, 200);
    let built = folder.ok(&[
        "hierarchy",
        "build",
        "people.csv",
        "--column",
        "weight",
        "--method",
        "widths",
        "--widths",
        "10,40",
        "--missing=-99",
    ]);
    assert!(built.contains("[40; 50)") && built.lines().all(|line| !line.contains(", ")), "{built}");
    folder.write("weight.csv", built);
    folder.edit("policy.toml", "\"free\"", "\"weight.csv\"");
    let run = folder.anonymize(&["--seed", "1"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    folder.ok(&["check", "out.csv", "-p", "policy.toml"]);
    folder.ok(&["measure", "people.csv", "out.csv", "-p", "policy.toml"]);
}

/// Read as categories, `1,5` and `1,50` would be two values for l-diversity.
#[test]
fn a_file_in_the_notation_of_the_input_is_no_release() {
    let folder = Folder::empty();
    let policy = |release: &str| {
        format!(
            "version = 1\n[[privacy.l-diversity]]\ncolumn = \"dose\"\nl = 2\n[columns.age]\nrole = \
             \"quasi-identifier\"\n[columns.dose]\nrole = \"sensitive\"\n[input]\ndelimiter = \";\"\ndecimal = \
             \",\"\n{release}"
        )
    };
    folder.write("file.csv", "age;dose\n20;1,5\n20;1,50\n20;1,500\n").write("policy.toml", policy(""));
    assert_eq!(folder.run(&["check", "file.csv", "-p", "policy.toml"]).code, 1, "one value in the group");
    folder.write("policy.toml", policy("[release]\ndecimal = \".\"\n"));
    let run = folder.run(&["check", "file.csv", "-p", "policy.toml"]);
    assert_eq!(run.code, 2, "{}{}", run.stdout, run.stderr);
    assert!(run.stderr.contains("column `dose`, record 1: `1,5` and all other values"), "{}", run.stderr);
}

/// Texts that mean a missing value, and numbers among words, are released as they are.
#[test]
fn missing_texts_and_words_keep_their_notation() {
    let folder = Folder::empty();
    let (doses, labs) = (["-9,9", "1,5", "2,5", "-9,90"], ["<5", "12,5", "12,50", "k.A."]);
    let rows: String = (0..32).map(|at| format!("{};{};{}\n", at % 4, doses[at / 4 % 4], labs[at / 2 % 4])).collect();
    folder.write("people.csv", format!("age;dose;lab\n{rows}")).write(
        "policy.toml",
        "version = 1\nprivacy.k = 4\n[[privacy.l-diversity]]\ncolumn = \"dose\"\nl = 2\n[columns.age]\nrole = \
         \"quasi-identifier\"\n[columns.dose]\nrole = \"sensitive\"\nmissing = \"category\"\nmissing-texts = \
         [\"-9,9\"]\n[columns.lab]\nrole = \"sensitive\"\n[input]\ndelimiter = \";\"\ndecimal = \
         \",\"\n[release]\ndecimal = \".\"\nexact = [\"lab\", \"dose\"]\n",
    );
    let run = folder.anonymize(&["--seed", "1"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let dialect = Dialect { delimiter: ';', ..PLAIN };
    let rows = read(dialect, &folder.read("out.csv"));
    let found = |column: usize| {
        let mut texts: Vec<String> = rows.iter().map(|row| row[column].clone()).collect();
        texts.sort();
        texts.dedup();
        texts
    };
    assert_eq!(found(1), ["-9,9", "-9,90", "1.5", "2.5"]);
    assert_eq!(found(2), ["12,5", "12,50", "<5", "k.A."]);
    folder.ok(&["check", "out.csv", "-p", "policy.toml"]);
}

/// `1.5` is a word under a decimal comma and a number under a decimal point.
#[test]
fn a_column_that_is_read_differently_in_the_release_is_named() {
    let folder = Folder::empty();
    let rows: String = (0..32).map(|at| format!("{};{}\n", at % 4, ["9.5", "10.5"][at / 4 % 2])).collect();
    folder.write("people.csv", format!("age;dose\n{rows}")).write(
        "policy.toml",
        "version = 1\nprivacy.k = 4\n[columns.age]\nrole = \"quasi-identifier\"\n[columns.dose]\nrole = \
         \"sensitive\"\n[input]\ndelimiter = \";\"\ndecimal = \",\"\n[release]\ndecimal = \".\"\n",
    );
    let run = folder.anonymize(&["--seed", "1"]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert!(run.stderr.contains("the values of column `dose` differ"), "{}", run.stderr);
    assert!(!folder.path("out.csv").exists());
    folder.edit("policy.toml", "role = \"sensitive\"", "role = \"sensitive\"\ntype = \"category\"");
    assert_eq!(folder.anonymize(&["--seed", "1"]).code, 0);
}

/// An earlier release in another dialect is refused with the reason.
#[test]
fn linked_releases_have_one_dialect() {
    let folder = folder(PLAIN, 200);
    assert_eq!(folder.anonymize(&["--seed", "1"]).code, 0);
    for (keys, reason) in [
        ("delimiter = \";\"", "give all releases that are linked the same ones"),
        ("decimal = \",\"", "must say how both are written (`decimal`)"),
    ] {
        let policy = folder.read("policy.toml");
        folder.edit("policy.toml", "[release]\n", &format!("[release]\n{keys}\n"));
        let new = ["anonymize", "people.csv", "-p", "policy.toml", "-o", "new.csv", "--earlier", "out.csv"];
        let run = folder.run(&new);
        assert_eq!(run.code, 2, "{keys}: {}", run.stderr);
        let said = run.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains("out.csv") && said.contains(reason), "{keys}: {said}");
        assert!(!folder.path("new.csv").exists());
        folder.write("policy.toml", policy);
    }
}

/// The people that LibreOffice saved for a user in Germany have the release of the same people in a plain file.
#[test]
fn a_file_of_libreoffice_in_german_has_the_release_of_the_plain_one() {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../moretta-engine/tests/fixtures/other_tools");
    let mut releases = Vec::new();
    for (file, dialect) in
        [("people.csv", PLAIN), ("libreoffice-german.csv", Dialect { delimiter: ';', decimal: ',', ..PLAIN })]
    {
        let folder = Folder::empty();
        folder.write("people.csv", std::fs::read(format!("{fixtures}/{file}")).unwrap());
        let draft = folder.ok(&["init", "people.csv"]);
        for line in ["delimiter = \";\"", "decimal = \",\"", "encoding = \"windows-1252\""] {
            assert_eq!(draft.lines().any(|found| found == line), file != "people.csv", "{line} in\n{draft}");
        }
        let input = &draft[draft.find("[input]").map_or(draft.len(), |at| at)..];
        let input = &input[..input.find("\n[columns").unwrap_or(input.len())];
        let policy = "version = 1\nprivacy.k = 4\n[columns]\nname.role = \"identifier\"\ntown.role = \
                      \"quasi-identifier\"\nage.role = \"quasi-identifier\"\nweight.role = \
                      \"quasi-identifier\"\nillness.role = \"sensitive\"\n[release]\nencoding = \"utf-8\"\n";
        folder.write("policy.toml", format!("{policy}{input}"));
        let run = folder.anonymize(&["--seed", "1"]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        let mut rows = read(dialect, &folder.read("out.csv"));
        for row in &mut rows {
            [1, 2].into_iter().for_each(|column| row[column] = plain(dialect, &row[column]));
        }
        rows.sort();
        releases.push(rows);
    }
    assert_eq!(releases[0], releases[1]);
}
