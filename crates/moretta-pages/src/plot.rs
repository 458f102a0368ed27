//! Step charts in panels, for pages and for SVG files.
//!
//! A panel has its own coordinates, [`WIDTH`] by [`HEIGHT`]; the caller scales or places it. From one point to the next
//! the line goes first up or down and then across, so that at any x it has the y of the first point at or beyond x.

use std::fmt::Write as _;

use maud::{Markup, PreEscaped, html};

use crate::numbers::{figure, short};

/// Width of a panel, in its own coordinates.
pub const WIDTH: f64 = 400.0;
/// Height of a panel, in its own coordinates.
pub const HEIGHT: f64 = 200.0;
/// CSS of the classes used here; the page defines the colors.
pub const STYLE: &str = include_str!("plot.css");
/// Colors of the pages, light and dark, for SVG files.
const COLORS: &str = "svg { --paper: #fdfcf9; --ink: #1d1b18; --muted: #5f5a52; --line: #d9d3c5; --a: #1c4f66; --b: #b5762b; background: var(--paper); }
@media (prefers-color-scheme: dark) { svg { --paper: #181715; --ink: #ece7dc; --muted: #aaa396; --line: #3e3a34; --a: #7fb8d1; --b: #dca35c; } }
.paper { fill: var(--paper); }
";

/// Maximum number of dots of full size; more are drawn smaller.
const MAX_LARGE_DOTS: usize = 100;

const LEFT: f64 = 52.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 36.0;

/// Scale of an axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scale {
    /// From 0 to this value.
    Linear(f64),
    /// From the first to the second value, both above 0.
    Log(f64, f64),
}

impl Scale {
    /// Returns a linear scale from 0 to the maximum.
    pub fn linear(values: impl Iterator<Item = f64>) -> Self {
        let max = values.fold(0.0, f64::max);
        Self::Linear(if max > 0.0 { max } else { 1.0 })
    }

    /// Returns a logarithmic scale from the minimum to the maximum; a linear one if a value is not above 0.
    pub fn log(values: impl Iterator<Item = f64> + Clone) -> Self {
        let (min, max) = (values.clone().fold(f64::INFINITY, f64::min), values.clone().fold(0.0, f64::max));
        if min > 0.0 && min.is_finite() {
            Self::Log(min, if max > min { max } else { min * 10.0 })
        } else {
            Self::linear(values)
        }
    }

    /// Returns a logarithmic scale if values differ by orders of magnitude and exceed 1; otherwise a linear one.
    pub fn fitting(values: impl Iterator<Item = f64> + Clone) -> Self {
        match Self::log(values.clone()) {
            Self::Log(low, high) if high > 1.0 && high / low > 100.0 => Self::Log(low, high),
            _ => Self::linear(values),
        }
    }

    /// Returns the position of a value, from 0 to 1.
    fn place(self, value: f64) -> f64 {
        let place = match self {
            Self::Linear(high) => value / high,
            Self::Log(low, high) => (value / low).ln() / (high / low).ln(),
        };
        if place.is_finite() { place.clamp(0.0, 1.0) } else { 0.0 }
    }

    fn ticks(self) -> Vec<f64> {
        match self {
            Self::Linear(high) => {
                let rough = high / 4.0;
                let power = 10f64.powf(rough.log10().floor());
                let step = [1.0, 2.0, 5.0, 10.0].map(|n| n * power).into_iter().find(|step| *step >= rough);
                let step = step.unwrap_or(high);
                (0..=(high / step * (1.0 + 1e-9)) as u32).map(|n| f64::from(n) * step).collect()
            }
            Self::Log(low, high) => {
                let powers = low.log10().floor() as i32..=high.log10().ceil() as i32;
                let with = |parts: &[f64]| -> Vec<f64> {
                    let all = powers.clone().flat_map(|power| parts.iter().map(move |part| part * 10f64.powi(power)));
                    all.filter(|tick| (low * 0.999..=high * 1.001).contains(tick)).collect()
                };
                let tens = with(&[1.0]);
                match tens.len() {
                    0..=2 => with(&[1.0, 2.0, 5.0]),
                    3..=6 => tens,
                    many => tens.into_iter().step_by(many.div_ceil(5)).collect(),
                }
            }
        }
    }
}

/// Contents of a panel.
pub struct Panel<'a> {
    /// Heading.
    pub name: &'a str,
    /// Prefix of the ids of title and description; must be unique in the document.
    pub id: &'a str,
    /// Description for screen readers.
    pub description: String,
    /// Label of the x axis.
    pub across: &'a str,
    /// In the order of the steps.
    pub points: &'a [(f64, f64)],
    /// Scale of the x axis.
    pub x: Scale,
    /// Scale of the y axis.
    pub y: Scale,
    /// Vertical line at an x value, with its label.
    pub mark_x: Option<(f64, String)>,
    /// Horizontal line at a y value, with its label.
    pub mark_y: Option<(f64, String)>,
}

impl Panel<'_> {
    fn at_x(&self, value: f64) -> f64 {
        LEFT + (WIDTH - LEFT - RIGHT) * self.x.place(value)
    }

    fn at_y(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * self.y.place(value)
    }

    fn curve(&self) -> String {
        let mut path = String::new();
        for &(x, y) in self.points {
            let (x, y) = (self.at_x(x), self.at_y(y));
            let _ = if path.is_empty() { write!(path, "M{x:.1} {y:.1}") } else { write!(path, "V{y:.1}H{x:.1}") };
        }
        path
    }

    fn dots(&self) -> String {
        // A line of zero length with round caps is a dot.
        let mut places: Vec<String> =
            self.points.iter().map(|&(x, y)| format!("M{:.1} {:.1}h0", self.at_x(x), self.at_y(y))).collect();
        places.dedup();
        places.concat()
    }

    /// Returns the panel as an SVG element of a page.
    pub fn in_page(&self) -> Markup {
        let (title, desc) = (format!("{}-title", self.id), format!("{}-desc", self.id));
        html! {
            svg.plot viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-labelledby=(format!("{title} {desc}")) {
                title id=(title) { (self.name) }
                desc id=(desc) { (self.description) }
                (self.drawn())
            }
        }
    }

    /// Returns the contents, to be placed in another SVG element.
    pub fn drawn(&self) -> Markup {
        let (right, base) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        html! {
            text.name x="0" y="14" { (self.name) }
            @for tick in self.y.ticks() {
                @let y = px(self.at_y(tick));
                line.grid x1=(LEFT) x2=(right) y1=(y) y2=(y) {}
                text.end x=(LEFT - 6.0) y=(y) dy="4" { (tick_text(tick)) }
            }
            @for tick in self.x.ticks() {
                @let x = px(self.at_x(tick));
                line.base x1=(x) x2=(x) y1=(base) y2=(base + 4.0) {}
                text.across x=(x) y=(base + 17.0) { (tick_text(tick)) }
            }
            line.base x1=(LEFT) x2=(right) y1=(base) y2=(base) {}
            text.end x=(right) y=(HEIGHT - 4.0) { (self.across) }
            @if let Some((value, name)) = &self.mark_x {
                @let x = self.at_x(*value);
                line.asked x1=(px(x)) x2=(px(x)) y1=(TOP - 6.0) y2=(base) {}
                @let class = if x > WIDTH * 0.8 { "asked-name end" } else { "asked-name" };
                @let beside = if x > WIDTH * 0.8 { x - 4.0 } else { x + 4.0 };
                text class=(class) x=(px(beside)) y=(TOP - 8.0) { (name) }
            }
            @if let Some((value, name)) = &self.mark_y {
                @let y = self.at_y(*value);
                line.asked x1=(LEFT) x2=(right) y1=(px(y)) y2=(px(y)) {}
                // Below the line if the heading is directly above it.
                text.asked-name x=(LEFT + 4.0) y=(px(if y < TOP + 14.0 { y + 13.0 } else { y - 4.0 })) { (name) }
            }
            path.curve d=(self.curve()) {}
            path.dots.dense[self.points.len() > MAX_LARGE_DOTS] d=(self.dots()) {}
        }
    }
}

/// Returns an SVG file with this content. `title` is for screen readers.
pub fn picture(title: &str, width: f64, height: f64, content: &Markup) -> String {
    let picture = html! {
        svg.plot xmlns="http://www.w3.org/2000/svg" width=(width) height=(height)
            viewBox=(format!("0 0 {width} {height}")) {
            title { (title) }
            style { (PreEscaped(COLORS)) (PreEscaped(STYLE)) }
            rect.paper width="100%" height="100%" {}
            (content)
        }
    };
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}\n", picture.into_string())
}

fn px(value: f64) -> String {
    format!("{value:.1}")
}

fn tick_text(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        whole if whole >= 1.0 && (whole - whole.round()).abs() < 1e-9 => short(whole.round() as u64),
        value => {
            let text = figure(value);
            if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round() {
        assert_eq!(Scale::Linear(1.0).ticks(), [0.0, 0.5, 1.0]);
        assert_eq!(Scale::Linear(0.93).ticks().len(), 2);
        assert_eq!(Scale::Linear(57.0).ticks(), [0.0, 20.0, 40.0]);
        assert_eq!(Scale::Log(1.0, 30_162.0).ticks(), [1.0, 10.0, 100.0, 1_000.0, 10_000.0]);
        assert_eq!(Scale::Log(1.0, 8.0).ticks(), [1.0, 2.0, 5.0]);
        assert!(Scale::Log(1.0, 1e12).ticks().len() <= 6);
    }

    #[test]
    fn nothing_is_out_of_its_panel() {
        let points = [(1.0, 0.0), (1.0, 0.2), (8.0, 0.4), (8.0, 0.4)];
        let of = |values: &[f64]| Scale::fitting(values.iter().copied());
        assert_eq!(of(&[0.0, 5.0]), Scale::Linear(5.0));
        assert_eq!(of(&[1.0, 5000.0]), Scale::Log(1.0, 5000.0));
        assert_eq!(of(&[0.0]), Scale::Linear(1.0));
        let panel = Panel {
            name: "gcp",
            id: "gcp",
            description: String::new(),
            across: "anonymity",
            points: &points,
            x: Scale::log(points.iter().map(|point| point.0)),
            y: Scale::fitting(points.iter().map(|point| point.1)),
            mark_x: Some((1e9, "k".to_owned())),
            mark_y: Some((f64::NAN, "k".to_owned())),
        };
        assert_eq!(panel.curve(), "M52.0 164.0V97.0H52.0V30.0H386.0V30.0H386.0");
        assert_eq!(panel.dots(), "M52.0 164.0h0M52.0 97.0h0M386.0 30.0h0");
        let drawn = panel.in_page().into_string();
        assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{drawn}");
    }
}
