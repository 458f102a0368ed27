//! Vids by size (number of records): the smallest size, the vids of a size, and the records in vids below k.

use std::collections::BTreeMap;

/// Sizes below this are looked up in an array, others in a tree map; affects speed only.
const ARRAY_SIZES: usize = 1024;

/// Number of vids of each size.
#[derive(Debug, Clone)]
pub(super) struct SizeCounts {
    small: Vec<u32>,
    large: BTreeMap<u64, u32>,
    k: u64,
    /// Records in vids of fewer than k records.
    records_below_k: u64,
}

impl SizeCounts {
    pub(super) fn new(k: u64) -> Self {
        Self { small: vec![0; ARRAY_SIZES], large: BTreeMap::new(), k, records_below_k: 0 }
    }

    pub(super) fn add(&mut self, size: u64) {
        match self.small.get_mut(size as usize) {
            Some(vids) => *vids += 1,
            None => *self.large.entry(size).or_default() += 1,
        }
        if size < self.k {
            self.records_below_k += size;
        }
    }

    pub(super) fn remove(&mut self, size: u64) {
        match self.small.get_mut(size as usize) {
            Some(vids) => *vids -= 1,
            None => {
                let vids = self.large.get_mut(&size).expect("what is removed was added");
                *vids -= 1;
                if *vids == 0 {
                    self.large.remove(&size);
                }
            }
        }
        if size < self.k {
            self.records_below_k -= size;
        }
    }

    /// The smallest size; `None` if there are no vids.
    pub(super) fn smallest(&self) -> Option<u64> {
        let small = self.small.iter().position(|&vids| vids > 0).map(|size| size as u64);
        small.or_else(|| self.large.keys().next().copied())
    }

    /// The smallest size of a vid above this one.
    pub(super) fn next_above(&self, size: u64) -> Option<u64> {
        let next = (size + 1).min(ARRAY_SIZES as u64);
        let small = self.small[next as usize..].iter().position(|&vids| vids > 0).map(|more| next + more as u64);
        small.or_else(|| self.large.range(size + 1..).next().map(|(size, _)| *size))
    }

    /// Minimum number of records to suppress for k-anonymity: those in vids below k and, if they are fewer than k
    /// themselves, the smallest other vid as well.
    pub(super) fn min_suppressed(&self) -> u64 {
        match self.records_below_k {
            0 => 0,
            below if below >= self.k => below,
            below => below + self.next_above(self.k - 1).unwrap_or(0),
        }
    }
}

/// Vids by size. The list of a size has all vids of that size, and some that have grown or were removed since.
#[derive(Debug, Clone, Default)]
pub(super) struct VidsBySize {
    small: Vec<Vec<u32>>,
    large: BTreeMap<u64, Vec<u32>>,
}

impl VidsBySize {
    /// Adds a vid that has this size now. Vids only grow, so a list never has a vid twice.
    pub(super) fn add(&mut self, size: u64, vid: u32) {
        self.with_size(size).push(vid);
    }

    /// All vids of a size, and some that no longer have it, which the caller may remove.
    pub(super) fn with_size(&mut self, size: u64) -> &mut Vec<u32> {
        if size >= ARRAY_SIZES as u64 {
            return self.large.entry(size).or_default();
        }
        if self.small.is_empty() {
            self.small.resize(ARRAY_SIZES, Vec::new());
        }
        &mut self.small[size as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sizes_equal_a_sorted_list(sizes in prop::collection::vec(1u64..3000, 1..50), gone in 0usize..50) {
            let mut kept = SizeCounts::new(900);
            sizes.iter().for_each(|&size| kept.add(size));
            let gone = gone.min(sizes.len());
            sizes[..gone].iter().for_each(|&size| kept.remove(size));
            let kept_sizes = &sizes[gone..];
            prop_assert_eq!(kept.smallest(), kept_sizes.iter().copied().min());
            for size in [1, 899, 1022, 1023, 1024, 2000] {
                prop_assert_eq!(kept.next_above(size), kept_sizes.iter().copied().filter(|&other| other > size).min());
            }
            let below = kept_sizes.iter().filter(|size| **size < 900).sum::<u64>();
            prop_assert_eq!(kept.records_below_k, below);
            let more = kept_sizes.iter().copied().filter(|&size| size >= 900).min().unwrap_or(0);
            prop_assert_eq!(kept.min_suppressed(), if below == 0 || below >= 900 { below } else { below + more });
        }
    }
}
