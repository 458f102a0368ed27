//! Tables in a dialect that the policy does not declare, and `[input]` and `[release]` sections that contradict
//! themselves.

use super::{Case, add, case, people};

pub(super) const DIALECTS: &[Case] = &[
    case(
        "a decimal comma between unquoted fields",
        |f| people(f, "Cat,34,f", "Cat,34,5,f"),
        &["people.csv, record 3 (line 4): 6 fields where the header has 5", "decimal comma", "must be quoted"],
    ),
    case(
        "a decimal comma in a number column",
        |f| people(f, "Cat,34,f", "Cat,\"34,5\",f"),
        &["column `age`, record 3: `34,5` is not a number", "set `decimal = \",\"` in `[input]`"],
    ),
    case(
        "a separator of thousands in a number column",
        |f| people(f, "Cat,34,f", "Cat,1'034.5,f"),
        &["column `age`, record 3: `1'034.5` is not a number", "set `thousands` in `[input]`"],
    ),
    case(
        "a decimal point under a decimal comma",
        |f| {
            people(f, "Cat,34,f", "Cat,34.5,f");
            add(f, "[input]\ndecimal = \",\"\n");
        },
        &["column `age`, record 3: `34.5` is not a number in the notation of `[input]`, with a decimal comma"],
    ),
    case(
        "a group of thousands that is not complete",
        |f| {
            people(f, "Cat,34,f", "Cat,1.34,f");
            add(f, "[input]\ndecimal = \",\"\nthousands = \".\"\n");
        },
        &["`1.34` is not a number in the notation of `[input]`, with a decimal comma and `.` between thousands"],
    ),
    case(
        "a quote that never closes",
        |f| people(f, "Dan,51", "\"Dan,51"),
        &["people.csv, record 4 (line 5): the quote that opens field 1 is never closed"],
    ),
    case(
        "a comment before the header",
        |f| people(f, "name,age", "# export of May\nname,age"),
        &["people.csv: the header cannot be read: a line that begins with `#`, like a comment", "remove comment lines"],
    ),
    case(
        "a comment between records",
        |f| people(f, "Dan,51", "# checked\nDan,51"),
        &["people.csv, record 4 (line 5): a line that begins with `#`, like a comment"],
    ),
    case(
        "decimal and thousands are the same",
        |f| add(f, "[input]\nthousands = \".\"\n"),
        &["policy.toml, line 27", "`decimal` and `thousands` are both \".\"", "set `decimal = \",\"`"],
    ),
    case(
        "an unknown decimal mark",
        |f| add(f, "[input]\ndecimal = \";\"\n"),
        &["policy.toml, line 27", "`decimal` is \";\"", "\".\" or \",\""],
    ),
    case(
        "an unknown separator of thousands",
        |f| add(f, "[input]\nthousands = \"-\"\n"),
        &["policy.toml, line 27", "`thousands` is \"-\"; it must be the separator of thousands"],
    ),
    case(
        "names beside a header",
        |f| add(f, "[input]\nnames = [\"a\"]\n"),
        &["policy.toml, line 27", "`names` is for files without a header", "`header = false`"],
    ),
    case(
        "names that are not all",
        |f| add(f, "[input]\nheader = false\nnames = [\"name\", \"age\"]\n"),
        &["people.csv: 2 `names` in [input], and the first record has 5 fields"],
    ),
    case(
        "a name twice",
        |f| add(f, "[input]\nheader = false\nnames = [\"a\", \"b\", \"a\"]\n"),
        &["policy.toml, line 28", "`names` names `a` twice"],
    ),
    case(
        "a release without a header of an input with one",
        |f| add(f, "[release]\nheader = false\n"),
        &["policy.toml, line 27", "a release without a header needs an input without one"],
    ),
    case(
        "a release with the quote as delimiter",
        |f| add(f, "[input]\nquote = \"'\"\n[release]\ndelimiter = \"'\"\n"),
        &["policy.toml, line 29", "`delimiter` of [release] is the `quote` of [input]"],
    ),
    case(
        "a key of the release in another section",
        |f| add(f, "[input]\nguard-formulas = true\n"),
        &["policy.toml, line 27", "it belongs in [release]"],
    ),
];
