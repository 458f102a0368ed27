//! Statistics before and after, as a recipient computes them.

use maud::{Markup, html};
use moretta_insight::{
    report::Report,
    statistics::{BeforeAfter, Correlation, NumberStatistics, PairTable},
};

use crate::{
    describe,
    numbers::{NOTHING, count, figure, percent},
    shell::{head, number, scrolling, text},
};

pub(super) fn part(report: &Report) -> Markup {
    html! {
        @if let Some(found) = &report.statistics {
            @if !found.numbers.is_empty() {
                h3 { "Means and quantiles" }
                p {
                    "As a recipient computes them from the release: an interval counts as its midpoint, and * is left out. "
                    "A quartile is the mean of the records around it, so that it shows no single record."
                }
                (scrolling("Means and quantiles", numbers(&found.numbers)))
            }
            @if !found.correlations.is_empty() {
                h3 { "Correlations" }
                (scrolling("Correlations", correlations(&found.correlations, found.all_correlations)))
            }
            @if !found.pairs.is_empty() {
                h3 { "Pairs of categories" }
                p {
                    "Counts of two columns together, with each label spread evenly over its values: the share of the "
                    "records that a recipient counts in another cell of the table than the original has them."
                }
                (scrolling("Pairs of categories", pairs(&found.pairs, found.all_pairs)))
            }
        }
    }
}

fn value(value: Option<f64>) -> String {
    value.map_or(NOTHING.to_owned(), figure)
}

/// Two cells of a table.
fn cells(both: BeforeAfter) -> Markup {
    html! { td.number { (value(both.before)) } td.number { (value(both.after)) } }
}

fn numbers(columns: &[NumberStatistics]) -> Markup {
    html! {
        table.statistics {
            caption { "Columns of numbers, before and after" }
            (head(&[text("Column"), text("Figure"), number("Before"), number("After")]))
            @for column in columns {
                tbody {
                    @let [low, middle, high] = column.quartiles;
                    @let figures = [
                        ("mean", column.mean), ("standard deviation", column.deviation),
                        ("first quartile", low), ("median", middle), ("third quartile", high),
                    ];
                    @for (index, (words, both)) in figures.into_iter().enumerate() {
                        tr {
                            @if index == 0 { th scope="rowgroup" rowspan="5" {
                                (describe::name(&column.name))
                                @if column.left_out > 0 {
                                    " " span.muted { "(" (count(column.left_out)) " left out)" }
                                }
                            } }
                            td { (words) }
                            (cells(both))
                        }
                    }
                }
            }
        }
    }
}

/// `Pairs that changed most, 10 of 21`
fn caption(words: &str, shown: usize, all: usize) -> String {
    if shown < all { format!("{words}: the {shown} of {all} that changed most") } else { words.to_owned() }
}

fn correlations(pairs: &[Correlation], all: usize) -> Markup {
    html! {
        table.statistics {
            caption { (caption("Correlation of two columns of numbers", pairs.len(), all)) }
            (head(&[text("Columns"), number("Before"), number("After")]))
            tbody { @for pair in pairs {
                tr { th scope="row" { (describe::listed(&pair.columns, "and")) } (cells(pair.coefficient)) }
            } }
        }
    }
}

fn pairs(pairs: &[PairTable], all: usize) -> Markup {
    html! {
        table.statistics {
            caption { (caption("Counts of two columns of categories", pairs.len(), all)) }
            (head(&[text("Columns"), number("In another cell"), text("Cells that changed most"), number("Before"), number("After")]))
            @for pair in pairs {
                tbody {
                    @let rows = pair.cells.len().max(1);
                    @for index in 0..rows {
                        tr {
                            @if index == 0 {
                                th scope="rowgroup" rowspan=(rows) { (describe::listed(&pair.columns, "and")) }
                                td.number rowspan=(rows) { (percent(pair.moved)) }
                            }
                            @match pair.cells.get(index) {
                                Some(cell) => {
                                    td { (describe::listed(&cell.values, "and")) }
                                    td.number { (count(cell.before)) }
                                    td.number { (figure(cell.after)) }
                                }
                                None => { td { (NOTHING) } td {} td {} }
                            }
                        }
                    }
                }
            }
        }
    }
}
