//! A chart as a part of a page: it uses the colors of the page, light or dark, and has no legend, because several
//! charts share one.
//!
//! Lines differ in color, shape of marks, and dashes, so that eight of them are distinguishable in black and white. The
//! style of a line depends only on its index, so a line has the same style in all charts.

use std::fmt::Write as _;

use super::{Axis, Chart, Scale, escaped, short};

const WIDTH: f64 = 420.0;
const HEIGHT: f64 = 250.0;
/// Left, top, right and bottom of the plotting area.
const AREA: (f64, f64, f64, f64) = (46.0, 34.0, 408.0, 214.0);
/// Minimum distance between tick labels of the x axis, in units of the view box.
const MIN_TICK_DISTANCE: f64 = 26.0;
/// CSS of the classes used here. The page defines `--ink`, `--muted` and `--line`.
pub const STYLE: &str = include_str!("embedded.css");
/// SVG path of each mark, centered at 0, and whether it is filled.
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

/// A horizontal reference line.
#[derive(Debug, Clone)]
pub struct Level {
    /// Label at the right end.
    pub name: String,
    /// Value on the y axis.
    pub value: f64,
}

/// A chart for a page.
#[derive(Debug, Clone)]
pub struct Embedded<'a> {
    /// Lines and axes.
    pub chart: &'a Chart,
    /// Prefix of the ids of title and description; must be unique in the page.
    pub id: &'a str,
    /// Description for screen readers.
    pub description: &'a str,
    /// Reference lines, lowest first.
    pub levels: &'a [Level],
    /// Whether a linear y axis starts at 0.
    pub from_zero: bool,
}

impl Embedded<'_> {
    /// Returns the SVG element, with title and description for screen readers.
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
        for (index, line) in chart.lines.iter().enumerate() {
            let places: Vec<(f64, f64)> = chart.shown(line).map(|(a, b)| (x.place(a), y.place(b))).collect();
            svg += &polyline(index, &places, &places);
        }
        svg + "</svg>"
    }

    fn points(&self) -> impl Iterator<Item = (f64, f64)> + Clone + '_ {
        self.chart.lines.iter().flat_map(|line| line.points.iter().copied())
    }

    fn across(&self) -> Scale {
        let (left, _, right, _) = AREA;
        // Keeps the first and the last mark off the axis.
        self.scale(self.chart.x, self.points().map(|point| point.0), (left + 14.0, right - 8.0), 0.0, false)
    }

    fn up(&self) -> Scale {
        let (_, top, _, bottom) = AREA;
        let levels = self.levels.iter().map(|level| level.value);
        self.scale(self.chart.y, self.points().map(|point| point.1).chain(levels), (bottom, top), 0.08, self.from_zero)
    }

    /// Returns a scale from the minimum to the maximum, extended at both ends by the share `margin`.
    fn scale(
        &self,
        axis: Axis,
        values: impl Iterator<Item = f64> + Clone,
        (from, to): (f64, f64),
        margin: f64,
        from_zero: bool,
    ) -> Scale {
        let usable = values.filter(|value| axis.fits(*value));
        let low = usable.clone().fold(f64::INFINITY, f64::min);
        let high = usable.fold(f64::NEG_INFINITY, f64::max);
        let (low, high) = if low > high { (1.0, 10.0) } else { (low, high) };
        let (low, high) = match (axis.log, high > low) {
            (true, true) => (low / (high / low).powf(margin), high * (high / low).powf(margin)),
            (true, false) => (low / 2.0, low * 2.0),
            (false, true) if from_zero && low >= 0.0 => (0.0, high * (1.0 + margin)),
            (false, true) => (low - margin * (high - low), high + margin * (high - low)),
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

    /// Returns the x values that have room for a label.
    fn ticks(&self, x: &Scale) -> Vec<f64> {
        let mut values: Vec<f64> =
            self.points().map(|point| point.0).filter(|value| self.chart.x.fits(*value)).collect();
        values.sort_by(f64::total_cmp);
        let mut last = f64::NEG_INFINITY;
        values.retain(|value| {
            let room = x.place(*value) - last >= MIN_TICK_DISTANCE;
            last = if room { x.place(*value) } else { last };
            room
        });
        values
    }

    /// Draws the reference lines. The lowest has its label below and the others above, away from the curves.
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

/// Returns a polyline in the style of line `index`, with marks.
fn polyline(index: usize, places: &[(f64, f64)], marked: &[(f64, f64)]) -> String {
    if places.is_empty() {
        return String::new();
    }
    let (mark, full) = MARKS[index % MARKS.len()];
    let path: Vec<String> = places.iter().map(|(a, b)| format!("{a:.1} {b:.1}")).collect();
    let mut svg = format!(
        "<g class=\"line-{}\"><path class=\"line\" stroke-dasharray=\"{}\" d=\"M{}\"/>",
        index % MARKS.len(),
        DASHES[index % DASHES.len()],
        path.join("L")
    );
    for (a, b) in marked {
        let full = if full { " full" } else { "" };
        let _ = write!(svg, "<path class=\"mark{full}\" transform=\"translate({a:.1} {b:.1})\" d=\"{mark}\"/>");
    }
    svg + "</g>"
}

/// Returns a sample of line `index` for a legend.
pub fn swatch(index: usize) -> String {
    let line = polyline(index, &[(1.0, 7.0), (33.0, 7.0)], &[(17.0, 7.0)]);
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
        assert_eq!(looks.len(), 8, "even without color");
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
