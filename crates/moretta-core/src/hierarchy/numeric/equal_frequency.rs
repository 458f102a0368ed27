//! Levels of intervals with nearly equal numbers of records.
//!
//! A boundary is where the number of records before it is nearest to N / parts, 2 N / parts and so on: a value belongs
//! to the part that contains its middle record (see [`super::han`]). Only the finest level is computed; a part of a
//! coarser level is a run of finest parts, which gives the same boundaries and nests. Cost: O(m) per level.

use super::{
    DistinctValues, han,
    intervals::{self, CodeRange, records_before},
};

/// Inner nodes in preorder. `parts` has the number of parts per level, finest first, each a multiple of the next.
pub(super) fn intervals(column: DistinctValues<'_>, parts: &[u32]) -> Vec<CodeRange> {
    let finest = parts.first().copied().unwrap_or(1).max(1);
    let before = records_before(column.records);
    let part = |position: usize| han::part(&before, position, finest as usize) as u32;
    intervals::of_levels(&(0..column.values.len()).map(part).collect::<Vec<u32>>(), parts)
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
    fn equal_numbers_of_records_in_each_part() {
        assert_eq!(
            rows(Builder::EqualFrequency(vec![4, 2]), &[1.0, 2.0, 3.0, 40.0, 500.0, 501.0, 502.0, 503.0]),
            [
                "1;\"[1, 2]\";\"[1, 40]\";*",
                "2;\"[1, 2]\";\"[1, 40]\";*",
                "3;\"[3, 40]\";\"[1, 40]\";*",
                "40;\"[3, 40]\";\"[1, 40]\";*",
                "500;\"[500, 501]\";\"[500, 503]\";*",
                "501;\"[500, 501]\";\"[500, 503]\";*",
                "502;\"[502, 503]\";\"[500, 503]\";*",
                "503;\"[502, 503]\";\"[500, 503]\";*"
            ]
        );
        // A value with most of the records is a part of its own.
        run(&[1.0, 2.0, 3.0, 4.0], &[1, 1, 97, 1], |column| {
            assert_eq!(intervals(column, &[4]), [(0, 1), (2, 2), (3, 3)]);
        });
    }

    proptest! {
        #[test]
        fn each_level_is_cut_at_the_nearest_positions(
            records in prop::collection::vec(prop_oneof![1u64..4, 1u64..1000], 1..60), coarse in 1u32..5, times in 2u32..5
        ) {
            let values = ascending(&vec![1; records.len()], 1.0);
            let found = run(&values, &records, |column| intervals(column, &[coarse * times, coarse]));
            for parts in [coarse * times, coarse] {
                let cuts = han::tests::nearest_cuts(&records, parts as usize);
                let starts = [0].into_iter().chain(cuts.iter().copied());
                let ends = cuts.iter().copied().chain([records.len()]);
                for part in starts.zip(ends).map(|(from, to)| (from as u32, to as u32 - 1)) {
                    prop_assert!(found.contains(&part));
                }
            }
        }
    }
}
