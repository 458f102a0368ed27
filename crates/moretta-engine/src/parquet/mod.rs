//! Parquet: files and their pieces, codes and texts of arrays.

pub(crate) mod code;
pub(crate) mod group;
pub(crate) mod open;
pub(crate) mod text;
