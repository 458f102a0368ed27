//! The trade-off as SVG: anonymity and each measure, a panel per measure.

use maud::{Markup, html};
use moretta_core::{measure::MEASURES, text::count};
use moretta_insight::tradeoff::{Point, TradeOff, caveat, wrapped};

use crate::plot::{HEIGHT, Panel, Scale, WIDTH, picture};

const ACROSS: usize = 2;
const GAP: f64 = 28.0;
const MARGIN: f64 = 20.0;
/// Height of a line of text under the title, in pixels.
const LINE: f64 = 15.0;
const CHARACTER: f64 = 6.2;

/// Draws the panel of one measure by anonymity.
pub(super) fn with_panel<T>(tradeoff: &TradeOff, name: &str, draw: impl FnOnce(&Panel<'_>) -> T) -> T {
    let shown = tradeoff.points.iter().filter(|point| !is_left_out(point, name));
    let points: Vec<(f64, f64)> =
        shown.filter_map(|point| Some((point.anonymity as f64, point.measures.get(name)?))).collect();
    let summary = MEASURES.iter().find(|entry| entry.name == name).map_or("", |entry| entry.summary);
    let across: Vec<f64> = points.iter().map(|point| point.0).chain(tradeoff.k.map(|k| k as f64)).collect();
    draw(&Panel {
        name,
        id: name,
        description: format!("{name} by anonymity: {summary}"),
        across: "anonymity",
        points: &points,
        x: Scale::log(across.into_iter()),
        y: Scale::fitting(points.iter().map(|point| point.1)),
        mark_x: tradeoff.k.map(|k| (k as f64, format!("k = {}", count(k)))),
        mark_y: None,
    })
}

/// Whether a panel omits a point: if all values are `*`, all records count as suppressed and `cm` is 1 by definition,
/// which would flatten the rest of the curve.
pub(super) fn is_left_out(point: &Point, name: &str) -> bool {
    name == "cm" && point.groups == 1 && point.measures.get(name) == Some(1.0)
}

/// Returns the text of an SVG file.
pub fn svg(tradeoff: &TradeOff, title: &str) -> String {
    let measures = tradeoff.measures();
    let across = ACROSS.min(measures.len().max(1));
    let rows = measures.len().div_ceil(across);
    let width = 2.0 * MARGIN + across as f64 * (WIDTH + GAP) - GAP;
    let caption = wrapped(&caveat(tradeoff).join(" "), ((width - 2.0 * MARGIN) / CHARACTER) as usize);
    let top = MARGIN + 24.0 + LINE * caption.len() as f64;
    let height = top + MARGIN + rows as f64 * (HEIGHT + GAP) - GAP;
    let panel = |index: usize, name: &str| -> Markup {
        let x = MARGIN + (index % across) as f64 * (WIDTH + GAP);
        let y = top + (index / across) as f64 * (HEIGHT + GAP);
        html! { g transform=(format!("translate({x} {y})")) { (with_panel(tradeoff, name, |panel| panel.drawn())) } }
    };
    let content = html! {
        text.name x=(MARGIN) y=(MARGIN + 4.0) {
            (title) ": " (count(tradeoff.rows)) " records, " (tradeoff.steps()) " steps of " (tradeoff.method)
        }
        @for (index, line) in caption.iter().enumerate() {
            text x=(MARGIN) y=(MARGIN + 6.0 + LINE * (index + 1) as f64) { (line) }
        }
        @for (index, name) in measures.iter().enumerate() { (panel(index, name)) }
    };
    picture(&format!("Privacy-utility trade-off: {title}"), width, height, &content)
}
