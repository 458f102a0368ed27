//! What is left to chance, decided by the seed: the same on any machine and any number of threads.

use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};

/// A number that depends on the seed and the other number alone, and on neither in a way that can be seen.
pub(super) fn chance(seed: u64, number: u64) -> u64 {
    let mut z = seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Random numbers, one after the other.
pub(super) struct Chance(ChaCha8Rng);

impl Chance {
    /// Those of one search among several with the same seed.
    pub(super) fn new(seed: u64, number: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(number);
        Self(random)
    }

    /// Evenly from 0 to 1.
    pub(super) fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Evenly below a number.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.0.next_u64()) * bound as u128) >> 64) as usize
    }

    /// One of several.
    pub(super) fn one(&mut self, of: &[f64]) -> f64 {
        of[self.below(of.len())]
    }
}
