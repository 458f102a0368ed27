//! Dictionary encoding: maps distinct byte strings to integer codes.
//!
//! Guarantee: equal byte strings get equal codes, counted from 0 without gaps in order of insertion.
//!
//! How: all values are in one byte array; a hash table with linear probing maps them to codes. A table entry holds values
//! of up to 16 bytes completely, so that most values are compared without a look at the byte array. Cost: one hash and
//! mostly one comparison per value.

use std::hash::{BuildHasher, Hasher};

use foldhash::fast::FixedState;

/// Fixed seed, so that runs are reproducible.
const HASHER: FixedState = FixedState::with_seed(0x006d_6f72_6574_7461);

/// Maximum length of a value that a table entry holds completely: two 64-bit words.
const INLINE_BYTES: usize = 16;

#[inline]
fn hash_long(bytes: &[u8]) -> u64 {
    let mut hasher = HASHER.build_hasher();
    hasher.write(bytes);
    hasher.finish()
}

/// Mixes the bits of a word: folded multiplication, as in `foldhash` and `wyhash`.
#[inline]
pub(crate) fn folded_multiply(value: u64) -> u64 {
    let wide = u128::from(value ^ 0x2D35_8DCC_AA6C_78A5) * 0x8BB8_4B93_962E_ACC9;
    (wide as u64) ^ ((wide >> 64) as u64)
}

/// Table entry of a value: all bytes of a short value; the first 8 bytes and a hash of a long one.
#[derive(Debug, Clone, Copy)]
struct Entry {
    low: u64,
    high: u64,
    length: u32,
    code: u32,
}

/// An entry without a value.
const FREE: Entry = Entry { low: 0, high: 0, length: 0, code: u32::MAX };

/// Entries of the smallest table.
const MIN_ENTRIES: usize = 16;

impl Entry {
    /// The entry of a value, without its code. `low` and `high` are the first and the last bytes of a short value. They
    /// may overlap; with the length they still identify the value.
    #[inline]
    fn new(value: &[u8]) -> Self {
        let length = value.len();
        let word_at = |start: usize| {
            value.get(start..start + 8).map_or(0, |bytes| u64::from_le_bytes(bytes.try_into().unwrap_or_default()))
        };
        let half_word_at = |start: usize| {
            value
                .get(start..start + 4)
                .map_or(0, |bytes| u64::from(u32::from_le_bytes(bytes.try_into().unwrap_or_default())))
        };
        let (low, high) = match length {
            0 => (0, 0),
            1..4 => (u64::from(value[0]) | u64::from(value[length / 2]) << 8, u64::from(value[length - 1])),
            4..8 => (half_word_at(0), half_word_at(length - 4)),
            8..=INLINE_BYTES => (word_at(0), word_at(length - 8)),
            _ => (word_at(0), hash_long(value)),
        };
        Self { low, high, length: length as u32, code: 0 }
    }

    #[inline]
    fn hash(&self) -> u64 {
        folded_multiply(self.low ^ folded_multiply(self.high ^ u64::from(self.length) << 56))
    }

    #[inline]
    fn matches(&self, other: &Self) -> bool {
        self.low == other.low && self.high == other.high && self.length == other.length
    }
}

/// Distinct byte strings and their codes.
#[derive(Debug)]
pub(crate) struct Dictionary {
    /// A power of two of entries, of which at most 3/4 have a value.
    table: Vec<Entry>,
    bytes: Vec<u8>,
    /// The value of code `c` is `bytes[ends[c - 1]..ends[c]]`.
    ends: Vec<usize>,
}

impl Default for Dictionary {
    fn default() -> Self {
        Self { table: vec![FREE; MIN_ENTRIES], bytes: Vec::new(), ends: Vec::new() }
    }
}

impl Dictionary {
    /// Returns the code of a value, and adds the value if it is new.
    #[inline]
    pub(crate) fn encode(&mut self, value: &[u8]) -> u32 {
        let entry = Entry::new(value);
        self.look_up(&entry, value).unwrap_or_else(|| self.insert(entry, value))
    }

    #[inline]
    fn look_up(&self, entry: &Entry, value: &[u8]) -> Option<u32> {
        let last = self.table.len() - 1;
        let mut at = entry.hash() as usize & last;
        loop {
            let other = &self.table[at];
            if other.code == FREE.code {
                return None;
            }
            if entry.matches(other) && (value.len() <= INLINE_BYTES || self.value(other.code) == value) {
                return Some(other.code);
            }
            at = (at + 1) & last;
        }
    }

    /// Writes an entry, whose value is not in the table, to a free place.
    fn place(&mut self, entry: Entry) {
        let last = self.table.len() - 1;
        let mut at = entry.hash() as usize & last;
        while self.table[at].code != FREE.code {
            at = (at + 1) & last;
        }
        self.table[at] = entry;
    }

    #[cold]
    fn insert(&mut self, entry: Entry, value: &[u8]) -> u32 {
        let code = self.ends.len() as u32;
        self.bytes.extend_from_slice(value);
        self.ends.push(self.bytes.len());
        if self.ends.len() * 4 > self.table.len() * 3 {
            let larger = vec![FREE; 2 * self.table.len()];
            let old = std::mem::replace(&mut self.table, larger);
            old.into_iter().filter(|entry| entry.code != FREE.code).for_each(|entry| self.place(entry));
        }
        self.place(Entry { code, ..entry });
        code
    }

    /// Returns the code of a value; `None` if it has none.
    #[inline]
    pub(crate) fn find(&self, value: &[u8]) -> Option<u32> {
        self.look_up(&Entry::new(value), value)
    }

    /// The value of a code.
    pub(crate) fn value(&self, code: u32) -> &[u8] {
        let code = code as usize;
        let start = if code == 0 { 0 } else { self.ends[code - 1] };
        &self.bytes[start..self.ends[code]]
    }

    /// Number of distinct values.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Allocated bytes.
    pub(crate) fn size(&self) -> u64 {
        (self.table.capacity() * size_of::<Entry>() + self.bytes.capacity() + self.ends.capacity() * 8) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_share_a_code() {
        let mut dictionary = Dictionary::default();
        let words: [&[u8]; 5] = [b"", b"a", b"ab", b"a", b""];
        let codes: Vec<u32> = words.iter().map(|word| dictionary.encode(word)).collect();
        assert_eq!(codes, [0, 1, 2, 1, 0]);
        assert_eq!(dictionary.value(0), b"");
        assert_eq!(dictionary.value(2), b"ab");
        assert_eq!(dictionary.find(b"ab"), Some(2));
        assert_eq!(dictionary.find(b"abc"), None);
        assert_eq!(dictionary.len(), 3);
        assert!(dictionary.size() > 3);
    }

    #[test]
    fn values_of_all_lengths_get_different_codes() {
        let mut dictionary = Dictionary::default();
        let mut known = std::collections::HashMap::new();
        let mut random = 1u64;
        for _ in 0..20_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let length = (random >> 33) as usize % 40;
            let mut value = vec![b'a'; length];
            for bit in 0..3 {
                if let Some(at) = ((random >> (40 + 6 * bit)) as usize % 64).checked_rem(length) {
                    value[at] = b"ab\0"[bit as usize];
                }
            }
            let next = known.len() as u32;
            let code = *known.entry(value.clone()).or_insert(next);
            assert_eq!(dictionary.encode(&value), code);
            assert_eq!((dictionary.value(code), dictionary.find(&value)), (value.as_slice(), Some(code)));
        }
    }
}
