//! The columns of a policy, by what they are there for.

use super::{ColumnPolicy, Policy};
use crate::schema::Role;

impl Policy {
    /// The column of this name.
    pub fn column(&self, name: &str) -> Option<&ColumnPolicy> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// The quasi-identifier columns, in policy order.
    pub fn quasi_identifiers(&self) -> impl Iterator<Item = &ColumnPolicy> {
        self.columns.iter().filter(|column| column.role == Role::QuasiIdentifier)
    }

    /// The sensitive and class columns, in policy order: what privacy models and measures look at beside the
    /// quasi-identifier.
    pub fn attributes(&self) -> impl Iterator<Item = &ColumnPolicy> {
        self.columns.iter().filter(|column| matches!(column.role, Role::Sensitive | Role::Class))
    }

    /// The class column, if there is one; of several the one that the policy names first.
    pub fn class(&self) -> Option<&ColumnPolicy> {
        self.columns.iter().find(|column| column.role == Role::Class)
    }

    /// The sensitive columns that no privacy model looks at: allowed, but whoever relies on a release should know.
    pub fn unguarded(&self) -> Vec<&str> {
        let privacy = &self.privacy;
        if privacy.lkc.is_some_and(|lkc| lkc.c < 1.0) {
            return Vec::new();
        }
        let guarded: Vec<&str> = (privacy.templates.iter().map(|model| model.column.as_str()))
            .chain(privacy.l_diversity.iter().map(|model| model.column.as_str()))
            .chain(privacy.t_closeness.iter().map(|model| model.column.as_str()))
            .collect();
        let sensitive = self.columns.iter().filter(|column| column.role == Role::Sensitive);
        sensitive.map(|column| column.name.as_str()).filter(|name| !guarded.contains(name)).collect()
    }

    /// The quasi-identifiers that no model takes anybody to know: what they tell is nobody's concern, and a holder who
    /// declared them may think otherwise.
    pub fn taken_as_unknown(&self) -> Vec<&str> {
        let privacy = &self.privacy;
        let every = privacy.k.is_some_and(|k| k > 1)
            || privacy.lkc.is_some()
            || !(privacy.l_diversity.is_empty() && privacy.t_closeness.is_empty());
        let known =
            |name: &str| privacy.templates.iter().any(|template| template.given.iter().any(|given| given == name));
        let columns = self.quasi_identifiers().map(|column| column.name.as_str());
        columns.filter(|name| !every && !known(name)).collect()
    }

    /// The columns that do not leave, in policy order.
    pub fn identifiers(&self) -> impl Iterator<Item = &ColumnPolicy> {
        self.columns.iter().filter(|column| column.role == Role::Identifier)
    }
}
