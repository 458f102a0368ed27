//! A generalization path as a page, a picture or a table for programs.

mod csv;
mod page;
mod svg;

pub use self::{csv::csv, page::page, svg::svg};
