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
mod forms;
mod hierarchies;
pub mod numeric;
pub(crate) mod prefix;
mod prune;
mod reading;
mod scale;
mod tree;
mod values;

pub(crate) use bind::Occurring;
pub use bind::{parse_number, tree_over};
pub use calendar::DateLevel;
pub use choice::HierarchyChoice;
pub use domain::{Cell, Domain, DomainError, DomainProblem};
pub use forms::interval_ends;
pub(crate) use forms::middle;
pub use forms::{LabelReader, ReadCell};
pub use hierarchies::Hierarchies;
pub use prune::prune;
pub use reading::Reading;
pub use tree::{ROOT_LABEL, Tree, TreeBuilder};
