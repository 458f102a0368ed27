//! `moretta linkage` and `anonymize --earlier`: counts equal those of a naive twin, refusals, and what is printed.

mod attacker;
mod twin;

use std::fmt::Write as _;

use serde_json::Value;

use self::twin::{Counted, Limit, Reading, Roles};
use crate::{
    folder::{Folder, Run},
    people,
};

const METHODS: [&str; 9] = [
    "best",
    "bottom-up-generalization",
    "genetic",
    "k-member",
    "local-bottom-up",
    "local-top-down",
    "mondrian",
    "sweep",
    "top-down-disclosure",
];

/// A policy over four columns of the demo's people, with the other columns dropped.
const FOUR_COLUMNS: &str = r#"version = 1
[privacy]
k = 4
[[privacy.l-diversity]]
column = "diagnosis"
l = 3
[method]
name = "local-top-down"
[columns]
name.role = "identifier"
age = { role = "quasi-identifier", type = "number", hierarchy = "free" }
sex = { role = "quasi-identifier", type = "category", hierarchy = "hierarchies/sex.csv" }
postcode = { role = "quasi-identifier", type = "category", hierarchy = "hierarchies/postcode.csv" }
education = { role = "quasi-identifier", type = "category", hierarchy = "hierarchies/education.csv" }
occupation.role = "identifier"
marital-status.role = "identifier"
income.role = "identifier"
diagnosis.role = "sensitive"
insured.role = "identifier"
"#;

fn demo(people: u64) -> Folder {
    let folder = people::folder(people);
    folder.write("policy.toml", FOUR_COLUMNS);
    folder
}

fn demo_roles(folder: &Folder) -> Roles<'static> {
    let hierarchy = |column: &str| Reading::hierarchy(&folder.read(&format!("hierarchies/{column}.csv")));
    let category = |column: &'static str| (column, hierarchy(column));
    let known = vec![("age", Reading::Number), category("sex"), category("postcode"), category("education")];
    Roles { known, sensitive: "diagnosis", copied: vec!["diagnosis"] }
}

fn release(folder: &Folder, policy: &str, output: &str, more: &[&str]) -> Run {
    let mut arguments = vec!["anonymize", "people.csv", "--policy", policy, "--output", output];
    arguments.extend(more);
    folder.run(&arguments)
}

fn linkage(folder: &Folder, releases: &[&str], more: &[&str]) -> (i32, Value) {
    let mut arguments = vec!["linkage", "--policy", "policy.toml", "--json"];
    arguments.extend(more);
    arguments.extend(releases);
    let run = folder.run(&arguments);
    assert!(run.code < 2, "{}", run.stderr);
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(found["holds"], run.code == 0);
    (run.code, found)
}

fn counted(found: &Value) -> Counted {
    let number = |value: &Value| value.as_u64().unwrap();
    Counted {
        total: number(&found["total"]),
        smallest: number(&found["smallest_joint_group"]),
        alone: number(&found["certain"][0]["alone"]),
        together: number(&found["certain"][0]["together"]),
        violating: found["models"].as_array().unwrap().iter().map(|model| number(&model["violating"])).collect(),
    }
}

fn twin_of(folder: &Folder, releases: &[&str], roles: &Roles<'_>, limits: &[Limit<'_>]) -> Counted {
    let texts: Vec<String> = releases.iter().map(|release| folder.read(release)).collect();
    twin::count(&folder.read("people.csv"), &texts, roles, limits)
}

#[test]
fn four_releases_of_2000_people() {
    let folder = demo(2000);
    let files = ["1.csv", "2.csv", "3.csv", "4.csv"];
    for (file, seed) in files.iter().zip(["1", "2", "3", "4"]) {
        assert_eq!(release(&folder, "policy.toml", file, &["--seed", seed]).code, 0);
        assert_eq!(folder.run(&["check", file, "--policy", "policy.toml"]).code, 0);
    }
    let roles = demo_roles(&folder);
    // Wide bounds around 31 and 109, so that a better search may change the groups but not hide the attack.
    for (releases, certain) in [(&files[..2], 15..=60), (&files[..], 60..=240)] {
        let (code, found) = linkage(&folder, releases, &["--original", "people.csv"]);
        let twin = twin_of(&folder, releases, &roles, &[Limit::Records(4), Limit::Distinct(3)]);
        assert_eq!(counted(&found), twin);
        assert!(code == 1 && twin.alone == 0 && certain.contains(&twin.together), "{twin:?}");
    }
    // The second release is refused, and nothing is written.
    let before = folder.files();
    let refused = release(&folder, "policy.toml", "second.csv", &["--seed", "2", "--earlier", "1.csv"]);
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("nothing was written: together with 1.csv, k-anonymity"), "{}", refused.stderr);
    assert!(refused.stdout.is_empty() && folder.files() == before);
}

/// Replaces the known cells of one record in a hundred by `*`.
fn suppress(folder: &Folder, file: &str, known: usize, seed: u64) {
    let mut dice = Dice(seed);
    let mut rows = people::rows(&folder.read(file));
    for row in rows[1..].iter_mut().filter(|_| dice.below(100) == 0) {
        row[..known].fill("*".to_owned());
    }
    let cell = |cell: &String| if cell.contains(',') { format!("\"{cell}\"") } else { cell.clone() };
    let line = |row: &Vec<String>| row.iter().map(cell).collect::<Vec<_>>().join(",") + "\n";
    folder.write(file, rows.iter().map(line).collect::<String>());
}

#[test]
fn suppressed_records_hide_no_violation() {
    let folder = demo(1000);
    let (files, limits) = (["1.csv", "2.csv"], [Limit::Records(4), Limit::Distinct(3)]);
    for (file, seed) in files.iter().zip(["1", "2"]) {
        assert_eq!(release(&folder, "policy.toml", file, &["--seed", seed]).code, 0);
    }
    let roles = demo_roles(&folder);
    let claimed = || {
        let texts = files.map(|file| folder.read(file));
        let claims = attacker::claims(&folder.read("people.csv"), &texts, &roles);
        let (code, found) = linkage(&folder, &files, &["--original", "people.csv"]);
        let found = counted(&found);
        assert_eq!(found, twin_of(&folder, &files, &roles, &limits));
        assert!(code == 1 && found.together >= claims.right, "{found:?} {claims:?}");
        (claims, found)
    };
    let (before, found_before) = claimed();
    assert!(before.right >= 10 && before.wrong == 0, "{before:?}");
    files.iter().zip(5..).for_each(|(file, seed)| suppress(&folder, file, 4, seed));
    let (after, found) = claimed();
    // The attacker loses only people who are suppressed in one of the releases.
    assert!(after.right >= before.right * 9 / 10, "{before:?} {after:?}");
    assert!(found.violating[0] >= found_before.violating[0] * 9 / 10, "{found_before:?} {found:?}");
}

#[test]
fn a_release_that_is_linked_with_itself_discloses_nothing_more() {
    let folder = demo(120);
    for method in METHODS {
        folder.write("policy.toml", FOUR_COLUMNS.replace("local-top-down", method));
        let output = format!("{method}.csv");
        assert_eq!(release(&folder, "policy.toml", &output, &["--seed", "1"]).code, 0, "{method}");
        for more in [&["--original", "people.csv"][..], &[]] {
            assert_eq!(linkage(&folder, &[&output, &output], more).0, 0, "{method}");
        }
        // The same seed makes the same release.
        let again = format!("again-{output}");
        assert_eq!(release(&folder, "policy.toml", &again, &["--seed", "1", "--earlier", &output]).code, 0, "{method}");
    }
}

/// Pseudorandom numbers below a limit.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

const ZIP: &str = "a1;A;*\na2;A;*\na3;A;*\nb1;B;*\nb2;B;*\n";

const MIXED: &str = r#"version = 1
[privacy]
k = 2
[[privacy.l-diversity]]
column = "disease"
l = 2
[[privacy.template]]
given = ["zip", "code"]
column = "disease"
values = ["flu"]
max-confidence = 0.8
[method]
name = "METHOD"
[columns]
size = { role = "quasi-identifier", type = "number", missing = "MISSING", hierarchy = HIERARCHY }
zip = { role = "quasi-identifier", type = "category", missing = "MISSING", hierarchy = "zip.csv" }
born = { role = "quasi-identifier", type = "date"DATES }
code = { role = "quasi-identifier", type = "category", hierarchy = { prefix = [2, 1] } }
disease.role = "sensitive"
room.role = "insensitive"
"#;

/// A table with numbers that may be missing, a hierarchy file, dates, prefixes and an insensitive column.
fn mixed(seed: u64, hierarchy: &str, dates: &str, missing: &str) -> Folder {
    let mut dice = Dice(seed);
    let mut table = "size,zip,born,code,disease,room\n".to_owned();
    for _ in 0..90 {
        let size = match dice.below(12) {
            0 => String::new(),
            n if n < 4 => format!("{}.5", dice.below(30)),
            _ => dice.below(30).to_string(),
        };
        let zip = ["a1", "a2", "a3", "b1", "b2", ""][dice.below(6) as usize];
        let born = format!("{}-{:02}-{:02}", 1980 + dice.below(12), 1 + dice.below(12), 1 + dice.below(28));
        let code = 100 + dice.below(60);
        let disease = ["flu", "ulcer", "gout", "HIV"][dice.below(4) as usize];
        let _ = writeln!(table, "{size},{zip},{born},{code},{disease},{}", dice.below(3));
    }
    let policy = MIXED.replace("HIERARCHY", hierarchy).replace("DATES", dates).replace("MISSING", missing);
    let folder = Folder::empty();
    folder.write("people.csv", table).write("zip.csv", ZIP).write("policy.toml", policy.replace("METHOD", "sweep"));
    for method in METHODS {
        folder.write(&format!("{method}.toml"), policy.replace("METHOD", method));
    }
    folder
}

fn mixed_roles() -> Roles<'static> {
    Roles {
        known: vec![
            ("size", Reading::Number),
            ("zip", Reading::hierarchy(ZIP)),
            ("born", Reading::Date),
            ("code", Reading::Prefix),
        ],
        sensitive: "disease",
        copied: vec!["disease", "room"],
    }
}

/// Releases of every method, of one more k, and one with sets.
fn releases_of_methods(folder: &Folder) -> Vec<String> {
    let mut releases = Vec::new();
    let mut add = |policy: &str, output: String| {
        let run = release(folder, policy, &output, &["--seed", "1"]);
        assert_eq!(run.code, 0, "{output}: {}", run.stderr);
        releases.push(output);
    };
    for method in METHODS {
        add(&format!("{method}.toml"), format!("{method}.csv"));
    }
    for method in ["sweep", "genetic"] {
        let policy = folder.read(&format!("{method}.toml"));
        let sets = format!("{}[release]\nlabels = \"set\"\n", policy.replace("k = 2", "k = 3\nmax-suppressed = 0.1"));
        folder.write("sets.toml", sets);
        add("sets.toml", format!("sets-{method}.csv"));
    }
    releases
}

#[test]
fn counts_equal_the_naive_twin() {
    // In the order in which the models are reported.
    let limits = [Limit::Records(2), Limit::Confidence(&["zip", "code"], "flu", 0.8), Limit::Distinct(2)];
    let mut certain = 0;
    let calendar = ", hierarchy = { dates = [\"month\", \"quarter\", \"year\", \"decade\"] }";
    for (seed, hierarchy, dates, missing) in [
        (1, "\"free\"", calendar, "category"),
        (2, "{ widths = [5, 10] }", "", "suppress"),
        (3, "\"iotf\"", calendar, "category"),
        (4, "\"free\"", "", "category"),
    ] {
        let folder = mixed(seed, hierarchy, dates, missing);
        let releases = releases_of_methods(&folder);
        let names: Vec<&str> = releases.iter().map(String::as_str).collect();
        let roles = mixed_roles();
        let pairs = (0..names.len()).map(|at| vec![names[at], names[(at + 1) % names.len()]]);
        for linked in pairs.chain([names[..3].to_vec(), names[4..].to_vec()]) {
            let (_, found) = linkage(&folder, &linked, &["--original", "people.csv"]);
            let twin = twin_of(&folder, &linked, &roles, &limits);
            assert_eq!(counted(&found), twin, "seed {seed}: {linked:?}");
            certain += twin.together;
            // Every person is in a region, whose joint group is no larger than the person's.
            let (code, regions) = linkage(&folder, &linked, &[]);
            let regions = counted(&regions);
            assert!(regions.smallest <= twin.smallest, "seed {seed}: {linked:?}");
            assert!(regions.together > 0 || twin.together == 0, "seed {seed}: {linked:?}");
            assert!(code == 1 || twin.violating.iter().all(|violating| *violating == 0), "seed {seed}: {linked:?}");
        }
    }
    assert!(certain > 0);
}

const PEOPLE: &str = "age,disease\n22,flu\n27,ulcer\n38,HIV\n41,asthma\n52,gout\n58,asthma\n";
const FIRST: &str = "age,disease\n\"[22, 38]\",flu\n\"[22, 38]\",ulcer\n\"[22, 38]\",HIV\n\
    \"[41, 58]\",asthma\n\"[41, 58]\",gout\n\"[41, 58]\",asthma\n";
const SECOND: &str = "age,disease\n\"[22, 27]\",flu\n\"[22, 27]\",ulcer\n\"[38, 58]\",HIV\n\
    \"[38, 58]\",asthma\n\"[38, 58]\",gout\n\"[38, 58]\",asthma\n";
const TWO: &str = "version = 1\nprivacy.k = 2\nrelease = { exact = [\"disease\"] }\n[[privacy.l-diversity]]\ncolumn = \"disease\"\nl = 2\n\
    [columns]\nage = { role = \"quasi-identifier\", type = \"number\" }\ndisease.role = \"sensitive\"\n";

/// The example of the reference and of the module.
fn example() -> Folder {
    let folder = Folder::empty();
    folder.write("people.csv", PEOPLE).write("first.csv", FIRST).write("second.csv", SECOND).write("policy.toml", TWO);
    folder
}

#[test]
fn the_example_of_the_documents() {
    let folder = example();
    for file in ["first.csv", "second.csv"] {
        folder.ok(&["check", file, "--policy", "policy.toml"]);
    }
    let linked = ["linkage", "first.csv", "second.csv", "--policy", "policy.toml"];
    let people = folder.run(&[&linked[..], &["--original", "people.csv"]].concat());
    assert_eq!(people.code, 1);
    insta::assert_snapshot!("linkage-people", people.stdout + &people.stderr);
    let regions = folder.run(&linked);
    assert_eq!(regions.code, 1);
    insta::assert_snapshot!("linkage-regions", regions.stdout + &regions.stderr);
}

#[test]
fn no_value_and_no_person_is_printed() {
    let folder = example();
    for more in [&["--original", "people.csv"][..], &[], &["--json"], &["--json", "--original", "people.csv"]] {
        let run = folder.run(&[&["linkage", "first.csv", "second.csv", "--policy", "policy.toml"], more].concat());
        let said = run.stdout + &run.stderr;
        for value in ["HIV", "flu", "ulcer", "38", "22", "58"] {
            assert!(!said.contains(value), "{value}: {said}");
        }
    }
}

#[test]
fn earlier_releases_warn_on_request_and_are_in_the_report() {
    let folder = demo(500);
    assert_eq!(release(&folder, "policy.toml", "1.csv", &["--seed", "1"]).code, 0);
    let more =
        ["--seed", "2", "--earlier", "1.csv", "--if-linkable", "warn", "--report", "r.json", "--report", "r.html"];
    let warned = release(&folder, "policy.toml", "2.csv", &more);
    assert_eq!(warned.code, 0, "{}", warned.stderr);
    assert!(
        warned.stderr.contains("note: together with 1.csv, k-anonymity (k = 4) is violated for"),
        "{}",
        warned.stderr
    );
    assert!(warned.stdout.contains("earlier together with 1 earlier release:"), "{}", warned.stdout);
    let report: Value = serde_json::from_str(&folder.read("r.json")).unwrap();
    let (_, found) = linkage(&folder, &["1.csv", "2.csv"], &["--original", "people.csv"]);
    assert_eq!(report["linkage"], found);
    let page = folder.read("r.html");
    for said in ["Together with 1 earlier release", "One release per table", "assumed to be in random order"] {
        assert!(page.contains(said), "{said}: {page}");
    }
    let alone = release(&folder, "policy.toml", "3.csv", &["--report", "s.json", "--report", "s.html"]);
    assert_eq!(alone.code, 0);
    let report: Value = serde_json::from_str(&folder.read("s.json")).unwrap();
    assert!(report.get("linkage").is_none() && folder.read("s.html").contains("One release per table"));
}

#[test]
fn what_cannot_be_linked_is_refused() {
    let refused = |folder: &Folder, arguments: &[&str], said: &str| {
        let before = folder.files();
        let run = folder.run(arguments);
        assert_eq!(run.code, 2, "{arguments:?}: {}{}", run.stdout, run.stderr);
        assert!(run.stderr.contains(said), "{arguments:?}: {}", run.stderr);
        assert!(run.stdout.is_empty() && folder.files() == before, "{arguments:?}");
    };
    let folder = example();
    let both = ["linkage", "first.csv", "second.csv", "--policy", "policy.toml"];
    let with_original = [&both[..], &["--original", "people.csv"]].concat();
    refused(&folder, &["linkage", "first.csv", "--policy", "policy.toml"], "2 values required");
    // Other records, in either mode.
    folder.write("second.csv", SECOND.replace("gout", "HIV"));
    refused(&folder, &both, "second.csv: its sensitive, class and insensitive columns do not have the same values");
    refused(&folder, &with_original, "second.csv: its sensitive, class and insensitive columns");
    folder.write("second.csv", SECOND.replace("\"[22, 27]\",ulcer\n", ""));
    refused(&folder, &both, "only releases of the same records can be linked");
    // The same values for other people.
    folder.write("second.csv", SECOND.replace("[22, 27]\",flu", "[41, 58]\",flu"));
    refused(&folder, &with_original, "second.csv: no record fits record 1 of the original");
    // A cell that cannot be read: only this cell is shown.
    folder.write("second.csv", SECOND.replace("[22, 27]", "young"));
    for arguments in [&both[..], &with_original] {
        refused(&folder, arguments, "second.csv: column `age`, record 1: `young` is no label that the policy can read");
    }
    folder.write("second.csv", SECOND).edit("policy.toml", "release = {", "release = { numbers = \"mean\",");
    refused(&folder, &both, "column `age` is released as one number per group");
    refused(&folder, &with_original, "column `age` is released as one number per group");
    // Before the search, with nothing written.
    let folder = example();
    folder.write("first.csv", FIRST.replace("gout", "HIV"));
    let anonymize =
        ["anonymize", "people.csv", "--policy", "policy.toml", "--output", "out.csv", "--earlier", "first.csv"];
    refused(&folder, &anonymize, "only releases of the same records can be linked");
    let anonymize = ["anonymize", "people.csv", "--policy", "policy.toml", "--output", "first.csv", "--overwrite"];
    refused(&folder, &[&anonymize[..], &["--earlier", "first.csv"]].concat(), "first.csv is an input of this command");
}

#[test]
fn an_insensitive_column_links_records() {
    let folder = Folder::empty();
    let policy = "version = 1\nprivacy.k = 2\n[columns]\nage = { role = \"quasi-identifier\", type = \"number\" }\n\
        visit.role = \"insensitive\"\n";
    folder.write("policy.toml", policy).write("people.csv", "age,visit\n20,a\n30,b\n40,c\n50,d\n");
    folder.write("1.csv", "age,visit\n\"[20, 30]\",a\n\"[20, 30]\",b\n\"[40, 50]\",c\n\"[40, 50]\",d\n");
    folder.write("2.csv", "age,visit\n\"[20, 50]\",a\n\"[30, 40]\",b\n\"[30, 40]\",c\n\"[20, 50]\",d\n");
    let (code, found) = linkage(&folder, &["1.csv", "2.csv"], &["--original", "people.csv"]);
    // The boxes of a person of 20 have the visits a and b, and a and d.
    assert_eq!((code, &found["models"][0]["violating"], &found["smallest_joint_group"]), (1, &2.into(), &1.into()));
    for file in ["people.csv", "1.csv", "2.csv"] {
        folder.edit(file, ",b", ",a").edit(file, ",c", ",a").edit(file, ",d", ",a");
    }
    assert_eq!(linkage(&folder, &["1.csv", "2.csv"], &["--original", "people.csv"]).0, 0);
}

#[test]
fn spellings_link_records() {
    let folder = Folder::empty();
    folder.write("policy.toml", TWO).write("people.csv", "age,disease\n20,HIV\n30,flu\n40,hiv\n50,flu \n");
    folder.write("1.csv", "age,disease\n\"[20, 30]\",HIV\n\"[20, 30]\",flu\n\"[40, 50]\",hiv\n\"[40, 50]\",flu \n");
    folder.write("2.csv", "age,disease\n\"[30, 40]\",flu\n\"[30, 40]\",hiv\n\"[20, 50]\",HIV\n\"[20, 50]\",flu \n");
    let link = |more: &[&str]| linkage(&folder, &["1.csv", "2.csv"], more);
    let (code, found) = link(&["--original", "people.csv"]);
    // The boxes of a person of 30 in the second release are both, those of one of 20 only one.
    assert_eq!(
        (code, counted(&found)),
        (1, Counted { total: 4, smallest: 1, alone: 0, together: 2, violating: vec![2, 2] })
    );
    assert_eq!(link(&[]).0, 1);
    // A program has changed the spelling of the second release: then only the values link its records.
    folder.edit("2.csv", "HIV", "hiv").edit("2.csv", "flu ", "flu");
    assert_eq!((link(&["--original", "people.csv"]).0, link(&[]).0), (0, 0));
    folder.edit("2.csv", "hiv\n\"[20, 50]\",hiv", "hiv\n\"[20, 50]\",flu");
    let run = folder.run(&["linkage", "1.csv", "2.csv", "-p", "policy.toml"]);
    assert!(run.code == 2 && run.stderr.contains("2.csv: its sensitive, class and insensitive"), "{}", run.stderr);
}

#[test]
fn numbers_that_another_program_wrote_are_linked_by_value() {
    let folder = Folder::empty();
    let policy =
        TWO.replace("disease.role = \"sensitive\"", "disease.role = \"sensitive\"\nroom.role = \"insensitive\"");
    folder.write("policy.toml", policy).write("people.csv", "age,disease,room\n20,1,7\n30,2,7\n40,1,8\n50,2,8\n");
    let release = "age,disease,room\n\"[20, 30]\",1,7\n\"[20, 30]\",2,7\n\"[40, 50]\",1,8\n\"[40, 50]\",2,8\n";
    folder.write("1.csv", release).write("2.csv", release.replace(",1,", ",1.0,").replace(",7\n", ",7.0\n"));
    for more in [&["--original", "people.csv"][..], &[]] {
        let (code, found) = linkage(&folder, &["1.csv", "2.csv"], more);
        assert_eq!((code, &found["smallest_joint_group"]), (0, &2.into()), "{more:?}");
    }
}

#[test]
fn the_order_of_the_input_is_refused_beside_earlier_releases() {
    let folder = example();
    let make = ["anonymize", "people.csv", "-p", "policy.toml", "-o", "out.csv"];
    folder.ok(&[&make[..], &["--keep-order"]].concat());
    folder.write("input.toml", TWO.replace("release = {", "release = { order = \"input\","));
    let before = folder.files();
    for (policy, more) in [("policy.toml", &["--keep-order"][..]), ("input.toml", &[])] {
        let make = ["anonymize", "people.csv", "-p", policy, "-o", "new.csv", "--earlier", "out.csv"];
        let refused = folder.run(&[&make[..], more].concat());
        assert_eq!(refused.code, 2, "{}", refused.stderr);
        assert!(
            refused.stderr.contains("error: the records keep the order of the input, which links each"),
            "{refused:?}"
        );
        assert!(refused.stdout.is_empty() && folder.files() == before);
    }
    // The same recoding in another order is fine, and so is the order on request.
    let again = ["anonymize", "people.csv", "-p", "policy.toml", "-o", "new.csv", "--earlier", "out.csv"];
    let shuffled = folder.ok(&[&again[..], &["--overwrite"]].concat());
    for note in ["note   the records of each release are assumed to be in random order", "note   that no violation"] {
        assert!(shuffled.contains(note), "{shuffled}");
    }
    let warned = folder.run(&[&again[..], &["--overwrite", "--keep-order", "--if-linkable", "warn"]].concat());
    assert_eq!(warned.code, 0, "{}", warned.stderr);
    assert!(warned.stderr.contains("note: the records keep the order of the input"), "{}", warned.stderr);
}
