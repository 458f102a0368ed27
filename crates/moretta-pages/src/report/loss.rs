//! What was lost: column by column, with what its values look like, and all measures.

use maud::{Markup, html};
use moretta_core::{
    measure::MEASURES,
    objective::{Dispersion, LossMetric, ObjectiveKind},
};
use moretta_insight::report::{ColumnLoss, Report};

use super::histograms;
use crate::{
    describe,
    numbers::{figure, percent},
    shell::{bar, head, in_code, number, scrolling, text, wide},
};

pub(super) fn section(report: &Report) -> Markup {
    html! {
        section aria-labelledby="lost" {
            h2 #lost { "What was lost" }
            p {
                "How much of its column’s range a released cell spans, on average over all records: "
                "0\u{a0}% is as precise as the original, 100\u{a0}% says nothing any more."
            }
            (scrolling("Loss by column", columns(&report.columns)))
            (histograms::part(report))
            h3 { "Measures" }
            @if !report.objectives.is_empty() { (scrolling("Goals", objectives(report))) }
            (scrolling("Measures", measures(report)))
        }
    }
}

/// The first measure of a column as a bar, all others as figures under their names.
fn columns(columns: &[ColumnLoss]) -> Markup {
    let others = MEASURES.iter().filter(|entry| entry.of_column.is_some()).skip(1).map(|entry| number(entry.name));
    let headings: Vec<_> =
        [text("Column"), wide("Share of the range"), number("Lost")].into_iter().chain(others).collect();
    html! {
        table.bars {
            caption { "Loss by column (normalised certainty penalty), in the order of the policy" }
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
                "What the release was made for: the method looked for a small "
                @if sum { "weighted sum of these" } @else { "value of this" }
            }
            thead { tr {
                th scope="col" { "Measure" } th.number scope="col" { "Value" }
                @if sum { th.number scope="col" { "Weight" } }
                th scope="col" { "What it says" }
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
                "the share of its range that a cell spans on average, added up over columns by their weights"
            }
            ObjectiveKind::Precision(LossMetric::Lm) => {
                "the share of other values that a cell could be on average, added up over columns by their weights"
            }
            ObjectiveKind::Classification { costs, .. } => {
                "records that are suppressed or not of their group’s majority in " (describe::name(column))
                @if costs.0.is_empty() { ", as a share of all" } @else { ", by what the policy says that each costs, per record" }
            }
            ObjectiveKind::Regression { dispersion, .. } => {
                "how far values of " (describe::name(column)) " differ within groups, as a share of how far they do in the "
                "table, by "
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
            caption { "All measures, under their names in the JSON report" }
            (head(&[text("Measure"), number("Value"), text("What it says")]))
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
