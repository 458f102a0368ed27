//! Arrow arrays of any source: codes and texts of their values.

pub(crate) mod code;
pub(crate) mod text;
