//! Inferences from a file, as CSV or JSON.

mod csv;
mod json;

pub use self::{csv::csv, json::json};
