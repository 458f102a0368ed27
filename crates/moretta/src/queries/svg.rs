//! Errors against selectivity as a picture: a panel for each kind of query.

use maud::{Markup, PreEscaped, html};
use moretta_core::{
    evaluate::queries::{Answered, errors, errors_by_class},
    text::count,
};

use super::Queries;
use crate::page::plot::{COLOURS, HEIGHT, Panel, STYLE, Scale, WIDTH};

const GAP: f64 = 28.0;
const MARGIN: f64 = 20.0;
const TOP: f64 = MARGIN + 40.0;

impl Queries<'_> {
    /// As SVG.
    pub fn svg(&self) -> String {
        let kinds = self.kinds();
        let width = 2.0 * MARGIN + kinds.len().max(1) as f64 * (WIDTH + GAP) - GAP;
        let height = TOP + HEIGHT + MARGIN;
        let picture = html! {
            svg.plot xmlns="http://www.w3.org/2000/svg" width=(width) height=(height)
                viewBox=(format!("0 0 {width} {height}")) {
                title { "How far answers are from the truth: " (self.file) }
                style { (PreEscaped(COLOURS)) (PreEscaped(STYLE)) }
                rect.paper width="100%" height="100%" {}
                text.name x=(MARGIN) y=(MARGIN + 4.0) { (self.file) ": " (count(self.records)) " records" }
                text x=(MARGIN) y=(MARGIN + 21.0) { "Mean relative error by the share of records asked about" }
                @for (index, (kind, answered)) in kinds.iter().enumerate() {
                    g transform=(format!("translate({} {TOP})", MARGIN + index as f64 * (WIDTH + GAP))) {
                        (self.panel(&kind.name(), answered))
                    }
                }
            }
        };
        format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}\n", picture.into_string())
    }

    /// A step for each class that has queries, from its lower end to its upper one.
    fn panel(&self, name: &str, answered: &[Answered]) -> Markup {
        let least = answered.iter().map(|one| one.selectivity(self.records)).filter(|share| *share > 0.0);
        let least = least.fold(1.0, f64::min);
        let mut points = Vec::new();
        for class in errors_by_class(answered, self.records) {
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
}
