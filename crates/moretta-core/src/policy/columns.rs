//! The columns of a policy, by role.

use super::{ColumnPolicy, Declaration, InputOptions, Policy, ReleaseOptions};
use crate::{
    measure::MeasuredPolicy,
    objective::Objective,
    profile::Profile,
    schema::{Role, Unit},
};

impl Declaration for Policy {
    fn columns(&self) -> &[ColumnPolicy] {
        &self.columns
    }

    fn input(&self) -> &InputOptions {
        &self.input
    }

    fn release(&self) -> &ReleaseOptions {
        &self.release
    }
}

impl MeasuredPolicy for Policy {
    /// Measures of a file have no persons, so a k that counts them is no yardstick of sizes in records.
    fn k(&self) -> Option<u64> {
        self.privacy.k().filter(|_| self.unit() == Unit::Records)
    }

    fn objectives(&self) -> &[Objective] {
        self.objectives()
    }
}

impl Policy {
    /// The column of this name.
    pub fn column(&self, name: &str) -> Option<&ColumnPolicy> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// The quasi-identifier columns, in policy order.
    pub fn quasi_identifiers(&self) -> impl Iterator<Item = &ColumnPolicy> {
        self.columns.iter().filter(|column| column.role == Role::QuasiIdentifier)
    }

    /// The sensitive and class columns, in policy order.
    pub fn attributes(&self) -> impl Iterator<Item = &ColumnPolicy> {
        self.columns.iter().filter(|column| matches!(column.role, Role::Sensitive | Role::Class))
    }

    /// First class column in policy order.
    pub fn class(&self) -> Option<&ColumnPolicy> {
        self.columns.iter().find(|column| column.role == Role::Class)
    }

    /// Sensitive columns that no privacy model guards: allowed, but the data holder is warned.
    pub fn unguarded(&self) -> Vec<&str> {
        self.privacy.unguarded(&self.columns)
    }

    /// Quasi-identifiers that no model assumes an attacker to know: no model limits what they disclose, and the data
    /// holder is warned.
    pub fn taken_as_unknown(&self) -> Vec<&str> {
        self.privacy.taken_as_unknown(&self.columns)
    }

    /// The same policy with the types of quasi-identifiers that were inferred from a table, so that another table, or a
    /// part of that one, is read in the same way.
    pub fn with_kinds_of(&self, profile: &Profile) -> Self {
        let mut policy = self.clone();
        for column in profile.columns() {
            let declared = policy.columns.iter_mut().filter(|declared| declared.name == column.name);
            declared.for_each(|declared| declared.kind = Some(column.domain.kind()));
        }
        policy
    }

    /// The column with the number of the person, if privacy models count persons.
    pub fn person(&self) -> Option<&ColumnPolicy> {
        Declaration::person(self)
    }

    /// The column with the number of the household, if reports have the risk of households.
    pub fn household(&self) -> Option<&ColumnPolicy> {
        Declaration::household(self)
    }

    /// The unit in which sizes of groups are counted.
    pub fn unit(&self) -> Unit {
        Declaration::unit(self)
    }

    /// The columns that are not released, in policy order: identifiers, the person and the household.
    pub fn dropped(&self) -> impl Iterator<Item = &ColumnPolicy> {
        self.columns.iter().filter(|column| !column.role.is_released())
    }

    /// The columns that are released unchanged, in policy order: sensitive, class and insensitive ones.
    pub fn kept(&self) -> impl Iterator<Item = &ColumnPolicy> {
        self.columns.iter().filter(|column| column.role.is_kept())
    }

    /// Whether `[release] exact` lists a column.
    pub fn is_exact(&self, name: &str) -> bool {
        self.release.exact.iter().any(|listed| listed == name)
    }
}
