//! Random choices of a case, all determined by its kind and seed.

use moretta_core::testing::conformance::Dice;

/// SplitMix64 (Steele, Lea, Flood 2014). Written out, so that a seed repeats its case whatever the dependencies do.
#[derive(Debug, Clone)]
pub struct Rng(u64);

impl Rng {
    /// The choices of one case.
    pub fn new(kind: &str, seed: u64) -> Self {
        let kind = kind.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        let mut rng = Self(kind ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        rng.next();
        rng
    }

    /// A random number of 64 bits.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in `0..n`; 0 if `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() >> 1) as usize % n.max(1)
    }

    /// True in this percentage of draws.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// An element of a slice that is not empty.
    pub fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    /// A range inside `0..length`, at most `most` long.
    pub fn range(&mut self, length: usize, most: usize) -> std::ops::Range<usize> {
        let start = self.below(length);
        start..start + self.below((length - start).min(most) + 1)
    }

    /// Choices for the random tables of the conformance suite.
    pub fn dice(&mut self) -> Dice {
        Dice::new((0..900).map(|_| self.next() as u16).collect())
    }
}
