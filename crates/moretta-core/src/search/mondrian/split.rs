//! Splits of a set of records in one column: the candidate boundaries, and the two halves at a boundary.
//!
//! ```text
//! free numbers                      hierarchy: lowest covering node N with children A, B, C
//! values        24  25  30  30  32    leaves        a1  a2  b1  c1  c2
//! boundaries      ^   ^       ^       boundaries          ^   ^
//! ```
//!
//! A strict split keeps the two records with value 30 together; a relaxed split may divide them.

use crate::{hierarchy::Domain, ids::TupleId, profile::VariantCount, text::merge_counts};

/// Maximum boundaries tried per column. k-anonymity always accepts the first; other models may reject the most even
/// split and accept a later one. Not tuned.
const MAX_BOUNDARIES: usize = 16;

/// Returns the codes before which the set may be split, the most even split first. Both halves have at least
/// `min_records` records.
pub(super) fn boundaries(
    domain: &Domain,
    set: &[VariantCount],
    code: impl Fn(&VariantCount) -> u32,
    (first, last): (u32, u32),
    min_records: u64,
    records: u64,
) -> Vec<u32> {
    let mut candidates: Vec<(u64, u32)> = Vec::new();
    let mut records_below = 0;
    for (boundary, below) in steps(domain, set, code, (first, last)) {
        records_below += below;
        let smaller_half = records_below.min(records - records_below);
        if smaller_half >= min_records.max(1) {
            candidates.push((records - 2 * smaller_half, boundary));
        }
    }
    candidates.sort_unstable();
    candidates.truncate(MAX_BOUNDARIES);
    candidates.into_iter().map(|(_, boundary)| boundary).collect()
}

/// Returns the boundaries from left to right, each with the number of records between it and the previous one.
///
/// There is a boundary before each occurring value of a free number, or before each occurring child of the lowest node
/// that covers the set.
fn steps(
    domain: &Domain,
    set: &[VariantCount],
    code: impl Fn(&VariantCount) -> u32,
    (first, last): (u32, u32),
) -> Vec<(u32, u64)> {
    let cover = domain.tree().map(|tree| (tree, tree.cover(first, last)));
    let end_of = |value: u32| match cover {
        Some((tree, node)) => tree.range(tree.child_above(node, value)).1,
        None => value,
    };
    let mut steps: Vec<(u32, u64)> = Vec::new();
    let mut records_between = 0;
    let mut end = end_of(first);
    for (value, records) in occurring_codes(set, code, (first, last)) {
        if value > end {
            steps.push((value, records_between));
            records_between = 0;
            end = end_of(value);
        }
        records_between += records;
    }
    steps
}

/// Returns the codes that occur, in increasing order, with their records.
fn occurring_codes(
    set: &[VariantCount],
    code: impl Fn(&VariantCount) -> u32,
    (first, last): (u32, u32),
) -> Vec<(u32, u64)> {
    let span = (last - first) as usize + 1;
    if span <= 4 * set.len() {
        let mut histogram = vec![0; span];
        for member in set {
            histogram[(code(member) - first) as usize] += member.records;
        }
        return (first..).zip(histogram).filter(|(_, records)| *records > 0).collect();
    }
    let mut values: Vec<(u32, u64)> = set.iter().map(|member| (code(member), member.records)).collect();
    values.sort_unstable();
    merge_counts(&mut values);
    values
}

/// Divides the set into the members below the boundary and the others.
pub(super) fn strict(
    set: &[VariantCount],
    code: impl Fn(&VariantCount) -> u32,
    boundary: u32,
) -> (Vec<VariantCount>, Vec<VariantCount>) {
    set.iter().copied().partition(|member| code(member) < boundary)
}

/// Divides the set into the first `records_below` records in the order of the column and the others. At most one tuple
/// is divided.
///
/// The records of a divided tuple must not be assigned by their sensitive values: otherwise group membership would
/// disclose something about these values. The variants are divided in proportion to their records, and `hash` decides
/// between equal remainders.
pub(super) fn relaxed(
    set: &[VariantCount],
    order: impl Fn(&VariantCount) -> (u32, TupleId),
    hash: impl Fn(&VariantCount) -> u64,
    records_below: u64,
) -> (Vec<VariantCount>, Vec<VariantCount>) {
    let mut ordered: Vec<VariantCount> = set.to_vec();
    ordered.sort_by_key(|member| (order(member), member.variant));
    let (mut left, mut right) = (Vec::new(), Vec::new());
    let mut room = records_below;
    for tuple in ordered.chunk_by(|a, b| order(a) == order(b)) {
        let records: u64 = tuple.iter().map(|member| member.records).sum();
        let taken = apportion(tuple, &hash, records.min(room), records);
        room -= records.min(room);
        for (member, taken) in tuple.iter().zip(taken) {
            if taken > 0 {
                left.push(VariantCount { records: taken, ..*member });
            }
            if taken < member.records {
                right.push(VariantCount { records: member.records - taken, ..*member });
            }
        }
    }
    (left, right)
}

/// Returns how many records to take of each member so that they sum to `taken_records` of `records`: in proportion, the
/// largest remainders rounded up.
fn apportion(
    members: &[VariantCount],
    hash: impl Fn(&VariantCount) -> u64,
    taken_records: u64,
    records: u64,
) -> Vec<u64> {
    let exact = |member: &VariantCount| u128::from(member.records) * u128::from(taken_records);
    let mut taken: Vec<u64> =
        members.iter().map(|member| (exact(member) / u128::from(records.max(1))) as u64).collect();
    let mut rest: Vec<usize> = (0..members.len()).collect();
    rest.sort_by_key(|&index| {
        let remainder = exact(&members[index]) % u128::from(records.max(1));
        (std::cmp::Reverse(remainder), hash(&members[index]), index)
    });
    let missing = taken_records - taken.iter().sum::<u64>();
    rest.into_iter().take(missing as usize).for_each(|index| taken[index] += 1);
    taken
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{ids::VariantId, search::rng::hash_seed};

    proptest! {
        #[test]
        fn a_divided_tuple_has_the_same_mix_on_both_sides(records in prop::collection::vec(1u64..50, 1..8), part in 0.0..1.0f64, seed: u64) {
            let set: Vec<VariantCount> = (0u32..).zip(&records).map(|(v, &records)| VariantCount { variant: VariantId(v), records }).collect();
            let records: u64 = records.iter().sum();
            let records_below = (records as f64 * part) as u64;
            let (left, right) = relaxed(&set, |_| (0, TupleId(0)), |member| hash_seed(seed, u64::from(member.variant.0)), records_below);
            prop_assert_eq!(left.iter().map(|member| member.records).sum::<u64>(), records_below);
            for member in &set {
                let of = |half: &[VariantCount]| half.iter().find(|m| m.variant == member.variant).map_or(0, |m| m.records);
                prop_assert_eq!(of(&left) + of(&right), member.records);
                let fair = member.records as f64 * records_below as f64 / records as f64;
                prop_assert!((of(&left) as f64 - fair).abs() < 1.0);
            }
        }
    }
}
