//! Random numbers that depend on (seed, index) only, and draws from tables of weights.
//!
//! SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014) rather than a crate's
//! generator: a record needs a dozen numbers from a stream of its own, which costs less here than setting up a
//! ChaCha block, and the files stay the same byte by byte whatever a later version of a crate does. Nothing that has
//! to be kept secret may be drawn with it.
//!
//! Integers only: floating-point functions may differ in the last bit between platforms.

const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The stream of one record.
pub(super) struct Random {
    state: u64,
}

impl Random {
    /// The stream of record `index` under `seed`.
    pub(super) fn new(seed: u64, index: u64) -> Self {
        // Mixed twice: records that follow each other, or seeds that do, must not share a stream shifted by one.
        let start = mix(seed.wrapping_add(GAMMA));
        Random { state: mix(start.wrapping_add(index.wrapping_mul(GAMMA))) }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GAMMA);
        mix(self.state)
    }

    /// A fraction of 2^32, evenly.
    fn unit(&mut self) -> u64 {
        self.next() >> 32
    }

    /// A number below `bound`, evenly.
    pub(super) fn below(&mut self, bound: u32) -> u32 {
        ((self.unit() * u64::from(bound)) >> 32) as u32
    }

    /// Whether something happens that happens `per_mille` times in a thousand.
    pub(super) fn chance(&mut self, per_mille: u32) -> bool {
        self.below(1000) < per_mille
    }

    /// A number below `bound`, the small ones more often: `bound` times the square of an even fraction.
    pub(super) fn below_squared(&mut self, bound: u32) -> u32 {
        let u = self.unit();
        ((((u * u) >> 32) * u64::from(bound)) >> 32) as u32
    }

    /// A number below `bound`, the small ones much more often: `bound` times the cube of an even fraction, so that
    /// number `r` comes about as often as `r^(-2/3)` and the last still a third as often as on average.
    pub(super) fn below_cubed(&mut self, bound: u64) -> u64 {
        // 64 bits and not 32: the cube of a coarse fraction would leave some of many millions out for good.
        let u = u128::from(self.next());
        let cube = (((u * u) >> 64) * u) >> 64;
        ((cube * u128::from(bound)) >> 64) as u64
    }

    /// A number below `bound`, mostly near 0 and seldom large: `bound` times the eighth power of an even fraction.
    pub(super) fn below_tail(&mut self, bound: u32) -> u32 {
        let mut u = self.unit();
        for _ in 0..3 {
            u = (u * u) >> 32;
        }
        ((u * u64::from(bound)) >> 32) as u32
    }
}

/// A choice among `N` values by weight.
pub(super) struct Weighted<const N: usize> {
    /// Running totals of the weights.
    totals: [u32; N],
}

impl<const N: usize> Weighted<N> {
    /// # Panics
    /// If the weights do not add up to at least 1.
    pub(super) const fn new(weights: [u32; N]) -> Self {
        let mut totals = weights;
        let mut i = 1;
        while i < N {
            totals[i] += totals[i - 1];
            i += 1;
        }
        assert!(totals[N - 1] > 0, "a choice needs a weight");
        Weighted { totals }
    }

    /// Draws a value's index; one of weight 0 never comes.
    pub(super) fn pick(&self, random: &mut Random) -> usize {
        let drawn = random.below(self.totals[N - 1]);
        // Counting compiles to a few vector instructions; a search by halves would mispredict its branches.
        self.totals.iter().filter(|&&total| total <= drawn).count()
    }
}
