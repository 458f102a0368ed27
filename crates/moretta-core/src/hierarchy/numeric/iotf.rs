//! IOTF (improved on-the-fly hierarchy, for greedy clustering): a binary tree whose nodes are as narrow as possible.
//!
//! It starts with a leaf per value and repeatedly merges the two neighbors whose union is narrowest (the leftmost on a
//! tie). So close values have a low and narrow common ancestor, and outliers are merged last. The number of records per
//! value does not matter. Cost: O(m), where the published algorithm takes O(m^2); see [`super::merge`]. Values whose
//! distances double make a chain, of at most about two thousand levels with floats.

use super::{
    DistinctValues,
    intervals::{CodeRange, rescaled},
    merge::merge,
};

/// Inner nodes in preorder.
pub(super) fn intervals(column: DistinctValues<'_>) -> Vec<CodeRange> {
    let values = rescaled(column.values, 2.0);
    merge(leaves(&values), size, union)
}

/// Smallest and largest value of a node.
type Interval = (f64, f64);

fn leaves(values: &[f64]) -> impl ExactSizeIterator<Item = Interval> {
    values.iter().map(|&value| (value, value))
}

fn size(left: Interval, right: Interval) -> f64 {
    right.1 - left.0
}

fn union(left: Interval, right: Interval) -> Interval {
    (left.0, right.1)
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            built::tests::{ascending, rows, run},
            merge::tests::naive,
        },
        *,
    };
    use crate::hierarchy::numeric::Builder;
    use proptest::prelude::*;

    #[test]
    fn the_smallest_union_first_and_of_equals_the_leftmost() {
        assert_eq!(
            rows(Builder::Iotf, &[1.0, 2.0, 3.0, 4.0, 10.0]),
            [
                "1;\"[1, 2]\";\"[1, 4]\";*",
                "2;\"[1, 2]\";\"[1, 4]\";*",
                "3;\"[3, 4]\";\"[1, 4]\";*",
                "4;\"[3, 4]\";\"[1, 4]\";*",
                "10;10;10;*"
            ]
        );
    }

    #[test]
    fn distances_beyond_the_largest_float_are_distinguished() {
        let values = [f64::MIN, -1e308, 0.0, 1e292, f64::MAX];
        run(&values, &[1; 5], |column| assert_eq!(intervals(column), [(0, 4), (0, 1), (2, 4), (2, 3)]));
    }

    proptest! {
        #[test]
        fn equals_the_naive_reference(gaps in prop::collection::vec(1u32..5, 0..120), tenths: bool, power in prop::sample::select(vec![0, 1000])) {
            // The reference works on whole numbers, where all distances are exact.
            let whole = ascending(&gaps, 1.0);
            let expected = naive(leaves(&whole).collect(), size, union);
            let scale = |value: &f64| if tenths { value / 10.0 } else { value * 2f64.powi(power) };
            let values: Vec<f64> = whole.iter().map(scale).collect();
            run(&values, &vec![1; values.len()], |column| assert_eq!(intervals(column), expected));
        }

        #[test]
        fn equals_the_naive_reference_on_any_numbers(values in prop::collection::btree_set(any::<i64>(), 0..120)) {
            let mut values: Vec<f64> = values.into_iter().map(|value| value as f64).collect();
            values.dedup();
            let expected = naive(leaves(&values).collect(), size, union);
            run(&values, &vec![1; values.len()], |column| assert_eq!(intervals(column), expected));
        }
    }
}
