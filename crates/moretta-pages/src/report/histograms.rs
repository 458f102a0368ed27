//! Distribution of the values of each column, before and after.
//!
//! Bars are horizontal, because labels fit on the left on a phone, but not below. All bars have the same height, so a
//! column with many values gets a taller chart.

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

/// In pixels: height of a line with two bars, of one bar, and of the scale above.
const LINE: f64 = 22.0;
const THICK: f64 = 8.0;
const TOP: f64 = 16.0;

/// Left end of the bars, in percent of the width.
const LEFT: f64 = 43.0;

/// Maximum characters of a label in the chart; the table has the full label.
const MAX_LABEL_CHARACTERS: usize = 22;

pub(super) fn part(report: &Report) -> Markup {
    let floor = report.columns.iter().map(|column| column.distribution.floor).max().unwrap_or(0);
    let shown: Vec<_> = report.columns.iter().filter(|column| !column.distribution.bars.is_empty()).collect();
    html! {
        @if !shown.is_empty() {
            h3 #spread { "Distribution of values" }
            p {
                "“Before” is the original table, “after” the release. The dark part of “after” are records whose "
                "released cell lies within the bar. The light part are records whose cell covers several bars, up to "
                code { "*" } "; they are spread evenly over them. The larger the dark part, the more precise is the "
                "column."
            }
            p.note {
                "To protect small groups, bars with fewer than " (count(floor)) " " (report.policy.unit().plural())
                " of the original table are merged with their neighbors or counted as “other values”. Ranges begin at "
                "round numbers; the first and the last range are open."
            }
            figure {
                figcaption { ul.legend {
                    li { (swatch("before")) " before" } li { (swatch("after")) " after, exact" }
                    li { (swatch("guess")) " after, spread evenly" }
                    li { "x axis: share of all records" }
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

/// Returns the shares of each bar: before, after, and after exactly.
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
                (counted(bars.len() as u64, "pair", "pairs")) " of bars; the longest is " (percent(highest))
                " of the records. The table below has the numbers."
            }
            @for (x, part) in [(middle.as_str(), 0.5), ("100%", 1.0)] {
                line.grid x1=(x) x2=(x) y1=(TOP - 2.0) y2=(height) {}
                text.end x=(x) y=(TOP - 5.0) { (percent(highest * part)) }
            }
            @for (line, (bar, shares)) in bars.iter().zip(&shares).enumerate() {
                @let y = TOP + LINE * line as f64;
                text.label x="0" y=(y + LINE / 2.0 + 4.0) { (cut(&bar.label)) }
                // The exact part is drawn over the total.
                @for (series, share, side) in [("before", shares[0], 0.0), ("guess", shares[1], 1.0), ("after", shares[2], 1.0)] {
                    rect class=(series) x=(length(LEFT)) width=(length((100.0 - LEFT) * share / highest))
                        y=(y + 3.0 + THICK * side) height=(THICK) {}
                }
            }
            line.base x1=(length(LEFT)) x2=(length(LEFT)) y1=(TOP - 2.0) y2=(height) {}
        }
    }
}

/// Shortens a label.
fn cut(label: &str) -> String {
    if label.chars().count() <= MAX_LABEL_CHARACTERS {
        return label.to_owned();
    }
    label.chars().take(MAX_LABEL_CHARACTERS - 1).collect::<String>() + "…"
}

fn table(bars: &[Bar]) -> Markup {
    html! {
        table {
            (head(&[text("Value"), number("Before"), number("of all"), number("After"), number("of all"), number("Exact")]))
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
