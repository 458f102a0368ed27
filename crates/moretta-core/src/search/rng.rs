//! Random numbers that depend only on the seed: the same on every machine and for any number of threads.

use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};

/// Hashes `(seed, number)` with the SplitMix64 finalizer.
pub(super) fn hash_seed(seed: u64, number: u64) -> u64 {
    let mut z = seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// ChaCha8 stream of one search.
pub(super) struct SearchRng(ChaCha8Rng);

impl SearchRng {
    /// Searches with the same seed and different `number`s are independent.
    pub(super) fn new(seed: u64, number: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(number);
        Self(random)
    }

    /// Uniform over all numbers of 64 bits.
    pub(super) fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in [0, 1).
    pub(super) fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform in 0..bound.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.0.next_u64()) * bound as u128) >> 64) as usize
    }

    /// A uniformly chosen element of a non-empty slice.
    pub(super) fn choose(&mut self, values: &[f64]) -> f64 {
        values[self.below(values.len())]
    }
}
