//! What the holder asks for: the policy, a TOML file, checked before anything else happens.
//!
//! A policy goes one way: text → tree (what the file says, with the place of every key and value) →
//! `check` → [`Policy`]. [`Policy::parse`] does all of it and is the only way in, together with serde's `Deserialize`, which a
//! recoding file uses to read back the policy it carries: both run the same checks. So whoever holds a [`Policy`]
//! that was read may rely on:
//!
//! - it states at least one guarantee that some table would violate, and names at least one quasi-identifier;
//! - every column that a privacy model names is declared, in a role that fits: what is *given* is a quasi-identifier,
//!   what is guarded or predicted is sensitive or a class;
//! - every number is finite and in its range; widths and bins ascend, prefixes descend; a hierarchy fits its column's type.
//!
//! What needs the data (does the column exist, is it a number, does the value occur) is checked later:
//! [`Policy::check_columns`] holds the policy against a header.
//!
//! A policy that says something else is refused with a [`PolicyError`] that names the line and what would be right.
//! Serialised, a policy has the keys of the TOML file, defaults filled in.
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
//! let error = Policy::parse(text, &["sweep"]).unwrap_err();
//! assert_eq!(error.line_column(text), Some((6, 8)));
//! assert_eq!(error.help.as_deref(), Some("did you mean \"quasi-identifier\"?"));
//!
//! let policy = Policy::parse(&text.replace("identifer", "identifier"), &["sweep"]).unwrap();
//! assert_eq!(policy.privacy.k(), Some(5));
//! assert_eq!(policy.method.name, "sweep");
//! ```

mod bound;
mod check;
mod columns;
mod header;
mod json;
mod method;
#[cfg(test)]
mod tests;

use serde::Serialize;

pub use self::bound::BoundPolicy;
#[cfg(any(test, feature = "testing"))]
pub use self::bound::bind_all;
pub use self::header::{AbsentColumn, ColumnMismatch};
pub use self::method::MethodChoice;
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

/// The method that is used where the policy names none.
pub const DEFAULT_METHOD: &str = "sweep";

/// A checked policy.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Policy {
    /// The version of the policy language.
    pub version: u32,
    /// What must hold in the release.
    pub privacy: Privacy,
    /// How it is to be reached.
    pub method: MethodChoice,
    /// What the release is for, where the policy says so; else the method makes small what its authors chose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measure: Option<MeasureChoice>,
    /// All columns, in the order in which the file names them first; ties between columns go to the earlier one.
    #[serde(serialize_with = "json::columns")]
    pub columns: Vec<ColumnPolicy>,
    /// How the release is written.
    pub release: ReleaseOptions,
    /// How the input is read.
    pub input: InputOptions,
}

/// What the release is for, and so what the method is to make small: `[measure]`, or several `[[measure]]` added up.
#[derive(Debug, Clone)]
pub struct MeasureChoice {
    /// The measures, at least one, none twice.
    pub objectives: Vec<Objective>,
    place: TextLocation,
}

/// Where it stands in the text is not compared.
impl PartialEq for MeasureChoice {
    fn eq(&self, other: &Self) -> bool {
        self.objectives == other.objectives
    }
}

impl MeasureChoice {
    /// A complaint about the choice, with its place.
    pub fn error(&self, message: impl Into<String>) -> PolicyError {
        self.place.error(message)
    }
}

impl Policy {
    /// Reads a policy and checks it. `known_methods` are the names that `[method]` may choose from.
    pub fn parse(text: &str, known_methods: &[&str]) -> Result<Self, PolicyError> {
        TomlTable::parse(text)
            .and_then(|table| check::policy(&table, text, Some(known_methods)))
            .map_err(|error| error.in_text(text))
    }

    /// What the release is to be good for, as far as the policy says so.
    pub fn objectives(&self) -> &[Objective] {
        self.measure.as_ref().map_or(&[], |measure| &measure.objectives)
    }
}
