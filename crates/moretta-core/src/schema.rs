//! Columns and their roles.

use serde::{Deserialize, Serialize};

/// What a column is to the holder: decides whether it leaves, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Names a person outright. Dropped from a release.
    Identifier,
    /// Could be joined with outside data to find a person. Made less precise.
    QuasiIdentifier,
    /// What nobody should be able to infer about a person. Kept as it is, guarded by privacy models.
    Sensitive,
    /// What a recipient will model. Kept as it is.
    Class,
    /// Kept as it is.
    Insensitive,
}

impl Role {
    /// What the policy calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Identifier => "identifier",
            Self::QuasiIdentifier => "quasi-identifier",
            Self::Sensitive => "sensitive",
            Self::Class => "class",
            Self::Insensitive => "insensitive",
        }
    }
}

/// How a column's values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// By size; released as intervals.
    Number,
    /// By name; released as nodes of a hierarchy.
    Category,
    /// By time; released as months, years and the like, or as intervals.
    Date,
}

impl Kind {
    /// What the policy calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Number => "number",
            Self::Category => "category",
            Self::Date => "date",
        }
    }

    /// Whether values have an order and distances.
    pub fn is_ordered(self) -> bool {
        self != Self::Category
    }
}

/// What a missing value in a column means.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MissingRule {
    /// It is a value of its own, released like any other.
    Category,
    /// It is released as `*`.
    Suppress,
    /// There must be none.
    #[default]
    Error,
}
