//! Parquet: open files, and the ranges of records that threads read.

mod file;
pub(crate) mod scan;
