//! OTF (on-the-fly hierarchy): a binary tree that repeatedly merges the two neighbors whose centers are closest.
//!
//! The center of a node is the mean of its records' values; on a tie the leftmost pair is merged. Otherwise like
//! [`super::iotf`], also O(m). A wide node whose records lie at one end may be merged before a narrow one; IOTF avoids
//! this.

use super::{
    DistinctValues,
    intervals::{CodeRange, rescaled},
    merge::merge,
};

/// Inner nodes in preorder.
pub(super) fn intervals(column: DistinctValues<'_>) -> Vec<CodeRange> {
    let all: f64 = column.records.iter().map(|&records| records as f64).sum();
    let values = rescaled(column.values, 2.0 * all.max(1.0));
    merge(leaves(&values, column.records), between_centers, union)
}

#[derive(Clone, Copy)]
struct Interval {
    center: f64,
    /// Sum of the records' values: unlike means, sums of whole numbers are exact.
    sum: f64,
    records: f64,
}

fn leaves(values: &[f64], records: &[u64]) -> impl ExactSizeIterator<Item = Interval> {
    let weights = records.iter().map(|&records| records.max(1) as f64);
    let leaf = |(&center, records)| Interval { center, sum: center * records, records };
    values.iter().zip(weights).map(leaf)
}

fn between_centers(left: Interval, right: Interval) -> f64 {
    right.center - left.center
}

fn union(left: Interval, right: Interval) -> Interval {
    let (sum, records) = (left.sum + right.sum, left.records + right.records);
    // Rounding must not move the center outside the merged centers: it would come nearer to a neighbor.
    Interval { center: (sum / records).clamp(left.center, right.center), sum, records }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            built::tests::{ascending, run},
            merge::tests::naive,
        },
        *,
    };
    use proptest::prelude::*;

    #[test]
    fn the_closest_centers_first() {
        // 0 and 1 merge with center 0.1: nine records of ten are at 0. Then 4 is nearer to 7 (3) than to 0.1 (3.9).
        run(&[0.0, 1.0, 4.0, 7.0], &[9, 1, 1, 1], |column| {
            assert_eq!(intervals(column), [(0, 3), (0, 1), (2, 3)]);
        });
        // With nine records at 1 the center is 0.9, and 3.875 is nearer to it (2.975) than to 7 (3.125).
        run(&[0.0, 1.0, 3.875, 7.0], &[1, 9, 1, 1], |column| {
            assert_eq!(intervals(column), [(0, 3), (0, 2), (0, 1)]);
        });
    }

    #[test]
    fn sums_beyond_the_largest_float_are_no_trouble() {
        run(&[-1.5e308, 1.0, 1e308, 1.5e308], &[u64::MAX; 4], |column| {
            assert_eq!(intervals(column), [(0, 3), (1, 3), (2, 3)]);
        });
    }

    proptest! {
        #[test]
        fn equals_the_naive_reference(pairs in prop::collection::vec((1u32..5, 1u64..6), 0..120), tenths: bool) {
            // The reference works on whole numbers, whose sums are exact.
            let (gaps, records): (Vec<u32>, Vec<u64>) = pairs.into_iter().unzip();
            let whole = ascending(&gaps, 1.0);
            let expected = naive(leaves(&whole, &records).collect(), between_centers, union);
            let values: Vec<f64> = whole.iter().map(|value| if tenths { value / 10.0 } else { *value }).collect();
            run(&values, &records, |column| assert_eq!(intervals(column), expected));
        }
    }
}
