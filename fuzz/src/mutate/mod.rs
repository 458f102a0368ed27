//! Mutations of input files, by format: one module each, and mutations of bytes for all.

mod bytes;
mod csv;
mod json;
mod lines;
mod toml;

use crate::rng::Rng;

/// Formats of the files that the program reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A policy or a file of queries.
    Toml,
    /// A table or a hierarchy.
    Csv,
    /// A saved recoding.
    Json,
    /// Parquet.
    Binary,
}

/// Bound on a mutated file in bytes. Larger ones find no other faults: they take the time of many cases, and their
/// memory is no fault of the program.
pub const MAX_BYTES: usize = 2_000_000;

/// Number of copies of a part of `bytes` bytes: `wanted`, or as many as the bound on the file allows.
fn copies(wanted: usize, bytes: usize) -> usize {
    wanted.min(MAX_BYTES / bytes.max(1))
}

/// Changes a file in one to four places; rarely not at all. Parts of `splice`, another file, may be copied into it. A
/// change that makes it larger than [`MAX_BYTES`] is undone.
pub fn mutate(rng: &mut Rng, format: Format, data: &mut Vec<u8>, splice: &[u8]) {
    let times = *rng.one(&[1, 1, 1, 1, 2, 2, 3, 4]);
    for _ in 0..times {
        let before = data.clone();
        let changed = match format {
            _ if rng.chance(if format == Format::Binary { 100 } else { 15 }) => false,
            Format::Toml => toml::toml(rng, data),
            Format::Csv => csv::csv(rng, data),
            Format::Json => json::json(rng, data),
            Format::Binary => false,
        };
        match format {
            _ if changed => {}
            Format::Binary => bytes::bytes(rng, data, splice),
            _ => bytes::text(rng, data, splice),
        }
        if data.len() > MAX_BYTES {
            *data = before;
        }
    }
}
