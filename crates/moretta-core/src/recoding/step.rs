//! Steps of a generalization path: what changes from one cut to the next.

use serde::Serialize;

use crate::{hierarchy::Cell, ids::ColumnId};

/// From one point of a path to the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// What kind of step it is.
    pub action: Action,
    /// What changes, in this order: from here on, all codes inside the cell leave as the cell.
    pub changes: Vec<(ColumnId, Cell)>,
}

/// What a step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Values become less precise.
    Generalize,
    /// Values become more precise again, because the policy holds without.
    TakeBack,
    /// Values that were suppressed are told.
    Disclose,
    /// A better cut found elsewhere takes the place of the one at hand.
    Search,
}
