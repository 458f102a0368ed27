//! A chart as a part of a page: it takes its colours from the page, light or dark, and has no legend of its own, because
//! several charts of the same lines share one.
//!
//! Lines are told apart three times over: by colour, by the shape of their marks, and by their dashes, so that eight of
//! them can be followed on black-and-white paper too. A line's looks depend on its place in the list alone, so a line
//! that has no points in one chart keeps its looks in the next.

use std::fmt::Write as _;

use super::{Axis, Chart, Scale, escaped, short};

const WIDTH: f64 = 420.0;
const HEIGHT: f64 = 250.0;
/// Left, top, right and bottom of the plotting area.
const AREA: (f64, f64, f64, f64) = (46.0, 34.0, 408.0, 214.0);
/// Names of values across need so much room.
const APART: f64 = 26.0;
/// The rules that go with the classes here. The page has `--ink`, `--muted` and `--line`.
pub const STYLE: &str = include_str!("embedded.css");
/// Around 0, and whether it is filled.
const MARKS: [(&str, bool); 8] = [
    ("M-3.2 0a3.2 3.2 0 1 0 6.4 0a3.2 3.2 0 1 0-6.4 0z", true),
    ("M-3-3h6v6h-6z", true),
    ("M0-4L4 3H-4z", true),
    ("M0-4.4L4.4 0L0 4.4L-4.4 0z", true),
    ("M-3.2 0a3.2 3.2 0 1 0 6.4 0a3.2 3.2 0 1 0-6.4 0z", false),
    ("M-4 0h8M0-4v8", false),
    ("M-3-3l6 6M-3 3l6-6", false),
    ("M0 4L4-3H-4z", true),
];
const DASHES: [&str; 4] = ["none", "7 3", "2 2.5", "9 3 2 3"];

/// A line across the whole chart.
#[derive(Debug, Clone)]
pub struct Level {
    /// Its name, at its left end.
    pub name: String,
    /// Its height.
    pub value: f64,
}

/// A chart for a page.
#[derive(Debug, Clone)]
pub struct Embedded<'a> {
    /// What is drawn.
    pub chart: &'a Chart,
    /// Ids in one page must differ: this is part of two.
    pub id: &'a str,
    /// In words, for those who do not see it.
    pub description: &'a str,
    /// Lines to compare with, from the lowest.
    pub levels: &'a [Level],
    /// Whether an axis that is not logarithmic begins at 0.
    pub from_zero: bool,
}

impl Embedded<'_> {
    /// The element, with a name for whoever does not see it.
    pub fn svg(&self) -> String {
        let (id, chart) = (escaped(self.id), self.chart);
        let mut svg = format!(
            "<svg class=\"chart\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-labelledby=\"{id}-title {id}-desc\">\
             <title id=\"{id}-title\">{}</title><desc id=\"{id}-desc\">{}</desc>",
            escaped(&chart.title),
            escaped(self.description)
        );
        let (x, y) = (self.across(), self.up());
        self.frame(&mut svg, &x, &y);
        self.draw_levels(&mut svg, &y);
        for (at, line) in chart.lines.iter().enumerate() {
            let places: Vec<(f64, f64)> = chart.shown(line).map(|(a, b)| (x.place(a), y.place(b))).collect();
            svg += &drawn(at, &places, &places);
        }
        svg + "</svg>"
    }

    fn points(&self) -> impl Iterator<Item = (f64, f64)> + Clone + '_ {
        self.chart.lines.iter().flat_map(|line| line.points.iter().copied())
    }

    fn across(&self) -> Scale {
        let (left, _, right, _) = AREA;
        // Marks at either end stay off the axis.
        self.scale(self.chart.x, self.points().map(|point| point.0), (left + 14.0, right - 8.0), 0.0, false)
    }

    fn up(&self) -> Scale {
        let (_, top, _, bottom) = AREA;
        let levels = self.levels.iter().map(|level| level.value);
        self.scale(self.chart.y, self.points().map(|point| point.1).chain(levels), (bottom, top), 0.08, self.from_zero)
    }

    /// From the least to the greatest, and a little more at both ends.
    fn scale(
        &self,
        axis: Axis,
        values: impl Iterator<Item = f64> + Clone,
        (from, to): (f64, f64),
        more: f64,
        from_zero: bool,
    ) -> Scale {
        let usable = values.filter(|value| axis.fits(*value));
        let low = usable.clone().fold(f64::INFINITY, f64::min);
        let high = usable.fold(f64::NEG_INFINITY, f64::max);
        let (low, high) = if low > high { (1.0, 10.0) } else { (low, high) };
        let (low, high) = match (axis.log, high > low) {
            (true, true) => (low / (high / low).powf(more), high * (high / low).powf(more)),
            (true, false) => (low / 2.0, low * 2.0),
            (false, true) if from_zero && low >= 0.0 => (0.0, high * (1.0 + more)),
            (false, true) => (low - more * (high - low), high + more * (high - low)),
            (false, false) if from_zero && low > 0.0 => (0.0, low * 1.5),
            (false, false) => (low - low.abs().max(1.0) / 2.0, low + low.abs().max(1.0) / 2.0),
        };
        Scale { log: axis.log, low, high, from, to }
    }

    fn frame(&self, svg: &mut String, x: &Scale, y: &Scale) {
        let (left, _, right, bottom) = AREA;
        let mut text = |class: &str, x: f64, y: f64, text: &str| {
            let _ = write!(svg, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escaped(text));
        };
        text("title", 0.0, 13.0, &self.chart.title);
        text("end", right, 13.0, self.chart.y.title);
        text("end", right, HEIGHT - 3.0, self.chart.x.title);
        for tick in y.ticks() {
            text("end", left - 6.0, y.place(tick) + 4.0, &short(tick));
        }
        let ticks = self.ticks(x);
        for tick in &ticks {
            text("middle", x.place(*tick), bottom + 17.0, &short(*tick));
        }
        for tick in y.ticks() {
            let _ = write!(svg, "<path class=\"grid\" d=\"M{left} {:.1}H{right}\"/>", y.place(tick));
        }
        for tick in ticks {
            let _ = write!(svg, "<path class=\"base\" d=\"M{:.1} {bottom}v4\"/>", x.place(tick));
        }
        let _ = write!(svg, "<path class=\"base\" d=\"M{left} {bottom}H{right}\"/>");
    }

    /// The values across themselves, as far as their names have room.
    fn ticks(&self, x: &Scale) -> Vec<f64> {
        let mut values: Vec<f64> =
            self.points().map(|point| point.0).filter(|value| self.chart.x.fits(*value)).collect();
        values.sort_by(f64::total_cmp);
        let mut last = f64::NEG_INFINITY;
        values.retain(|value| {
            let room = x.place(*value) - last >= APART;
            last = if room { x.place(*value) } else { last };
            room
        });
        values
    }

    /// The lowest has its name below and the others above, so that names are where no curve should be.
    fn draw_levels(&self, svg: &mut String, y: &Scale) {
        let (left, _, right, _) = AREA;
        for (at, level) in self.levels.iter().enumerate().filter(|(_, level)| self.chart.y.fits(level.value)) {
            let height = y.place(level.value);
            let _ = write!(svg, "<path class=\"level\" d=\"M{left} {height:.1}H{right}\"/>");
            let beside = if at == 0 { height + 11.0 } else { height - 4.0 };
            let name = escaped(&level.name);
            let _ = write!(svg, "<text class=\"level-name end\" x=\"{right}\" y=\"{beside:.1}\">{name}</text>");
        }
    }
}

/// A line through some places, with marks at some.
fn drawn(at: usize, places: &[(f64, f64)], marked: &[(f64, f64)]) -> String {
    if places.is_empty() {
        return String::new();
    }
    let (mark, full) = MARKS[at % MARKS.len()];
    let path: Vec<String> = places.iter().map(|(a, b)| format!("{a:.1} {b:.1}")).collect();
    let mut svg = format!(
        "<g class=\"line-{}\"><path class=\"line\" stroke-dasharray=\"{}\" d=\"M{}\"/>",
        at % MARKS.len(),
        DASHES[at % DASHES.len()],
        path.join("L")
    );
    for (a, b) in marked {
        let full = if full { " full" } else { "" };
        let _ = write!(svg, "<path class=\"mark{full}\" transform=\"translate({a:.1} {b:.1})\" d=\"{mark}\"/>");
    }
    svg + "</g>"
}

/// How a line looks, for a legend.
pub fn swatch(at: usize) -> String {
    let line = drawn(at, &[(1.0, 7.0), (33.0, 7.0)], &[(17.0, 7.0)]);
    format!("<svg width=\"34\" height=\"14\" viewBox=\"0 0 34 14\" aria-hidden=\"true\">{line}</svg>")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Line;

    fn svg(log: bool, lines: &[&[(f64, f64)]], levels: &[Level]) -> String {
        let axis = |title| Axis { title, log };
        let lines = lines.iter().map(|points| Line { name: String::new(), points: points.to_vec() }).collect();
        let chart = Chart { title: "<E> & \"co\"".to_owned(), x: axis("k"), y: axis("%"), lines };
        Embedded { chart: &chart, id: "e", description: "<d>", levels, from_zero: false }.svg()
    }

    #[test]
    fn eight_lines_all_look_different() {
        let looks: std::collections::BTreeSet<String> =
            (0..8).map(|at| swatch(at).replace(&format!("line-{at}"), "")).collect();
        assert_eq!(looks.len(), 8, "even without colour");
    }

    #[test]
    fn names_are_escaped_and_values_across_are_named() {
        let level = |name: &str, value| Level { name: name.to_owned(), value };
        let drawn = svg(false, &[&[(5.0, 1.0), (10.0, 2.0), (50.0, 3.0)], &[]], &[level("B", 0.5), level("<W>", 4.0)]);
        assert!(drawn.contains("&lt;E&gt; &amp; &quot;co&quot;") && drawn.contains("&lt;d&gt;"), "{drawn}");
        assert!(drawn.contains("&lt;W&gt;") && drawn.contains(">50</text>"), "{drawn}");
        assert_eq!((drawn.matches("class=\"mark").count(), drawn.matches("class=\"line\"").count()), (3, 1));
    }

    #[test]
    fn nothing_that_is_no_number_gets_into_a_picture() {
        let odd: [&[(f64, f64)]; 5] =
            [&[], &[(3.0, 0.0)], &[(3.0, 7.0), (3.0, 7.0)], &[(0.0, -1.0), (f64::INFINITY, 2.0)], &[(5.0, f64::NAN)]];
        for points in odd {
            for log in [false, true] {
                for value in [f64::NAN, 0.0] {
                    let level = Level { name: "B".to_owned(), value };
                    let drawn = svg(log, &[points], &[level]);
                    assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{log} {points:?}: {drawn}");
                }
            }
        }
    }
}
