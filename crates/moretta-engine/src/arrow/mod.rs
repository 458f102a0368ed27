//! Arrow arrays of any source: codes and texts of their values.

pub(crate) mod encode;
pub(crate) mod text;
