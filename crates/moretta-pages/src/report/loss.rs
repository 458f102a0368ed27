//! Information loss: by column, with distributions, and all measures.

use maud::{Markup, html};
use moretta_core::{
    measure::MEASURES,
    objective::{Dispersion, LossMetric, ObjectiveKind},
    observer::Stop,
};
use moretta_insight::{
    bound::Certificate,
    report::{ColumnLoss, Report},
};

use super::{histograms, statistics};
use crate::{
    describe,
    numbers::{counted, figure, percent},
    shell::{bar, head, in_code, number, scrolling, text, wide},
};

pub(super) fn section(report: &Report) -> Markup {
    html! {
        section aria-labelledby="lost" {
            h2 #lost { "Information loss" }
            p {
                "Share of its column’s range that a released cell spans, averaged over all records: 0\u{a0}% is as "
                "precise as the original, 100\u{a0}% carries no information."
            }
            @if let Some(certificate) = &report.bound { (bound(certificate)) }
            (scrolling("Loss by column", columns(&report.columns)))
            (histograms::part(report))
            (statistics::part(report))
        }
    }
}

/// The lower bound on the loss of any release, or why there is none.
fn bound(certificate: &Certificate) -> Markup {
    html! {
        p {
            b { (in_code(&sentence_case(&certificate.sentence()))) "." }
            @if certificate.bound.is_some() {
                " The bound holds for every release whose groups have at least "
                (counted(certificate.k.unwrap_or(1), "record", "records"))
                " and whose cells are nodes of these hierarchies, whatever made it."
                @if certificate.limited || certificate.stop != Stop::Finished {
                    " More time could raise it."
                }
            }
        }
    }
}

/// The sentence with a capital letter.
fn sentence_case(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// All measures, for readers who know them.
pub(super) fn measures_section(report: &Report) -> Markup {
    html! {
        section aria-labelledby="measures" {
            h2 #measures { "Measures" }
            @if !report.objectives.is_empty() { (scrolling("Goals", objectives(report))) }
            (scrolling("Measures", measures(report)))
        }
    }
}

/// The first measure of a column as a bar, the others as numbers.
fn columns(columns: &[ColumnLoss]) -> Markup {
    let others = MEASURES.iter().filter(|entry| entry.of_column.is_some()).skip(1).map(|entry| number(entry.name));
    let headings: Vec<_> =
        [text("Column"), wide("Share of the range"), number("Loss")].into_iter().chain(others).collect();
    html! {
        table.bars {
            caption { "Loss by column (normalized certainty penalty), in the order of the policy" }
            (head(&headings))
            tbody { @for column in columns {
                tr {
                    th scope="row" { (describe::name(&column.name)) }
                    td.wide { (bar(column.share(), None)) }
                    td.number { (percent(column.share())) }
                    @for (_, loss) in column.losses.0.iter().skip(1) { td.number { (value(*loss)) } }
                }
            } }
        }
    }
}

fn objectives(report: &Report) -> Markup {
    let sum = report.objectives.len() > 1;
    html! {
        table.measures {
            caption {
                "Objective of the search: the method minimized "
                @if sum { "the weighted sum of these measures" } @else { "this measure" }
            }
            thead { tr {
                th scope="col" { "Measure" } th.number scope="col" { "Value" }
                @if sum { th.number scope="col" { "Weight" } }
                th scope="col" { "Meaning" }
            } }
            tbody { @for (objective, asked) in report.objectives.iter().zip(report.policy.objectives()) {
                tr {
                    th scope="row" { code { (objective.measure) } }
                    td.number { (value(objective.value)) }
                    @if sum { td.number { (objective.weight) } }
                    td { (meaning(&asked.kind, objective.column.as_deref().unwrap_or_default())) }
                }
            } }
        }
    }
}

fn meaning(kind: &ObjectiveKind, column: &str) -> Markup {
    html! {
        @match kind {
            ObjectiveKind::Precision(LossMetric::Ncp) => {
                "mean share of its column’s range that a cell spans, weighted sum over columns"
            }
            ObjectiveKind::Precision(LossMetric::Lm) => {
                "mean share of the range, or of the other values, that a cell covers; weighted sum over columns"
            }
            ObjectiveKind::Classification { costs, .. } => {
                "records suppressed or outside their group’s majority of " (describe::name(column))
                @if costs.0.is_empty() { ", as a share of all" } @else { ", weighted by the costs of the policy, per record" }
            }
            ObjectiveKind::Regression { dispersion, .. } => {
                "dispersion of " (describe::name(column)) " within groups, as a share of that in the table, by "
                @match dispersion {
                    Dispersion::Variance => "squared distances from the mean",
                    Dispersion::Deviation => "distances from the median",
                }
            }
        }
    }
}

fn value(value: Option<f64>) -> Markup {
    html! {
        @match value {
            Some(value) => (figure(value)),
            None => span.muted { "n/a" },
        }
    }
}

fn measures(report: &Report) -> Markup {
    html! {
        table.measures {
            caption { "All measures, named as in the JSON report" }
            (head(&[text("Measure"), number("Value"), text("Meaning")]))
            tbody { @for (name, value) in &report.measures.0 {
                tr {
                    th scope="row" { code { (name) } }
                    td.number { (self::value(*value)) }
                    td { @if let Some(entry) = MEASURES.iter().find(|entry| entry.name == *name) { (in_code(entry.summary)) } }
                }
            } }
        }
    }
}
