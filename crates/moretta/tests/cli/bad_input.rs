//! Bad input: one clear message, the right exit code, nothing written. One table, one test.

mod dialects;
mod hierarchies;
mod measures;
mod queries;

use self::{dialects::DIALECTS, hierarchies::HIERARCHIES, measures::MEASURES, queries::QUERIES};
use crate::folder::{Folder, PEOPLE};

struct Case {
    name: &'static str,
    prepare: fn(&Folder),
    /// Arguments; the default `anonymize` if empty.
    arguments: &'static [&'static str],
    code: i32,
    /// Texts that the message must contain.
    says: &'static [&'static str],
}

const USUAL: &[&str] = &["anonymize", "people.csv", "--policy", "policy.toml", "--output", "out.csv"];

/// A case about the data or the policy: default command, exit code 2.
const fn case(name: &'static str, prepare: fn(&Folder), says: &'static [&'static str]) -> Case {
    Case { name, prepare, arguments: USUAL, code: 2, says }
}

/// A policy that cannot be satisfied: exit code 1.
const fn unmet(name: &'static str, prepare: fn(&Folder), says: &'static [&'static str]) -> Case {
    Case { name, prepare, arguments: USUAL, code: 1, says }
}

/// A case about the command line.
const fn called(
    name: &'static str,
    prepare: fn(&Folder),
    arguments: &'static [&'static str],
    says: &'static [&'static str],
) -> Case {
    Case { name, prepare, arguments, code: 2, says }
}

fn nothing(_: &Folder) {}

fn policy(folder: &Folder, from: &str, to: &str) {
    folder.edit("policy.toml", from, to);
}

fn people(folder: &Folder, from: &str, to: &str) {
    folder.edit("people.csv", from, to);
}

fn add(folder: &Folder, lines: &str) {
    let text = folder.read("policy.toml") + lines;
    folder.write("policy.toml", text);
}

/// Each value is twice the one before, which gives the deepest possible tree.
fn doubling(folder: &Folder) {
    let rows: String = (0..1000).map(|power| format!("{}\n", 2f64.powi(power))).collect();
    folder.write("people.csv", "age\n".to_owned() + &rows);
}

const BORN: &str = "[columns.born]\nrole = \"quasi-identifier\"\ntype = \"date\"";

const DATA: &[Case] = &[
    case(
        "short row",
        |f| people(f, "Ben,36,m,53712,asthma", "Ben,36,m,53712"),
        &["people.csv, record 2", "4 fields", "5"],
    ),
    case("long row", |f| people(f, "Ben,36", "Ben,x,36"), &["people.csv, record 2", "6 fields", "5"]),
    case(
        "invalid UTF-8",
        |f| {
            let bytes = [PEOPLE.as_bytes(), b"Ida,20,f,53711,\xff\xfe\n"].concat();
            f.write("people.csv", bytes);
        },
        &["people.csv, record 9", "UTF-8"],
    ),
    case(
        "duplicate header",
        |f| people(f, "name,age,sex", "name,age,age"),
        &["people.csv", "not in the policy", "[columns.age_2]"],
    ),
    case(
        "empty file",
        |f| {
            f.write("people.csv", "");
        },
        &["people.csv", "empty"],
    ),
    case(
        "header only",
        |f| {
            f.write("people.csv", "name,age,sex,zip,diagnosis\n");
        },
        &["people.csv", "no records"],
    ),
    case("stray quote", |f| people(f, "Ben,36", "B\"en,36"), &["people.csv, record 2", "quote"]),
    case("unclosed quote", |f| people(f, "Hal,47", "\"Hal,47"), &["people.csv", "quote"]),
    case(
        "undeclared column",
        |f| people(f, "name,age,sex,zip,diagnosis", "name,age,sex,zip,ssn"),
        &["[columns.ssn]", "role", "`diagnosis`"],
    ),
    case("NaN", |f| people(f, "Dan,51", "Dan,NaN"), &["`age`, record 4", "`NaN` is not a finite number"]),
    case("infinity", |f| people(f, "Dan,51", "Dan,inf"), &["`age`, record 4", "finite"]),
    case("negative infinity", |f| people(f, "Dan,51", "Dan,-Infinity"), &["`age`, record 4", "finite"]),
    case(
        "text in a number column",
        |f| people(f, "Dan,51", "Dan,fifty"),
        &["`age`, record 4", "`fifty` is not a number"],
    ),
    case(
        "a day that does not exist",
        |f| {
            people(f, "name,age,", "name,born,");
            people(f, "Ann,34", "Ann,1984-03-31");
            people(f, "Ben,36", "Ben,1984-02-30");
            policy(f, "[columns.age]\nrole = \"quasi-identifier\"\ntype = \"number\"", BORN);
        },
        &["`born`, record 2", "`1984-02-30` is not a date written like 1984-03-31", "`format = \"%d.%m.%Y\"`"],
    ),
    case(
        "a date in another format",
        |f| {
            people(f, "name,age,", "name,born,");
            policy(f, "[columns.age]\nrole = \"quasi-identifier\"\ntype = \"number\"", BORN);
            policy(f, BORN, "[columns.born]\nrole = \"quasi-identifier\"\nformat = \"%d.%m.%Y\"");
        },
        &["`born`, record 1", "`34` is not a date written as `format` says, %d.%m.%Y", "correct `format`"],
    ),
    case(
        "a format without a century",
        |f| policy(f, "type = \"number\"", "format = \"%d.%m.%y\""),
        &["policy.toml, line 14", "`format` is \"%d.%m.%y\"", "a two-digit year has no century"],
    ),
    case(
        "codes that are cut already",
        |f| {
            people(f, "Cat,34,f,53711", "Cat,34,f,537*");
            policy(f, "hierarchy = \"zip.csv\"", "hierarchy = { prefix = [3] }");
        },
        &["`zip`, record 3", "`537*` ends in `*`", "a release already?"],
    ),
    case("a number beyond floats", |f| people(f, "Dan,51", "Dan,1e999"), &["`age`, record 4", "finite"]),
    case(
        "numbers that a 64-bit float does not distinguish",
        |f| {
            people(f, "Dan,51", "Dan,9007199254740993");
            people(f, "Eve,47", "Eve,9007199254740992");
        },
        &["`age`", "too many digits"],
    ),
    case(
        "value not in its hierarchy",
        |f| people(f, "Dan,51,m,53713", "Dan,51,m,99999"),
        &["`zip`, record 4", "`99999`", "hierarchy"],
    ),
    case(
        "missing value without a rule",
        |f| people(f, "Dan,51,m", "Dan,51,"),
        &["`sex`, record 4", "one of 1 missing", "missing ="],
    ),
    case("missing sensitive value", |f| people(f, "53713,flu", "53713,?"), &["`diagnosis`, record 4", "missing"]),
    case("a release as input", |f| people(f, "Dan,51,m", "Dan,51,*"), &["`sex`, record 4", "`*`"]),
    case("blank line in the middle", |f| people(f, "Ben,", "\nBen,"), &["people.csv, record 2 (line 3)", "blank line"]),
];

const POLICIES: &[Case] = &[
    case("k of zero", |f| policy(f, "k = 2", "k = 0"), &["policy.toml, line 4", "`k`", "at least"]),
    case("negative k", |f| policy(f, "k = 2", "k = -3"), &["policy.toml, line 4", "`k`"]),
    case("k with a fraction", |f| policy(f, "k = 2", "k = 2.5"), &["policy.toml, line 4", "`k`", "whole"]),
    case("no guarantee", |f| policy(f, "k = 2", ""), &["policy.toml", "guarantee"]),
    case("unknown key", |f| policy(f, "k = 2", "k = 2\nepsilon = 1"), &["policy.toml, line 5", "epsilon"]),
    case("syntax", |f| policy(f, "k = 2", "k = = 2"), &["policy.toml, line 4"]),
    case("version to come", |f| policy(f, "version = 1", "version = 2"), &["policy.toml, line 1", "version"]),
    case(
        "unknown role",
        |f| policy(f, "role = \"sensitive\"", "role = \"secret\""),
        &["policy.toml", "secret", "sensitive"],
    ),
    case("declared but absent", |f| add(f, "[columns.salry]\nrole = \"insensitive\"\n"), &["`salry`"]),
    case(
        "unknown method",
        |f| policy(f, "\"mondrian\"", "\"mondrain\""),
        &["policy.toml, line 7", "mondrain", "mondrian"],
    ),
    case(
        "unknown parameter",
        |f| policy(f, "\"mondrian\"", "\"mondrian\"\nrelax = true"),
        &["policy.toml, line 8", "relax", "relaxed"],
    ),
    case(
        "parameter of another type",
        |f| policy(f, "\"mondrian\"", "\"mondrian\"\nrelaxed = 3"),
        &["policy.toml, line 8", "relaxed"],
    ),
    case("no quasi-identifier", |f| policy(f, "quasi-identifier", "insensitive"), &["policy.toml"]),
    case(
        "a weight that drowns all others",
        |f| policy(f, "type = \"number\"", "type = \"number\"\nweight = 1e308"),
        &["policy.toml", "`weight` is 1e308", "from 0.000001 to 1000000"],
    ),
    case(
        "weight of zero",
        |f| policy(f, "type = \"number\"", "type = \"number\"\nweight = 0"),
        &["policy.toml", "weight"],
    ),
    case(
        "a builder that there is not",
        |f| policy(f, "type = \"number\"", "hierarchy = \"iotv\""),
        &["policy.toml, line 14", "did you mean \"iotf\"?"],
    ),
    case(
        "a parameter of another builder",
        |f| policy(f, "type = \"number\"", "hierarchy = { method = \"iotf\", threshold = 2 }"),
        &["policy.toml, line 14", "`threshold` has no effect for method \"iotf\""],
    ),
    case(
        "widths that do not nest",
        |f| policy(f, "type = \"number\"", "hierarchy = { widths = [5, 7] }"),
        &["policy.toml, line 14", "multiple"],
    ),
    case(
        "value outside the bins",
        |f| policy(f, "type = \"number\"", "hierarchy = { bins = [0, 40] }"),
        &["`age`, record 4", "bins"],
    ),
    case(
        "template on a quasi-identifier",
        |f| {
            add(
                f,
                "[[privacy.template]]\ngiven = [\"age\"]\ncolumn = \"sex\"\nvalues = [\"f\"]\nmax-confidence = 0.5\n",
            )
        },
        &["policy.toml", "sex"],
    ),
    case(
        "template without a limit",
        |f| {
            add(
                f,
                "[[privacy.template]]\ngiven = [\"age\"]\ncolumn = \"diagnosis\"\nvalues = [\"flu\"]\nmax-confidence = 0\n",
            )
        },
        &["policy.toml", "max-confidence"],
    ),
    case(
        "order of texts",
        |f| add(f, "[[privacy.t-closeness]]\ncolumn = \"diagnosis\"\nt = 0.5\ndistance = \"ordered\"\n"),
        &["diagnosis", "ordered"],
    ),
    case(
        "share above 1",
        |f| policy(f, "k = 2", "k = 2\nmax-suppressed = 2"),
        &["policy.toml, line 5", "max-suppressed"],
    ),
    case(
        "policy not UTF-8",
        |f| {
            f.write("policy.toml", b"version = 1\n# \xff\n");
        },
        &["policy.toml, line 2", "UTF-8"],
    ),
    case(
        "template on a misspelt value",
        |f| {
            add(
                f,
                "[[privacy.template]]\ngiven = [\"age\"]\ncolumn = \"diagnosis\"\nvalues = [\"astma\"]\nmax-confidence = 0.9\n",
            )
        },
        &["policy.toml", "`astma`", "`diagnosis`", "`asthma`"],
    ),
    case(
        "template on none of the values",
        |f| {
            add(
                f,
                "[[privacy.template]]\ngiven = [\"age\"]\ncolumn = \"diagnosis\"\nrarest = 0.1\nmax-confidence = 0.9\n",
            )
        },
        &["rarest = 0.1", "3 values is none"],
    ),
    unmet("k larger than the table", |f| policy(f, "k = 2", "k = 9"), &["k-anonymity (k = 9)", "8 records"]),
    unmet(
        "more variety than there is",
        |f| add(f, "[[privacy.l-diversity]]\ncolumn = \"diagnosis\"\nl = 4\n"),
        &["l-diversity", "3 distinct values"],
    ),
    unmet(
        "a confidence below the table's",
        |f| {
            add(
                f,
                "[[privacy.template]]\ngiven = [\"age\"]\ncolumn = \"diagnosis\"\nvalues = [\"flu\"]\nmax-confidence = 0.1\n",
            )
        },
        &["confidence", "0.375"],
    ),
];

const CALLS: &[Case] = &[
    called(
        "output equals a hierarchy",
        nothing,
        &["anonymize", "people.csv", "-p", "policy.toml", "-o", "zip.csv", "--overwrite"],
        &["zip.csv", "another file"],
    ),
    called(
        "one output under two names",
        nothing,
        &[
            "anonymize",
            "people.csv",
            "-p",
            "policy.toml",
            "-o",
            "o.csv",
            "--report",
            "r.json",
            "--recoding",
            "./r.json",
        ],
        &["r.json", "twice"],
    ),
    called(
        "report not writable",
        nothing,
        &["anonymize", "people.csv", "-p", "policy.toml", "-o", "out.csv", "--report", "/proc/r.json"],
        &["/proc"],
    ),
    called(
        "recoding of an unknown kind",
        nothing,
        &["anonymize", "people.csv", "-p", "policy.toml", "-o", "out.csv", "--recoding", "r.csv"],
        &["r.csv", ".json"],
    ),
    called(
        "output among the input",
        |f| _ = f.write("data/a.csv", PEOPLE),
        &["anonymize", "data", "-p", "policy.toml", "-o", "data/out.csv"],
        &["data/out.csv", "another folder"],
    ),
    called(
        "tabs asked for, commas at hand",
        nothing,
        &["anonymize", "people.csv", "-p", "policy.toml", "-o", "out.tsv"],
        &["out.tsv", ".csv"],
    ),
    called("data as policy", nothing, &["check", "people.csv", "-p", "people.csv"], &["people.csv, line 1", "TOML"]),
    called(
        "data without a header",
        |f| _ = f.write("bare.csv", PEOPLE.split_once('\n').unwrap().1),
        &["anonymize", "bare.csv", "-p", "policy.toml", "-o", "out.csv"],
        &["bare.csv", "has a header"],
    ),
    called(
        "a policy of patterns for a file without a header",
        |f| {
            f.write("bare.csv", PEOPLE.split_once('\n').unwrap().1);
            f.write("all.toml", "version = 1\nprivacy.k = 2\n[columns.\"*\"]\nrole = \"quasi-identifier\"\n");
        },
        &["anonymize", "bare.csv", "-p", "all.toml", "-o", "out.csv"],
        &["bare.csv", "add a header line"],
    ),
    called("demo over a demo", |f| _ = f.write("d/people.csv", "mine"), &["demo", "d"], &["d exists", "--overwrite"]),
    called("no such input", nothing, &["anonymize", "none.csv", "-p", "policy.toml", "-o", "out.csv"], &["none.csv"]),
    called(
        "nothing matches",
        nothing,
        &["anonymize", "part-*.csv", "-p", "policy.toml", "-o", "out.csv"],
        &["part-*.csv"],
    ),
    called("no such policy", nothing, &["anonymize", "people.csv", "-p", "none.toml", "-o", "out.csv"], &["none.toml"]),
    called(
        "output equals input",
        nothing,
        &["anonymize", "people.csv", "-p", "policy.toml", "-o", "people.csv", "--overwrite"],
        &["people.csv", "another file"],
    ),
    called(
        "output equals input by another name",
        nothing,
        &["anonymize", "people.csv", "-p", "policy.toml", "-o", "./people.csv", "--overwrite"],
        &["people.csv"],
    ),
    called(
        "output equals policy",
        nothing,
        &["anonymize", "people.csv", "-p", "policy.toml", "-o", "policy.toml", "--overwrite"],
        &["policy.toml"],
    ),
    called("output exists", |f| _ = f.write("out.csv", "mine"), USUAL, &["out.csv exists", "--overwrite"]),
    called(
        "output folder absent",
        nothing,
        &["anonymize", "people.csv", "-p", "policy.toml", "-o", "no/out.csv"],
        &["folder no does not exist"],
    ),
    called("output is a folder", |f| _ = f.write("out.csv/x", ""), USUAL, &["out.csv is a folder"]),
    called(
        "folder not writable",
        nothing,
        &["anonymize", "people.csv", "-p", "policy.toml", "-o", "/proc/out.csv"],
        &["/proc"],
    ),
    called(
        "output of an unknown kind",
        nothing,
        &["anonymize", "people.csv", "-p", "policy.toml", "-o", "out.xlsx"],
        &["out.xlsx", ".csv"],
    ),
    called(
        "report of an unknown kind",
        nothing,
        &["anonymize", "people.csv", "-p", "policy.toml", "-o", "out.csv", "--report", "r.pdf"],
        &["r.pdf", ".html"],
    ),
    called(
        "report equals output",
        nothing,
        &["anonymize", "people.csv", "-p", "policy.toml", "-o", "r.csv", "--report", "r.csv"],
        &["r.csv", "twice"],
    ),
    called(
        "report exists",
        |f| _ = f.write("r.json", "{}"),
        &["anonymize", "people.csv", "-p", "policy.toml", "-o", "out.csv", "--report", "r.json"],
        &["r.json exists"],
    ),
    called(
        "recoding exists",
        |f| _ = f.write("r.json", "{}"),
        &["anonymize", "people.csv", "-p", "policy.toml", "-o", "out.csv", "--recoding", "r.json"],
        &["r.json exists"],
    ),
    called(
        "memory in parsecs",
        nothing,
        &["anonymize", "people.csv", "-p", "policy.toml", "-o", "out.csv", "--memory", "4 parsecs"],
        &["parsecs", "4GB"],
    ),
    called(
        "too little memory",
        nothing,
        &["anonymize", "people.csv", "-p", "policy.toml", "-o", "out.csv", "--memory", "100b"],
        &["--memory"],
    ),
    called(
        "time in parsecs",
        nothing,
        &["anonymize", "people.csv", "-p", "policy.toml", "-o", "out.csv", "--time-limit", "4 parsecs"],
        &["parsecs", "60s"],
    ),
    called(
        "no threads",
        nothing,
        &["anonymize", "people.csv", "-p", "policy.toml", "-o", "out.csv", "--threads", "0"],
        &["--threads"],
    ),
    called(
        "frontier of an unknown kind",
        nothing,
        &["frontier", "people.csv", "-p", "policy.toml", "-o", "f.png"],
        &["f.png", ".csv, .svg or .html"],
    ),
    called(
        "frontier over the input",
        nothing,
        &["frontier", "people.csv", "-p", "policy.toml", "-o", "people.csv", "--overwrite"],
        &["people.csv", "another file"],
    ),
    called(
        "frontier exists",
        |f| _ = f.write("f.svg", "mine"),
        &["frontier", "people.csv", "-p", "policy.toml", "-o", "f.svg"],
        &["f.svg exists", "--overwrite"],
    ),
    called(
        "frontier in no folder",
        nothing,
        &["frontier", "people.csv", "-p", "policy.toml", "-o", "no/f.html"],
        &["folder no does not exist"],
    ),
    called(
        "a step that is no number",
        nothing,
        &["anonymize", "people.csv", "-p", "policy.toml", "-o", "out.csv", "--at", "k"],
        &["--at"],
    ),
    called(
        "a step below the first",
        nothing,
        &["anonymize", "people.csv", "-p", "policy.toml", "-o", "out.csv", "--at=-1"],
        &["--at"],
    ),
    called(
        "a step and a time limit",
        nothing,
        &["anonymize", "people.csv", "-p", "policy.toml", "-o", "out.csv", "--at", "1", "--time-limit", "5s"],
        &["--at", "--time-limit"],
    ),
    called(
        "an unknown effort",
        nothing,
        &["anonymize", "people.csv", "-p", "policy.toml", "-o", "out.csv", "--effort", "huge"],
        &["huge", "--effort"],
    ),
    called(
        "an effort for another method",
        nothing,
        &["anonymize", "people.csv", "-p", "policy.toml", "-o", "out.csv", "--effort", "high"],
        &["policy.toml", "`--effort` is for the method `best`", "`mondrian`"],
    ),
    called(
        "a step of a method without a path",
        nothing,
        &["anonymize", "people.csv", "-p", "policy.toml", "-o", "out.csv", "--at", "1"],
        &["--at 1", "`mondrian`", "`bottom-up-generalization`"],
    ),
    called("no such command", nothing, &["anonymise"], &["anonymise", "anonymize"]),
    called(
        "mixed formats",
        |f| {
            f.write("data/a.csv", PEOPLE).write("data/b.parquet", "x");
        },
        &["anonymize", "data", "-p", "policy.toml", "-o", "out.csv"],
        &["format"],
    ),
    called(
        "headers differ",
        |f| {
            f.write("data/a.csv", PEOPLE).write("data/b.csv", PEOPLE.replace("sex", "gender"));
        },
        &["anonymize", "data", "-p", "policy.toml", "-o", "out.csv"],
        &["b.csv", "a.csv"],
    ),
    called(
        "not Parquet",
        |f| _ = f.write("x.parquet", "no"),
        &["anonymize", "x.parquet", "-p", "policy.toml", "-o", "out.csv"],
        &["x.parquet"],
    ),
    called(
        "recoding that is none",
        |f| _ = f.write("r.json", "{}"),
        &["apply", "people.csv", "--recoding", "r.json", "-o", "out.csv"],
        &["r.json", "recoding"],
    ),
    called(
        "recoding to come",
        |f| _ = f.write("r.json", "{\"moretta\": \"recoding\", \"version\": 2}"),
        &["apply", "people.csv", "--recoding", "r.json", "-o", "out.csv"],
        &["r.json", "version 2"],
    ),
    called(
        "check of half a table",
        |f| _ = f.write("half.csv", "age,sex\n1,f\n"),
        &["check", "half.csv", "-p", "policy.toml"],
        &["half.csv", "`zip`"],
    ),
    called(
        "check of an unknown form",
        |f| _ = f.write("r.csv", "age,sex,zip,diagnosis\n34-36,f,53711,flu\n34-36,f,53711,flu\n"),
        &["check", "r.csv", "-p", "policy.toml"],
        &["`age`, record 1", "`34-36`", "[24, 32]"],
    ),
    called(
        "measure of unequal tables",
        |f| _ = f.write("r.csv", "age,sex,zip,diagnosis\n34,f,53711,flu\n"),
        &["measure", "people.csv", "r.csv", "-p", "policy.toml"],
        &["r.csv", "1 records", "8"],
    ),
    called(
        "measure of a stranger's release",
        |f| _ = f.write("r.csv", PEOPLE.replace("34", "35")),
        &["measure", "people.csv", "r.csv", "-p", "policy.toml"],
        &["`age`", "`35`"],
    ),
    called(
        "widths of words",
        nothing,
        &["hierarchy", "build", "people.csv", "--column", "sex", "--method", "widths", "--widths", "5", "-o", "h.csv"],
        &["`sex`", "not a number"],
    ),
    called(
        "widths left out",
        nothing,
        &["hierarchy", "build", "people.csv", "--column", "age", "--method", "widths", "-o", "h.csv"],
        &["--widths"],
    ),
    called(
        "column of nobody",
        nothing,
        &["hierarchy", "build", "people.csv", "--column", "agee", "--method", "widths", "--widths", "5", "-o", "h.csv"],
        &["agee"],
    ),
    called(
        "a date that is no number",
        |f| _ = f.write("t.csv", "d\n31.03.1984\n"),
        &["hierarchy", "build", "t.csv", "--column", "d", "--method", "iotf"],
        &["t.csv", "`d`, record 1", "--type date", "--format"],
    ),
    called(
        "a file named unlike its column",
        |f| _ = f.write("codes.csv", "53711;*\n"),
        &["hierarchy", "check", "codes.csv", "people.csv"],
        &["`codes`", "--column"],
    ),
    called(
        "prefixes left out",
        nothing,
        &["hierarchy", "build", "people.csv", "--column", "zip", "--method", "prefix", "-o", "h.csv"],
        &["--prefix 5,3,2"],
    ),
    called(
        "prefixes that grow",
        nothing,
        &[
            "hierarchy",
            "build",
            "people.csv",
            "--column",
            "zip",
            "--method",
            "prefix",
            "--prefix",
            "2,3",
            "-o",
            "h.csv",
        ],
        &["--prefix", "smaller than the one before"],
    ),
    called(
        "dates of numbers",
        nothing,
        &["hierarchy", "build", "people.csv", "--column", "age", "--method", "dates", "-o", "h.csv"],
        &["people.csv", "`age`, record 1", "not a date"],
    ),
    called(
        "levels of the calendar in no order",
        nothing,
        &["hierarchy", "build", "people.csv", "--column", "age", "--method", "dates", "--dates", "year,month"],
        &["--dates", "finest"],
    ),
    called(
        "a format for numbers",
        nothing,
        &["hierarchy", "build", "people.csv", "--column", "age", "--method", "iotf", "--format", "%Y-%m-%d"],
        &["--format", "--type date"],
    ),
    called(
        "a format that says no date",
        nothing,
        &["hierarchy", "build", "people.csv", "--column", "age", "--method", "dates", "--format", "%H"],
        &["--format", "%Y"],
    ),
    called(
        "widths of dates",
        nothing,
        &[
            "hierarchy",
            "build",
            "people.csv",
            "--column",
            "age",
            "--method",
            "widths",
            "--widths",
            "5",
            "--type",
            "date",
        ],
        &["--method widths", "--method dates"],
    ),
    called(
        "flag of another method",
        nothing,
        &["hierarchy", "build", "people.csv", "--column", "age", "--method", "iotf", "--fan-out", "3", "-o", "h.csv"],
        &["`--fan-out`", "iotf", "han"],
    ),
    called(
        "levels of given widths",
        nothing,
        &[
            "hierarchy",
            "build",
            "people.csv",
            "--column",
            "age",
            "--method",
            "widths",
            "--widths",
            "5",
            "--levels",
            "3",
        ],
        &["`--levels`", "widths"],
    ),
    called(
        "parts that do not nest",
        nothing,
        &["hierarchy", "build", "people.csv", "--column", "age", "--method", "equal-width", "--parts", "8,3"],
        &["--parts", "multiple"],
    ),
    called(
        "one part",
        nothing,
        &["hierarchy", "build", "people.csv", "--column", "age", "--method", "equal-frequency", "--parts", "4,1"],
        &["--parts", "at least 2"],
    ),
    called(
        "iotf of words",
        nothing,
        &["hierarchy", "build", "people.csv", "--column", "sex", "--method", "iotf"],
        &["people.csv", "`sex`, record 1", "not a number"],
    ),
    called(
        "iotf of an infinity",
        |f| people(f, "Cat,34", "Cat,inf"),
        &["hierarchy", "build", "people.csv", "--column", "age", "--method", "iotf"],
        &["people.csv", "`age`, record 3", "`inf`"],
    ),
    called(
        "iotf of nothing",
        |f| _ = f.write("people.csv", "name,age\nAnn,\nBen,?\n"),
        &["hierarchy", "build", "people.csv", "--column", "age", "--method", "iotf"],
        &["people.csv", "`age`", "no values"],
    ),
    called(
        "hierarchy file too large",
        doubling,
        &["hierarchy", "build", "people.csv", "--column", "age", "--method", "iotf", "-o", "h.csv"],
        &["`age`", "MB", "--levels"],
    ),
    called("picture of no kind", nothing, &["hierarchy", "show", "zip.csv", "-o", "zip.png"], &["zip.png", ".svg"]),
    called(
        "picture over a file",
        |f| _ = f.write("zip.svg", ""),
        &["hierarchy", "show", "zip.csv", "-o", "zip.svg"],
        &["zip.svg exists"],
    ),
    called("demo among strangers", |f| _ = f.write("mine/thesis.doc", "x"), &["demo", "mine"], &["mine"]),
    called("init over a policy", nothing, &["init", "people.csv", "-o", "policy.toml"], &["policy.toml exists"]),
];

#[test]
fn bad_input_gets_one_clear_message_and_writes_nothing() {
    let all = || [DATA, DIALECTS, POLICIES, MEASURES, HIERARCHIES, CALLS, QUERIES].into_iter().flatten();
    assert!(all().count() >= 80);
    let mut wrong = Vec::new();
    for case in all() {
        let folder = Folder::with_people();
        (case.prepare)(&folder);
        let before = folder.files();
        let run = folder.run(case.arguments);
        let message = &run.stderr;
        let mut fail = |reason: String| wrong.push(format!("{}: {reason}\n    {message}", case.name));
        if run.code != case.code {
            fail(format!("exit {} instead of {}", run.code, case.code));
        }
        for said in case.says.iter().filter(|said| !message.contains(**said)) {
            fail(format!("does not say {said:?}"));
        }
        if message.matches("error:").count() != 1 || message.contains("panicked") {
            fail("not one message".to_owned());
        }
        // The message names the record by its number and does not show the person.
        for person in ["Ann", "Ben", "Cat", "Dan", "Eve", "Fay", "Gus", "Hal"] {
            if message.contains(person) {
                fail(format!("names {person}"));
            }
        }
        if folder.files() != before {
            fail("files were written or changed".to_owned());
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
