//! Parquet: open files, the ranges of records that threads read, and protection against damaged files.
//!
//! ```text
//! file.rs   footer ──checked──▶ ranges of records ──▶ guard.rs: decoder, panics caught ──▶ Arrow batches
//!                                                       └─▶ pages.rs, headers.rs: pages, sizes checked
//! ```

pub(crate) mod file;
pub(crate) mod guard;
mod headers;
mod pages;
mod ranges;
pub(crate) mod scan;
mod types;

pub use guard::catches_panics;
