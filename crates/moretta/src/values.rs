//! Values of options, as the command line reads them.

pub use crate::arguments::{parse_size as size, parse_time as time};
