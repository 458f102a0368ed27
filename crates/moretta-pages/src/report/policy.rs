//! What was asked: the policy, in words.

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

/// More edges or widths than this are counted, not listed.
const MOST_STEPS: usize = 12;

pub(super) fn section(report: &Report) -> Markup {
    let policy = &report.policy;
    html! {
        section aria-labelledby="asked" {
            h2 #asked { "What was asked" }
            (guarantees(policy))
            (scrolling("Columns", columns(policy)))
            (unguarded(policy))
            h3 { "How" }
            dl.facts {
                dt { "Method" }
                dd { (method(report)) }
                dt { "Missing values" }
                dd { "A cell is missing where it is " (missing_texts(policy)) "." }
                dt { "Categories" }
                dd { @match policy.release.labels {
                    Labels::Node => "print as a node of their hierarchy, such as a region for a town",
                    Labels::Set => "print as the set of the values that occur in the group",
                } }
                dt { "Numbers" }
                dd { @match policy.release.numbers {
                    Numbers::Interval => "print as the interval that the group spans, or as the node of their hierarchy",
                    Numbers::Mean => "print as the mean of the group",
                    Numbers::Median => "print as the median of the group",
                    Numbers::Midpoint => "print as the middle of the interval that the group spans",
                } }
                dt { "Order" }
                dd { @match policy.release.order {
                    RecordOrder::Shuffled => "records leave in random order",
                    RecordOrder::Input => {
                        "records leave in the order they came. Order can identify people: be sure that nobody outside "
                        "knows it"
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
                    " of the records are suppressed: leave with * in each of these columns."
                }
            } @else {
                li { "No record is suppressed as a whole." }
            }
        }
        p.note {
            "A group is all records that look alike in the released "
            (describe::listed(&describe::quasi_identifiers(policy), "and")) "."
        }
    }
}

/// Roles in the order in which they matter to whoever signs, with what happens to their columns.
const ROLES: [(Role, &str, &str); 5] = [
    (Role::Identifier, "Identifiers", "name a person outright"),
    (Role::QuasiIdentifier, "Quasi-identifiers", "others may know them of a person; made less precise"),
    (Role::Sensitive, "Sensitive", "nobody should learn them of a person"),
    (Role::Class, "Class", "what the recipient wants to predict"),
    (Role::Insensitive, "Insensitive", "nothing is promised about them"),
];

fn columns(policy: &Policy) -> Markup {
    let of_role = |role: Role| policy.columns.iter().filter(move |column| column.role == role);
    html! {
        table.columns {
            caption { "Columns, by what they are to the holder" }
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
            Role::Identifier => "dropped",
            Role::QuasiIdentifier => {
                (steps(column))
                @if column.weight != 1.0 { "; a loss counts " (column.weight.to_string()) " times" }
            }
            _ => "kept as it is",
        }
    }
}

fn steps(column: &ColumnPolicy) -> Markup {
    let levels =
        |levels: &[DateLevel]| describe::listed(&levels.iter().map(|level| level.name()).collect::<Vec<_>>(), "or");
    html! {
        @match (&column.hierarchy, column.kind) {
            (HierarchyChoice::Default, Some(Kind::Date)) => { "the date, or its " (levels(&DateLevel::ALL)) }
            (HierarchyChoice::Dates(chosen), _) => { "the date, or its " (levels(chosen)) }
            (HierarchyChoice::Prefix(lengths), _) => { "the whole code, or its first " (some(lengths)) " characters" }
            (HierarchyChoice::Built(built), _) => (built_from_data(built)),
            (HierarchyChoice::Free, _) | (HierarchyChoice::Default, Some(Kind::Number)) => "any interval",
            (HierarchyChoice::Default, Some(Kind::Category)) => "the value or *",
            (HierarchyChoice::Default, None) => "any interval if numbers, else the value or *",
            (HierarchyChoice::Widths(widths), _) => { "intervals of width " (some(widths)) }
            (HierarchyChoice::Bins(bins), _) => { "intervals between " (some(bins)) }
            (HierarchyChoice::File(path), _) => { "along the hierarchy in " (breakable(path)) }
        }
    }
}

/// Steps of a hierarchy, if there are not too many.
fn some<N: ToString>(numbers: &[N]) -> String {
    let shown: Vec<String> = numbers.iter().take(MOST_STEPS).map(N::to_string).collect();
    let more = if numbers.len() > MOST_STEPS { format!(", … ({} in all)", numbers.len()) } else { String::new() };
    shown.join(", ") + &more
}

fn built_from_data(built: &Built) -> Markup {
    html! {
        @match &built.builder {
            Builder::Iotf => "intervals built from the data (IOTF): close values together",
            Builder::Otf => "intervals built from the data (OTF): close centres together",
            Builder::Chu { .. } => "intervals built from the data (Chu): cut where values are farthest apart on average",
            Builder::Han { fan_out, .. } => {
                "intervals built from the data (Han): cut into " (fan_out) " with about equally many records"
            }
            Builder::EqualWidth(parts) => { (some(parts)) " intervals of equal width" }
            Builder::EqualFrequency(parts) => { (some(parts)) " intervals with about equally many records" }
        }
        @if let Some(levels) = built.levels { ", on " (levels) " levels" }
    }
}

/// A path that may go on in the next line after each of its folders.
fn breakable(path: &str) -> Markup {
    html! { bdi.file { @for part in path.split_inclusive('/') { (part) wbr; } } }
}

fn missing(column: &ColumnPolicy) -> &'static str {
    match (column.role, column.missing) {
        (Role::Identifier, _) => "dropped",
        (Role::Insensitive, _) => "kept",
        (_, MissingRule::Category) => "count as a value",
        (_, MissingRule::Suppress) => "released as *",
        (_, MissingRule::Error) => "none allowed",
    }
}

fn missing_texts(policy: &Policy) -> Markup {
    let texts = &policy.input.missing;
    html! {
        @if texts.is_empty() { "null" }
        @for (index, text) in texts.iter().enumerate() {
            @if index > 0 { " or " }
            @if text.is_empty() { "empty" } @else { "“" (describe::name(text)) "”" }
        }
    }
}

/// Sensitive columns that no model speaks of: allowed, but whoever signs should know.
fn unguarded(policy: &Policy) -> Markup {
    let bare = policy.unguarded();
    html! {
        @if !bare.is_empty() {
            p.note.warning {
                strong { "Note: " } (describe::listed(&bare, "and"))
                @if bare.len() == 1 { " is" } @else { " are" }
                " sensitive, and no guarantee limits what can be inferred about "
                @if bare.len() == 1 { "it" } @else { "them" }
                ". If all members of a group share a value, that value is known of each of them."
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
        } @else { ", with its defaults" }
        @if let Some(at) = report.at { "; released at step " (at) " of its path (" code { "--at " (at) } ")" }
    }
}
