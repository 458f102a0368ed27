//! Arrow arrays: dictionary encoding and text form of their values.

pub(crate) mod encode;
pub(crate) mod hash;
pub(crate) mod portable;
pub(crate) mod text;
