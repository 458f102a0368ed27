//! What was lost: column by column, and all measures.

use maud::{Markup, html};
use moretta_core::{
    measure::MEASURES,
    report::{ColumnLoss, Report},
};

use super::{
    bar,
    numbers::{figure, percent},
    scrolling, words,
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
            (scrolling("Measures", measures(report)))
        }
    }
}

fn columns(columns: &[ColumnLoss]) -> Markup {
    html! {
        table.bars {
            caption { "Loss by column (normalised certainty penalty), in the order of the policy" }
            thead { tr {
                th scope="col" { "Column" } th.wide scope="col" { "Share of the range" } th.number scope="col" { "Lost" }
            } }
            tbody { @for column in columns {
                tr {
                    th scope="row" { (words::name(&column.name)) }
                    td.wide { (bar(column.ncp, None)) }
                    td.number { (percent(column.ncp)) }
                }
            } }
        }
    }
}

fn measures(report: &Report) -> Markup {
    html! {
        table.measures {
            caption { "All measures, under their names in the JSON report" }
            thead { tr {
                th scope="col" { "Measure" } th.number scope="col" { "Value" } th scope="col" { "What it says" }
            } }
            tbody { @for (name, value) in &report.measures.0 {
                tr {
                    th scope="row" { code { (name) } }
                    td.number { @match value {
                        Some(value) => (figure(*value)),
                        None => span.muted { "n/a" },
                    } }
                    td { @if let Some(entry) = MEASURES.iter().find(|entry| entry.name == *name) { (entry.summary) } }
                }
            } }
        }
    }
}
