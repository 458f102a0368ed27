//! Loss metrics that a search can minimize.

use serde::{Deserialize, Serialize};

use crate::hierarchy::{Cell, Domain};

/// Loss of a cell, as chosen in the policy's `[measure]`. Columns are summed by their weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossMetric {
    /// Normalized certainty penalty.
    #[default]
    Ncp,
    /// Iyengar's loss.
    Lm,
}

impl LossMetric {
    /// All metrics.
    pub const ALL: [Self; 2] = [Self::Ncp, Self::Lm];

    /// Name in a policy.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ncp => "ncp",
            Self::Lm => "lm",
        }
    }

    /// Loss of a cell of a column, 0 to 1.
    pub fn of(self, domain: &Domain, cell: Cell) -> f64 {
        match self {
            Self::Ncp => domain.ncp(cell),
            Self::Lm => domain.lm(cell),
        }
    }
}
