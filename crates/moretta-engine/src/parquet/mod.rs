//! Parquet: files, and the ranges of records that threads take.

mod open;
pub(crate) mod scan;
