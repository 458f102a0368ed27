//! Seed of a release: all randomness of a run depends on it.
//!
//! Guarantee: without a seed of the user, the seed is a [`Seed::Key`] of 128 random bits, which an attacker cannot find
//! by trying, however many records of known order the attacker has. A [`Seed::Number`] is for runs that others may
//! repeat. The seed of the search is derived from a key by a stream cipher, so that the key cannot be computed from it.

use std::{fmt, str::FromStr};

use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};
use serde::{Serialize, Serializer};

/// Stream of the search's seed, used for nothing else: releases use the streams from 0 up, and the last.
const SEARCH_STREAM: u64 = u64::MAX - 1;

/// Random seed of a release. Its text is what `report.json` has and `--seed` reads.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Seed {
    /// Number that a user chose. Anyone can try small numbers.
    Number(u64),
    /// Secret key. Its text has 32 hexadecimal digits.
    Key([u8; 16]),
}

impl Seed {
    /// Stream cipher with this seed, at the start of stream 0.
    pub fn cipher(self) -> ChaCha8Rng {
        match self {
            Self::Number(number) => ChaCha8Rng::seed_from_u64(number),
            Self::Key(key) => {
                let mut doubled = [0; 32];
                doubled[..16].copy_from_slice(&key);
                doubled[16..].copy_from_slice(&key);
                ChaCha8Rng::from_seed(doubled)
            }
        }
    }

    /// Seed of the search.
    pub fn for_search(self) -> u64 {
        match self {
            Self::Number(number) => number,
            Self::Key(_) => {
                let mut cipher = self.cipher();
                cipher.set_stream(SEARCH_STREAM);
                cipher.next_u64()
            }
        }
    }
}

impl From<u64> for Seed {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Key(key) => write!(f, "{:032x}", u128::from_be_bytes(*key)),
        }
    }
}

/// Without the key: debug output may be logged.
impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "Number({number})"),
            Self::Key(_) => write!(f, "Key(..)"),
        }
    }
}

/// Text that is neither a number nor a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a seed: give a whole number below 2^64, or the 32 hexadecimal digits of `seed` in a report")]
pub struct NotASeed;

impl FromStr for Seed {
    type Err = NotASeed;

    fn from_str(text: &str) -> Result<Self, NotASeed> {
        // A number below 2^64 has at most 20 digits.
        if text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return u128::from_str_radix(text, 16).map(|key| Self::Key(key.to_be_bytes())).map_err(|_| NotASeed);
        }
        text.parse().map(Self::Number).map_err(|_| NotASeed)
    }
}

impl Serialize for Seed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_read_back() {
        for seed in [Seed::Number(0), Seed::Number(u64::MAX), Seed::Key([0; 16]), Seed::Key([0x1F; 16])] {
            assert_eq!(seed.to_string().parse(), Ok(seed));
        }
        assert_eq!(Seed::Key([1; 16]).to_string(), "01".repeat(16));
        assert_eq!("00000000000000000000000000000007".parse(), Ok(Seed::Key(7u128.to_be_bytes())));
        for wrong in ["", "-1", "18446744073709551616", "0123456789abcdef", "x", &"g".repeat(32)] {
            assert_eq!(wrong.parse::<Seed>(), Err(NotASeed), "{wrong}");
        }
    }

    #[test]
    fn every_bit_of_a_key_counts_and_the_search_does_not_show_it() {
        let first_words = |seed: Seed| [seed.cipher().next_u64(), seed.for_search()];
        let zero = first_words(Seed::Key([0; 16]));
        for bit in 0..128 {
            let other = first_words(Seed::Key((1u128 << bit).to_be_bytes()));
            assert!(other[0] != zero[0] && other[1] != zero[1]);
        }
        assert_ne!(zero[0], zero[1]);
        assert_eq!(Seed::Number(7).for_search(), 7);
        assert_eq!(format!("{:?}", Seed::Key([1; 16])), "Key(..)");
    }
}
