//! Steps of a generalization path: the changes from one cut to the next.

use serde::Serialize;

use crate::{hierarchy::Cell, ids::ColumnId};

/// Difference between two consecutive cuts of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The kind of step.
    pub action: Action,
    /// Changes in this order: from here on, all codes inside the cell are released as the cell.
    pub changes: Vec<(ColumnId, Cell)>,
}

/// The kinds of steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Values become less precise.
    Generalize,
    /// Values become more precise again, because the policy holds without the generalization.
    TakeBack,
    /// Suppressed values are disclosed.
    Disclose,
    /// A better cut found elsewhere replaces the current one.
    Search,
}
