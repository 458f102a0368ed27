//! Columns and their roles.

use serde::{Deserialize, Serialize};

/// Role of a column: decides whether and how it is released.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Identifies a person directly (name, social security number). Not released.
    Identifier,
    /// Could be linked with outside data to re-identify a person (age, postcode). Released generalized.
    QuasiIdentifier,
    /// Must not be inferred about a person (diagnosis). Released unchanged; privacy models limit what an attacker can infer.
    Sensitive,
    /// Target that a recipient predicts. Released unchanged.
    Class,
    /// None of these. Released unchanged.
    Insensitive,
}

impl Role {
    /// Name in a policy.
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

/// Type of a column's values: decides how they are compared and generalized.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Compared by size; released as intervals.
    Number,
    /// Compared for equality; released as nodes of a hierarchy.
    Category,
    /// Compared by time; released as months, years and so on, or as intervals.
    Date,
}

impl Kind {
    /// Name in a policy.
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

/// Treatment of missing values in a column.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MissingRule {
    /// A missing value is a category of its own, released like any other value.
    Category,
    /// A missing value is released as `*`.
    Suppress,
    /// A missing value is an error.
    #[default]
    Error,
}
