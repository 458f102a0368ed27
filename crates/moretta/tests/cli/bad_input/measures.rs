//! Bad `[measure]` sections, and valid ones for methods that do not support them.

use super::{Case, add, case, policy};

pub(super) const MEASURES: &[Case] = &[
    case(
        "a measure that there is not",
        |f| add(f, "[measure]\nname = \"lmm\"\n"),
        &["policy.toml, line 27", "`name` is \"lmm\"", "did you mean \"lm\"?"],
    ),
    case(
        "a measure for a method that does not accept it",
        |f| add(f, "[measure]\nname = \"lm\"\n"),
        &["policy.toml, line 26", "method `mondrian` does not support [measure]", "`sweep`"],
    ),
    case(
        "a measure without a name",
        |f| add(f, "[measure]\n"),
        &["policy.toml, line 26", "[measure] has no `name`, which must be \"ncp\", \"lm\", \"cm\" or \"rm\""],
    ),
    case(
        "a measure among the method's parameters",
        |f| policy(f, "\"mondrian\"", "\"sweep\"\nmeasure = \"lm\""),
        &["policy.toml, line 8", "`measure` is not a parameter of the method `sweep`", "[measure] with name = \"lm\""],
    ),
    case(
        "several measures for a method that takes one",
        |f| {
            policy(f, "\"mondrian\"", "\"sweep\"");
            add(f, "[[measure]]\nname = \"lm\"\n[[measure]]\nname = \"ncp\"\n");
        },
        &["policy.toml, line 26", "method `sweep` supports one measure, \"ncp\" or \"lm\", not several"],
    ),
    case(
        "a measure of classes for a method that keeps precision",
        |f| {
            policy(f, "\"mondrian\"", "\"sweep\"");
            add(f, "[measure]\nname = \"cm\"\ncolumn = \"diagnosis\"\n");
        },
        &["policy.toml, line 26", "method `sweep` supports the measure \"ncp\" or \"lm\", not \"cm\""],
    ),
    case(
        "costs of a class that does not occur",
        |f| {
            policy(f, "\"mondrian\"", "\"genetic\"");
            add(f, "[measure]\nname = \"cm\"\ncolumn = \"diagnosis\"\ncosts = { fluu = { asthma = 3 } }\n");
        },
        &["policy.toml", "`costs` of [measure] names `fluu`", "column `diagnosis`", "did you mean `flu`?"],
    ),
    case(
        "a measure of numbers for a column of texts",
        |f| {
            policy(f, "\"mondrian\"", "\"genetic\"");
            add(f, "[measure]\nname = \"rm\"\ncolumn = \"diagnosis\"\n");
        },
        &["policy.toml", "measure \"rm\" is for numbers", "column `diagnosis`", "\"cm\" is for classes"],
    ),
    case(
        "a measure of a class that there is not",
        |f| add(f, "[measure]\nname = \"cm\"\n"),
        &["policy.toml, line 26", "measure \"cm\" needs a column", "role \"class\""],
    ),
];
