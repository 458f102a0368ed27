//! The policy in words.

use maud::{Markup, html};
use moretta_core::{
    counts::RecordOrder,
    hierarchy::{
        DateLevel, HierarchyChoice,
        numeric::{Builder, Built},
    },
    policy::{ColumnPolicy, Labels, Numbers, Policy},
    schema::{Kind, MissingRule, Role},
    search::METHODS,
};
use moretta_insight::report::Report;

use crate::{
    describe,
    numbers::limit_percent,
    shell::{head, scrolling, text},
};

/// Maximum number of edges or widths listed; the rest are counted.
const MAX_LISTED: usize = 12;

pub(super) fn section(report: &Report) -> Markup {
    let policy = &report.policy;
    html! {
        section aria-labelledby="policy" {
            h2 #policy { "Policy" }
            (guarantees(policy))
            (scrolling("Columns", columns(policy)))
            (unguarded(policy))
            h3 { "Method and output" }
            dl.facts {
                dt { "Method" }
                dd { (method(report)) }
                dt { "Missing values" }
                dd {
                    "A cell counts as missing if it is " (missing_texts(&policy.input.missing)) "."
                    @for column in policy.columns.iter().filter(|column| !column.missing_texts.is_empty()) {
                        " In " (describe::name(&column.name)) " also if it is " (missing_texts(&column.missing_texts)) "."
                    }
                }
                dt { "Categories" }
                dd { @match policy.release.labels {
                    Labels::Node => "released as a node of their hierarchy, such as a region for a town",
                    Labels::Set => "released as the set of values that occur in the group",
                } }
                dt { "Numbers" }
                dd { @match policy.release.numbers {
                    Numbers::Interval => "released as the interval that the group spans, or as a node of their hierarchy",
                    Numbers::Mean => "released as the mean of the group",
                    Numbers::Median => "released as the median of the group",
                    Numbers::Midpoint => "released as the midpoint of the interval that the group spans",
                } }
                dt { "Order" }
                dd { @match policy.release.order {
                    RecordOrder::Shuffled => "records are released in random order",
                    RecordOrder::Input => {
                        "records are released in the order of the input. The order can identify people: make sure that "
                        "no recipient knows it"
                    }
                } }
            }
        }
    }
}

fn guarantees(policy: &Policy) -> Markup {
    html! {
        ul.guarantees {
            @for sentence in describe::guarantees(policy) { li.sentence { (sentence) "." } }
            @if policy.privacy.max_suppressed > 0.0 {
                li {
                    "At most " (limit_percent(policy.privacy.max_suppressed))
                    " of the records are suppressed: released with * in all of these columns."
                }
            } @else {
                li { "No record is suppressed as a whole." }
            }
        }
        p.note {
            "A group is all records with the same released values of "
            (describe::all_listed(&describe::quasi_identifiers(policy), "and")) "."
        }
    }
}

/// Roles in order of importance, with title and explanation.
const ROLES: [(Role, &str, &str); 7] = [
    (Role::Identifier, "Identifiers", "directly identify a person; removed"),
    (Role::Person, "Person", "the person that a record is about; counted and removed"),
    (Role::Household, "Household", "the household that a record is about; used for the risk and removed"),
    (Role::QuasiIdentifier, "Quasi-identifiers", "an attacker may know them; made less precise"),
    (Role::Sensitive, "Sensitive", "an attacker should not learn them about a person"),
    (Role::Class, "Class", "to be predicted by the recipient"),
    (Role::Insensitive, "Insensitive", "without any guarantee"),
];

fn columns(policy: &Policy) -> Markup {
    let of_role = |role: Role| policy.columns.iter().filter(move |column| column.role == role);
    html! {
        table.columns {
            caption { "Columns by role" }
            (head(&[text("Column"), text("In the release"), text("Missing values")]))
            @for (role, title, meaning) in ROLES {
                @if of_role(role).next().is_some() {
                    tbody {
                        tr.role { th scope="rowgroup" colspan="3" { (title) " " span { (meaning) } } }
                        @for column in of_role(role) {
                            tr {
                                th scope="row" { (describe::name(&column.name)) }
                                td { (fate(column)) }
                                td { (missing(column)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn fate(column: &ColumnPolicy) -> Markup {
    html! {
        @match column.role {
            Role::Identifier | Role::Person | Role::Household => "removed",
            Role::QuasiIdentifier => {
                (steps(column))
                @if column.weight != 1.0 { "; weight " (column.weight.to_string()) }
            }
            _ => "released unchanged",
        }
    }
}

fn steps(column: &ColumnPolicy) -> Markup {
    let levels =
        |levels: &[DateLevel]| describe::listed(&levels.iter().map(|level| level.name()).collect::<Vec<_>>(), "or");
    html! {
        @match (&column.hierarchy, column.kind) {
            (HierarchyChoice::Dates(chosen), _) => { "the date, or its " (levels(chosen)) }
            (HierarchyChoice::Prefix(lengths), _) => { "the whole code, or its first " (some(lengths)) " characters" }
            (HierarchyChoice::Built(built), _) => (built_from_data(built)),
            (HierarchyChoice::Free, _) | (HierarchyChoice::Default, Some(Kind::Number | Kind::Date)) => "any interval",
            (HierarchyChoice::Default, Some(Kind::Category)) => "the value or *",
            (HierarchyChoice::Default, None) => "any interval for numbers and dates, otherwise the value or *",
            (HierarchyChoice::Widths(widths), _) => { "intervals of width " (some(widths)) }
            (HierarchyChoice::Bins(bins), _) => { "intervals between " (some(bins)) }
            (HierarchyChoice::File(path), _) => { "along the hierarchy in " (breakable(path)) }
        }
    }
}

/// Lists numbers, at most [`MAX_LISTED`].
fn some<N: ToString>(numbers: &[N]) -> String {
    let shown: Vec<String> = numbers.iter().take(MAX_LISTED).map(N::to_string).collect();
    let more = if numbers.len() > MAX_LISTED { format!(", … ({} in all)", numbers.len()) } else { String::new() };
    shown.join(", ") + &more
}

fn built_from_data(built: &Built) -> Markup {
    html! {
        @match &built.builder {
            Builder::Iotf => "intervals built from the data (IOTF): merging close values",
            Builder::Otf => "intervals built from the data (OTF): merging close centers",
            Builder::Chu { .. } => "intervals built from the data (Chu): split so that values within each half are closest",
            Builder::Han { fan_out, .. } => {
                "intervals built from the data (Han): split into " (fan_out) " parts of nearly equal record counts"
            }
            Builder::EqualWidth(parts) => { (some(parts)) " intervals of equal width" }
            Builder::EqualFrequency(parts) => { (some(parts)) " intervals of nearly equal record counts" }
        }
        @if let Some(levels) = built.levels { ", on " (levels) " levels" }
    }
}

/// A file path that may break after each folder.
fn breakable(path: &str) -> Markup {
    html! { bdi.file { @for part in path.split_inclusive('/') { (part) wbr; } } }
}

fn missing(column: &ColumnPolicy) -> &'static str {
    match (column.role, column.missing) {
        (Role::Identifier, _) => "removed",
        (Role::Insensitive, _) => "released unchanged",
        (Role::Person, MissingRule::Category) => "treated as one person",
        (Role::Household, MissingRule::Category) => "each a household of one",
        (_, MissingRule::Category) => "treated as a value",
        (_, MissingRule::Suppress) => "released as *",
        (_, MissingRule::Error) => "not allowed",
    }
}

fn missing_texts(texts: &[String]) -> Markup {
    html! {
        @if texts.is_empty() { "null" }
        @for (index, text) in texts.iter().enumerate() {
            @if index > 0 { " or " }
            @if text.is_empty() { "empty" } @else { "“" (describe::name(text)) "”" }
        }
    }
}

/// Warns of sensitive columns that no privacy model protects.
fn unguarded(policy: &Policy) -> Markup {
    let bare = policy.unguarded();
    html! {
        @if !bare.is_empty() {
            p.note.warning {
                strong { "Note: " } (describe::listed(&bare, "and"))
                @if bare.len() == 1 { " is" } @else { " are" }
                " sensitive, and no guarantee limits what can be inferred about "
                @if bare.len() == 1 { "it" } @else { "them" }
                ". If all records of a group share a value, an attacker learns it."
            }
        }
    }
}

fn method(report: &Report) -> Markup {
    let entry = METHODS.iter().find(|entry| entry.name == report.method);
    html! {
        (describe::name(&report.method))
        @if let Some(entry) = entry { ": " (entry.summary) }
        @let parameters = &report.policy.method.parameters;
        @if !parameters.is_empty() {
            " ("
            @for (index, (key, value)) in parameters.iter().enumerate() {
                @if index > 0 { ", " }
                bdi { (key) " = " (value.to_string()) }
            }
            ")"
        } @else { " (default parameters)" }
        @if let Some(at) = report.at { "; released at step " (at) " of its path (" code { "--at " (at) } ")" }
    }
}
