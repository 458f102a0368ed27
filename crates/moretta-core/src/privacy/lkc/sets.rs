//! The sets of columns that an attacker may know.

use super::Lkc;
use crate::{ids::ColumnId, privacy::every_column, profile::Profile};

impl Lkc {
    /// Maximum number of sets of columns: the records are grouped and judged for each set separately. Not tuned.
    pub const MAX_SETS: u64 = 5_000;

    /// Number of sets of `size` out of `columns` columns (of all of them if `size` is larger); at most `cap`.
    pub(crate) fn num_sets(columns: u64, size: u64, cap: u64) -> u64 {
        let size = size.min(columns);
        let size = size.min(columns - size);
        let mut sets = 1u64;
        for index in 0..size {
            // After each step this is a binomial coefficient, and the next one is never smaller.
            match sets.checked_mul(columns - index) {
                Some(product) if product / (index + 1) < cap => sets = product / (index + 1),
                _ => return cap,
            }
        }
        sets
    }
}

/// All subsets of `size` columns, in lexicographic order; `size` is at most the number of columns.
fn subsets(columns: &[ColumnId], size: usize) -> Vec<Vec<ColumnId>> {
    let mut all = Vec::new();
    let mut positions: Vec<usize> = (0..size).collect();
    loop {
        all.push(positions.iter().map(|&position| columns[position]).collect());
        let can_advance = |index: &usize| positions[*index] < columns.len() - size + *index;
        let Some(index) = (0..size).rev().find(can_advance) else { return all };
        positions[index] += 1;
        for next in index + 1..size {
            positions[next] = positions[next - 1] + 1;
        }
    }
}

/// All sets of `l` quasi-identifiers, each in column order; one set with all quasi-identifiers if there are fewer than
/// `l`.
pub fn known_sets(l: u64, profile: &Profile) -> Vec<Vec<ColumnId>> {
    let columns = every_column(profile);
    let size = usize::try_from(l).map_or(columns.len(), |l| l.min(columns.len()));
    subsets(&columns, size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_listed_and_counted_correctly() {
        for columns in 1..9u32 {
            let all: Vec<ColumnId> = (0..columns as usize).map(ColumnId::from_index).collect();
            for size in 1..=columns {
                let naive: Vec<u32> = (0..1u32 << columns).filter(|set| set.count_ones() == size).collect();
                let mut found: Vec<u32> = subsets(&all, size as usize)
                    .iter()
                    .map(|set| set.iter().map(|column| 1 << column.index()).sum())
                    .collect();
                assert_eq!(Lkc::num_sets(columns.into(), size.into(), 1000), naive.len() as u64);
                found.sort_unstable();
                assert_eq!(found, naive);
            }
        }
        assert_eq!(Lkc::num_sets(30, 5, 1_000_000), 142_506);
        assert_eq!(Lkc::num_sets(5000, 2500, u64::MAX), u64::MAX);
        assert_eq!(Lkc::num_sets(3, 9, 1000), 1);
    }
}
