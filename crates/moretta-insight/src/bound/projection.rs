//! Projection of a vector onto the cone of the shares that one box can have.
//!
//! A box that is used `y` times takes a share of at most `y` of each of its records, and shares of `k y` in all. So the
//! possible shares are the cone `Z = { z : 0 <= z_i <= y, sum of z = k y for some y }`. Its polar cone is the set of the
//! vectors whose k largest entries sum to at most 0, so the projection of `a` onto `Z` is what remains of `a` after its
//! projection onto the polar cone (Moreau). There, the largest entries fall by the same amount `y`, the next ones fall
//! to one level, and the others stay:
//!
//! ```text
//! a   ▇▇▇
//!     ▇▇▇▇▇            z = a - level, at least 0 and at most y:   ▇▇▇
//!     ▇▇▇▇▇▇▇ ◀ level                                             ▇▇▇▇▇
//!     ▇▇▇▇▇▇▇▇▇
//! ```
//!
//! `y` and the level follow from two linear equations once it is known how many entries are in each part. The level
//! part starts as the k-th largest entry and grows at both ends until the order of the entries is right (Roth and Cui,
//! On O(n) algorithms for projection onto the top-k-sum sublevel set, 2023). Cost: linear in the entries, which come
//! sorted.

/// An entry: a number that all records of a tuple have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Entry {
    pub value: f64,
    pub tuple: u32,
}

/// Projects onto the cone: falling entries, whose tuples have at least k records together, become shares. `counts` has
/// the records of all tuples.
pub(super) fn project(entries: &mut [Entry], counts: &[u64], k: u64) {
    let (len, k) = (entries.len(), k as f64);
    let count = |index: usize| counts[entries[index].tuple as usize] as f64;
    let value = |index: usize| entries[index].value;
    // The first entries, which fall by y: their number, their records, and the sum of their values.
    let (mut first, mut first_records, mut first_sum) = (0, 0.0, 0.0);
    while first < len && first_records + count(first) < k {
        first_records += count(first);
        first_sum += count(first) * value(first);
        first += 1;
    }
    if first == len || first_sum + (k - first_records) * value(first) <= 0.0 {
        return entries.iter_mut().for_each(|entry| entry.value = 0.0);
    }
    // The entries that fall to the level: first..end.
    let (mut end, mut records) = (first + 1, count(first));
    let mut sum = records * value(first);
    let (share, level) = loop {
        let rest = k - first_records;
        let share = (first_sum + rest * sum / records) / (first_records + rest * rest / records);
        let level = (sum - rest * share) / records;
        if end < len && value(end) > level {
            records += count(end);
            sum += count(end) * value(end);
            end += 1;
        } else if first > 0 && value(first - 1) - share < level {
            first -= 1;
            first_records -= count(first);
            first_sum -= count(first) * value(first);
            records += count(first);
            sum += count(first) * value(first);
        } else {
            break (share, level);
        }
    };
    let share = share.max(0.0);
    entries.iter_mut().for_each(|entry| entry.value = (entry.value - level).clamp(0.0, share));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Entry, project};

    /// Sum of the k largest entries; `entries` fall.
    fn largest(entries: &[f64], k: usize) -> f64 {
        entries.iter().take(k).sum()
    }

    proptest! {
        /// A projection onto a closed convex cone is the only vector z of the cone such that a - z is in the polar cone
        /// and orthogonal to z.
        #[test]
        fn the_projection_satisfies_its_conditions(
            mut entries in prop::collection::vec((-20i32..20, 1u32..4), 1..12),
            k in 1usize..9,
        ) {
            entries.sort_by_key(|(value, _)| -value);
            let records: u32 = entries.iter().map(|(_, count)| count).sum();
            prop_assume!(records as usize >= k);
            let counts: Vec<u64> = entries.iter().map(|(_, count)| u64::from(*count)).collect();
            let before: Vec<Entry> =
                (0..).zip(&entries).map(|(tuple, (value, _))| Entry { value: f64::from(*value), tuple }).collect();
            let mut after = before.clone();
            project(&mut after, &counts, k as u64);
            let expand = |entries: &[Entry]| -> Vec<f64> {
                entries.iter().flat_map(|entry| vec![entry.value; counts[entry.tuple as usize] as usize]).collect()
            };
            let (shares, before) = (expand(&after), expand(&before));
            let used = shares.iter().sum::<f64>() / k as f64;
            prop_assert!(shares.iter().all(|&share| (-1e-9..=used + 1e-9).contains(&share)));
            let mut rest: Vec<f64> = before.iter().zip(&shares).map(|(a, z)| a - z).collect();
            let product: f64 = rest.iter().zip(&shares).map(|(rest, z)| rest * z).sum();
            prop_assert!(product.abs() < 1e-6, "{product}");
            rest.sort_by(|a, b| b.total_cmp(a));
            prop_assert!(largest(&rest, k) < 1e-9);
        }
    }
}
