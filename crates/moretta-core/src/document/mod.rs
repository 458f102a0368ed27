//! A policy file before its meaning is known: a tree of tables and values, each with its place in the text, and the
//! readers of single sections.
//!
//! [`TomlTable::parse`] makes the tree from TOML; serde makes it from JSON, without places. [`Fields`] reads one section:
//! unknown keys and wrong values become a [`PolicyError`] with the line and a suggestion. Privacy models and measures
//! read their own sections with it, so nothing here knows what a section means.

mod error;
mod fields;
mod key;
mod tree;

pub use self::error::{PolicyError, TextLocation};
pub use self::fields::{Fields, as_number, holds, list, section, section_written, tables, weight, wrong};
pub use self::key::toml_key;
pub use self::tree::{Entry, Item, Span, TomlTable, Value};
