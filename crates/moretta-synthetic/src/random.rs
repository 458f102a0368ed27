//! Random numbers that depend only on (seed, index), and draws by weight.
//!
//! SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014) instead of a generator
//! of a crate: every record has its own stream of a dozen numbers, which costs less than setting up a ChaCha block, and
//! the files do not change with the version of a crate. It is not cryptographically secure.
//!
//! Only integers: floating-point functions may differ in the last bit between platforms.

const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Random stream of one record.
pub(super) struct Random {
    state: u64,
}

impl Random {
    /// Returns the stream of record `index`.
    pub(super) fn new(seed: u64, index: u64) -> Self {
        // Mixed twice: consecutive records or seeds must not have the same stream shifted by one.
        let start = mix(seed.wrapping_add(GAMMA));
        Self { state: mix(start.wrapping_add(index.wrapping_mul(GAMMA))) }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GAMMA);
        mix(self.state)
    }

    /// Returns a uniform number below 2^32.
    fn unit(&mut self) -> u64 {
        self.next() >> 32
    }

    /// Returns a uniform number below `bound`.
    pub(super) fn below(&mut self, bound: u32) -> u32 {
        ((self.unit() * u64::from(bound)) >> 32) as u32
    }

    /// Returns true with a probability of `per_mille` / 1000.
    pub(super) fn chance(&mut self, per_mille: u32) -> bool {
        self.below(1000) < per_mille
    }

    /// Returns `bound` times the square of a uniform fraction: small numbers are more frequent.
    pub(super) fn below_squared(&mut self, bound: u32) -> u32 {
        let u = self.unit();
        ((((u * u) >> 32) * u64::from(bound)) >> 32) as u32
    }

    /// Returns `bound` times the cube of a uniform fraction: number `r` has a frequency of about `r^(-2/3)`, and the
    /// last number a third of the average.
    pub(super) fn below_cubed(&mut self, bound: u64) -> u64 {
        // 64 bits: the cube of a 32-bit fraction would never reach some of many millions of numbers.
        let u = u128::from(self.next());
        let cube = (((u * u) >> 64) * u) >> 64;
        ((cube * u128::from(bound)) >> 64) as u64
    }

    /// Returns `bound` times the eighth power of a uniform fraction: mostly near 0, seldom large.
    pub(super) fn below_tail(&mut self, bound: u32) -> u32 {
        let mut u = self.unit();
        for _ in 0..3 {
            u = (u * u) >> 32;
        }
        ((u * u64::from(bound)) >> 32) as u32
    }
}

/// Weighted choice among `N` values.
pub(super) struct Weighted<const N: usize> {
    /// Prefix sums of the weights.
    totals: [u32; N],
}

impl<const N: usize> Weighted<N> {
    /// # Panics
    /// If all weights are 0.
    pub(super) const fn new(weights: [u32; N]) -> Self {
        let mut totals = weights;
        let mut i = 1;
        while i < N {
            totals[i] += totals[i - 1];
            i += 1;
        }
        assert!(totals[N - 1] > 0, "a choice needs a weight");
        Self { totals }
    }

    /// Draws the index of a value; values of weight 0 are never drawn.
    pub(super) fn pick(&self, random: &mut Random) -> usize {
        let drawn = random.below(self.totals[N - 1]);
        // Counting compiles to a few vector instructions; a binary search would mispredict its branches.
        self.totals.iter().filter(|&&total| total <= drawn).count()
    }
}
