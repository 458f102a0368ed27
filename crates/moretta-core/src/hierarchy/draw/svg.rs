//! A tree as SVG: the root at the left, a column per level, a row per node without drawn children.
//!
//! The file is self-contained: no fonts, no scripts. Colors follow the viewer's light or dark setting.

use std::fmt::Write as _;

use super::{DrawOptions, Label, Picture};
use crate::hierarchy::tree::Tree;

const ROW: f64 = 22.0;
const MARGIN: f64 = 16.0;
/// Horizontal space between the labels of two levels, in pixels.
const GAP: f64 = 44.0;
/// Assumed width of a letter in pixels, slightly too wide because the viewer's font is not known.
const LETTER: f64 = 7.4;
const STYLE: &str = "\
svg { background: #ffffff; font: 13px system-ui, sans-serif; }
text { fill: #1f2328; }
.count { fill: #656d76; font-size: 11px; }
.line { fill: none; stroke: #afb8c1; stroke-width: 1.2; }
.node { fill: #0969da; }
.leaf { fill: #ffffff; stroke: #0969da; stroke-width: 1.5; }
@media (prefers-color-scheme: dark) {
  svg { background: #0d1117; }
  text { fill: #e6edf3; }
  .count { fill: #8d96a0; }
  .line { stroke: #484f58; }
  .node { fill: #4493f8; }
  .leaf { fill: #0d1117; stroke: #4493f8; }
}
";

/// Text of an SVG file with a tree and a caption. Folds the same nodes as [`super::text()`].
///
/// ```
/// use moretta_core::hierarchy::{draw, file};
///
/// let tree = file::parse("ada;f;*\nalan;m;*\n").unwrap();
/// let picture = draw::svg(&tree, &draw::DrawOptions::default(), "names");
/// assert!(picture.starts_with("<svg") && picture.contains(">alan</text>"));
/// ```
pub fn svg(tree: &Tree, options: &DrawOptions, caption: &str) -> String {
    let picture = Picture::of(tree, options);
    let labels: Vec<Label> = picture.lines.iter().map(|line| Label::of(tree, line.item, line.folded)).collect();
    let layout = Layout::of(&picture, &labels);
    let width = layout.width.max(2.0 * MARGIN + LETTER * caption.chars().count() as f64);
    let height = ROW + layout.height + if picture.more > 0 { ROW } else { 0.0 };
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\">\n<title>{0}</title>\n<style>\n{STYLE}</style>\n<text x=\"{MARGIN}\" y=\"{ROW}\" font-weight=\"600\">{0}</text>\n<g transform=\"translate(0 {ROW})\">\n",
        escaped(caption)
    );
    // Lines first, so that nodes are drawn over them.
    for (at, line) in picture.lines.iter().enumerate() {
        let Some(above) = layout.above[at] else { continue };
        let ((from_x, from_y), (x, y)) = (layout.at(&picture, above), layout.at(&picture, at));
        let (from_x, turn) = (from_x + 8.0 + labels[above].width(), layout.columns[line.depth as usize] - GAP / 2.0);
        let _ = writeln!(out, "<path class=\"line\" d=\"M{from_x:.1} {from_y:.1}H{turn:.1}V{y:.1}H{:.1}\"/>", x - 4.0);
    }
    for (at, (line, label)) in picture.lines.iter().zip(&labels).enumerate() {
        let (x, y) = layout.at(&picture, at);
        if let Some(node) = line.item.node() {
            let class = if tree.is_leaf(node) { "leaf" } else { "node" };
            let _ = writeln!(out, "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\"/>");
        }
        let count = match &label.count {
            count if count.is_empty() => String::new(),
            count => format!("<tspan class=\"count\" dx=\"6\">{}</tspan>", escaped(count)),
        };
        let (x, y) = (x + 8.0, y + 4.5);
        let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\">{}{count}</text>", escaped(&label.name));
    }
    if let Some(end) = picture.end() {
        let y = layout.height - MARGIN + ROW / 2.0;
        let _ = writeln!(out, "<text x=\"{MARGIN}\" y=\"{y:.1}\">{}</text>", escaped(&end));
    }
    out + "</g>\n</svg>\n"
}

impl Label {
    fn width(&self) -> f64 {
        let letters = |text: &str| text.chars().count() as f64;
        let count = if self.count.is_empty() { 0.0 } else { 6.0 + 0.85 * LETTER * letters(&self.count) };
        LETTER * letters(&self.name) + count
    }
}

/// Positions of all lines of a drawing, in pixels.
struct Layout {
    /// Left edge of each level.
    columns: Vec<f64>,
    /// Vertical center of each line.
    rows: Vec<f64>,
    /// Index of the parent's line.
    above: Vec<Option<usize>>,
    width: f64,
    height: f64,
}

impl Layout {
    fn of(picture: &Picture, labels: &[Label]) -> Self {
        let mut widths: Vec<f64> = Vec::new();
        let mut above = Vec::with_capacity(labels.len());
        let mut path: Vec<usize> = Vec::new();
        for (at, (line, label)) in picture.lines.iter().zip(labels).enumerate() {
            let depth = line.depth as usize;
            widths.resize(widths.len().max(depth + 1), 0.0);
            widths[depth] = widths[depth].max(label.width());
            path.truncate(depth);
            above.push(path.last().copied());
            path.push(at);
        }
        let mut columns = vec![MARGIN + 4.0];
        for width in &widths {
            columns.push(columns[columns.len() - 1] + width + GAP);
        }
        // Rows of the first and the last child. In reverse order, children come before their parent.
        let mut families: Vec<Option<(f64, f64)>> = vec![None; labels.len()];
        let is_end = |at: &usize| above.get(at + 1).is_none_or(|next| *next != Some(*at));
        let ends = (0..labels.len()).filter(is_end).count();
        let (mut rows, mut below) = (vec![0.0; labels.len()], ends as f64);
        for at in (0..labels.len()).rev() {
            rows[at] = match families[at] {
                Some((first, last)) => (first + last) / 2.0,
                None => {
                    below -= 1.0;
                    MARGIN + ROW * (below + 0.5)
                }
            };
            if let Some(above) = above[at] {
                let (_, last) = families[above].unwrap_or((rows[at], rows[at]));
                families[above] = Some((rows[at], last));
            }
        }
        let width = columns[columns.len() - 1] - GAP + 8.0 + MARGIN;
        Self { columns, rows, above, width, height: 2.0 * MARGIN + ROW * ends as f64 }
    }

    fn at(&self, picture: &Picture, line: usize) -> (f64, f64) {
        (self.columns[picture.lines[line].depth as usize], self.rows[line])
    }
}

/// Escapes text for XML. Control characters were escaped before, by [`shown`](crate::text::shown).
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // Not characters in XML.
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(character),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::{file, tree::TreeBuilder};
    use proptest::prelude::*;

    #[test]
    fn labels_cannot_break_out_and_all_are_there() {
        let tree = Tree::flat(["</text><script>", "a & b", "b\u{1b}"]);
        let picture = svg(&tree, &DrawOptions::default(), "caption");
        assert!(picture.contains("&lt;/text&gt;&lt;script&gt;") && picture.contains("a &amp; b"), "{picture}");
        assert!(picture.contains("b\\u{1b}") && !picture.contains('\u{1b}'));
        assert!(svg(&TreeBuilder::default().build(), &DrawOptions::default(), "caption").contains(">*<"));
    }

    #[test]
    fn the_same_is_folded_as_in_the_text() {
        let tree = file::parse("a;x;*\nb;x;*\nc;x;*\nd;x;*\ne;y;*\nf;y;*\ng;y;*\nh;z;*\n").unwrap();
        let picture = svg(&tree, &DrawOptions { max_children: 2, max_depth: 9, max_lines: 99 }, "caption");
        assert!(picture.contains("… 2 more<tspan") && !picture.contains(">d<"));
        let picture = svg(&tree, &DrawOptions { max_children: 9, max_depth: 1, max_lines: 3 }, "caption");
        assert!(
            picture.contains("4 values …") && picture.contains("… 9 more nodes") && !picture.contains(">z<"),
            "{picture}"
        );
    }

    #[test]
    fn a_node_stands_in_the_middle_of_its_children() {
        let tree = file::parse("a;x;*\nb;x;*\nc;y;*\n").unwrap();
        let picture = Picture::of(&tree, &DrawOptions::default());
        let labels: Vec<Label> = picture.lines.iter().map(|line| Label::of(&tree, line.item, line.folded)).collect();
        let rows: Vec<f64> = Layout::of(&picture, &labels).rows.iter().map(|row| (row - MARGIN) / ROW - 0.5).collect();
        assert_eq!(rows, [1.25, 0.5, 0.0, 1.0, 2.0, 2.0]);
    }

    proptest! {
        #[test]
        fn nothing_panics_and_tags_match(
            parents in prop::collection::vec(0usize..1000, 0..40), children in 0usize..5, depth in 0u32..5, lines in 0usize..60
        ) {
            let mut builder = TreeBuilder::default();
            for (index, parent) in parents.iter().enumerate() {
                builder.add(format!("<{index}>"), parent % (index + 1));
            }
            let picture = svg(&builder.build(), &DrawOptions { max_children: children, max_depth: depth, max_lines: lines }, "a & b");
            prop_assert_eq!(picture.matches("<text").count(), picture.matches("</text>").count());
            prop_assert!(!picture.contains("NaN") && !picture.contains("inf"));
        }
    }
}
