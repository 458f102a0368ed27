//! Group sizes: a histogram and its numbers.

use maud::{Markup, html};
use moretta_core::schema::Unit;
use moretta_insight::report::{Report, SizeClass};

use super::verdict::share;
use crate::{
    numbers::{count, counted, length, percent, short},
    shell::{head, number, scrolling, text},
};

/// In pixels: height of the chart, top of the highest bar, base line.
const HEIGHT: f64 = 190.0;
const TOP: f64 = 18.0;
const BASE: f64 = 164.0;

/// Width of the scale on the left, in percent of the chart.
const SCALE: f64 = 10.0;

/// Maximum number of labels that do not overlap on a phone.
const MAX_LABELS: usize = 10;

/// Minimum number of slots: with fewer classes the right side stays empty, so that bars are not too wide.
const MIN_SLOTS: usize = 6;

pub(super) fn section(report: &Report) -> Markup {
    let classes = &report.group_sizes;
    html! {
        section aria-labelledby="groups" {
            h2 #groups { "Group sizes" }
            @if classes.is_empty() {
                p { "There are no groups." }
            } @else {
                p { (sentence(report)) }
                figure {
                    (histogram(classes, report.policy.unit()))
                    figcaption {
                        ul.legend {
                            li { (swatch("groups")) " share of the groups" }
                            li { (swatch("records")) " share of the records" }
                            li { "x axis: smallest size of each class; the next class starts at twice that size" }
                        }
                    }
                }
                (scrolling("Group sizes", table(classes)))
            }
        }
    }
}

fn sentence(report: &Report) -> Markup {
    let mean = report.input.rows as f64 / report.groups.max(1) as f64;
    html! {
        (counted(report.input.rows, "record is", "records are")) " released in "
        (counted(report.groups as u64, "group", "groups"))
        " of " (format!("{mean:.1}")) " on average. "
        @if report.input.persons.is_some() { "The size of a group is the number of its persons. " }
        "The larger a group, the better its records are protected, and the less precise they are."
    }
}

/// A square in the color of a series.
pub(super) fn swatch(series: &str) -> Markup {
    html! { svg.swatch width="10" height="10" aria-hidden="true" { rect class=(series) width="10" height="10" {} } }
}

fn totals(classes: &[SizeClass]) -> (u64, u64) {
    (classes.iter().map(|class| class.groups).sum(), classes.iter().map(|class| class.records).sum())
}

fn histogram(classes: &[SizeClass], unit: Unit) -> Markup {
    let (groups, records) = totals(classes);
    let shares =
        |class: &SizeClass| [("groups", share(class.groups, groups)), ("records", share(class.records, records))];
    let highest = classes.iter().flat_map(shares).map(|(_, share)| share).fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    let slot = (100.0 - SCALE) / classes.len().max(MIN_SLOTS) as f64;
    let thinned = classes.len().div_ceil(MAX_LABELS);
    html! {
        svg.histogram width="100%" height=(HEIGHT) role="img" aria-labelledby="histogram-title histogram-desc" {
            title #histogram-title { "Group sizes" }
            desc #histogram-desc {
                "Bars for " (counted(classes.len() as u64, "class", "classes")) " of group sizes, from "
                (count(classes[0].from))
                " " (unit.plural()) " up; the highest bar is " (percent(highest)) ". The table below has the numbers."
            }
            @for part in [0.5, 1.0] {
                @let y = format!("{:.1}", BASE - (BASE - TOP) * part);
                line.grid x1="0" x2="100%" y1=(y) y2=(y) {}
                text x="0" y=(y) dy="-4" { (percent(highest * part)) }
            }
            @for (index, class) in classes.iter().enumerate() {
                @let left = SCALE + slot * index as f64;
                @for (side, (series, share)) in shares(class).into_iter().enumerate() {
                    @let height = (BASE - TOP) * share / highest;
                    rect class=(series)
                        x=(length(left + slot * (0.12 + 0.38 * side as f64))) width=(length(slot * 0.36))
                        y=(format!("{:.1}", BASE - height)) height=(format!("{height:.1}")) {}
                }
                @if index % thinned == 0 {
                    text.label x=(length(left + slot * 0.5)) y=(BASE + 17.0) { (short(class.from)) }
                }
            }
            line.base x1="0" x2="100%" y1=(BASE) y2=(BASE) {}
        }
    }
}

fn table(classes: &[SizeClass]) -> Markup {
    let (groups, records) = totals(classes);
    html! {
        table {
            caption { "Groups and records by group size" }
            (head(&[text("Size"), number("Groups"), number("of all"), number("Records"), number("of all")]))
            tbody { @for class in classes {
                tr {
                    th scope="row" { (count(class.from)) @if class.to > class.from { "–" (count(class.to)) } }
                    td.number { (count(class.groups)) }
                    td.number { (percent(share(class.groups, groups))) }
                    td.number { (count(class.records)) }
                    td.number { (percent(share(class.records, records))) }
                }
            } }
        }
    }
}
