//! Parquet: files, and the ranges of records that threads take.

mod file;
pub(crate) mod scan;
