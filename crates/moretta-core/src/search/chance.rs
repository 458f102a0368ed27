//! What is left to chance, decided by the seed: the same on any machine and any number of threads.

/// A number that depends on the seed and the other number alone, and on neither in a way that can be seen.
pub(super) fn chance(seed: u64, number: u64) -> u64 {
    let mut z = seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
