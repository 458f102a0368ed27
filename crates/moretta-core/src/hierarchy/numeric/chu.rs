//! Hierarchy of Chu and Chiang (1994): binary splits with the smallest relaxation error, top-down.
//!
//! The relaxation error of a set is the mean distance of two of its records, drawn with replacement. A node is split
//! where the errors of the two sides, weighted by their shares of the records, have the smallest sum (the leftmost
//! split on a tie). A node with at most `threshold` distinct values is not split: the values become its children.
//!
//! How: one pass from either end evaluates all splits of a node. From one value to the next, the sum of its distances
//! to all records before it grows by the gap times their number. Only non-negative terms are added, so nothing cancels
//! for values far from 0. Cost: O(m) per level of the tree, usually O(m log m) in all; if distances grow exponentially,
//! there may be as many levels as a float has powers of two.

use super::{
    DistinctValues,
    intervals::{CodeRange, rescaled, whole},
};

/// Relative difference below which two errors are a tie: equal errors may differ by rounding.
const TIE: f64 = 1e-12;

/// Inner nodes in preorder.
pub(super) fn intervals(column: DistinctValues<'_>, threshold: usize) -> Vec<CodeRange> {
    let weights: Vec<f64> = column.records.iter().map(|&records| records.max(1) as f64).collect();
    let all: f64 = weights.iter().sum();
    let values = rescaled(column.values, 2.0 * all.max(1.0).powi(2));
    let mut preorder = Vec::new();
    let mut open = vec![whole(values.len())];
    let mut right = Vec::new();
    while let Some((first, last)) = open.pop() {
        preorder.push((first, last));
        let node = first as usize..last as usize + 1;
        if node.len() > threshold.max(1) && !values.is_empty() {
            let cut = first + best_cut(&values[node.clone()], &weights[node], &mut right) as u32;
            open.extend([(cut, last), (first, cut - 1)]);
        }
    }
    preorder
}

/// Number of values to the left of the best split. `right` is a reused buffer.
fn best_cut(values: &[f64], weights: &[f64], right: &mut Vec<f64>) -> usize {
    right.clear();
    let mut side = Side::default();
    right.extend(values.iter().zip(weights).rev().map(|(&value, &weight)| side.add(value, weight)));
    let mut side = Side::default();
    let mut best = (f64::INFINITY, 1);
    for cut in 1..values.len() {
        let error = side.add(values[cut - 1], weights[cut - 1]) + right[values.len() - cut - 1];
        if error < best.0 * (1.0 - TIE) {
            best = (error, cut);
        }
    }
    best.1
}

/// Running sums over the values on one side of a split, from the outside in.
#[derive(Default)]
struct Side {
    records: f64,
    /// Sum of the distances of all records to the last value.
    to_last: f64,
    /// Sum of the distances of all pairs of records.
    pairs: f64,
    last: Option<f64>,
}

impl Side {
    /// Adds a value; returns half the relaxation error times the records, because each pair is counted once.
    fn add(&mut self, value: f64, weight: f64) -> f64 {
        self.to_last += self.records * (value - self.last.unwrap_or(value)).abs();
        self.pairs += weight * self.to_last;
        self.records += weight;
        self.last = Some(value);
        self.pairs / self.records
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::built::tests::{ascending, rows, run},
        *,
    };
    use crate::hierarchy::numeric::Builder;
    use proptest::prelude::*;

    /// The definition: every pair of records, both ways.
    fn relaxation_error(values: &[f64], records: &[u64]) -> f64 {
        let all: u64 = records.iter().sum();
        let share = |at: usize| records[at] as f64 / all as f64;
        let mut error = 0.0;
        for x in 0..values.len() {
            for y in 0..values.len() {
                error += share(x) * share(y) * (values[x] - values[y]).abs();
            }
        }
        error
    }

    fn cost(values: &[f64], records: &[u64], cut: usize) -> f64 {
        let all: u64 = records.iter().sum();
        let side = |values: &[f64], records: &[u64]| {
            records.iter().sum::<u64>() as f64 / all as f64 * relaxation_error(values, records)
        };
        side(&values[..cut], &records[..cut]) + side(&values[cut..], &records[cut..])
    }

    #[test]
    fn cuts_at_the_widest_gap_of_even_records_and_stops_at_the_threshold() {
        let expected = ["1;\"[1, 3]\";*", "2;\"[1, 3]\";*", "3;\"[1, 3]\";*", "9;\"[9, 10]\";*", "10;\"[9, 10]\";*"];
        assert_eq!(rows(Builder::Chu { threshold: 3 }, &[1.0, 2.0, 3.0, 9.0, 10.0]), expected);
        assert_eq!(rows(Builder::Chu { threshold: 2 }, &[1.0, 2.0]), ["1;*", "2;*"]);
        // Splits after 1 and after 2 are a tie: the left one is taken.
        assert_eq!(
            rows(Builder::Chu { threshold: 2 }, &[1.0, 2.0, 3.0]),
            ["1;1;*", "2;\"[2, 3]\";*", "3;\"[2, 3]\";*"]
        );
        // After 17 and after 19 the errors are 8/3, which for a float is less than 1 + 5/3.
        run(&[15.0, 17.0, 19.0, 21.0], &[1, 1, 1, 5], |column| assert_eq!(intervals(column, 2)[1], (0, 1)));
    }

    #[test]
    fn records_move_the_split() {
        // The two values with many records are separated: 9 * 1 / 10 is less than 9 * 9 / 18.
        run(&[0.0, 1.0, 2.0], &[9, 9, 1], |column| assert_eq!(intervals(column, 2), [(0, 2), (0, 0), (1, 2)]));
        run(&[0.0, 1.0, 2.0], &[1, 9, 9], |column| assert_eq!(intervals(column, 2), [(0, 2), (0, 1), (2, 2)]));
    }

    #[test]
    fn far_from_zero_and_near_the_largest_float() {
        let far: Vec<f64> = [0.0, 1.0, 2.0, 7.0, 8.0].iter().map(|value| 1e15 + value).collect();
        run(&far, &[1; 5], |column| assert_eq!(intervals(column, 3), [(0, 4), (0, 2), (3, 4)]));
        run(&[-1.7e308, -1.6e308, 1.6e308, 1.7e308], &[u64::MAX; 4], |column| {
            assert_eq!(intervals(column, 2), [(0, 3), (0, 1), (2, 3)]);
        });
    }

    proptest! {
        #[test]
        fn no_cut_is_better(pairs in prop::collection::vec((1u32..9, 1u64..6), 1..40), scale in prop::sample::select(vec![1.0, 0.1])) {
            let (gaps, records): (Vec<u32>, Vec<u64>) = pairs.into_iter().unzip();
            let values = ascending(&gaps, scale);
            let preorder = run(&values, &records, |column| intervals(column, 2));
            for (at, &(first, last)) in preorder.iter().enumerate() {
                let (from, to) = (first as usize, last as usize);
                prop_assert_eq!(preorder.get(at + 1).is_some_and(|next| next.0 == first && next.1 < last), to - from >= 2);
                if to - from >= 2 {
                    let cost = |cut: usize| cost(&values[from..=to], &records[from..=to], cut);
                    let chosen = cost(preorder[at + 1].1 as usize + 1 - from);
                    let least = (1..=to - from).map(cost).fold(f64::INFINITY, f64::min);
                    prop_assert!(chosen <= least * (1.0 + 1e-9) + 1e-12, "{chosen} where {least} is possible");
                }
            }
        }
    }
}
