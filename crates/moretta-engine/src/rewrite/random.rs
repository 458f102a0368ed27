//! What the seed decides: the order of the records, and which of several equal records go to which share.
//!
//! Guarantee: both come from ChaCha8 under the seed and depend on the record's number (or its row and its position among the
//! equal records) alone, so that no division of the work shows in the result. Nobody without the seed can tell more about
//! the input's order than chance.
//!
//! Structure: the key by which record `n` is sorted is the `n`-th 64-bit word of one stream. A position among equal records is
//! mapped by a permutation of its row's own stream: a shuffle for few records, a Feistel network with cycle walking
//! (Black and Rogaway, CT-RSA 2002) for many. Neither keeps anything between records.

use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};

/// The stream of sort keys; rows have the streams from 0.
const SORT_KEY_STREAM: u64 = u64::MAX;

/// Up to so many equal records are shuffled one by one.
const MAX_SHUFFLED: u64 = 24;

const FEISTEL_ROUNDS: usize = 8;

/// Draws sort keys one after the other.
#[derive(Debug)]
pub(crate) struct SortKeys(ChaCha8Rng);

impl SortKeys {
    /// The keys of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(SORT_KEY_STREAM);
        Self(random)
    }

    /// The keys of the records from `record` (from 0) on.
    pub(crate) fn starting_at(&mut self, record: u64) -> impl Iterator<Item = u64> {
        self.0.set_word_pos(u128::from(record) * 2);
        std::iter::from_fn(|| Some(self.0.next_u64()))
    }
}

/// Permutes positions among equal records.
#[derive(Debug)]
pub(crate) struct RowPermutations(ChaCha8Rng);

impl RowPermutations {
    /// The permutations of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// Where the permutation of `row`, which has `total` records, puts position `ordinal`.
    pub(crate) fn permute(&self, row: u64, ordinal: u64, total: u64) -> u64 {
        if total < 2 {
            return ordinal;
        }
        let mut random = self.0.clone();
        random.set_stream(row);
        if total <= MAX_SHUFFLED {
            permute_by_shuffle(&mut random, ordinal, total)
        } else {
            permute_by_feistel(&mut random, ordinal, total)
        }
    }
}

fn permute_by_shuffle(random: &mut ChaCha8Rng, ordinal: u64, total: u64) -> u64 {
    let mut positions = [0u8; MAX_SHUFFLED as usize];
    for (at, position) in positions.iter_mut().enumerate() {
        *position = at as u8;
    }
    for last in (1..total as usize).rev() {
        // A bias of 2^-59 at most.
        let other = ((u128::from(random.next_u64()) * (last as u128 + 1)) >> 64) as usize;
        positions.swap(last, other);
    }
    u64::from(positions[ordinal as usize])
}

fn permute_by_feistel(random: &mut ChaCha8Rng, ordinal: u64, total: u64) -> u64 {
    let keys: [u64; FEISTEL_ROUNDS] = std::array::from_fn(|_| random.next_u64());
    let half = (64 - (total - 1).leading_zeros()).div_ceil(2);
    let mask = (1u64 << half) - 1;
    let mut position = ordinal;
    loop {
        let (mut left, mut right) = (position >> half, position & mask);
        for key in keys {
            (left, right) = (right, left ^ (mix(right ^ key) & mask));
        }
        position = left << half | right;
        // The network permutes the next power of four, so walking from inside ends inside.
        if position < total {
            return position;
        }
    }
}

fn mix(value: u64) -> u64 {
    let value = (value ^ value >> 32).wrapping_mul(0xE703_7ED1_A0B4_28DB);
    let value = (value ^ value >> 29).wrapping_mul(0x8EBC_6AF0_9C88_C6E3);
    value ^ value >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_permutations() {
        let permutations = RowPermutations::new(3);
        for total in (1..100).chain([1_000, 4_097, 65_536]) {
            let mut all: Vec<u64> = (0..total).map(|ordinal| permutations.permute(total, ordinal, total)).collect();
            let moved = all.iter().enumerate().filter(|(at, position)| *at as u64 != **position).count() as u64;
            assert!(total < 20 || moved > total / 2);
            all.sort_unstable();
            assert_eq!(all, (0..total).collect::<Vec<_>>());
        }
    }

    #[test]
    fn every_position_is_equally_likely() {
        for total in [3u64, 30] {
            let mut hits = vec![0u32; total as usize];
            let permutations = RowPermutations::new(11);
            (0..total * 1_000).for_each(|row| hits[permutations.permute(row, 1, total) as usize] += 1);
            assert!(hits.iter().all(|&hits| (850..1_150).contains(&hits)), "{hits:?}");
        }
    }

    #[test]
    fn keys_depend_on_the_record_alone() {
        let mut keys = SortKeys::new(5);
        let all: Vec<u64> = keys.starting_at(0).take(200).collect();
        for first in [0, 1, 7, 8, 31, 64, 100] {
            let some: Vec<u64> = keys.starting_at(first).take(50).collect();
            assert_eq!(some, all[first as usize..first as usize + 50]);
        }
        assert_ne!(all, SortKeys::new(6).starting_at(0).take(200).collect::<Vec<_>>());
    }
}
