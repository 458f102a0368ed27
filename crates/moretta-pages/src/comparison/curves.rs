//! Charts of figures by k, a line per method; bars if there is only one k.

use maud::{Markup, PreEscaped, html};
use moretta_insight::comparison::{Comparison, Figure, Unit};

use super::{method, shown};
use crate::{
    chart::{
        Axis, Chart, Line,
        embedded::{Embedded, Level, swatch},
    },
    shell::bar,
};

/// An axis is logarithmic if the ratio of its values is larger than this; not tuned.
const LOG_RATIO: f64 = 10.0;
/// The same for k, which users often choose in a geometric series.
const LOG_RATIO_K: f64 = 4.0;

pub(super) fn section(comparison: &Comparison) -> Markup {
    let figures: Vec<&Figure> = comparison.figures().into_iter().filter(|figure| figure.drawn).collect();
    let ks: Vec<u64> = comparison.ks().into_iter().flatten().collect();
    html! {
        section aria-labelledby="curves" {
            @if ks.len() > 1 {
                h2 #curves { "Results by k" }
                ul.legend aria-label="Methods" {
                    @for (at, name) in comparison.methods().into_iter().enumerate() {
                        li { (PreEscaped(swatch(at))) " " (method(name)) }
                    }
                }
                div.panels { @for figure in figures { figure { (curve(comparison, figure, &ks)) figcaption { (caption(figure)) } } } }
            } @else {
                h2 #curves { "Comparison" }
                @for figure in figures { (bars(comparison, figure)) }
            }
        }
    }
}

/// Returns title and unit of a chart.
fn titles(figure: &Figure) -> (&'static str, &'static str) {
    match figure.name {
        "E" => ("error E", "%"),
        "count" => ("COUNT error", "%"),
        "seconds" => ("time", "s"),
        name => (name, figure.unit.name()),
    }
}

fn caption(figure: &Figure) -> String {
    let levels =
        if figure.name == "E" { "; B is trained on the original data, W without the quasi-identifiers" } else { "" };
    crate::shell::capitalized(figure.summary) + levels
}

/// Converts a value to the unit of the axis.
fn scaled(unit: Unit, value: f64) -> f64 {
    match unit {
        Unit::Share => 100.0 * value,
        Unit::Bytes => value / 1e6,
        _ => value,
    }
}

/// The chart of the first figure that pages draw, the information loss, by k; `None` if the rows have no k.
pub(super) fn first(comparison: &Comparison) -> Option<Chart> {
    let ks: Vec<u64> = comparison.ks().into_iter().flatten().collect();
    let figure = comparison.figures().into_iter().find(|figure| figure.drawn)?;
    (!ks.is_empty()).then(|| Chart { title: caption(figure), ..chart(comparison, figure, &ks) })
}

/// Chart of a figure by k, a line per method.
fn chart(comparison: &Comparison, figure: &Figure, ks: &[u64]) -> Chart {
    let point = |name: &str, k: u64| {
        let value = comparison.value(figure, name, Some(k))?;
        Some((k as f64, scaled(figure.unit, value)))
    };
    let line = |name: &str| {
        let points = ks.iter().filter_map(|&k| point(name, k)).collect();
        Line { name: name.to_owned(), points }
    };
    let lines: Vec<Line> = comparison.methods().into_iter().map(line).collect();
    let values = || lines.iter().flat_map(|line| line.points.iter().map(|point| point.1));
    let (min, max) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    let log = min > 0.0 && max / min > LOG_RATIO;
    let far = ks.first().zip(ks.last()).is_some_and(|(first, last)| *last as f64 / *first as f64 > LOG_RATIO_K);
    let (title, unit) = titles(figure);
    let y = Axis { title: unit, log };
    Chart { title: title.to_owned(), x: Axis { title: "k", log: far }, y, lines }
}

fn curve(comparison: &Comparison, figure: &Figure, ks: &[u64]) -> Markup {
    let chart = chart(comparison, figure, ks);
    let levels = levels(comparison, figure);
    let description = format!("{} by k, one line per method; the tables below have the numbers", figure.summary);
    // Errors are between B and W, far from 0.
    let from_zero = levels.is_empty();
    // The chart escapes all texts.
    PreEscaped(Embedded { chart: &chart, id: figure.name, description: &description, levels: &levels, from_zero }.svg())
}

fn levels(comparison: &Comparison, figure: &Figure) -> Vec<Level> {
    match comparison.errors.filter(|_| figure.name == "E") {
        Some(errors) => {
            let level = |name: &str, error: f64| Level { name: name.to_owned(), value: 100.0 * error };
            vec![level("B", errors.raw), level("W", errors.root)]
        }
        None => Vec::new(),
    }
}

fn bars(comparison: &Comparison, figure: &Figure) -> Markup {
    let value = |name: &str| comparison.ks().first().and_then(|&k| comparison.value(figure, name, k));
    let max = comparison.methods().into_iter().filter_map(value).fold(0.0, f64::max);
    let (title, _) = titles(figure);
    html! {
        table.compact.methods.bars {
            caption { (title) ": " (figure.summary) }
            tbody { @for name in comparison.methods() {
                @if let Some(value) = value(name) {
                    tr {
                        th scope="row" { (method(name)) }
                        td.wide { (bar(if max > 0.0 { value / max } else { 0.0 }, None)) }
                        td.number { (shown(figure.unit, Some(value))) }
                    }
                }
            } }
        }
    }
}
