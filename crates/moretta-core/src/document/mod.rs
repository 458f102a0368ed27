//! Syntax of a policy file: a tree of tables and values with their locations in the text, and the reader of one
//! section.
//!
//! [`TomlTable::parse`] builds the tree from TOML; serde builds it from JSON, without locations. [`Fields`] reads one
//! section: unknown keys and wrong values become a [`PolicyError`] with the line and a suggestion. Privacy models and
//! measures read their own sections with it; this module does not know what a section means.

mod error;
mod fields;
mod key;
mod tree;

pub use self::error::{PolicyError, TextLocation};
pub use self::fields::{Fields, as_number, holds, list, section, section_at, tables, weight, wrong};
pub use self::key::toml_key;
pub use self::tree::{Entry, Item, Span, TomlTable, Value};
