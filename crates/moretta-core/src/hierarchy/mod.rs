//! Hierarchies: trees over one column's values, and the domains built from them.
//!
//! A [`Tree`] is a hierarchy: read from a file ([`mod@file`]), built over numbers ([`numeric`]), dates (`calendar`) or
//! codes (`prefix`), made shallower by [`prune()`] and drawn by [`draw`]. A [`Domain`] is a column as methods see it:
//! its leaves in order, coded `0..m`, and the cells that may be released in their place.

mod bind;
pub(crate) mod calendar;
mod choice;
mod domain;
pub mod draw;
#[cfg(test)]
mod exact_labels;
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

pub use crate::decimal::Decimal;
pub use crate::notation::printed_interval;
pub(crate) use bind::OccurringValues;
pub use bind::{build_tree, parse_number};
pub use calendar::{DateLevel, period_ends};
pub use choice::HierarchyChoice;
pub use domain::{Cell, Domain, DomainError, DomainProblem};
pub use hierarchies::Hierarchies;
pub use labels::{LabelReader, ReadCell, interval_ends, set_leaves};
pub use prefix::prefix_path;
pub use prune::prune;
pub use tree::{ROOT_LABEL, Tree, TreeBuilder};
pub use value_parser::ValueParser;
