//! Builds a tree from nested ranges of codes: the last step of every builder in this folder.

use std::{borrow::Cow, cmp::Reverse, ops::Range};

use super::{Tree, TreeBuilder};

/// Codes of the first and the last value of a node, both included. A code is an index into the distinct values.
pub(super) type CodeRange = (u32, u32);

/// Range of a whole column.
pub(super) fn whole(values: usize) -> CodeRange {
    (0, values.saturating_sub(1) as u32)
}

/// Builds a tree over the values from nested ranges in preorder.
///
/// Ranges of one value and repeated ranges make no node: it would have a single child. So no two nodes have the same
/// label.
pub(super) fn tree(texts: &[Box<str>], preorder: &[CodeRange]) -> Tree {
    let mut builder = TreeBuilder::with_capacity(texts.len() + preorder.len());
    let mut open = vec![(TreeBuilder::ROOT, whole(texts.len()))];
    let mut next = 0;
    for &(first, last) in preorder {
        add_leaves(&mut builder, &mut open, texts, next..first);
        next = next.max(first);
        let (above, around) = innermost(&mut open, first);
        if first < last && around != (first, last) {
            let handle = builder.add(label(&texts[first as usize], &texts[last as usize]), above);
            open.push((handle, (first, last)));
        }
    }
    add_leaves(&mut builder, &mut open, texts, next..texts.len() as u32);
    builder.build()
}

fn add_leaves(builder: &mut TreeBuilder, open: &mut Vec<(usize, CodeRange)>, texts: &[Box<str>], codes: Range<u32>) {
    for code in codes {
        let (above, _) = innermost(open, code);
        builder.add(texts[code as usize].clone(), above);
    }
}

/// Closes the nodes that end before a position and returns the innermost open one. The root is never closed.
fn innermost(open: &mut Vec<(usize, CodeRange)>, position: u32) -> (usize, CodeRange) {
    while open.len() > 1 && open[open.len() - 1].1.1 < position {
        open.pop();
    }
    open[open.len() - 1]
}

/// Label of an interval, as a domain without a tree prints it. Allocated at its exact size: there may be a million.
fn label(least: &str, greatest: &str) -> String {
    let mut label = String::with_capacity(least.len() + greatest.len() + 4);
    for part in ["[", least, ", ", greatest, "]"] {
        label.push_str(part);
    }
    label
}

/// Ranges in preorder from levels of parts. `finest` has the part of each value on the finest level, which must not
/// decrease; `parts` the number of parts per level, finest first, each a multiple of the next.
pub(super) fn of_levels(finest: &[u32], parts: &[u32]) -> Vec<CodeRange> {
    let mut intervals = Vec::new();
    for level in parts {
        let merged = parts[0].max(1) / (*level).max(1);
        let mut first = 0;
        for next in 1..=finest.len() {
            if next == finest.len() || finest[next] / merged != finest[first] / merged {
                intervals.push((first as u32, next as u32 - 1));
                first = next;
            }
        }
    }
    intervals.sort_unstable_by_key(|&(first, last)| (first, Reverse(last)));
    intervals
}

/// The values times a common factor, so that comparisons of distances are exact and do not overflow.
///
/// Short decimals become whole numbers: as floats, 0.3 - 0.2 is less than 0.2 - 0.1, and a tie would be missed. If
/// `times` the largest value would overflow, all values are divided by a power of two; only distances that are
/// negligible beside such values are lost.
pub(super) fn rescaled(values: &[f64], times: f64) -> Cow<'_, [f64]> {
    if let Some(units) = whole_units(values) {
        return Cow::Owned(units);
    }
    let largest = values.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
    if (largest * times).is_finite() {
        Cow::Borrowed(values)
    } else {
        Cow::Owned(values.iter().map(|value| value * 2f64.powi(-200)).collect())
    }
}

/// Maximum digits after the decimal point for which values are made whole. Not tuned.
const DIGITS: i32 = 9;

/// Decimals as whole numbers of units of their last digit; `None` if they are whole already or have too many digits.
fn whole_units(values: &[f64]) -> Option<Vec<f64>> {
    const EXACT: f64 = (1u64 << 53) as f64;
    let in_units = |value: f64, scale: f64| Some((value * scale).round()).filter(|units| units / scale == value);
    let mut digits = 0;
    for &value in values {
        while in_units(value, 10f64.powi(digits)).is_none() {
            digits += 1;
            if digits > DIGITS {
                return None;
            }
        }
    }
    let scale = 10f64.powi(digits);
    let units: Option<Vec<f64>> = values.iter().map(|&value| in_units(value, scale)).collect();
    units.filter(|units| digits > 0 && units.iter().all(|units| units.abs() < EXACT))
}

/// Number of records before each value, and of all records as last element. A value without records counts as one
/// record.
pub(super) fn records_before(records: &[u64]) -> Vec<u128> {
    let sums = records.iter().scan(0u128, |sum, &records| {
        *sum += u128::from(records.max(1));
        Some(*sum)
    });
    std::iter::once(0).chain(sums).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::file;

    fn texts(values: usize) -> Vec<Box<str>> {
        (0..values).map(|value| value.to_string().into()).collect()
    }

    #[test]
    fn what_says_nothing_new_is_left_out() {
        let tree = tree(&texts(6), &[(0, 5), (0, 3), (0, 3), (0, 1), (3, 3), (5, 5)]);
        let rows = "0;\"[0, 1]\";\"[0, 3]\";*\n1;\"[0, 1]\";\"[0, 3]\";*\n2;2;\"[0, 3]\";*\n3;3;\"[0, 3]\";*\n4;4;4;*\n5;5;5;*\n";
        assert_eq!(file::write(&tree), rows);
    }

    #[test]
    fn no_value_is_a_lone_root_and_one_a_leaf_below_it() {
        assert_eq!(tree(&texts(0), &[]).len(), 1);
        assert_eq!(file::write(&tree(&texts(1), &[(0, 0)])), "0;*\n");
    }

    #[test]
    fn levels_become_intervals() {
        let expected = [(0, 3), (0, 1), (2, 3), (4, 4), (4, 4)];
        assert_eq!(of_levels(&[0, 0, 1, 1, 3], &[4, 2]), expected);
        assert_eq!(of_levels(&[], &[4, 2]), []);
    }
}
