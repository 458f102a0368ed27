//! The answers of a release and their errors, as CSV, JSON or a chart.

mod csv;
mod json;
mod svg;

pub use self::{csv::csv, json::json, svg::svg};
