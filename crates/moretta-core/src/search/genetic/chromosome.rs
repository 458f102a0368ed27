//! Chromosome: the bit string that encodes a cut.
//!
//! Each bit belongs to a boundary between two neighboring values of a column. A 1 separates them; a 0 keeps them in the
//! same cell. The bits of all columns are concatenated, each column's bits being a
//! [`Segment`](super::segment::Segment):
//!
//! ```text
//! column     age                        job
//! values     20   25   30   45   60     clerk   manager   farmer
//! bits          0    1    0    0              0         1
//! cells      20-25     30-60            Office            farmer
//! ```

use std::ops::Range;

const BITS: usize = u64::BITS as usize;

/// Bits of all columns, 64 per word. Bits beyond the last column's are 0.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Chromosome(Box<[u64]>);

impl Chromosome {
    /// All bits zero: every column fully generalized.
    pub(super) fn zeros(bits: usize) -> Self {
        Self(vec![0; bits.div_ceil(BITS)].into())
    }

    pub(super) fn get(&self, bit: usize) -> bool {
        self.0[bit / BITS] >> (bit % BITS) & 1 == 1
    }

    pub(super) fn set(&mut self, bit: usize, value: bool) {
        let word = &mut self.0[bit / BITS];
        *word = *word & !(1 << (bit % BITS)) | u64::from(value) << (bit % BITS);
    }

    /// Sets all bits of a range.
    pub(super) fn fill(&mut self, bits: Range<usize>, value: bool) {
        bits.for_each(|bit| self.set(bit, value));
    }

    /// Number of ones in the range.
    pub(super) fn ones(&self, bits: Range<usize>) -> usize {
        words(bits).map(|(word, mask)| (self.0[word] & mask).count_ones() as usize).sum()
    }

    /// Copies a range of bits from another chromosome.
    pub(super) fn copy_from(&mut self, other: &Self, bits: Range<usize>) {
        for (word, mask) in words(bits) {
            self.0[word] = self.0[word] & !mask | other.0[word] & mask;
        }
    }

    /// Sets every bit that is 1 in the other chromosome (bitwise or).
    pub(super) fn unite(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own |= other);
    }

    /// Whether the ones of this chromosome are a subset of the other's.
    pub(super) fn is_within(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(own, other)| own & !other == 0)
    }

    /// 128-bit hash. Among a million chromosomes, the probability that any two collide is about 10^-27.
    pub(super) fn fingerprint(&self) -> u128 {
        let half = |seed: u64| self.0.iter().fold(seed, |hash, word| mix(hash ^ word));
        u128::from(half(0x6a09_e667_f3bc_c908)) << 64 | u128::from(half(0xbb67_ae85_84ca_a73b))
    }
}

/// Finalizer of MurmurHash3.
fn mix(mut z: u64) -> u64 {
    z = (z ^ z >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    z = (z ^ z >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    z ^ z >> 33
}

/// Indices of the words that contain the range, each with the mask of the range's bits.
fn words(bits: Range<usize>) -> impl Iterator<Item = (usize, u64)> {
    let Range { start, end } = bits;
    (start / BITS..end.div_ceil(BITS)).filter(move |_| start < end).map(move |word| {
        let first = start.saturating_sub(word * BITS);
        let beyond = ((word + 1) * BITS).saturating_sub(end);
        (word, u64::MAX << first & u64::MAX >> beyond)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_on_ranges_agree_with_single_bits() {
        let mut ones = Chromosome::zeros(200);
        ones.fill(0..200, true);
        for (first, end) in [(0, 0), (0, 200), (3, 64), (63, 65), (64, 128), (100, 101), (130, 130), (190, 200)] {
            let mut some = Chromosome::zeros(200);
            some.copy_from(&ones, first..end);
            for bit in 0..200 {
                assert_eq!(some.get(bit), (first..end).contains(&bit), "{first}..{end}: {bit}");
            }
            assert_eq!(some.ones(0..200), end - first);
            assert_eq!(ones.ones(first..end), end - first);
            assert!(some.is_within(&ones) && (ones.is_within(&some) == (end - first == 200)));
        }
        assert_ne!(ones.fingerprint(), Chromosome::zeros(200).fingerprint());
    }
}
