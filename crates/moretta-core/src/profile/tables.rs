//! The table to be released, and the second tables that some privacy models need.

use std::sync::Arc;

use super::Profile;
use crate::{
    counts::Counts,
    declaration::{ColumnPolicy, Declaration, InputOptions, ReleaseOptions},
    hierarchy::{DomainError, Hierarchies},
    schema::Role,
};

/// The tables that privacy models are bound to.
#[derive(Debug, Clone, Copy)]
pub struct Tables<'a> {
    /// The table to be released, or a released file.
    pub table: &'a Profile,
    /// Second tables; names are unique.
    pub others: &'a [Arc<SecondTable>],
}

impl<'a> Tables<'a> {
    /// One table, without a second one.
    pub fn of(table: &'a Profile) -> Self {
        Self { table, others: &[] }
    }

    /// `None` if no second table has this name.
    pub fn second(&self, name: &str) -> Option<&'a Arc<SecondTable>> {
        self.others.iter().find(|other| other.name == name)
    }
}

/// A table beside the one to be released, such as the population it was drawn from or an earlier release. It has
/// quasi-identifiers only.
#[derive(Debug)]
pub struct SecondTable {
    /// Name by which a privacy model requests it.
    pub name: String,
    profile: Profile,
}

/// A declaration of quasi-identifiers only: a population register has no sensitive columns.
pub(super) struct QuasiIdentifiers<'a, D: Declaration> {
    pub(super) columns: Vec<ColumnPolicy>,
    pub(super) policy: &'a D,
}

impl<D: Declaration> Declaration for QuasiIdentifiers<'_, D> {
    fn columns(&self) -> &[ColumnPolicy] {
        &self.columns
    }

    fn input(&self) -> &InputOptions {
        self.policy.input()
    }

    fn release(&self) -> &ReleaseOptions {
        self.policy.release()
    }
}

impl SecondTable {
    /// The columns that an engine must group: the quasi-identifiers.
    pub fn grouped_columns(policy: &impl Declaration) -> Vec<String> {
        policy.quasi_identifiers().map(|column| column.name.clone()).collect()
    }

    /// Builds the table from the distinct rows of its quasi-identifiers. The hierarchies are those of the policy.
    pub fn build(
        name: impl Into<String>,
        policy: &impl Declaration,
        hierarchies: &Hierarchies,
        counts: &Counts,
    ) -> Result<Self, DomainError> {
        let quasi = policy.columns().iter().filter(|column| column.role == Role::QuasiIdentifier);
        let declared = QuasiIdentifiers { columns: quasi.cloned().collect(), policy };
        Ok(Self { name: name.into(), profile: Profile::build(&declared, hierarchies, counts)? })
    }

    /// Tuples over the table's own domains. To look up a released label there, use
    /// [`LabelReader::codes_inside`](crate::hierarchy::LabelReader::codes_inside).
    pub fn profile(&self) -> &Profile {
        &self.profile
    }
}
