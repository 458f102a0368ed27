//! Generalization path: the steps by which a method generalizes the original table.
//!
//! A path is a trade-off between privacy and precision: each of its points is a cut, which can be released if the
//! policy holds for it. A step only has the changes, so that a path of a thousand steps over a million values is small;
//! [`Cut::apply`](crate::recoding::Cut::apply) applies one.

use serde::Serialize;

use crate::recoding::Step;

/// The path from the original table to all values at the root.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GeneralizationPath {
    /// In order; each applies to the cut of the steps before it.
    pub steps: Vec<Step>,
    /// First point at which the policy holds; `None` if it holds at none.
    pub first_valid: Option<ValidPoint>,
}

/// A point at which the policy holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ValidPoint {
    /// Number of steps from the original table.
    pub step: usize,
    /// Number of records that must be suppressed at this point.
    pub suppressed_rows: u64,
}
