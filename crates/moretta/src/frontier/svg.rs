//! A path as a picture of its own: anonymity against each measure, a panel for each.

use maud::{Markup, PreEscaped, html};
use moretta_core::{measure::MEASURES, path::Point, text::count};

use super::{Frontier, caveat, wrapped};
use crate::page::plot::{COLOURS, HEIGHT, Panel, STYLE, Scale, WIDTH};

const ACROSS: usize = 2;
const GAP: f64 = 28.0;
const MARGIN: f64 = 20.0;
/// The sentences under the title.
const LINE: f64 = 15.0;
const CHARACTER: f64 = 6.2;

/// The panel of one measure and the points it shows.
pub struct Curve<'a> {
    frontier: &'a Frontier,
    name: &'a str,
    points: Vec<(f64, f64)>,
}

/// Anonymity against a measure.
pub fn panel_of<'a>(frontier: &'a Frontier, name: &'a str) -> Curve<'a> {
    let point = |point: &Point| Some((point.anonymity as f64, point.measures.get(name)?));
    let shown = frontier.points.iter().filter(|point| !is_left_out(point, name));
    Curve { frontier, name, points: shown.filter_map(point).collect() }
}

/// Where all records print `*` they count as suppressed, and `cm` is 1 by definition: in its panel that one point would
/// press all others to the floor.
pub fn is_left_out(point: &Point, name: &str) -> bool {
    name == "cm" && point.groups == 1 && point.measures.get(name) == Some(1.0)
}

impl Curve<'_> {
    /// Draws it.
    pub fn with<T>(&self, draw: impl FnOnce(&Panel<'_>) -> T) -> T {
        let summary = MEASURES.iter().find(|entry| entry.name == self.name).map_or("", |entry| entry.summary);
        let k = self.frontier.k;
        let across = self.points.iter().map(|point| point.0).chain(k.map(|k| k as f64)).collect::<Vec<_>>();
        draw(&Panel {
            name: self.name,
            id: self.name,
            description: format!("Anonymity against {}: {summary}", self.name),
            across: "anonymity",
            points: &self.points,
            x: Scale::log(across.into_iter()),
            y: Scale::fitting(self.points.iter().map(|point| point.1)),
            asked_x: k.map(|k| (k as f64, format!("k = {}", count(k)))),
            asked_y: None,
        })
    }
}

/// The path as SVG.
pub fn svg(frontier: &Frontier, title: &str) -> String {
    let measures = frontier.measures();
    let across = ACROSS.min(measures.len().max(1));
    let rows = measures.len().div_ceil(across);
    let width = 2.0 * MARGIN + across as f64 * (WIDTH + GAP) - GAP;
    let said = wrapped(&caveat(frontier).join(" "), ((width - 2.0 * MARGIN) / CHARACTER) as usize);
    let top = MARGIN + 24.0 + LINE * said.len() as f64;
    let height = top + MARGIN + rows as f64 * (HEIGHT + GAP) - GAP;
    let panel = |index: usize, name: &str| -> Markup {
        let x = MARGIN + (index % across) as f64 * (WIDTH + GAP);
        let y = top + (index / across) as f64 * (HEIGHT + GAP);
        html! { g transform=(format!("translate({x} {y})")) { (panel_of(frontier, name).with(|panel| panel.drawn())) } }
    };
    let picture = html! {
        svg.plot xmlns="http://www.w3.org/2000/svg" width=(width) height=(height)
            viewBox=(format!("0 0 {width} {height}")) {
            title { "Which k costs what, by the climb alone: " (title) }
            style { (PreEscaped(COLOURS)) (PreEscaped(STYLE)) }
            rect.paper width="100%" height="100%" {}
            text.name x=(MARGIN) y=(MARGIN + 4.0) {
                (title) ": " (count(frontier.rows)) " records, " (frontier.steps()) " steps of "
                (frontier.method)
            }
            @for (index, line) in said.iter().enumerate() {
                text x=(MARGIN) y=(MARGIN + 6.0 + LINE * (index + 1) as f64) { (line) }
            }
            @for (index, name) in measures.iter().enumerate() { (panel(index, name)) }
        }
    };
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}\n", picture.into_string())
}
