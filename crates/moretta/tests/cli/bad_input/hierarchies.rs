//! Cases about hierarchy files.

use super::{Case, called, case, nothing, policy};

pub const HIERARCHIES: &[Case] = &[
    case("hierarchy file absent", |f| policy(f, "zip.csv", "zap.csv"), &["zap.csv", "read"]),
    case("hierarchy ragged", |f| _ = f.write("zip.csv", "53711;*\n53712;5371*;*\n"), &["zip.csv, row 2", "3 fields"]),
    case(
        "hierarchy without a root",
        |f| _ = f.write("zip.csv", "53711;5371*\n53712;5372*\n"),
        &["zip.csv, row 2", "`*`"],
    ),
    case(
        "label under two parents",
        |f| _ = f.write("zip.csv", "53711;a;b;*\n53712;a;c;*\n"),
        &["zip.csv, row 2", "`a`", "another parent"],
    ),
    case("leaf twice", |f| _ = f.write("zip.csv", "53711;a;*\n53711;b;*\n"), &["zip.csv, row 2", "`53711`", "row 1"]),
    case(
        "many faults of a hierarchy",
        |f| {
            let rows: String = (0..25).map(|row| format!("{row};a;g{row};*\n")).collect();
            _ = f.write("zip.csv", rows);
        },
        &["zip.csv: 24 faults", "row 2: `a` has another parent", "row 3: the group in field 2", "and 4 more"],
    ),
    case(
        "a table of people as hierarchy",
        |f| policy(f, "\"zip.csv\"", "\"./people.csv\""),
        &["people.csv: ", "row 1: the last field is not that of the other rows"],
    ),
    case(
        "hierarchy specification of ARX",
        |f| _ = f.write("zip.csv", b"\xac\xed\x00\x05sr"),
        &["zip.csv", ".ahs", "export the hierarchy"],
    ),
    case("project of ARX", |f| _ = f.write("zip.csv", "PK\x03\x04"), &["zip.csv", ".deid", "CSV"]),
    case(
        "hierarchy of ranges of Amnesia",
        |f| _ = f.write("zip.csv", "range\nname zip\ntype int\nheight 2\n\n0,9 has 0,4 5,9\n"),
        &["zip.csv, row 1", "Amnesia", "widths"],
    ),
    case(
        "JSON hierarchy with faults",
        |f| {
            f.write("zip.json", r#"{"a": [], "b": {"c": [1.5]}}"#);
            policy(f, "zip.csv", "zip.json");
        },
        &["zip.json: 2 faults", "/a: the group has no values", "/b/c/1: a number with a fraction"],
    ),
    case(
        "broken JSON hierarchy",
        |f| {
            f.write("zip.json", "{\"a\": [\"53711\"");
            policy(f, "zip.csv", "zip.json");
        },
        &["zip.json, row 1", "not valid JSON", "EOF"],
    ),
    case(
        "names of levels that do not fit",
        |f| _ = f.write("zip.csv", "#levels;town;*\n53711;5371;537;*\n"),
        &["zip.csv, row 1", "2 names of levels for rows of 4 fields"],
    ),
    case("hierarchy empty", |f| _ = f.write("zip.csv", ""), &["zip.csv", "no rows"]),
    case(
        "hierarchy of words for numbers",
        |f| {
            f.write("zip.csv", "a;*\nb;*\n");
            policy(f, "type = \"category\"", "type = \"number\"");
        },
        &["`zip`", "not a number"],
    ),
    called("hierarchy of no form", nothing, &["hierarchy", "convert", "zip.csv", "zip.xls"], &["zip.xls", ".json"]),
    called(
        "hierarchy converted into itself",
        nothing,
        &["hierarchy", "convert", "zip.csv", "zip.csv", "--overwrite"],
        &["zip.csv", "another file"],
    ),
    called(
        "delimiter of JSON",
        nothing,
        &["hierarchy", "convert", "zip.csv", "zip.json", "--delimiter", "tab"],
        &["zip.json", "--delimiter"],
    ),
];
