//! Hierarchies: trees over one column's values, and the domains built from them.
//!
//! [`Tree`] is the shape, [`mod@file`] its file format, [`draw`] its picture, [`numeric`] the builders for numbers, and
//! [`Domain`] what every method works with: the column's leaves in order, coded `0..m`, and what may be released in their
//! place.

mod bind;
mod domain;
pub mod draw;
pub mod file;
mod forms;
pub mod numeric;
mod tree;

pub use bind::parse_number;
pub(crate) use bind::{decimal, same_decimal};
pub use domain::{Cell, Domain, DomainError, DomainProblem};
pub(crate) use forms::interval_ends;
pub use forms::{LabelReader, ReadCell};
pub use tree::{ROOT_LABEL, Tree, TreeBuilder};
