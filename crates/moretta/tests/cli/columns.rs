//! Postcodes with prefix hierarchies, dates with the calendar, numbers with hierarchies built from the data.

use crate::{
    folder::Folder,
    people::{column, rows},
};

const POLICY: &str = r#"version = 1
[privacy]
k = 4
max-suppressed = 0.5
[method]
name = "METHOD"
[columns.postcode]
role = "quasi-identifier"
hierarchy = { prefix = [4, 3, 2, 1] }
[columns.born]
role = "quasi-identifier"
type = "date"
format = "%d.%m.%Y"
hierarchy = { dates = ["month", "quarter", "year", "decade"] }
[columns.admitted]
role = "quasi-identifier"
hierarchy = { dates = ["day", "month", "year"] }
[columns.weight]
role = "quasi-identifier"
hierarchy = "iotf"
[columns.diagnosis]
role = "sensitive"
"#;

/// Patients from a pseudorandom sequence.
fn patients(seed: u64, many: usize) -> String {
    let mut state = seed;
    let mut below = |n: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % n
    };
    let mut text = "postcode,born,admitted,weight,diagnosis\n".to_owned();
    for _ in 0..many {
        let postcode = [10_115, 10_117, 10_243, 20_095, 20_097, 1_067][below(6) as usize];
        let born = format!("{:02}.{:02}.{}", 1 + below(28), 1 + below(12), 1950 + below(40));
        let admitted = format!("{}-{:02}-{:02}T{:02}:30", 2023 + below(2), 1 + below(12), 1 + below(28), below(24));
        let diagnosis = ["flu", "asthma", "gout"][below(3) as usize];
        text += &format!("{postcode:05},{born},{admitted},{},{diagnosis}\n", 50 + below(50));
    }
    text
}

fn folder(method: &str) -> Folder {
    let folder = Folder::empty();
    folder.write("people.csv", patients(1, 600)).write("policy.toml", POLICY.replace("METHOD", method));
    folder.write("more.csv", patients(2, 300));
    folder
}

/// Replaces every digit by the same one.
fn form(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_digit() { '9' } else { c }).collect()
}

fn assert_forms(release: &str) {
    let forms: [(&str, &[&str]); 4] = [
        ("postcode", &["99999", "9999*", "999*", "99*", "9*", "*"]),
        ("born", &["99.99.9999", "9999-99", "9999-Q9", "9999", "9999s", "*"]),
        ("admitted", &["9999-99-99T99:99", "9999-99-99", "9999-99", "9999", "*"]),
        ("weight", &["99", "[99, 99]", "*"]),
    ];
    for (name, forms) in forms {
        for cell in column(release, name) {
            assert!(forms.contains(&form(&cell).as_str()), "{name}: {cell}");
        }
    }
}

#[test]
fn released_checked_measured_and_applied_again() {
    for method in ["mondrian", "k-member", "bottom-up-generalization", "top-down-disclosure"] {
        let folder = folder(method);
        let run = folder.anonymize(&["--recoding", "r.json", "--json", "--report", "report.html"]);
        assert_eq!(run.code, 0, "{method}: {}", run.stderr);
        let release = folder.read("out.csv");
        assert_eq!(rows(&release).len(), 601);
        assert_forms(&release);
        folder.ok(&["check", "out.csv", "-p", "policy.toml"]);
        let measured = folder.ok(&["measure", "people.csv", "out.csv", "-p", "policy.toml", "--json"]);
        let measured: serde_json::Value = serde_json::from_str(&measured).unwrap();
        let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        let gap = measured["gcp"].as_f64().unwrap() - report["measures"]["gcp"].as_f64().unwrap();
        assert!(gap.abs() < 1e-9, "{method}: {gap}");

        let recoding: serde_json::Value = serde_json::from_str(&folder.read("r.json")).unwrap();
        assert_eq!(recoding["hierarchies"], serde_json::json!({}), "nothing that was built from the data");
        assert_eq!(recoding["policy"]["columns"]["born"]["format"], "%d.%m.%Y");
        folder.ok(&["apply", "more.csv", "--recoding", "r.json", "--output", "more-out.csv"]);
        let applied = folder.read("more-out.csv");
        assert_eq!(rows(&applied).len(), 301);
        assert_forms(&applied);
        folder.ok(&["check", "more-out.csv", "-p", "policy.toml"]);
        let covered = |row: &Vec<String>| row[..4].iter().any(|cell| cell != "*");
        assert!(rows(&applied)[1..].iter().any(covered), "{method}: some of the cells cover new records");

        let page = folder.read("report.html");
        for words in [
            "the whole code, or its first 4, 3, 2, 1 characters",
            "intervals built from the data (IOTF)",
            "the date, or its",
        ] {
            assert!(page.contains(words), "{words}");
        }
    }
}

#[test]
fn a_release_with_other_cells_is_refused() {
    let folder = folder("mondrian");
    assert_eq!(folder.anonymize(&["--keep-order"]).code, 0);
    let release = folder.read("out.csv");
    let (head, rest) = release.split_once('\n').unwrap();
    let (_, rest) = rest.split_once('\n').unwrap();
    for (row, says) in [
        ("123456*,*,*,*,flu", "`postcode`, record 1: `123456*` is not a released form; it should be a whole code"),
        ("*,1984-03-31,*,*,flu", "`born`, record 1: `1984-03-31` is not a released form; it should be a date"),
        ("*,*,2023-Q1,*,flu", "`admitted`, record 1: `2023-Q1` is not a released form"),
        ("*,*,*,heavy,flu", "`weight`, record 1: `heavy` is not a released form"),
    ] {
        let run =
            folder.write("out.csv", format!("{head}\n{row}\n{rest}")).run(&["check", "out.csv", "-p", "policy.toml"]);
        assert!(run.code == 2 && run.stderr.contains(says), "{row}: {}", run.stderr);
    }
}

#[test]
fn what_init_guesses_of_codes_and_dates_can_be_used() {
    let folder = folder("mondrian");
    folder.ok(&["init", "people.csv", "--output", "guessed.toml"]);
    let text = folder.read("guessed.toml");
    for line in [
        "hierarchy = { prefix = [4, 3, 2, 1] }",
        "[columns.born]\nrole = \"quasi-identifier\"\ntype = \"date\"\nformat = \"%d.%m.%Y\"\n",
        "[columns.admitted]\nrole = \"quasi-identifier\"\ntype = \"date\"\n#",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    folder.ok(&["anonymize", "people.csv", "-p", "guessed.toml", "-o", "out.csv"]);
    folder.ok(&["check", "out.csv", "-p", "guessed.toml"]);
}

/// A file of `hierarchy build` gives the same release as the policy that builds the hierarchy.
#[test]
fn a_built_file_stands_for_the_policys_own_words() {
    let cases: [(&str, &str, &str, &[&str]); 5] = [
        (
            "postcode",
            "hierarchy = { prefix = [4, 3, 2, 1] }",
            "type = \"category\"",
            &["prefix", "--prefix", "4,3,2,1"],
        ),
        (
            "born",
            "hierarchy = { dates = [\"month\", \"quarter\", \"year\", \"decade\"] }",
            "",
            &["dates", "--format", "%d.%m.%Y"],
        ),
        (
            "admitted",
            "hierarchy = { dates = [\"day\", \"month\", \"year\"] }",
            "type = \"date\"",
            &["dates", "--dates", "day,month,year"],
        ),
        ("weight", "hierarchy = \"iotf\"", "type = \"number\"", &["iotf"]),
        (
            "weight",
            "hierarchy = { method = \"han\", fan-out = 3, levels = 3 }",
            "type = \"number\"",
            &["han", "--fan-out", "3", "--levels", "3"],
        ),
    ];
    for (column, words, kind, flags) in cases {
        let folder = folder("mondrian");
        if column == "weight" {
            folder.edit("policy.toml", "hierarchy = \"iotf\"", words);
        }
        let release = |output: &str| {
            folder.ok(&["anonymize", "people.csv", "-p", "policy.toml", "-o", output, "--seed", "1", "--keep-order"]);
            folder.read(output)
        };
        let by_words = release("words.csv");
        let mut build = vec!["hierarchy", "build", "people.csv", "--column", column, "-o", "h.csv", "--method"];
        build.extend(flags);
        folder.ok(&build);
        folder.edit("policy.toml", words, &format!("{kind}\nhierarchy = \"h.csv\""));
        assert_eq!(release("file.csv"), by_words, "{column} {words}");
    }
}

#[test]
fn dates_are_known_by_their_looks() {
    let folder = folder("mondrian");
    let declared = |lines: &str| {
        let policy = POLICY.replace("METHOD", "mondrian");
        let policy = policy.replace("hierarchy = { dates = [\"day\", \"month\", \"year\"] }", lines);
        folder.write("policy.toml", policy);
        folder.ok(&["anonymize", "people.csv", "-p", "policy.toml", "-o", "o.csv", "--seed", "1", "--overwrite"]);
        folder.ok(&["check", "o.csv", "-p", "policy.toml"]);
        folder.read("o.csv")
    };
    assert_eq!(declared("weight = 1"), declared("type = \"date\""));
    assert_eq!(declared("hierarchy = \"chu\""), declared("type = \"date\"\nhierarchy = \"chu\""));
    assert_ne!(declared("type = \"category\""), declared("type = \"date\""));
}

#[test]
fn what_no_cell_covers_is_named_by_column() {
    for method in ["mondrian", "bottom-up-generalization"] {
        let folder = folder(method);
        assert_eq!(folder.anonymize(&["--recoding", "r.json"]).code, 0);
        let later = folder.read("more.csv").replace("2023-", "2033-").replace("2024-", "2034-");
        folder.write("later.csv", later);
        let run = folder.run(&["apply", "later.csv", "--recoding", "r.json", "--output", "later-out.csv"]);
        assert_eq!(run.code, 1, "{}", run.stderr);
        let says = "records have a value of `admitted` that no cell of the recoding covers";
        assert!(run.stderr.contains(says) && !run.stderr.contains("`weight` that"), "{}", run.stderr);
    }
}

/// The recoding file contains no suppressed value.
#[test]
fn a_saved_recoding_does_not_tell_what_was_suppressed() {
    let folder = Folder::empty();
    let few: String =
        (1..=4).flat_map(|n| std::iter::repeat_n(n, 5)).map(|n| format!("{n},2024-01-0{n},1{n}a\n")).collect();
    let outliers = "1000,2031-07-17,87654321\n50000,2031-07-18,87654322\n987654,2031-07-19,87654323\n";
    folder.write("people.csv", format!("n,d,c\n{few}{outliers}"));
    let policy = "version = 1\n[privacy]\nk = 3\nmax-suppressed = 0.2\n[method]\nname = \"bottom-up-generalization\"\n\
                  [columns.n]\nrole = \"quasi-identifier\"\nhierarchy = \"iotf\"\n[columns.d]\n\
                  role = \"quasi-identifier\"\n[columns.c]\nrole = \"quasi-identifier\"\nhierarchy = { prefix = [2] }\n";
    folder.write("policy.toml", policy);
    let run = folder.anonymize(&["--recoding", "r.json", "--seed", "1", "--keep-order"]);
    assert!(run.code == 0 && run.stdout.contains("3 suppressed"), "{}{}", run.stdout, run.stderr);
    let recoding = folder.read("r.json");
    for secret in ["1000", "50000", "987654", "2031", "876"] {
        assert!(!recoding.contains(secret), "{secret}: {recoding}");
    }
    folder.ok(&["apply", "people.csv", "--recoding", "r.json", "--output", "again.csv", "--keep-order", "--seed", "1"]);
    assert_eq!(folder.read("again.csv"), folder.read("out.csv"));
}

#[test]
fn one_number_for_many_is_a_number_also_at_the_ends_of_the_scale() {
    let folder = Folder::empty();
    let rows: String =
        ["1e308", "-1e308", "1.5e308", "1.7e308", "-1.7e308", "1.6e308"].map(|n| format!("{n}\n")).concat();
    folder.write("people.csv", format!("n\n{rows}"));
    for numbers in ["mean", "median", "midpoint"] {
        let policy = format!(
            "version = 1\nprivacy.k = 3\nrelease.numbers = \"{numbers}\"\n[columns.n]\nrole = \"quasi-identifier\"\ntype = \"number\"\n"
        );
        folder.write("policy.toml", policy);
        assert_eq!(folder.anonymize(&["--overwrite"]).code, 0);
        folder.ok(&["check", "out.csv", "-p", "policy.toml"]);
    }
}
