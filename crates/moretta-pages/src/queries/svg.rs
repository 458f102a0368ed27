//! Errors against selectivity as a picture: a panel for each kind of query.

use maud::{Markup, html};
use moretta_core::text::count;
use moretta_insight::evaluate::queries::{Answered, Queries, errors, errors_by_class};

use crate::plot::{HEIGHT, Panel, Scale, WIDTH, picture};

const GAP: f64 = 28.0;
const MARGIN: f64 = 20.0;
const TOP: f64 = MARGIN + 40.0;

/// As SVG.
pub fn svg(queries: &Queries) -> String {
    let kinds = queries.kinds();
    let width = 2.0 * MARGIN + kinds.len().max(1) as f64 * (WIDTH + GAP) - GAP;
    let height = TOP + HEIGHT + MARGIN;
    let content = html! {
        text.name x=(MARGIN) y=(MARGIN + 4.0) { (queries.file) ": " (count(queries.records)) " records" }
        text x=(MARGIN) y=(MARGIN + 21.0) { "Mean relative error by the share of records asked about" }
        @for (index, (kind, answered)) in kinds.iter().enumerate() {
            g transform=(format!("translate({} {TOP})", MARGIN + index as f64 * (WIDTH + GAP))) {
                (panel(queries, &kind.name(), answered))
            }
        }
    };
    picture(&format!("How far answers are from the truth: {}", queries.file), width, height, &content)
}

/// A step for each class that has queries, from its lower end to its upper one.
fn panel(queries: &Queries, name: &str, answered: &[Answered]) -> Markup {
    let least = answered.iter().map(|one| one.selectivity(queries.records)).filter(|share| *share > 0.0);
    let least = least.fold(1.0, f64::min);
    let mut points = Vec::new();
    for class in errors_by_class(answered, queries.records) {
        if let Some(mean) = class.errors.mean {
            let from = if points.is_empty() { class.above.max(least) } else { class.above };
            points.extend([(from, mean), (class.up_to, mean)]);
        }
    }
    let errors = errors(answered);
    let panel = Panel {
        name: &format!("{name}, {} queries", count(errors.queries as u64)),
        id: name,
        description: format!("Share of the records asked about against the mean relative error of {name}"),
        across: "share of the records",
        points: &points,
        x: Scale::log(points.iter().map(|point| point.0)),
        y: Scale::linear(points.iter().map(|point| point.1)),
        asked_x: None,
        asked_y: errors.mean.map(|mean| (mean, format!("mean {:.1} %", 100.0 * mean))),
    };
    panel.drawn()
}
