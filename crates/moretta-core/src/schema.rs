//! Properties of a column in a policy: its role, its type and the treatment of missing values. What is counted.

use serde::{Deserialize, Serialize};

use crate::text;

/// Role of a column (key `role` of a policy): decides whether and how it is released.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Identifies a person directly (name, social security number). Not released.
    Identifier,
    /// Could be linked with outside data to re-identify a person (age, postcode). Released in generalized form.
    QuasiIdentifier,
    /// Must not be inferred about a person (diagnosis). Released unchanged; privacy models limit what an attacker can
    /// infer.
    Sensitive,
    /// To be predicted by recipients of the release, e.g. by a classifier. Released unchanged.
    Class,
    /// Has none of the other roles. Released unchanged.
    Insensitive,
    /// Number of the person that a record is about, if a person may have several records. Not released; privacy models
    /// count persons instead of records.
    Person,
    /// Number of the household that a record is about. Not released; for risk figures only.
    Household,
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
            Self::Person => "person",
            Self::Household => "household",
        }
    }

    /// Whether a release has the column, generalized or unchanged.
    pub fn is_released(self) -> bool {
        !matches!(self, Self::Identifier | Self::Person | Self::Household)
    }

    /// Whether its values are released unchanged, so that an attacker who knows one can find the records that have it.
    pub fn is_kept(self) -> bool {
        self.is_released() && self != Self::QuasiIdentifier
    }
}

/// Unit in which sizes of groups are counted: persons if the policy has a column with the role `person`, otherwise
/// records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Unit {
    /// Every record counts.
    #[default]
    Records,
    /// A person counts once, however many records there are.
    Persons,
}

impl Unit {
    /// `records` or `persons`.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Records => "records",
            Self::Persons => "persons",
        }
    }

    /// A number with its unit: `1 record`, `12 persons`.
    pub fn counted(self, number: u64) -> String {
        match self {
            Self::Records => text::counted(number, "record", "records"),
            Self::Persons => text::counted(number, "person", "persons"),
        }
    }
}

/// Type of a column's values (key `type` of a policy): decides how they are compared and generalized.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Compared by size; released as intervals.
    Number,
    /// Compared for equality; released as nodes of a hierarchy.
    Category,
    /// Compared by time; released as calendar periods (months, years), or as intervals.
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

    /// Whether values have an order, and distances between them.
    pub fn is_ordered(self) -> bool {
        self != Self::Category
    }
}

/// Treatment of missing values in a column (key `missing` of a policy).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MissingRule {
    /// A missing value is a value of its own. Only `*` covers it together with other values, unless the hierarchy file
    /// has a leaf for it.
    Category,
    /// A missing value is released as `*`.
    Suppress,
    /// A missing value is an error: the table is refused.
    #[default]
    Error,
}
