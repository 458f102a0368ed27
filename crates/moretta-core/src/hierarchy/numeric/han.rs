//! Hierarchy of Han and Fu (1994): at most `fan_out` children with nearly equal numbers of records, top-down.
//!
//! A node of N records is split where the number of records before a value is nearest to N / fan_out, 2 N / fan_out and
//! so on (the leftmost on a tie); equal positions are one split. Equivalently, a value belongs to the part that
//! contains its middle record; this is computed here, in one pass over the node. A node with at most `threshold`
//! distinct values is not split. Cost: O(m) per level. A part of several values has at most 2 N / fan_out records, so
//! with more than two children the number of levels is logarithmic in the records.

use super::{
    DistinctValues,
    intervals::{CodeRange, records_before, whole},
};

/// Inner nodes in preorder.
pub(super) fn intervals(column: DistinctValues<'_>, fan_out: usize, threshold: usize) -> Vec<CodeRange> {
    let before = records_before(column.records);
    let mut preorder = Vec::new();
    let mut open = vec![whole(column.values.len())];
    while let Some((first, last)) = open.pop() {
        preorder.push((first, last));
        let node = &before[first as usize..before.len().min(last as usize + 2)];
        let size = node.len() - 1;
        if size > threshold.max(1) {
            // No more parts than values.
            let parts = fan_out.clamp(2, size);
            let start = open.len();
            let mut from = 0;
            for to in 1..=size {
                if to == size || part(node, to, parts) != part(node, from, parts) {
                    open.push((first + from as u32, first + to as u32 - 1));
                    from = to;
                }
            }
            open[start..].reverse();
        }
    }
    preorder
}

/// Index of the part, of `parts` with equal numbers of records, that contains a value's middle record. `before` has the
/// number of records before each value, and as last element before the value that follows the node.
pub(super) fn part(before: &[u128], position: usize, parts: usize) -> u128 {
    let (start, all) = (before[0], before[before.len() - 1] - before[0]);
    let twice = before[position] + before[position + 1] - 2 * start;
    // On the edge of two parts the value belongs to the right one: both boundaries are equally near, and the left one
    // wins.
    (twice * parts as u128 / (2 * all.max(1))).min(parts as u128 - 1)
}

#[cfg(test)]
pub(super) mod tests {
    use super::{
        super::built::tests::{ascending, rows, run},
        *,
    };
    use crate::hierarchy::numeric::Builder;
    use proptest::prelude::*;

    /// The definition: the position nearest to each boundary, by looking at all of them.
    pub fn nearest_cuts(records: &[u64], parts: usize) -> Vec<usize> {
        let before = |cut: usize| records[..cut].iter().map(|&records| u128::from(records)).sum::<u128>();
        let all = before(records.len());
        let mut cuts: Vec<usize> = (1..parts as u128)
            .map(|j| {
                let far = |cut: &usize| (before(*cut) * parts as u128).abs_diff(j * all);
                (0..=records.len()).min_by_key(far).unwrap()
            })
            .filter(|cut| (1..records.len()).contains(cut))
            .collect();
        cuts.dedup();
        cuts
    }

    #[test]
    fn near_equal_records_down_to_the_threshold() {
        let builder = Builder::Han { fan_out: 2, threshold: 2 };
        assert_eq!(
            rows(builder.clone(), &[1.0, 2.0, 3.0, 4.0, 5.0]),
            [
                "1;1;\"[1, 2]\";*",
                "2;2;\"[1, 2]\";*",
                "3;3;\"[3, 5]\";*",
                "4;\"[4, 5]\";\"[3, 5]\";*",
                "5;\"[4, 5]\";\"[3, 5]\";*"
            ]
        );
        assert_eq!(rows(builder, &[1.0, 2.0]), ["1;*", "2;*"]);
        // Three boundaries are nearest to the same two positions.
        run(&[1.0, 2.0, 3.0], &[1, 98, 1], |column| {
            assert_eq!(intervals(column, 4, 1), [(0, 2), (0, 0), (1, 1), (2, 2)]);
        });
        run(&[1.0, 2.0, 3.0], &[u64::MAX; 3], |column| {
            assert_eq!(intervals(column, usize::MAX, 1), [(0, 2), (0, 0), (1, 1), (2, 2)]);
        });
    }

    proptest! {
        #[test]
        fn every_node_is_cut_at_the_nearest_positions(
            records in prop::collection::vec(prop_oneof![1u64..4, 1u64..1000], 1..60), fan_out in 2usize..7, threshold in 1usize..6
        ) {
            let values = ascending(&vec![1; records.len()], 1.0);
            let preorder = run(&values, &records, |column| intervals(column, fan_out, threshold));
            for &(first, last) in &preorder {
                let (from, to) = (first as usize, last as usize + 1);
                let cuts: Vec<usize> = if to - from > threshold {
                    nearest_cuts(&records[from..to], fan_out.min(to - from)).into_iter().map(|cut| from + cut).collect()
                } else {
                    Vec::new()
                };
                prop_assert!(to - from <= threshold || !cuts.is_empty());
                let starts = [from].into_iter().chain(cuts.iter().copied());
                let ends = cuts.iter().copied().chain([to]);
                for child in starts.zip(ends).map(|(from, to)| (from as u32, to as u32 - 1)) {
                    prop_assert!(preorder.contains(&child), "{child:?} below {:?}", (first, last));
                }
            }
            let inner = preorder.iter().filter(|(first, last)| last - first >= threshold as u32).count();
            prop_assert!(preorder.len() <= 1 + inner * fan_out);
        }
    }
}
