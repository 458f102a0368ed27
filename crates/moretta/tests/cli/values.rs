//! How values are compared: spellings of sensitive values, numbers beyond the whole floats, released numbers.

use crate::{
    folder::Folder,
    people::{column, rows},
};

const DIAGNOSES: &str = "version = 1\nrelease.exact = [\"diag\"]\n[privacy]\nk = 5\n[[privacy.l-diversity]]\ncolumn = \"diag\"\nl = 2\n\
                         [columns.age]\nrole = \"quasi-identifier\"\n[columns.diag]\nrole = \"sensitive\"\n";

/// Two ages with one diagnosis each, spelled in several ways.
fn spelled() -> Folder {
    let folder = Folder::empty();
    let table = |age: u32, spellings: [&str; 5]| spellings.map(|text| format!("{age},{text}\n")).concat();
    let young = table(30, ["HIV", "HIV ", "hiv", "HIV", "\u{a0}Hiv"]);
    let old = table(60, ["1000", "1000.0", "01000", "1e3", "+1000"]);
    folder.write("in.csv", format!("age,diag\n{young}{old}")).write("p.toml", DIAGNOSES);
    folder
}

#[test]
fn spellings_of_one_value_are_no_diversity() {
    let folder = spelled();
    let run = folder.run(&["anonymize", "in.csv", "-p", "p.toml", "-o", "out.csv", "--keep-order"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stderr.contains("`diag`: 9 spellings count as 2 values"), "{}", run.stderr);
    let (before, after) = (folder.read("in.csv"), folder.read("out.csv"));
    assert_eq!(column(&after, "diag"), column(&before, "diag"), "cells stay as they are");
    assert!(column(&after, "age").iter().all(|age| age == "[30, 60]"), "{after}");
    folder.ok(&["check", "out.csv", "-p", "p.toml"]);
    // The original has two groups of one value each.
    assert_eq!(folder.run(&["check", "in.csv", "-p", "p.toml"]).code, 1);
    // One value in all records: nothing can be released.
    folder.edit("in.csv", "60,", "30,");
    let one = folder.read("in.csv").replace("1000.0", "1000").replace("01000", "1000").replace("1e3", "1000");
    folder.write("one.csv", one.replace("+1000", "1000").replace("1000", "hIv"));
    assert_eq!(folder.run(&["anonymize", "one.csv", "-p", "p.toml", "-o", "no.csv"]).code, 1);
    assert!(!folder.path("no.csv").exists());
}

#[test]
fn a_policy_may_distinguish_spellings() {
    let folder = spelled();
    folder.write("p.toml", format!("{DIAGNOSES}fold = false\n"));
    let run = folder.run(&["anonymize", "in.csv", "-p", "p.toml", "-o", "out.csv", "--keep-order"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(!run.stderr.contains("spellings"), "{}", run.stderr);
    assert_eq!(column(&folder.read("out.csv"), "age"), column(&folder.read("in.csv"), "age"));
}

#[test]
fn a_template_guards_every_spelling() {
    let folder = spelled();
    let template =
        "[[privacy.template]]\ngiven = [\"age\"]\ncolumn = \"diag\"\nvalues = [\"hiv\"]\nmax-confidence = 0.5\n";
    folder.write("p.toml", DIAGNOSES.replace("[[privacy.l-diversity]]\ncolumn = \"diag\"\nl = 2\n", template));
    let listed = folder.ok(&["inferences", "in.csv", "-p", "p.toml"]);
    assert!(listed.contains("HIV") && listed.contains("100"), "{listed}");
    folder.ok(&["anonymize", "in.csv", "-p", "p.toml", "-o", "out.csv", "--recoding", "r.json"]);
    assert!(column(&folder.read("out.csv"), "age").iter().all(|age| age == "[30, 60]"));
    folder.ok(&["apply", "in.csv", "--recoding", "r.json", "-o", "again.csv"]);
    folder.ok(&["check", "again.csv", "-p", "p.toml"]);
}

/// The two ends of an interval such as `[1, 5]` or `[1, 5)`, the second as an inclusive end of whole numbers.
fn ends(cell: &str) -> (i128, i128) {
    let (low, high) = cell[1..cell.len() - 1].split_once(", ").unwrap();
    (low.parse().unwrap(), high.parse::<i128>().unwrap() - i128::from(cell.ends_with(')')))
}

#[test]
fn intervals_beyond_the_whole_floats_contain_their_values() {
    let folder = Folder::empty();
    let stamps = [999i128, 1500, 1900, 3000].map(|offset| 1_700_000_000_000_000_000 + offset);
    let table: String = stamps.iter().map(|stamp| format!("{stamp}\n{stamp}\n")).collect();
    folder.write("in.csv", format!("t\n{table}"));
    let bins = "{ bins = [1700000000000000000, 1700000000000001000, 1700000000000004000] }";
    for (hierarchy, k) in [(bins, 2), (bins, 6), ("{ widths = [1000, 5000] }", 3)] {
        let policy = format!(
            "version = 1\n[privacy]\nk = {k}\n[columns.t]\nrole = \"quasi-identifier\"\nhierarchy = {hierarchy}\n"
        );
        folder.write("p.toml", policy);
        folder.ok(&["anonymize", "in.csv", "-p", "p.toml", "-o", "out.csv", "--keep-order", "--overwrite"]);
        let (before, after) = (column(&folder.read("in.csv"), "t"), column(&folder.read("out.csv"), "t"));
        for (value, cell) in before.iter().zip(&after).filter(|(_, cell)| cell.starts_with('[')) {
            let ((low, high), value) = (ends(cell), value.parse::<i128>().unwrap());
            assert!((low..=high).contains(&value), "{value} is not in {cell}");
        }
        folder.ok(&["check", "out.csv", "-p", "p.toml"]);
    }
    folder.write("in.csv", "t\n1e300\n1e300\n3\n3\n");
    let run = folder.run(&["anonymize", "in.csv", "-p", "p.toml", "-o", "no.csv"]);
    assert_eq!(run.code, 2, "{}", run.stderr);
    assert!(run.stderr.contains("column `t`, record 1: `1e300` is too large"), "{}", run.stderr);
    assert!(!folder.path("no.csv").exists());
}

#[test]
fn means_over_a_hierarchy_file_without_a_type_pass_their_check() {
    let folder = Folder::empty();
    folder.write("in.csv", "age,ill\n1,a\n1,b\n2.0,a\n2,b\n3,a\n3.0,b\n").write("h.csv", "1;g0;*\n2;g0;*\n3;g1;*\n");
    for numbers in ["interval", "mean", "median", "midpoint"] {
        for k in [2, 4] {
            let policy = format!(
                "version = 1\n[privacy]\nk = {k}\n[release]\nnumbers = \"{numbers}\"\n[columns.age]\nrole = \
                 \"quasi-identifier\"\nhierarchy = \"h.csv\"\n[columns.ill]\nrole = \"insensitive\"\n"
            );
            folder.write("p.toml", policy);
            folder.ok(&["anonymize", "in.csv", "-p", "p.toml", "-o", "out.csv", "--overwrite"]);
            assert_eq!(rows(&folder.read("out.csv")).len(), 7);
            folder.ok(&["check", "out.csv", "-p", "p.toml"]);
        }
    }
}
