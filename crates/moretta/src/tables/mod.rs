//! Results as tables on a terminal.

pub mod comparison;
pub mod inferences;
pub mod kept;
pub mod linkage;
pub mod queries;
pub mod risks;
pub mod tradeoff;
