//! The privacy-utility trade-off as a page, SVG or CSV.

mod csv;
mod page;
mod svg;

pub use self::{csv::csv, page::page, svg::svg};
