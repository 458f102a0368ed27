//! The path that a method may leave: from the table as it is, change by change, to where it ends.
//!
//! A path is the trade-off between privacy and precision: every point of it is a cut that could be released where
//! the policy holds there. Steps only say what changes, so that a path of a thousand steps over a million values is
//! still small; [`Cut::apply`](crate::recoding::Cut::apply) walks it.

use serde::Serialize;

use crate::recoding::Step;

/// The whole trade-off: the steps from the table as it is to all values at the root.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GeneralizationPath {
    /// The steps.
    pub steps: Vec<Step>,
    /// The first point at which the policy holds; none where it holds at none.
    pub first_valid: Option<ValidPoint>,
}

/// A point at which the policy holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ValidPoint {
    /// How many steps it is from the table as it is.
    pub step: usize,
    /// How many records are suppressed for it.
    pub suppressed_rows: u64,
}
