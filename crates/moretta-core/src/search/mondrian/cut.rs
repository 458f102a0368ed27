//! Where a set can be cut in one column, and the two halves.

use crate::{hierarchy::Domain, ids::TupleId, profile::VariantCount, text::merge_counts};

/// How many boundaries are tried in one column. Records alone settle k-anonymity with the first; other models may
/// refuse the most even cut and allow the next.
const TRIES: usize = 16;

/// Codes before which the set may be cut, the most even cut first; only cuts that leave both sides enough records.
pub(super) fn boundaries(
    domain: &Domain,
    set: &[VariantCount],
    code: impl Fn(&VariantCount) -> u32,
    (first, last): (u32, u32),
    min_records: u64,
    records: u64,
) -> Vec<u32> {
    let mut found: Vec<(u64, u32)> = Vec::new();
    let mut low = 0;
    for (boundary, below) in steps(domain, set, code, (first, last)) {
        low += below;
        let least = low.min(records - low);
        if least >= min_records.max(1) {
            found.push((records - 2 * least, boundary));
        }
    }
    found.sort_unstable();
    found.truncate(TRIES);
    found.into_iter().map(|(_, boundary)| boundary).collect()
}

/// The places where the set may be cut, left to right, with the records between each and the one before: before each
/// value that occurs, or before each child that occurs of the lowest node around the set.
fn steps(
    domain: &Domain,
    set: &[VariantCount],
    code: impl Fn(&VariantCount) -> u32,
    (first, last): (u32, u32),
) -> Vec<(u32, u64)> {
    let around = domain.tree().map(|tree| (tree, tree.cover(first, last)));
    let end_of = |value: u32| match around {
        Some((tree, node)) => tree.range(tree.child_above(node, value)).1,
        None => value,
    };
    let mut steps: Vec<(u32, u64)> = Vec::new();
    let (mut before, mut end) = (0, end_of(first));
    for (value, records) in occurring(set, code, (first, last)) {
        if value > end {
            steps.push((value, before));
            (before, end) = (0, end_of(value));
        }
        before += records;
    }
    steps
}

/// The codes that occur, in order, with their records.
fn occurring(set: &[VariantCount], code: impl Fn(&VariantCount) -> u32, (first, last): (u32, u32)) -> Vec<(u32, u64)> {
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

/// Everything below a boundary, and the rest.
pub(super) fn strict(
    set: &[VariantCount],
    code: impl Fn(&VariantCount) -> u32,
    boundary: u32,
) -> (Vec<VariantCount>, Vec<VariantCount>) {
    set.iter().copied().partition(|member| code(member) < boundary)
}

/// The first `low` records in order of the column, and the rest; at most one tuple is divided.
///
/// Among records that are alike in every quasi-identifier, chance decides and not what is sensitive about them:
/// otherwise a group would tell something of its members' secrets. A divided tuple's variants are divided in
/// proportion, and what is left over by `hash`.
pub(super) fn relaxed(
    set: &[VariantCount],
    order: impl Fn(&VariantCount) -> (u32, TupleId),
    hash: impl Fn(&VariantCount) -> u64,
    low: u64,
) -> (Vec<VariantCount>, Vec<VariantCount>) {
    let mut ordered: Vec<VariantCount> = set.to_vec();
    ordered.sort_by_key(|member| (order(member), member.variant));
    let (mut left, mut right) = (Vec::new(), Vec::new());
    let mut room = low;
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

/// How many records of each member are among `wanted` of all: in proportion, the largest remainders rounded up.
fn apportion(members: &[VariantCount], hash: impl Fn(&VariantCount) -> u64, wanted: u64, all: u64) -> Vec<u64> {
    let exact = |member: &VariantCount| u128::from(member.records) * u128::from(wanted);
    let mut taken: Vec<u64> = members.iter().map(|member| (exact(member) / u128::from(all.max(1))) as u64).collect();
    let mut rest: Vec<usize> = (0..members.len()).collect();
    rest.sort_by_key(|&at| {
        let remainder = exact(&members[at]) % u128::from(all.max(1));
        (std::cmp::Reverse(remainder), hash(&members[at]), at)
    });
    let missing = wanted - taken.iter().sum::<u64>();
    rest.into_iter().take(missing as usize).for_each(|at| taken[at] += 1);
    taken
}

#[cfg(test)]
mod tests {
    use super::{super::super::rng::hash_seed, *};
    use crate::ids::VariantId;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_divided_tuple_has_the_same_mix_on_both_sides(records in prop::collection::vec(1u64..50, 1..8), part in 0.0..1.0f64, seed: u64) {
            let set: Vec<VariantCount> = (0u32..).zip(&records).map(|(v, &records)| VariantCount { variant: VariantId(v), records }).collect();
            let all: u64 = records.iter().sum();
            let low = (all as f64 * part) as u64;
            let (left, right) = relaxed(&set, |_| (0, TupleId(0)), |member| hash_seed(seed, u64::from(member.variant.0)), low);
            prop_assert_eq!(left.iter().map(|member| member.records).sum::<u64>(), low);
            for member in &set {
                let of = |half: &[VariantCount]| half.iter().find(|m| m.variant == member.variant).map_or(0, |m| m.records);
                prop_assert_eq!(of(&left) + of(&right), member.records);
                let fair = member.records as f64 * low as f64 / all as f64;
                prop_assert!((of(&left) as f64 - fair).abs() < 1.0);
            }
        }
    }
}
