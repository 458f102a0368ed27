//! Everything that depends on the seed: the order of shuffled records, and which records of a split row go to which
//! group.
//!
//! Guarantee: both come from the ChaCha8 stream cipher with the seed ([`Seed::cipher`]), and depend only on the rewrite
//! and the number of the record (or on its row and its number within the row), never on threads or blocks. As far as
//! ChaCha8 is secure, an attacker without the seed learns nothing about the order of the input from that of the output.
//! Two different releases of one table with the same seed have unrelated orders: otherwise their records could be
//! linked by their positions.
//!
//! How: record `n` is sorted by the `n`-th 64-bit word of a stream that the rewrite determines. Each row has a stream
//! of its own for a permutation of `0..total`, which is computed for one record at a time without storing it: by a
//! shuffle if the row has few records, else by a Feistel network with cycle walking (Black and Rogaway, "Ciphers with
//! Arbitrary Finite Domains", CT-RSA 2002):
//!
//! ```text
//! total = 50     the network permutes 0..64, the next power of four
//! ordinal 17 ──network──▶ 58 (not below 50: apply again) ──network──▶ 31, the result
//! ```
//!
//! Cost: one cipher block per 8 sort keys. A permuted number costs O(total) for at most 24 records, else 8 words of the
//! stream and less than 4 applications of the network on average.

use moretta_core::{
    counts::{Change, Rewrite},
    seed::Seed,
};
use rand_chacha::{ChaCha8Rng, rand_core::Rng};
use sha2::{Digest, Sha256};

/// Bit of the streams of sort keys; row `r` has stream `r`, which is smaller.
const SORT_KEY_STREAMS: u64 = 1 << 63;

/// Maximum records of a row that are permuted by a shuffle; above, the Feistel network is faster. Not tuned.
const MAX_SHUFFLED: u64 = 24;

/// Bytes that are digested at a time. Not tuned.
const DIGEST_BYTES: usize = 1 << 14;

/// Rounds of the Feistel network, each with its own key.
const FEISTEL_ROUNDS: usize = 8;

/// Stream of the sort keys of a release, from a digest of what distinguishes it from other releases of the same
/// records: dropped columns, labels, and the records of each group. The codes of values and rows depend on how threads
/// divided the first pass, so the digest does not.
pub(crate) fn sort_key_stream(rewrite: &Rewrite) -> u64 {
    let mut digest = Sha256::new();
    let mut bytes = Vec::new();
    let mut texts = |texts: &mut dyn Iterator<Item = &str>| {
        texts.for_each(|text| {
            bytes.extend_from_slice(&(text.len() as u64).to_le_bytes());
            bytes.extend_from_slice(text.as_bytes());
            // Many texts at once take less time than each alone.
            if bytes.len() >= DIGEST_BYTES {
                digest.update(&bytes);
                bytes.clear();
            }
        });
        // No text has this length, so that lists cannot be confused.
        bytes.extend_from_slice(&u64::MAX.to_le_bytes());
    };
    texts(&mut rewrite.dropped.iter().map(String::as_str));
    let rewritten = || rewrite.key.iter().filter(|column| column.rewritten);
    texts(&mut rewritten().map(|column| column.name.as_str()));
    let mut records: Vec<u64> = Vec::new();
    match &rewrite.change {
        Change::Map { labels, suppressed } => {
            for (column, labels) in rewritten().zip(labels) {
                let mut pairs: Vec<(&str, &str)> =
                    column.values.iter().zip(labels).map(|(value, label)| (&**value, &**label)).collect();
                pairs.sort_unstable();
                texts(&mut pairs.into_iter().flat_map(|(value, label)| [value, label]));
            }
            records.push(suppressed.len() as u64);
        }
        Change::Shares { shares, labels, .. } => {
            labels.iter().for_each(|column| texts(&mut column.iter().map(|label| &**label)));
            records.resize(labels.first().map_or(0, Vec::len), 0);
            shares.iter().for_each(|share| records[share.group as usize] += share.records);
        }
    }
    digest.update(&bytes);
    records.chunks(DIGEST_BYTES).for_each(|records| {
        let bytes: Vec<u8> = records.iter().flat_map(|records| records.to_le_bytes()).collect();
        digest.update(bytes);
    });
    let bytes = digest.finalize();
    u64::from_le_bytes(std::array::from_fn(|byte| bytes[byte])) | SORT_KEY_STREAMS
}

/// Secret of a seed and a release ([`sort_key_stream`]), for engines that order records by a keyed hash.
pub(crate) fn secret(seed: Seed, stream: u64) -> [u8; 32] {
    let mut random = seed.cipher();
    random.set_stream(stream);
    let mut secret = [0; 32];
    random.fill_bytes(&mut secret);
    secret
}

/// Sort keys of the records.
#[derive(Debug)]
pub(crate) struct SortKeys(ChaCha8Rng);

impl SortKeys {
    /// The sort keys of a seed and a release ([`sort_key_stream`]).
    pub(crate) fn new(seed: Seed, stream: u64) -> Self {
        let mut random = seed.cipher();
        random.set_stream(stream);
        Self(random)
    }

    /// Sort keys of record number `record` (from 0) and the records after it.
    pub(crate) fn starting_at(&mut self, record: u64) -> impl Iterator<Item = u64> {
        // The stream is addressed in words of 32 bits.
        self.0.set_word_pos(u128::from(record) * 2);
        std::iter::from_fn(|| Some(self.0.next_u64()))
    }
}

/// One random permutation per row.
#[derive(Debug)]
pub(crate) struct RowPermutations(ChaCha8Rng);

impl RowPermutations {
    /// The permutations of a seed.
    pub(crate) fn new(seed: Seed) -> Self {
        Self(seed.cipher())
    }

    /// Image of `ordinal` under the permutation of `0..total` of a row.
    pub(crate) fn permute(&self, row: u64, ordinal: u64, total: u64) -> u64 {
        if total < 2 {
            return ordinal;
        }
        let mut random = self.0.clone();
        random.set_stream(row);
        if total <= MAX_SHUFFLED {
            permute_by_shuffle(&mut random, ordinal, total)
        } else {
            permute_by_feistel(&mut random, ordinal, total)
        }
    }
}

fn permute_by_shuffle(random: &mut ChaCha8Rng, ordinal: u64, total: u64) -> u64 {
    let mut positions = [0u8; MAX_SHUFFLED as usize];
    for (index, position) in positions.iter_mut().enumerate() {
        *position = index as u8;
    }
    for last in (1..total as usize).rev() {
        // Multiplication instead of rejection: the bias is at most 24 / 2^64, below 2^-59.
        let other = ((u128::from(random.next_u64()) * (last as u128 + 1)) >> 64) as usize;
        positions.swap(last, other);
    }
    u64::from(positions[ordinal as usize])
}

fn permute_by_feistel(random: &mut ChaCha8Rng, ordinal: u64, total: u64) -> u64 {
    let keys: [u64; FEISTEL_ROUNDS] = std::array::from_fn(|_| random.next_u64());
    let half = (64 - (total - 1).leading_zeros()).div_ceil(2);
    let mask = (1u64 << half) - 1;
    let mut position = ordinal;
    loop {
        let (mut left, mut right) = (position >> half, position & mask);
        for key in keys {
            (left, right) = (right, left ^ (mix(right ^ key) & mask));
        }
        position = left << half | right;
        // The network permutes the numbers below the next power of four. Its cycle through `ordinal` returns to a
        // number below `total`, `ordinal` itself at the latest, so the loop ends.
        if position < total {
            return position;
        }
    }
}

/// Round function of the network: mixes the bits of a word by two multiplications.
fn mix(value: u64) -> u64 {
    let value = (value ^ value >> 32).wrapping_mul(0xE703_7ED1_A0B4_28DB);
    let value = (value ^ value >> 29).wrapping_mul(0x8EBC_6AF0_9C88_C6E3);
    value ^ value >> 32
}

#[cfg(test)]
mod tests {
    use moretta_core::counts::{KeyColumn, RecordOrder, Share};

    use super::*;

    /// Otherwise records of two releases with one seed could be linked by their positions.
    #[test]
    fn different_releases_have_different_streams() {
        let rewrite = |label: &str, dropped: &str| Rewrite {
            key: vec![KeyColumn { name: "age".to_owned(), values: vec!["1".into()], rewritten: true }],
            change: Change::Map { labels: vec![vec![label.into()]], suppressed: Vec::new() },
            dropped: vec![dropped.to_owned()],
            renotated: Vec::new(),
            order: RecordOrder::Shuffled,
            seed: Seed::Number(1),
        };
        let streams = [("1", "name"), ("[1, 2]", "name"), ("1", "id")].map(|(label, dropped)| {
            assert_eq!(sort_key_stream(&rewrite(label, dropped)), sort_key_stream(&rewrite(label, dropped)));
            sort_key_stream(&rewrite(label, dropped))
        });
        assert!(streams[0] != streams[1] && streams[0] != streams[2] && streams[1] != streams[2]);
        assert!(streams.iter().all(|stream| *stream >= SORT_KEY_STREAMS));
    }

    /// Threads may number values and rows in another order; the release is the same.
    #[test]
    fn the_stream_does_not_depend_on_the_order_of_codes() {
        let column = |values: [&str; 2]| {
            vec![KeyColumn { name: "age".to_owned(), values: values.map(Into::into).to_vec(), rewritten: true }]
        };
        let rewrite = |key: Vec<KeyColumn>, change: Change| {
            let (order, seed) = (RecordOrder::Shuffled, Seed::Number(1));
            sort_key_stream(&Rewrite { key, change, dropped: Vec::new(), renotated: Vec::new(), order, seed })
        };
        let map =
            |labels: [&str; 2]| Change::Map { labels: vec![labels.map(Into::into).to_vec()], suppressed: Vec::new() };
        assert_eq!(rewrite(column(["1", "2"]), map(["a", "b"])), rewrite(column(["2", "1"]), map(["b", "a"])));
        assert_ne!(rewrite(column(["1", "2"]), map(["a", "b"])), rewrite(column(["1", "2"]), map(["b", "a"])));
        let shares = |groups: [u32; 2], rows: [u32; 2]| Change::Shares {
            rows: rows.to_vec(),
            offsets: vec![0, 1, 2],
            shares: groups.map(|group| Share { group, records: 1 + u64::from(group) }).to_vec(),
            labels: vec![["a", "b"].map(Into::into).to_vec()],
        };
        let key = || column(["1", "2"]);
        assert_eq!(rewrite(key(), shares([0, 1], [0, 1])), rewrite(key(), shares([1, 0], [1, 0])));
        assert_ne!(rewrite(key(), shares([0, 1], [0, 1])), rewrite(key(), shares([0, 0], [0, 1])));
    }

    #[test]
    fn positions_are_permutations() {
        let permutations = RowPermutations::new(Seed::Number(3));
        for total in (1..100).chain([1_000, 4_097, 65_536]) {
            let mut all: Vec<u64> = (0..total).map(|ordinal| permutations.permute(total, ordinal, total)).collect();
            let moved =
                all.iter().enumerate().filter(|(ordinal, position)| *ordinal as u64 != **position).count() as u64;
            assert!(total < 20 || moved > total / 2);
            all.sort_unstable();
            assert_eq!(all, (0..total).collect::<Vec<_>>());
        }
    }

    #[test]
    fn every_position_is_equally_likely() {
        for total in [3u64, 30] {
            let mut hits = vec![0u32; total as usize];
            let permutations = RowPermutations::new(Seed::Number(11));
            (0..total * 1_000).for_each(|row| hits[permutations.permute(row, 1, total) as usize] += 1);
            assert!(hits.iter().all(|&hits| (850..1_150).contains(&hits)), "{hits:?}");
        }
    }

    #[test]
    fn keys_depend_on_the_record_alone() {
        let mut keys = SortKeys::new(Seed::Number(5), SORT_KEY_STREAMS);
        let all: Vec<u64> = keys.starting_at(0).take(200).collect();
        for first in [0, 1, 7, 8, 31, 64, 100] {
            let some: Vec<u64> = keys.starting_at(first).take(50).collect();
            assert_eq!(some, all[first as usize..first as usize + 50]);
        }
        for other in [Seed::Number(6), Seed::Key([5; 16])] {
            assert_ne!(all, SortKeys::new(other, SORT_KEY_STREAMS).starting_at(0).take(200).collect::<Vec<_>>());
        }
    }
}
