//! Offsets of a few bytes, the marks, in a block: delimiters, line breaks and quotes.
//!
//! How: 64 bytes at a time are compared with each mark, in a loop that the compiler turns into vector instructions. The
//! results are packed into the bits of a word, whose ones are the offsets. Cost: half of `memchr`, which begins anew
//! after each offset and is made for rare bytes; here every tenth byte is one.

/// Bytes that are compared at a time: the bits of a word.
const CHUNK: usize = u64::BITS as usize;

/// Product with a word of bytes 0 or 1 that has these bytes as the bits of its highest byte: byte `i`, times bit
/// `7 * (8 - i)`, is bit `56 + i`. No two products of a byte and a bit meet, so nothing is carried.
const PACK: u64 = 0x0102_0408_1020_4080;

/// Iterator over the offsets of marks in a block.
#[derive(Debug)]
pub(super) struct Marks<'a, const N: usize> {
    block: &'a [u8],
    marks: [u8; N],
    /// Offset of the chunk after the current one.
    next: usize,
    /// Marks of the current chunk that are still to be returned.
    found: u64,
}

impl<'a, const N: usize> Marks<'a, N> {
    /// The marks of a block.
    pub(super) fn new(marks: [u8; N], block: &'a [u8]) -> Self {
        Self { block, marks, next: 0, found: 0 }
    }

    /// Bits of the bytes of a chunk that are marks.
    #[inline]
    fn bits(&self, chunk: &[u8; CHUNK]) -> u64 {
        let mut is_mark = [0u8; CHUNK];
        for (is_mark, byte) in is_mark.iter_mut().zip(chunk) {
            *is_mark = self.marks.iter().fold(0, |any, mark| any | u8::from(byte == mark));
        }
        let (words, _) = is_mark.as_chunks::<8>();
        words.iter().rev().fold(0, |found, word| found << 8 | u64::from_le_bytes(*word).wrapping_mul(PACK) >> 56)
    }

    /// Finds the marks of the next chunk; `None` at the end of the block.
    #[inline]
    fn find_next(&mut self) -> Option<()> {
        let rest = self.block.get(self.next..).filter(|rest| !rest.is_empty())?;
        self.found = match rest.first_chunk() {
            Some(chunk) => self.bits(chunk),
            None => {
                let mut last = [0; CHUNK];
                last[..rest.len()].copy_from_slice(rest);
                // The bytes after the block may be a mark, too.
                self.bits(&last) & ((1 << rest.len()) - 1)
            }
        };
        self.next += CHUNK;
        Some(())
    }
}

impl<const N: usize> Iterator for Marks<'_, N> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.found == 0 {
            self.find_next()?;
        }
        let at = self.next - CHUNK + self.found.trailing_zeros() as usize;
        self.found &= self.found - 1;
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_offsets_are_those_of_a_naive_search(block in prop::collection::vec(0..5u8, 0..300), marks: [u8; 3]) {
            let marks = marks.map(|mark| mark % 5);
            let naive = |marks: &[u8]| -> Vec<usize> {
                (0..block.len()).filter(|&at| marks.contains(&block[at])).collect()
            };
            prop_assert_eq!(Marks::new(marks, &block).collect::<Vec<_>>(), naive(&marks));
            let two = [marks[0], marks[1]];
            prop_assert_eq!(Marks::new(two, &block).collect::<Vec<_>>(), naive(&two));
        }
    }

    #[test]
    fn every_byte_of_a_chunk_has_a_bit() {
        for length in [1, 63, 64, 65, 128, 200] {
            for at in 0..length {
                let mut block = vec![b'x'; length];
                block[at] = 0xFF;
                assert_eq!(Marks::new([0xFF], &block).collect::<Vec<_>>(), [at]);
            }
            assert_eq!(Marks::new([b'x', 0], &vec![b'x'; length]).count(), length);
        }
    }
}
