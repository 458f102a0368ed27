//! How the values of each column are spread, before and after.
//!
//! Bars lie, because a phone has room for names on the left and not below; all have the same height, so a column with
//! many values is longer and not denser.

use maud::{Markup, html};
use moretta_insight::{
    distribution::{Bar, Distribution},
    report::Report,
};

use super::{groups::swatch, verdict::share};
use crate::{
    describe,
    numbers::{count, counted, length, percent},
    shell::{head, number, scrolling, text},
};

/// In pixels: a line with two bars, one of them, and the scale above.
const LINE: f64 = 22.0;
const THICK: f64 = 8.0;
const TOP: f64 = 16.0;

/// In percent of the width: where bars begin.
const LEFT: f64 = 43.0;

/// Longer names are cut in the picture; the table has them whole.
const MOST_CHARACTERS: usize = 22;

pub(super) fn part(report: &Report) -> Markup {
    let floor = report.columns.iter().map(|column| column.distribution.floor).max().unwrap_or(0);
    let shown: Vec<_> = report.columns.iter().filter(|column| !column.distribution.bars.is_empty()).collect();
    html! {
        @if !shown.is_empty() {
            h3 #spread { "How values are spread" }
            p {
                "Before is the table. After is what a recipient reads off the release. Its dark part are records that "
                "leave as something within that bar; the light part could just as well be elsewhere: a cell that "
                "covers more, up to " code { "*" } ", is spread evenly over all that it covers. The more is dark, the "
                "more of the column is left."
            }
            p.note {
                "So that no bar is about a few people, one of fewer than " (counted(floor, "record", "records"))
                " of the table is merged with its neighbours or counted among the “other values”; ranges begin at "
                "round numbers, and the first and the last are open."
            }
            figure {
                figcaption { ul.legend {
                    li { (swatch("before")) " before" } li { (swatch("after")) " after, for sure" }
                    li { (swatch("guess")) " after, spread" }
                    li { "across: the share of all records" }
                } }
            }
            div.spreads {
                @for (index, column) in shown.iter().enumerate() { (spread(index, &column.name, &column.distribution)) }
            }
        }
    }
}

fn spread(index: usize, name: &str, distribution: &Distribution) -> Markup {
    html! {
        figure.spread {
            h4 { (describe::name(name)) }
            (picture(index, name, &distribution.bars))
            details { summary { "Numbers" } (scrolling(&format!("Values of {name}"), table(&distribution.bars))) }
        }
    }
}

/// The shares of a bar: before, after, and after for sure.
fn shares(bars: &[Bar]) -> Vec<[f64; 3]> {
    let records: u64 = bars.iter().map(|bar| bar.before).sum();
    let part = |records_of: f64| records_of / records.max(1) as f64;
    let of = |bar: &Bar| [share(bar.before, records), part(bar.after), part(bar.sure)];
    bars.iter().map(of).collect()
}

fn picture(index: usize, name: &str, bars: &[Bar]) -> Markup {
    let shares = shares(bars);
    let highest = shares.iter().flatten().copied().fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    let height = TOP + LINE * bars.len() as f64;
    let (title, description) = (format!("spread-{index}-title"), format!("spread-{index}-desc"));
    let middle = length(LEFT + (100.0 - LEFT) / 2.0);
    html! {
        svg.histogram width="100%" height=(height) role="img" aria-labelledby=(format!("{title} {description}")) {
            title id=(title) { "Values of " (name) ", before and after" }
            desc id=(description) {
                (counted(bars.len() as u64, "pair", "pairs")) " of bars; the longest stands for " (percent(highest))
                " of the records. The table below has the numbers."
            }
            @for (x, part) in [(middle.as_str(), 0.5), ("100%", 1.0)] {
                line.grid x1=(x) x2=(x) y1=(TOP - 2.0) y2=(height) {}
                text.end x=(x) y=(TOP - 5.0) { (percent(highest * part)) }
            }
            @for (line, (bar, shares)) in bars.iter().zip(&shares).enumerate() {
                @let y = TOP + LINE * line as f64;
                text.label x="0" y=(y + LINE / 2.0 + 4.0) { (cut(&bar.label)) }
                // What is sure lies over the whole of it.
                @for (series, share, side) in [("before", shares[0], 0.0), ("guess", shares[1], 1.0), ("after", shares[2], 1.0)] {
                    rect class=(series) x=(length(LEFT)) width=(length((100.0 - LEFT) * share / highest))
                        y=(y + 3.0 + THICK * side) height=(THICK) {}
                }
            }
            line.base x1=(length(LEFT)) x2=(length(LEFT)) y1=(TOP - 2.0) y2=(height) {}
        }
    }
}

/// A name that has room on the left.
fn cut(label: &str) -> String {
    if label.chars().count() <= MOST_CHARACTERS {
        return label.to_owned();
    }
    label.chars().take(MOST_CHARACTERS - 1).collect::<String>() + "…"
}

fn table(bars: &[Bar]) -> Markup {
    html! {
        table {
            (head(&[text("Value"), number("Before"), number("of all"), number("After"), number("of all"), number("For sure")]))
            tbody { @for (bar, [before, after, _]) in bars.iter().zip(shares(bars)) {
                tr {
                    th scope="row" { (describe::name(&bar.label)) }
                    td.number { (count(bar.before)) } td.number { (percent(before)) }
                    td.number { (count(bar.after.round() as u64)) } td.number { (percent(after)) }
                    td.number { (count(bar.sure.round() as u64)) }
                }
            } }
        }
    }
}
