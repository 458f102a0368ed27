//! Levels of intervals of equal width between the smallest and the largest value.
//!
//! Only the finest level is computed; a part of a coarser level is a run of finest parts, so that the levels nest
//! despite rounding. A part's label is the interval of the values that occur in it; an empty part has no node. Cost:
//! O(m) per level.

use super::{
    DistinctValues,
    intervals::{self, CodeRange, rescaled},
};

/// Inner nodes in preorder. `parts` has the number of parts per level, finest first, each a multiple of the next.
pub(super) fn intervals(column: DistinctValues<'_>, parts: &[u32]) -> Vec<CodeRange> {
    let finest = parts.first().copied().unwrap_or(1).max(1);
    let values = rescaled(column.values, 2.0 * f64::from(finest));
    let (Some(min), Some(max)) = (values.first(), values.last()) else { return Vec::new() };
    let width = max - min;
    // The largest value belongs to the last part. Multiplying before dividing keeps the edges of whole numbers exact.
    let part = |value: &f64| (((value - min) * f64::from(finest) / width) as u32).min(finest - 1);
    intervals::of_levels(&values.iter().map(part).collect::<Vec<u32>>(), parts)
}

#[cfg(test)]
mod tests {
    use super::{
        super::built::tests::{ascending, rows, run},
        *,
    };
    use crate::hierarchy::numeric::Builder;
    use proptest::prelude::*;

    #[test]
    fn the_edges_are_at_equal_steps() {
        assert_eq!(
            rows(Builder::EqualWidth(vec![4, 2]), &[0.0, 1.0, 4.0, 5.0, 6.0, 8.0]),
            [
                "0;0;\"[0, 1]\";*",
                "1;1;\"[0, 1]\";*",
                "4;\"[4, 5]\";\"[4, 8]\";*",
                "5;\"[4, 5]\";\"[4, 8]\";*",
                "6;\"[6, 8]\";\"[4, 8]\";*",
                "8;\"[6, 8]\";\"[4, 8]\";*"
            ]
        );
        assert_eq!(rows(Builder::EqualWidth(vec![4, 2]), &[7.0]), ["7;*"]);
        run(&[f64::MIN, 0.0, 1.0, f64::MAX], &[1; 4], |column| {
            assert_eq!(intervals(column, &[2]), [(0, 0), (1, 3)]);
        });
    }

    proptest! {
        #[test]
        fn each_level_has_parts_of_equal_width(gaps in prop::collection::vec(1u32..9, 1..60), coarse in 1u32..5, times in 2u32..5) {
            let values = ascending(&gaps, 1.0);
            let (least, width) = (values[0] as u64, (values[values.len() - 1] - values[0]) as u64);
            let found = run(&values, &vec![1; values.len()], |column| intervals(column, &[coarse * times, coarse]));
            for parts in [coarse * times, coarse] {
                // Whole numbers: the part by exact division.
                let part = |value: f64| ((value as u64 - least) * u64::from(parts)).checked_div(width).unwrap_or(0).min(u64::from(parts) - 1);
                let mut first = 0;
                for next in 1..=values.len() {
                    if next == values.len() || part(values[next]) != part(values[first]) {
                        prop_assert!(found.contains(&(first as u32, next as u32 - 1)));
                        first = next;
                    }
                }
            }
        }
    }
}
