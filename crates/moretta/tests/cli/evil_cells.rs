//! Cells, names and labels that would control the terminal: every message shows them escaped and shortened.

use crate::folder::{Folder, PEOPLE, POLICY};

/// Clears the screen, sets the title, a C1 control, text direction, line breaks, no width.
const EVIL: &str = "\u{1b}[2J\u{1b}]0;pwned\u{7}\u{9b}31m\u{202e}\u{2066}\u{2028}\u{200b}\u{feff}";
/// Maximum characters of a line: a whole sentence with two shortened texts.
const MAX_LINE: usize = 700;

struct Case {
    name: &'static str,
    prepare: fn(&Folder, &str),
    arguments: &'static [&'static str],
    code: i32,
}

const ANONYMIZE: &[&str] = &["anonymize", "people.csv", "-p", "policy.toml", "-o", "out.csv"];
const CHECK: &[&str] = &["check", "people.csv", "-p", "policy.toml"];

/// Replaces a text of a file by the evil text between two others.
fn put(folder: &Folder, file: &str, from: &str, before: &str, evil: &str, after: &str) {
    folder.edit(file, from, &format!("{before}{evil}{after}"));
}

const CASES: &[Case] = &[
    Case {
        name: "not a number",
        prepare: |f, e| put(f, "people.csv", "Dan,51", "Dan,\"", e, "\""),
        arguments: ANONYMIZE,
        code: 2,
    },
    Case {
        name: "not in the hierarchy",
        prepare: |f, e| put(f, "people.csv", "m,53713", "m,\"", e, "\""),
        arguments: ANONYMIZE,
        code: 2,
    },
    Case {
        name: "not a date",
        prepare: |f, e| {
            f.edit("policy.toml", "type = \"number\"", "type = \"date\"");
            put(f, "people.csv", "Ann,34", "Ann,\"", e, "\"");
        },
        arguments: ANONYMIZE,
        code: 2,
    },
    Case {
        name: "ends in a star",
        prepare: |f, e| {
            f.edit("policy.toml", "hierarchy = \"zip.csv\"", "hierarchy = { prefix = [3] }");
            put(f, "people.csv", "m,53713", "m,\"", e, "*\"");
        },
        arguments: ANONYMIZE,
        code: 2,
    },
    Case {
        name: "one value twice in a hierarchy",
        prepare: |f, e| {
            f.edit("policy.toml", "role = \"sensitive\"", "role = \"sensitive\"\nhierarchy = \"d.csv\"");
            f.write("d.csv", format!("\"a{e}\";*\n\"A{e}\";*\n"));
        },
        arguments: ANONYMIZE,
        code: 2,
    },
    Case {
        name: "an undeclared name in a model",
        prepare: |f, e| {
            let column =
                format!("[[privacy.l-diversity]]\ncolumn = '{}'\nl = 2\n\n[columns.name]", e.replace('\u{1b}', "x"));
            f.edit("policy.toml", "[columns.name]", &column);
        },
        arguments: ANONYMIZE,
        code: 2,
    },
    Case {
        name: "not a released form",
        prepare: |f, e| put(f, "people.csv", "m,53713", "m,\"", e, "\""),
        arguments: CHECK,
        code: 2,
    },
    Case {
        name: "not a label",
        prepare: |f, e| {
            f.write("r.csv", PEOPLE.replace("m,53713", &format!("m,\"{e}\"")));
        },
        arguments: &["measure", "people.csv", "r.csv", "-p", "policy.toml"],
        code: 2,
    },
    Case {
        name: "undeclared column",
        prepare: |f, e| put(f, "people.csv", "name,age,sex,zip,diagnosis", "name,age,sex,zip,\"", e, "\""),
        arguments: ANONYMIZE,
        code: 2,
    },
    Case {
        name: "values of a table of inferences",
        prepare: |f, e| put(f, "people.csv", "asthma", "\"", e, "\""),
        arguments: &["inferences", "people.csv", "-p", "policy.toml", "--all"],
        code: 0,
    },
    Case {
        name: "values without a row",
        prepare: |f, e| put(f, "people.csv", "m,53713", "m,\"", e, "\""),
        arguments: &["hierarchy", "check", "zip.csv", "people.csv"],
        code: 1,
    },
    Case {
        name: "column to build for",
        prepare: |f, e| put(f, "people.csv", "Dan,51", "Dan,\"", e, "\""),
        arguments: &["hierarchy", "build", "people.csv", "--column", "age", "--method", "iotf"],
        code: 2,
    },
    Case {
        name: "names of a draft",
        prepare: |f, e| put(f, "people.csv", "name,age", "name,\"", e, "\""),
        arguments: &["init", "people.csv", "-o", "draft.toml"],
        code: 0,
    },
    Case {
        name: "names of columns with risks",
        prepare: |f, e| put(f, "people.csv", "name,age", "name,\"", e, "\""),
        arguments: &["risks", "people.csv"],
        code: 0,
    },
    Case {
        name: "labels of a hierarchy",
        prepare: |f, e| put(f, "zip.csv", "53712", "\"", e, "\""),
        arguments: &["hierarchy", "show", "zip.csv"],
        code: 0,
    },
    Case {
        name: "label twice",
        prepare: |f, e| {
            let e = e.replace('\n', "");
            f.write("zip.csv", format!("\"{e}\";x;*\n\"{e}\";y;*\n"));
        },
        arguments: &["hierarchy", "show", "zip.csv"],
        code: 2,
    },
    Case {
        name: "two parents",
        prepare: |f, e| {
            let e = e.replace('\n', "");
            f.write("zip.csv", format!("a;\"{e}\";y;*\nb;\"{e}\";z;*\n"));
        },
        arguments: &["hierarchy", "show", "zip.csv"],
        code: 2,
    },
    Case {
        name: "key of a policy",
        prepare: |f, e| {
            let key: String =
                e.chars().flat_map(|c| format!("\\U{:08x}", u32::from(c)).chars().collect::<Vec<_>>()).collect();
            f.write("policy.toml", POLICY.replace("k = 2", &format!("k = 2\n\"{key}\" = 1")));
        },
        arguments: ANONYMIZE,
        code: 2,
    },
    Case {
        name: "line of a policy",
        prepare: |f, e| {
            // A policy cannot contain control characters, but the others.
            let e: String = e.chars().filter(|c| !c.is_control()).take(400).collect();
            f.write("policy.toml", POLICY.replace("k = 2", &format!("k = \"{e}\"")));
        },
        arguments: ANONYMIZE,
        code: 2,
    },
    Case {
        name: "names and values of a release",
        prepare: |f, e| {
            let key: String =
                e.chars().flat_map(|c| format!("\\U{:08x}", u32::from(c)).chars().collect::<Vec<_>>()).collect();
            f.write("policy.toml", POLICY.replace("[columns.sex]", &format!("[columns.\"{key}\"]")));
            put(f, "people.csv", "age,sex", "age,\"", e, "\"");
        },
        arguments: ANONYMIZE,
        code: 0,
    },
];

fn assert_harmless(name: &str, text: &str) {
    let allowed = |c: char| c == '\n' || !c.is_control() && !"\u{202e}\u{2066}\u{2028}\u{200b}\u{feff}".contains(c);
    // Styles of our own, which are kept because of CLICOLOR_FORCE.
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, style)) = rest.split_once("\u{1b}[") {
        let end = style.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap();
        plain += before;
        rest = if style[end..].starts_with('m') { &style[end + 1..] } else { panic!("{name}: {text:?}") };
    }
    plain += rest;
    assert!(plain.chars().all(allowed), "{name}: {plain:?}");
    let longest = plain.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    assert!(longest <= MAX_LINE, "{name}: a line of {longest} characters");
}

#[test]
fn no_cell_or_name_controls_the_terminal() {
    let long = format!("{EVIL}{}", "x".repeat(100_000));
    for Case { name, prepare, arguments, code } in CASES {
        for evil in [EVIL, &long] {
            let folder = Folder::with_people();
            prepare(&folder, evil);
            let output = folder.command(arguments).env("CLICOLOR_FORCE", "1").output().unwrap();
            let (stdout, stderr) =
                (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
            assert_eq!(output.status.code(), Some(*code), "{name}: {stderr:?}");
            assert_harmless(name, &stdout);
            assert_harmless(name, &stderr);
            // The text is shown, escaped.
            assert!(format!("{stdout}{stderr}").contains("\\u{202e}"), "{name}: {stdout:?} {stderr:?}");
        }
    }
}

/// A number has no control characters, but it can be long.
#[test]
fn a_long_number_is_shown_in_part() {
    let folder = Folder::with_people();
    folder.edit("policy.toml", "type = \"number\"", "type = \"number\"\nhierarchy = { widths = [5] }");
    folder.edit("people.csv", "Dan,51", &format!("Dan,1{}.{}5", "0".repeat(60), "0".repeat(100_000)));
    let run = folder.run(ANONYMIZE);
    assert_eq!(run.code, 2, "{}", run.stderr);
    assert!(run.stderr.contains("too large to be put exactly into intervals of width 5"), "{}", run.stderr);
    assert_harmless("too large for a width", &run.stderr);
}

/// File systems of Unix allow every byte but 0 and `/` in a name.
#[cfg(unix)]
#[test]
fn no_file_name_controls_the_terminal() {
    let folder = Folder::with_people();
    let name = "\u{1b}[2J\u{202e}.csv";
    for arguments in [
        &["anonymize", name, "-p", "policy.toml", "-o", "out.csv"][..],
        &["check", name, "-p", "policy.toml"],
        &["hierarchy", "show", name],
        &["check", "people.csv", "-p", name],
        &["chekc", name],
    ] {
        for content in [None, Some("Otto,29,leprosy\nAda,36,flu\n")] {
            content.map(|content| folder.write(name, content));
            let output = folder.command(arguments).env("CLICOLOR_FORCE", "1").output().unwrap();
            assert_eq!(output.status.code(), Some(2));
            assert_harmless(name, &String::from_utf8(output.stderr).unwrap());
        }
    }
    folder.write(name, PEOPLE);
    let output = folder.command(&["anonymize", name, "-p", "policy.toml", "-o", "\u{202e}.csv"]);
    let output = { output }.env("CLICOLOR_FORCE", "1").output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_harmless(name, &String::from_utf8(output.stdout).unwrap());
}
