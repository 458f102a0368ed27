//! No report, page, chart or table of results names a value or node that fewer than `max(k, 10)` records carry.
//!
//! A few people with distinctive values are hidden in a table; then the text of every document is searched for these
//! values and for the nodes above them.

use std::fmt::Write as _;

use crate::folder::Folder;

/// The rare values, and the nodes of any hierarchy that cover no other value.
const RARE: &[&str] = &[
    // age: one is 7919, one is 7
    "7919",
    "7949",
    "7924",
    "7800",
    "7999",
    "7",
    // born
    "1907-07-13",
    "1907-07",
    "1907-Q3",
    "1907",
    "1900s",
    // zip
    "99733",
    "9973",
    "997",
    "99",
    // region
    "Tuvalu",
    "Oceania",
    // disease, class
    "kuru",
    "zzclass",
];

/// A table of 120 ordinary people and two with rare values.
fn people() -> String {
    let mut text = "age,born,zip,region,disease,class\n".to_owned();
    for n in 0..120 {
        let (age, year, month) = (1020 + n * 7 % 60, 1950 + n * 13 % 40, 1 + n % 12);
        let (zip, region) = (60_010 + n * 11 % 50, ["France", "Poland", "Spain", "Ghana", "Mali"][n * 3 % 5]);
        let (disease, class) = (["flu", "gout", "cold", "mumps"][n / 3 % 4], ["aaclass", "bbclass"][n / 7 % 2]);
        let _ = writeln!(text, "{age},{year}-{month:02}-15,{zip},{region},{disease},{class}");
    }
    text += "7919,1907-07-13,99733,Tuvalu,kuru,zzclass\n7,1907-07-13,99733,Tuvalu,flu,aaclass\n";
    text
}

const REGIONS: &str =
    "France;Europe;*\nPoland;Europe;*\nSpain;Europe;*\nGhana;Africa;*\nMali;Africa;*\nTuvalu;Oceania;*\n";

/// Hierarchies of age, born, zip and region.
const HIERARCHIES: &[[&str; 4]] = &[
    [
        "{ widths = [25, 50, 200] }",
        "{ dates = [\"month\", \"quarter\", \"year\", \"decade\"] }",
        "{ prefix = [4, 3, 2] }",
        "\"regions.csv\"",
    ],
    ["{ method = \"iotf\" }", "\"free\"", "\"zips.csv\"", "\"regions.csv\""],
    [
        "{ bins = [0, 1000, 1050, 7900, 8000] }",
        "{ method = \"equal-frequency\" }",
        "{ prefix = [2] }",
        "\"regions.csv\"",
    ],
    ["\"ages.csv\"", "\"free\"", "{ prefix = [3] }", "\"regions.csv\""],
    ["\"free\"", "{ dates = [\"year\"] }", "{ prefix = [3] }", "\"regions.csv\""],
];

const METHODS: &[&str] = &[
    "best",
    "bottom-up-generalization",
    "top-down-disclosure",
    "genetic",
    "mondrian",
    "k-member",
    "local-top-down",
    "local-bottom-up",
    "sweep",
];

fn policy(method: &str, [age, born, zip, region]: &[&str; 4], suppressed: f64) -> String {
    format!(
        "version = 1\n[privacy]\nk = 4\nmax-suppressed = {suppressed}\n[[privacy.template]]\ngiven = [\"age\", \"zip\"]\n\
         column = \"disease\"\nrarest = 0.3\nmax-confidence = 0.9\n[method]\nname = \"{method}\"\n\
         [columns.age]\nrole = \"quasi-identifier\"\ntype = \"number\"\nhierarchy = {age}\n\
         [columns.born]\nrole = \"quasi-identifier\"\ntype = \"date\"\nhierarchy = {born}\n\
         [columns.zip]\nrole = \"quasi-identifier\"\ntype = \"category\"\nhierarchy = {zip}\n\
         [columns.region]\nrole = \"quasi-identifier\"\nhierarchy = {region}\n\
         [columns.disease]\nrole = \"sensitive\"\n[columns.class]\nrole = \"class\"\n"
    )
}

/// The rare names that occur in a text as words: neither a letter, a digit nor a decimal part is next to them. `7` is
/// a count too, so it is a name only after the bracket of an interval or an arrow.
fn named(text: &str) -> Vec<&'static str> {
    let part_of_word = |c: char| c.is_alphanumeric() || c == '.';
    let is_named = |name: &&str| {
        text.match_indices(*name).any(|(at, _)| {
            let (before, after) = (&text[..at], &text[at + name.len()..]);
            let decimals = after.strip_prefix('.').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
            let inside =
                decimals || before.ends_with(part_of_word) || after.starts_with(|c: char| part_of_word(c) && c != '.');
            let counts = name.len() == 1 && !before.ends_with('[') && !before.ends_with("→ ");
            // Two digits may be a percentage; as a node they have stars behind them.
            let percent = name.len() == 2 && !after.starts_with('*');
            !inside && !counts && !percent
        })
    };
    RARE.iter().copied().filter(is_named).collect()
}

fn folder() -> Folder {
    let folder = Folder::empty();
    folder.write("people.csv", people()).write("regions.csv", REGIONS);
    // Hierarchy files that were built from the data, as a data holder would.
    folder.ok(&["hierarchy", "build", "people.csv", "--column", "age", "--method", "otf", "-o", "ages.csv"]);
    let prefix = ["--method", "prefix", "--prefix", "4,3,2", "-o", "zips.csv"];
    folder.ok(&[&["hierarchy", "build", "people.csv", "--column", "zip"], &prefix[..]].concat());
    folder
}

#[test]
fn the_search_finds_names() {
    let found = named("{\"to\": \"1907-07\"} zip → 997** age → [7, 1019] [110, 7919] 0.7949 99.7 % 17 Oceanian");
    assert_eq!(found, ["7919", "7", "1907-07", "1907", "997"]);
    assert!(named("1907.73").is_empty());
}

#[test]
fn no_report_names_a_rare_value() {
    let folder = folder();
    for method in METHODS {
        for (number, hierarchies) in HIERARCHIES.iter().enumerate() {
            let suppressed = [0.05, 0.0][number % 2];
            folder.write("policy.toml", policy(method, hierarchies, suppressed));
            let outputs = ["--report", "o.html", "--report", "o.json", "--seed", "1", "--overwrite"];
            let run =
                folder.run(&[&["anonymize", "people.csv", "-p", "policy.toml", "-o", "o.csv"], &outputs[..]].concat());
            assert_eq!(run.code, 0, "{method} {number}: {}", run.stderr);
            for (document, text) in
                [("page", folder.read("o.html")), ("report", folder.read("o.json")), ("summary", run.stdout)]
            {
                // The size of the release may happen to be one of the numbers.
                let text: String = text.lines().filter(|line| !line.contains("\"bytes\"")).collect();
                let found = named(&text);
                let at = found.first().and_then(|name| text.find(name)).unwrap_or(0);
                let around: String = text.chars().skip(at.saturating_sub(80)).take(160).collect();
                assert!(found.is_empty(), "{method}, hierarchies {number}: the {document} names {found:?}: {around}");
            }
        }
    }
}

#[test]
fn no_trade_off_and_no_comparison_names_a_rare_value() {
    let folder = folder();
    for (number, hierarchies) in HIERARCHIES.iter().enumerate() {
        for method in ["bottom-up-generalization", "top-down-disclosure"] {
            folder.write("policy.toml", policy(method, hierarchies, 0.05));
            let mut documents = vec![
                ("json", folder.ok(&["frontier", "people.csv", "-p", "policy.toml", "--json"])),
                ("terminal", folder.ok(&["frontier", "people.csv", "-p", "policy.toml", "--all"])),
            ];
            for name in ["f.html", "f.csv", "f.svg"] {
                folder.ok(&["frontier", "people.csv", "-p", "policy.toml", "--overwrite", "-o", name]);
                documents.push((name, folder.read(name)));
            }
            for (document, text) in documents {
                // The size of the release may happen to be one of the numbers.
                let text: String = text.lines().filter(|line| !line.contains("\"bytes\"")).collect();
                let found = named(&text);
                assert!(found.is_empty(), "{method}, hierarchies {number}: {document} names {found:?}");
            }
        }
    }
    for (name, hierarchies) in ["c.html", "c.csv"].into_iter().zip(HIERARCHIES) {
        folder.write("policy.toml", policy("mondrian", hierarchies, 0.05));
        let more = ["--methods", "mondrian,bottom-up-generalization", "--folds", "2", "-o", name];
        folder.ok(&[&["compare", "people.csv", "-p", "policy.toml"], &more[..]].concat());
        let found = named(&folder.read(name));
        assert!(found.is_empty(), "{name} names {found:?}");
    }
    folder.ok(&["anonymize", "people.csv", "-p", "policy.toml", "-o", "o.csv"]);
    folder.ok(&["queries", "people.csv", "o.csv", "-p", "policy.toml", "-o", "q.svg"]);
    assert_eq!(named(&folder.read("q.svg")), [""; 0]);
}
