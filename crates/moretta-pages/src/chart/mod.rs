//! Line charts as SVG, as files or within a page.
//!
//! A [`Chart`] has [`Line`]s over two axes, and [`Chart::svg`] draws it. The SVG loads nothing, all names are escaped,
//! and it depends on its arguments alone. [`embedded`] draws the same chart as a part of a page.

pub mod embedded;

use std::fmt::Write as _;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 360.0;
/// Left, top, right and bottom of the plotting area.
const AREA: (f64, f64, f64, f64) = (80.0, 40.0, 470.0, 310.0);
/// Colors that color-blind readers can distinguish (Okabe and Ito), most different first.
const COLORS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"];

/// One axis.
#[derive(Debug, Clone, Copy)]
pub struct Axis {
    /// Label of the axis.
    pub title: &'static str,
    /// Whether the axis is logarithmic; it then shows only values above 0.
    pub log: bool,
}

impl Axis {
    /// Whether the axis can show the value.
    fn fits(self, value: f64) -> bool {
        value.is_finite() && (!self.log || value > 0.0)
    }
}

/// A line of a chart.
#[derive(Debug, Clone)]
pub struct Line {
    /// Name in the legend.
    pub name: String,
    /// From left to right. Points that an axis cannot show are omitted.
    pub points: Vec<(f64, f64)>,
}

/// A chart of lines over the same axes.
#[derive(Debug, Clone)]
pub struct Chart {
    /// Heading above the chart.
    pub title: String,
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// Colored by index.
    pub lines: Vec<Line>,
}

impl Chart {
    /// Returns the points of a line that both axes can show.
    fn shown<'a>(&self, line: &'a Line) -> impl Iterator<Item = (f64, f64)> + 'a {
        let (x, y) = (self.x, self.y);
        line.points.iter().copied().filter(move |(a, b)| x.fits(*a) && y.fits(*b))
    }

    /// Returns the text of an SVG file.
    pub fn svg(&self) -> String {
        let (left, top, right, bottom) = AREA;
        let points: Vec<(f64, f64)> = self.lines.iter().flat_map(|line| self.shown(line)).collect();
        let x = Scale::new(self.x, points.iter().map(|point| point.0), left, right);
        let y = Scale::new(self.y, points.iter().map(|point| point.1), bottom, top);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n"
        );
        let mut text = |x: f64, y: f64, more: &str, text: &str| {
            let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" {more}>{}</text>", escaped(text));
        };
        let middle = (left + right) / 2.0;
        text(middle, 22.0, "text-anchor=\"middle\" font-size=\"14\"", &self.title);
        text(middle, bottom + 36.0, "text-anchor=\"middle\"", self.x.title);
        text(left - 60.0, top - 12.0, "", self.y.title);
        for tick in x.ticks() {
            text(x.place(tick), bottom + 18.0, "text-anchor=\"middle\"", &short(tick));
        }
        for tick in y.ticks() {
            text(left - 6.0, y.place(tick) + 4.0, "text-anchor=\"end\"", &short(tick));
        }
        for (at, line) in self.lines.iter().enumerate() {
            let color = format!("fill=\"{}\"", COLORS[at % COLORS.len()]);
            text(right + 14.0, top + 12.0 + 18.0 * at as f64, &color, &line.name);
        }
        for tick in x.ticks() {
            let at = x.place(tick);
            let _ = writeln!(svg, "<path d=\"M{at:.1} {bottom}V{}\" stroke=\"#999\" fill=\"none\"/>", bottom + 4.0);
        }
        for tick in y.ticks() {
            let _ = writeln!(svg, "<path d=\"M{left} {:.1}H{right}\" stroke=\"#ddd\" fill=\"none\"/>", y.place(tick));
        }
        let _ = writeln!(svg, "<path d=\"M{left} {top}V{bottom}H{right}\" stroke=\"#333\" fill=\"none\"/>");
        for (at, line) in self.lines.iter().enumerate() {
            let color = COLORS[at % COLORS.len()];
            let places: Vec<(f64, f64)> = self.shown(line).map(|(a, b)| (x.place(a), y.place(b))).collect();
            let joined = places.iter().map(|(a, b)| format!("{a:.1},{b:.1}")).collect::<Vec<_>>().join(" ");
            let _ =
                writeln!(svg, "<polyline points=\"{joined}\" stroke=\"{color}\" stroke-width=\"2\" fill=\"none\"/>");
            for (a, b) in places {
                let _ = writeln!(svg, "<circle cx=\"{a:.1}\" cy=\"{b:.1}\" r=\"3\" fill=\"{color}\"/>");
            }
        }
        svg + "</svg>\n"
    }
}

/// Maps values to coordinates.
struct Scale {
    log: bool,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Scale {
    /// Expects values that the axis can show.
    fn new(axis: Axis, values: impl Iterator<Item = f64> + Clone, from: f64, to: f64) -> Self {
        let lowest = values.clone().fold(f64::INFINITY, f64::min);
        let highest = values.fold(f64::NEG_INFINITY, f64::max);
        let (low, high) = if !axis.log {
            (lowest.min(0.0), highest)
        } else if lowest > highest {
            (1.0, 10.0)
        } else {
            (lowest, highest)
        };
        // Avoids an empty range for a single value.
        let high = if high > low { high } else { low + low.abs().max(1.0) };
        Self { log: axis.log, low, high, from, to }
    }

    fn place(&self, value: f64) -> f64 {
        let on = |value: f64| if self.log { value.log10() } else { value };
        let share = (on(value) - on(self.low)) / (on(self.high) - on(self.low));
        self.from + share * (self.to - self.from)
    }

    /// Returns round values within the range.
    fn ticks(&self) -> Vec<f64> {
        if !self.log {
            let rough = (self.high - self.low) / 5.0;
            let unit = 10f64.powf(rough.log10().floor());
            let step = [1.0, 2.0, 5.0, 10.0].map(|times| times * unit).into_iter().find(|&step| step >= rough);
            let step = step.unwrap_or(rough);
            let first = (self.low / step).ceil() as i64;
            let last = (self.high / step + 1e-9).floor() as i64;
            return (first..=last).map(|tick| tick as f64 * step).collect();
        }
        let powers = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
        let narrow = self.high / self.low < 300.0;
        let times: &[f64] = if narrow { &[1.0, 2.0, 5.0] } else { &[1.0] };
        powers
            .flat_map(|power| times.iter().map(move |times| times * 10f64.powi(power)))
            .filter(|&tick| tick >= self.low * 0.999_999 && tick <= self.high * 1.000_001)
            .collect()
    }
}

/// Escapes text for an element or an attribute.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Formats a value for an axis: `25 k`, `1.5 M`.
fn short(value: f64) -> String {
    let shown = |value: f64, unit: &str| {
        let digits = format!("{value:.6}");
        format!("{}{unit}", digits.trim_end_matches('0').trim_end_matches('.'))
    };
    match value.abs() {
        large if large >= 1e9 => shown(value / 1e9, " G"),
        large if large >= 1e6 => shown(value / 1e6, " M"),
        large if large >= 1e4 => shown(value / 1e3, " k"),
        _ => shown(value, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(log: bool, points: &[(f64, f64)]) -> String {
        let axis = |title| Axis { title, log };
        let lines = vec![Line { name: "a < b & c".to_owned(), points: points.to_vec() }];
        Chart { title: "<k>".to_owned(), x: axis("k"), y: axis("loss"), lines }.svg()
    }

    #[test]
    fn every_point_is_drawn_within_its_area_and_names_are_escaped() {
        for (log, points) in [(true, vec![(2.0, 0.1), (1000.0, 3.0)]), (false, vec![(0.0, -1.0), (5.0, 2.0)])] {
            let svg = chart(log, &points);
            assert_eq!(svg.matches("<circle").count(), points.len());
            assert!(svg.contains("a &lt; b &amp; c") && svg.contains("&lt;k&gt;"), "{svg}");
            assert!(svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n"));
            assert!(svg.contains("cx=\"80.0\"") && svg.contains("cx=\"470.0\""), "from end to end: {svg}");
        }
    }

    #[test]
    fn a_lone_point_and_none_are_charts_too() {
        for points in [vec![], vec![(3.0, 0.0)], vec![(3.0, 7.0), (3.0, 7.0)]] {
            for log in [false, true] {
                let svg = chart(log, &points);
                assert!(!svg.contains("NaN") && !svg.contains("inf"), "{log} {svg}");
            }
        }
    }

    #[test]
    fn points_without_a_place_are_left_out() {
        let odd = [
            (2.0, 1.0),
            (f64::NAN, 1.0),
            (3.0, f64::NAN),
            (f64::INFINITY, 1.0),
            (3.0, f64::NEG_INFINITY),
            (0.0, 2.0),
            (4.0, -1.0),
            (9.0, 5.0),
        ];
        for (log, shown) in [(false, 4), (true, 2)] {
            let svg = chart(log, &odd);
            assert_eq!(svg.matches("<circle").count(), shown, "{log} {svg}");
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{log} {svg}");
            let svg = chart(log, &odd[1..5]);
            assert!(!svg.contains("<circle") && !svg.contains("NaN") && !svg.contains("inf"), "{log} {svg}");
        }
    }

    #[test]
    fn numbers_at_an_axis_are_short() {
        assert_eq!([0.25, 1000.0, 25_000.0, 1.5e6, 2e9].map(short), ["0.25", "1000", "25 k", "1.5 M", "2 G"]);
    }
}
