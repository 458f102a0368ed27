//! Privacy models: conditions on the groups of a table that must hold before it is released.
//!
//! Each model is one folder, with
//!
//! - the parser of its policy section and its registry entry ([`ModelEntry`]);
//! - the model as declared ([`PrivacyModel`]): guarded columns, columns assumed known, a sentence for pages;
//! - the model bound to a table ([`BoundModel`]), which judges groups;
//! - for the conformance suite, random sections and a naive verdict.
//!
//! [`MODELS`] is the only list of models: the policy parser, `init`, `check`, pages, `moretta models` and the
//! conformance suite follow it.
//!
//! ```text
//! [privacy.…]  ──read──▶  PrivacyModel  ──bind(tables)──▶  BoundModel       judges each group
//!                                                          BoundTableModel  judges the sizes of all groups
//! ```
//!
//! Most models are *closed under union*: if two groups satisfy the model, so does their union. A bound model says
//! whether it is closed; methods that merge groups rely on it and refuse a model that is not.
//!
//! If the table has a person column, models count persons ([`Group`]). Then only k-anonymity, distinct l-diversity and
//! LKC-privacy without a confidence are closed under union: a person may be in both groups with different values. For
//! example, of two groups `{P: flu, Q: hiv}` and `{P: hiv, Q: flu}` half of the persons have hiv, and all of their
//! union. Limits on counts of records say nothing about persons, so no model has them then.
//!
//! Suppressed records are a group like any other: an attacker who knows that a person is in the table and in no other
//! group knows that the person is among the suppressed. A release with one suppressed record has a group of size 1.

mod delta_disclosure;
mod facts;
mod group;
mod k_anonymity;
mod l_diversity;
mod limit;
mod lkc;
mod margin;
mod model;
mod section;
mod sentence;
mod t_closeness;
mod template;
#[cfg(test)]
mod tests;

pub use self::delta_disclosure::DeltaDisclosure;
use self::facts::to_json;
pub use self::facts::{Description, Figure, ModelFacts};
pub(crate) use self::group::GrowingGroup;
#[cfg(test)]
pub(crate) use self::group::MEMBERS_COUNTED;
pub use self::group::{Group, Histogram};
pub use self::k_anonymity::KAnonymity;
pub use self::l_diversity::{LDiversity, LDiversityKind};
pub use self::limit::{Limit, ShareLimit};
pub use self::lkc::{Lkc, known_sets};
use self::margin::{TOLERANCE, at_least, at_most, strictly};
pub use self::model::{BoundModel, BoundModels, BoundTableModel, ModelError, PrivacyModel};
pub use self::section::Privacy;
pub use self::sentence::{Part, Sentence};
pub use self::t_closeness::{Distance, TCloseness};
pub use self::template::{Template, TemplateFacts, TemplateValues, redundant};
use std::sync::Arc;

#[cfg(any(test, feature = "testing"))]
use crate::testing::conformance::Conformance;
use crate::{
    declaration::{ColumnPolicy, Columns},
    document::{Fields, PolicyError},
    ids::{AttributeId, ColumnId},
    profile::Profile,
    schema::{Kind, Role, Unit},
};

/// All privacy models, in the order of reports.
pub const MODELS: &[ModelEntry] =
    &[k_anonymity::ENTRY, template::ENTRY, lkc::ENTRY, l_diversity::ENTRY, t_closeness::ENTRY, delta_disclosure::ENTRY];

/// A privacy model's entry in the registry.
#[derive(Clone, Copy)]
pub struct ModelEntry {
    /// Name in reports and messages.
    pub name: &'static str,
    /// Key under `[privacy]`.
    pub key: &'static str,
    /// Form of the section in a policy.
    pub form: SectionForm,
    /// Keys allowed in the section.
    pub keys: &'static [&'static str],
    /// The guarantee in one line.
    pub summary: &'static str,
    /// Lines of a policy that ask for the model.
    pub example: &'static str,
    /// Parses the section; for [`SectionForm::Key`], `[privacy]` itself.
    pub read: ReadSection,
    /// A section for a draft policy, with a comment before it; `None` if the columns give no reason for one.
    pub draft: fn(&DraftColumns<'_>) -> Option<String>,
    /// Random sections and naive verdicts for the conformance suite.
    #[cfg(any(test, feature = "testing"))]
    pub conformance: Conformance,
}

/// Turns a section of a policy into a model.
pub type ReadSection = fn(&Fields<'_>, &Columns<'_>) -> Result<Arc<dyn PrivacyModel>, PolicyError>;

/// Form of a model's section in a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SectionForm {
    /// A key of `[privacy]`: `k = 5`.
    Key,
    /// A table: `[privacy.lkc]`.
    Table,
    /// A list of tables: `[[privacy.template]]`.
    List,
}

impl ModelEntry {
    /// First line of the section: `[[privacy.template]]`.
    pub fn header(&self) -> String {
        match self.form {
            SectionForm::Key => "[privacy]".to_owned(),
            SectionForm::Table => format!("[privacy.{}]", self.key),
            SectionForm::List => format!("[[privacy.{}]]", self.key),
        }
    }
}

/// The columns that a draft policy guesses, for [`ModelEntry::draft`].
#[derive(Debug, Clone, Copy)]
pub struct DraftColumns<'a> {
    /// The quasi-identifiers, quoted as TOML texts.
    pub quasi_identifiers: &'a [String],
    /// The columns to guard: the sensitive ones, or the class if there are none.
    pub guarded: &'a [DraftColumn],
    /// Whether some of them are sensitive.
    pub has_sensitive: bool,
}

/// A column to guard in a draft policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DraftColumn {
    /// Name, quoted as a TOML text.
    pub name: String,
    /// Type of the values.
    pub kind: Kind,
    /// Number of distinct values.
    pub distinct: u64,
}

impl DraftColumns<'_> {
    /// The first guarded category with at least two values, for models that count values.
    pub fn category(&self) -> Option<&DraftColumn> {
        self.guarded.iter().find(|column| column.kind == Kind::Category && column.distinct > 1)
    }
}

/// Returns k if the model requires k records per group and nothing else, with all quasi-identifiers assumed known.
/// `None` if it counts persons.
pub fn only_k(model: &dyn BoundModel, profile: &Profile) -> Option<u64> {
    if model.scope().len() < profile.columns().len() {
        return None;
    }
    match model.limits()?[..] {
        [Limit::Records(k)] => Some(k),
        _ => None,
    }
}

/// Returns all columns: the scope of models whose attacker knows every quasi-identifier.
pub fn every_column(profile: &Profile) -> Vec<ColumnId> {
    (0..profile.columns().len()).map(ColumnId::from_index).collect()
}

/// Returns the sensitive or class column of this name.
pub fn attribute_named(profile: &Profile, name: &str) -> Result<AttributeId, ModelError> {
    profile
        .attribute(name)
        .ok_or_else(|| ModelError(format!("column `{name}` is neither sensitive nor a class column of this table")))
}

/// Returns the unit in which a policy with these columns counts.
pub fn unit_of(columns: &[ColumnPolicy]) -> Unit {
    if columns.iter().any(|column| column.role == Role::Person) { Unit::Persons } else { Unit::Records }
}

/// Returns the names of the columns with this role.
pub fn names_of(columns: &[ColumnPolicy], role: Role) -> Vec<String> {
    columns.iter().filter(|column| column.role == role).map(|column| column.name.clone()).collect()
}
