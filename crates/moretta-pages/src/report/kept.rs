//! Kept columns: what an attacker finds who knows values that are released unchanged.

use maud::{Markup, html};
use moretta_core::schema::{Role, Unit};
use moretta_insight::{
    kept::{Kept, KeptColumn, KnownValues},
    report::Report,
};

use super::verdict::share;
use crate::{
    describe,
    numbers::{count, counted, percent},
    shell::{head, number, scrolling, text},
};

/// Warns above the key figures of kept columns that the policy allows to single out records, and that do.
pub(super) fn warning(report: &Report) -> Markup {
    let singles_out = |kept: &&Kept| !kept.exact().is_empty() && kept.together.is_some_and(|all| all.unique_rows > 0);
    html! {
        @if let Some(kept) = report.kept.as_ref().filter(singles_out) {
            p.note.warning {
                strong { "These guarantees do not cover values that are released exactly. " }
                "The policy releases " (describe::all_listed(&kept.exact(), "and")) " unchanged. "
                (finds(kept))
            }
        }
    }
}

/// An attacker who knows all kept columns, in a sentence.
fn finds(kept: &Kept) -> Markup {
    let known = kept.together.unwrap_or_default();
    let names: Vec<&str> = kept.columns.iter().map(|column| column.name.as_str()).collect();
    html! {
        "An attacker who knows " (describe::all_listed(&names, "and")) " of a person finds the record, whatever was "
        "generalized, if no "
        @match kept.unit() { Unit::Records => "other record", Unit::Persons => "record of another person" }
        " has the same values: "
        strong {
            "this holds for " (count(known.unique_rows)) " of " (counted(kept.rows, "record", "records")) " ("
            (percent(share(known.unique_rows, kept.rows))) ")"
        }
        "."
    }
}

/// The figures of every kept column, beside the risk by quasi-identifiers.
pub(super) fn part(report: &Report) -> Markup {
    html! {
        @if let Some(kept) = &report.kept {
            h3 #kept { "Columns that are released unchanged" }
            @if kept.columns.is_empty() {
                p { "There are none: every released column is a quasi-identifier." }
            } @else {
                p {
                    "No generalization protects these values. " (finds(kept))
                    @if kept.exact().is_empty() {
                        " The policy allows this for at most 1\u{a0}% of the records, unless it lists the columns ("
                        code { "exact" } " in " code { "[release]" } "); it lists none."
                    } @else {
                        " The policy allows it for the columns that are marked as exact."
                    }
                }
                (scrolling("Columns that are released unchanged", table(kept)))
                @if kept.with_quasi_identifiers.is_none() {
                    p.note {
                        "Persons are counted: a record is unique if all records with its values are of one person, and "
                        "its group is small if they are of few."
                    }
                } @else { p.note {
                    "The last row assumes an attacker who knows all of these values of a person besides the "
                    "quasi-identifiers. They distinguish the persons of a group, and no guarantee above limits that. An "
                    "attacker who does not know a sensitive value learns it as far as the guarantees allow."
                } }
            }
        }
    }
}

fn table(kept: &Kept) -> Markup {
    let below = format!("In groups below {}", count(kept.k));
    html! {
        table.kept {
            caption { "Records that an attacker finds who knows the values, and records in small groups" }
            (head(&[text("Attacker knows"), text("Role"), number("Distinct"), number("Unique"), number(&below)]))
            tbody {
                @for column in &kept.columns {
                    (row(&html! { (describe::name(&column.name)) }, role(column), column.known, kept.rows))
                }
                @if let Some(together) = kept.together.filter(|_| kept.columns.len() > 1) {
                    (row(&html! { "all of these" }, "", together, kept.rows))
                }
                @if let Some(known) = kept.with_quasi_identifiers {
                    (row(&html! { "all of these, and the released quasi-identifiers" }, "", known, kept.rows))
                }
            }
        }
    }
}

fn row(words: &Markup, role: &str, known: KnownValues, rows: u64) -> Markup {
    let records = |part: u64| match part {
        0 => "0".to_owned(),
        _ => format!("{} ({})", count(part), percent(share(part, rows))),
    };
    html! {
        tr {
            th scope="row" { (words) }
            td { (role) }
            td.number { (count(known.distinct)) }
            td.number { (records(known.unique_rows)) }
            td.number { (records(known.rows_below_k)) }
        }
    }
}

fn role(column: &KeptColumn) -> &'static str {
    match (column.role, column.exact) {
        (Role::Sensitive, false) => "sensitive",
        (Role::Sensitive, true) => "sensitive, exact",
        (Role::Class, false) => "class",
        (Role::Class, true) => "class, exact",
        (_, false) => "insensitive",
        (_, true) => "insensitive, exact",
    }
}
