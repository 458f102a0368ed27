//! The policy: a TOML file in which the data holder states columns, privacy models, method and objectives.
//!
//! A policy is read in three steps: text → tree with the location of every key and value
//! ([`document`](crate::document)) → `check` → [`Policy`]. [`Policy::parse`] does all of it. Serde's `Deserialize`,
//! used for the policy inside a recoding file, runs the same checks. A policy that fails one is refused with a
//! [`PolicyError`] that names the line and how to correct it. So a [`Policy`] that was read guarantees:
//!
//! - it has at least one privacy model that some table would violate, and at least one quasi-identifier;
//! - every column that a privacy model names is declared in a fitting role: a *given* column is a quasi-identifier, a
//!   guarded or predicted column is sensitive or a class;
//! - every number is finite and in its range; widths and bins ascend, prefixes descend; a hierarchy fits its column's
//!   type.
//!
//! Checks that need the data (whether a column exists, is numeric, has a value) follow later; [`Policy::check_columns`]
//! compares the policy with a header. Serialized, a policy has the keys of the TOML file, with defaults filled in.
//!
//! ```
//! use moretta_core::policy::Policy;
//!
//! let text = r#"
//! version = 1
//! [privacy]
//! k = 5
//! [columns.age]
//! role = "quasi-identifer"
//! "#;
//! let error = Policy::parse(text, &["best"]).unwrap_err();
//! assert_eq!(error.line_column(text), Some((6, 8)));
//! assert_eq!(error.help.as_deref(), Some("did you mean \"quasi-identifier\"?"));
//!
//! let policy = Policy::parse(&text.replace("identifer", "identifier"), &["best"]).unwrap();
//! assert_eq!(policy.privacy.k(), Some(5));
//! assert_eq!(policy.method.name, "best");
//! ```

mod bound;
mod check;
mod columns;
mod header;
mod json;
mod method;
mod patterns;
#[cfg(test)]
mod tests;

use serde::Serialize;

pub use self::bound::BoundPolicy;
#[cfg(any(test, feature = "testing"))]
pub use self::bound::bind_all;
pub use self::header::{AbsentColumn, ColumnMismatch};
pub use self::method::MethodChoice;
pub use self::patterns::{PatternMatch, PolicyFile};
pub use crate::declaration::{ColumnPolicy, InputOptions, Labels, Numbers, ReleaseOptions};
pub use crate::document::{PolicyError, toml_key};
pub use crate::privacy::Privacy;
use crate::{
    declaration::Declaration,
    document::{TextLocation, TomlTable},
    objective::Objective,
};

/// The version of the policy language that this crate reads.
pub const VERSION: u32 = 1;

/// Method of a policy that names none.
pub const DEFAULT_METHOD: &str = "best";

/// A checked policy.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Policy {
    /// The version of the policy language.
    pub version: u32,
    /// Privacy models that the release must satisfy, and the suppression limit.
    pub privacy: Privacy,
    /// Method that searches for a recoding.
    pub method: MethodChoice,
    /// Objectives to minimize; `None` for the method's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measure: Option<MeasureChoice>,
    /// All columns, in the order in which the file first names them; on ties, methods prefer the earlier column.
    #[serde(serialize_with = "json::columns")]
    pub columns: Vec<ColumnPolicy>,
    /// How the release is written.
    pub release: ReleaseOptions,
    /// How the input is read.
    pub input: InputOptions,
}

/// Objectives to minimize: `[measure]`, or the weighted sum of several `[[measure]]`.
#[derive(Debug, Clone)]
pub struct MeasureChoice {
    /// At least one, all different.
    pub objectives: Vec<Objective>,
    location: TextLocation,
}

/// Ignores the location.
impl PartialEq for MeasureChoice {
    fn eq(&self, other: &Self) -> bool {
        self.objectives == other.objectives
    }
}

impl MeasureChoice {
    /// An error about the section, at its location.
    pub fn error(&self, message: impl Into<String>) -> PolicyError {
        self.location.error(message)
    }
}

impl Policy {
    /// Parses and checks a policy. `known_methods` are the names that `[method]` accepts.
    pub fn parse(text: &str, known_methods: &[&str]) -> Result<Self, PolicyError> {
        TomlTable::parse(text)
            .and_then(|table| check::policy(&table, text, Some(known_methods)))
            .map_err(|error| error.in_text(text))
    }

    /// Objectives to minimize; empty if the policy has no `[measure]`.
    pub fn objectives(&self) -> &[Objective] {
        self.measure.as_ref().map_or(&[], |measure| &measure.objectives)
    }
}
