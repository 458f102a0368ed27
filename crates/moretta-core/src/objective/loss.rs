//! What a search may be asked to lose little of.

use serde::{Deserialize, Serialize};

use crate::hierarchy::{Cell, Domain};

/// How a search counts what a cell loses: the policy's `[measure]`. Columns add up by their weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossMetric {
    /// The normalised certainty penalty.
    #[default]
    Ncp,
    /// Iyengar's loss.
    Lm,
}

impl LossMetric {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Ncp, Self::Lm];

    /// What the policy calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ncp => "ncp",
            Self::Lm => "lm",
        }
    }

    /// What a cell of a column loses, 0 to 1.
    pub fn of(self, domain: &Domain, cell: Cell) -> f64 {
        match self {
            Self::Ncp => domain.ncp(cell),
            Self::Lm => domain.lm(cell),
        }
    }
}
