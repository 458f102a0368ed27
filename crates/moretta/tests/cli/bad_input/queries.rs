//! Bad queries.

use super::{Case, called};
use crate::folder::{Folder, PEOPLE};

/// The people without names, used as a release.
fn released(folder: &Folder) {
    let bare = |line: &str| line.split_once(',').map_or(String::new(), |(_, rest)| format!("{rest}\n"));
    folder.write("out.csv", PEOPLE.lines().map(bare).collect::<String>());
}

/// A case with a file of queries.
fn own(folder: &Folder, text: &str) {
    released(folder);
    folder.write("own.toml", format!("[[query]]\n{text}\n"));
}

const fn asking(file: &'static str) -> [&'static str; 7] {
    ["queries", "people.csv", "out.csv", "-p", "policy.toml", "--queries", file]
}

const OWN: [&str; 7] = asking("own.toml");

pub const QUERIES: &[Case] = &[
    called("queries of no file", released, &asking("none.toml"), &["none.toml"]),
    called(
        "a query without a question",
        |f| own(f, "where = { age = 3 }"),
        &OWN,
        &["own.toml: query 1", "`count = true`"],
    ),
    called(
        "a query about a sensitive column",
        |f| own(f, "count = true\nwhere = { diagnosis = \"flu\" }"),
        &OWN,
        &["own.toml: query 1", "`diagnosis`", "age, sex, zip"],
    ),
    called(
        "a query with its ends the wrong way round",
        |f| own(f, "count = true\nwhere = { age = [40, 20] }"),
        &OWN,
        &["own.toml: query 1: column `age`", "`age = [20, 40]`"],
    ),
    called(
        "a query for a value that is not there",
        |f| own(f, "count = true\nwhere = { zip = \"5371\" }"),
        &OWN,
        &["own.toml: query 1: column `zip`", "`5371`", "did you mean `5371*`?"],
    ),
    called("queries that are not TOML", |f| own(f, "count = = 3"), &OWN, &["own.toml: line 2"]),
    called(
        "own queries and random ones",
        |f| own(f, "count = true"),
        &["queries", "people.csv", "people.csv", "-p", "policy.toml", "--queries", "own.toml", "--seed", "1"],
        &["--queries", "--seed"],
    ),
    called(
        "the sum of names",
        released,
        &["queries", "people.csv", "out.csv", "-p", "policy.toml", "--sum", "sex"],
        &["--sum sex", "numbers", "age"],
    ),
    called(
        "more columns than there are",
        released,
        &["queries", "people.csv", "out.csv", "-p", "policy.toml", "--columns", "4"],
        &["--columns 4", "3 quasi-identifiers"],
    ),
    called(
        "answers of no kind",
        released,
        &["queries", "people.csv", "out.csv", "-p", "policy.toml", "-o", "a.txt"],
        &["a.txt", ".csv", ".svg"],
    ),
    called(
        "answers over the release",
        released,
        &["queries", "people.csv", "out.csv", "-p", "policy.toml", "-o", "out.csv", "--overwrite"],
        &["out.csv is an input of this command"],
    ),
    called(
        "answers of another table",
        |f| _ = f.write("out.csv", "age,sex,zip,diagnosis\n34,f,53711,flu\n"),
        &["queries", "people.csv", "out.csv", "-p", "policy.toml"],
        &["out.csv: 1 records", "people.csv has 8"],
    ),
    called(
        "a mean that is no number",
        |f| {
            released(f);
            f.edit("out.csv", "51,m,53711", "old,m,53711");
            f.edit("policy.toml", "[columns.name]", "[release]\nnumbers = \"mean\"\n\n[columns.name]");
        },
        &["queries", "people.csv", "out.csv", "-p", "policy.toml"],
        &["out.csv: column `age`", "`old` is not a label of any value"],
    ),
];
