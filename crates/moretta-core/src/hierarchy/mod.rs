//! Hierarchies: trees over one column's values, and the domains built from them.
//!
//! [`Tree`] is the shape, [`mod@file`] its file format, [`draw`] its picture, [`numeric`] the builders for numbers, the
//! calendar and prefixes those for dates and codes, [`prune()`] makes a tree shallower, and [`Domain`] is what every
//! method works with: the column's leaves in order, coded `0..m`, and what may be released in their place.

mod bind;
pub(crate) mod calendar;
mod choice;
mod domain;
pub mod draw;
pub mod file;
mod hierarchies;
mod labels;
mod numbers;
pub mod numeric;
pub(crate) mod prefix;
mod prune;
mod scale;
mod tree;
mod value_parser;

pub(crate) use bind::OccurringValues;
pub use bind::{build_tree, parse_number};
pub use calendar::DateLevel;
pub use choice::HierarchyChoice;
pub use domain::{Cell, Domain, DomainError, DomainProblem};
pub use hierarchies::Hierarchies;
pub use labels::interval_ends;
pub(crate) use labels::split_at_middle_comma;
pub use labels::{LabelReader, ReadCell};
pub use prune::prune;
pub use tree::{ROOT_LABEL, Tree, TreeBuilder};
pub use value_parser::ValueParser;
