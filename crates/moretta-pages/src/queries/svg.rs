//! Errors by selectivity as SVG, a panel per kind of query.

use maud::{Markup, html};
use moretta_core::text::count;
use moretta_insight::evaluate::queries::{Answered, Queries, errors, errors_by_class};

use crate::plot::{HEIGHT, Panel, Scale, WIDTH, picture};

const GAP: f64 = 28.0;
const MARGIN: f64 = 20.0;
const TOP: f64 = MARGIN + 40.0;

/// Returns the text of an SVG file.
pub fn svg(queries: &Queries) -> String {
    let kinds = queries.kinds();
    let width = 2.0 * MARGIN + kinds.len().max(1) as f64 * (WIDTH + GAP) - GAP;
    let height = TOP + HEIGHT + MARGIN;
    let content = html! {
        text.name x=(MARGIN) y=(MARGIN + 4.0) { (queries.file) ": " (count(queries.records)) " records" }
        text x=(MARGIN) y=(MARGIN + 21.0) { "Mean relative error by selectivity (share of the records that a query selects)" }
        @for (index, (kind, answered)) in kinds.iter().enumerate() {
            g transform=(format!("translate({} {TOP})", MARGIN + index as f64 * (WIDTH + GAP))) {
                (panel(queries, &kind.name(), answered))
            }
        }
    };
    picture(&format!("Errors of query answers: {}", queries.file), width, height, &content)
}

/// Draws a step per class of selectivity that has queries, from its lower to its upper bound.
fn panel(queries: &Queries, name: &str, answered: &[Answered]) -> Markup {
    let lowest = answered.iter().map(|one| one.selectivity(queries.records)).filter(|share| *share > 0.0);
    let lowest = lowest.fold(1.0, f64::min);
    let mut points = Vec::new();
    for class in errors_by_class(answered, queries.records) {
        if let Some(mean) = class.errors.mean {
            let from = if points.is_empty() { class.above.max(lowest) } else { class.above };
            points.extend([(from, mean), (class.up_to, mean)]);
        }
    }
    let errors = errors(answered);
    let panel = Panel {
        name: &format!("{name}, {} queries", count(errors.queries as u64)),
        id: name,
        description: format!("Mean relative error of {name} by selectivity"),
        across: "selectivity",
        points: &points,
        x: Scale::log(points.iter().map(|point| point.0)),
        y: Scale::linear(points.iter().map(|point| point.1)),
        mark_x: None,
        mark_y: errors.mean.map(|mean| (mean, format!("mean {:.1} %", 100.0 * mean))),
    };
    panel.drawn()
}
