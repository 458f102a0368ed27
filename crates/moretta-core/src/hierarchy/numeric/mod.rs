//! Hierarchies over numbers: every node is an interval of the column's distinct values.
//!
//! A builder gets the distinct values in order and their texts, and returns a [`Tree`] whose leaves are
//! exactly these, left to right.

pub mod bins;
mod built;
mod chu;
mod equal_frequency;
mod equal_width;
pub(crate) mod given;
mod han;
mod intervals;
mod iotf;
mod merge;
mod otf;
pub mod widths;

pub use self::built::{Builder, Built, DistinctValues};
use super::tree::{Tree, TreeBuilder};

/// A number without a fraction prints without one.
pub(crate) fn number_text(value: f64) -> String {
    // Adding 0 turns -0 into 0.
    format!("{}", value + 0.0)
}

/// The label of the values from `low` up to, but without, `high`.
///
/// Where everything is whole, `[20, 24]` says the same as `[20, 25)` and is what people write.
pub(crate) fn interval_label(low: f64, high: f64, whole: bool) -> String {
    if !whole {
        format!("[{}, {})", number_text(low), number_text(high))
    } else if high - low == 1.0 {
        number_text(low)
    } else {
        format!("[{}, {}]", number_text(low), number_text(high - 1.0))
    }
}

pub(crate) fn all_whole(values: &[f64]) -> bool {
    values.iter().all(|v| v.fract() == 0.0 && v.abs() < 9e15)
}

/// A tree from levels of intervals, coarsest first: `level(value)` names the interval that holds the value.
///
/// Neighbouring values with the same label on a level share a node there. A node that would hold one value only under
/// a label equal to that value's text is left out.
pub(crate) fn from_levels(texts: &[Box<str>], levels: &[Vec<String>]) -> Tree {
    let mut builder = TreeBuilder::default();
    let mut open: Vec<(usize, &str)> = Vec::new();
    for (code, text) in texts.iter().enumerate() {
        let shared = open.iter().zip(levels).take_while(|((_, label), level)| *label == level[code]).count();
        open.truncate(shared);
        for level in &levels[shared..] {
            let above = open.last().map_or(TreeBuilder::ROOT, |(handle, _)| *handle);
            // The node of a level that says the same as the level above is that node.
            let handle = match open.last() {
                Some((handle, label)) if *label == level[code] => *handle,
                _ if *level[code] == **text => above,
                _ => builder.add(level[code].as_str(), above),
            };
            open.push((handle, &level[code]));
        }
        builder.add(text.clone(), open.last().map_or(TreeBuilder::ROOT, |(handle, _)| *handle));
    }
    builder.build()
}
