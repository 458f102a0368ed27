//! Hierarchies over numbers: every node is an interval of the column's distinct values.
//!
//! A builder gets the distinct values in ascending order with their texts, and returns a [`Tree`] whose leaves are
//! exactly these, left to right. The index of a value is its code. `m` is the number of distinct values in all cost
//! bounds.

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
use super::{
    Decimal,
    tree::{Tree, TreeBuilder},
};

/// Shortest decimal text of a number; whole numbers without a fraction.
pub(crate) fn number_text(value: f64) -> String {
    // Adding 0 turns -0 into 0.
    format!("{}", value + 0.0)
}

/// Label of the half-open interval from `low` to `high`.
///
/// If all values are whole numbers, `[20, 24]` is written instead of `[20, 25)`.
pub(crate) fn interval_label(low: &Decimal, high: &Decimal, whole: bool) -> String {
    match high.units(0).filter(|_| whole).map(|high| Decimal::of_units(high - 1, 0)) {
        None => format!("[{low}, {high})"),
        Some(last) if last == *low => low.to_string(),
        Some(last) => format!("[{low}, {last}]"),
    }
}

/// Whether all are whole numbers of at most 38 digits.
pub(crate) fn all_whole(values: &[Decimal]) -> bool {
    values.iter().all(|value| value.units(0).is_some())
}

/// Builds a tree from levels of labels, coarsest first: `levels[level][code]` is the label above the value with that
/// code.
///
/// Neighboring values with the same label on a level share a node there. A label equal to the label on the level above,
/// or to the value's own text, makes no node.
pub(crate) fn from_levels(texts: &[Box<str>], levels: &[Vec<String>]) -> Tree {
    let mut builder = TreeBuilder::default();
    let mut open: Vec<(usize, &str)> = Vec::new();
    for (code, text) in texts.iter().enumerate() {
        let shared = open.iter().zip(levels).take_while(|((_, label), level)| *label == level[code]).count();
        open.truncate(shared);
        for level in &levels[shared..] {
            let above = open.last().map_or(TreeBuilder::ROOT, |(handle, _)| *handle);
            // A label equal to that of the level above means the same node.
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
