//! moretta-core.
pub mod counts;
pub mod schema;
