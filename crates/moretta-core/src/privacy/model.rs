//! The traits of a privacy model: as a policy declares it, and bound to a table.

use std::{any::Any, fmt};

use super::{Description, Figure, Group, Limit, ModelFacts, Sentence};
use crate::{
    declaration::ColumnPolicy,
    group_sizes::GroupSizes,
    ids::ColumnId,
    profile::{Profile, Tables},
};

/// A model as a policy declares it.
pub trait PrivacyModel: Any + fmt::Debug + Send + Sync {
    /// The key under `[privacy]`.
    fn key(&self) -> &'static str;

    /// The section of the policy. Parsing it returns the same model.
    fn section(&self) -> serde_json::Value;

    /// The guarantee as a sentence, for pages.
    fn sentence(&self, columns: &[ColumnPolicy]) -> Sentence;

    /// Names of the sensitive and class columns that the model guards.
    fn guards(&self, columns: &[ColumnPolicy]) -> Vec<String>;

    /// Names of the quasi-identifiers that the attacker is assumed to know. Required, because a model that assumes
    /// fewer than all and forgot to say so would suppress the note on columns that no model protects.
    fn assumes_known(&self, columns: &[ColumnPolicy]) -> Vec<String>;

    /// Whether the verdict depends on which records are of one person, if the policy has a person column. A released
    /// file does not have that column, so such a model cannot be judged from the file.
    fn depends_on_persons(&self) -> bool {
        true
    }

    /// The condition on records that follows from the model where it counts persons; `None` if there is none.
    fn implied_on_records(&self) -> Option<std::sync::Arc<dyn PrivacyModel>> {
        None
    }

    /// Whether every table satisfies the model. A policy with only such models guarantees nothing and is refused.
    fn is_trivial(&self) -> bool;

    /// Binds the model to the table to be released.
    fn bind(&self, tables: &Tables<'_>) -> Result<BoundModels, ModelError>;

    /// The files of the second tables that the model needs (a population, an earlier release), relative to the policy;
    /// for `apply`, relative to the recoding file, which has the policy. They are read by the policy's rules, so a
    /// policy that needs one should declare the `type` of every quasi-identifier.
    fn second_tables(&self) -> Vec<String> {
        Vec::new()
    }

    /// An error if the model would guard nothing in this table, although it is not trivial.
    fn check_table(&self, _table: &Profile) -> Result<(), ModelError> {
        Ok(())
    }

    /// An error if the model names a value that the original table does not have: most likely it is misspelt.
    fn check_values(&self, _original: &Profile) -> Result<(), ModelError> {
        Ok(())
    }

    /// The model with the values that it chose from the table (such as the rarest ones) written out, so that it guards
    /// the same values in other tables; `None` if it chose none.
    fn fixed(&self, _table: &Profile) -> Option<std::sync::Arc<dyn PrivacyModel>> {
        None
    }
}

impl dyn PrivacyModel {
    /// The model, if it is of this type.
    pub fn get<T: Any>(&self) -> Option<&T> {
        (self as &dyn Any).downcast_ref()
    }
}

/// Two models are equal if their policy sections are.
impl PartialEq for dyn PrivacyModel {
    fn eq(&self, other: &dyn PrivacyModel) -> bool {
        self.key() == other.key() && self.section() == other.section()
    }
}

/// A model bound to a table: the parts that judge each group, and those that judge the table as a whole.
#[derive(Default)]
pub struct BoundModels {
    /// Each judges one group at a time.
    pub of_groups: Vec<Box<dyn BoundModel>>,
    /// Each judges the sizes of all groups.
    pub of_table: Vec<Box<dyn BoundTableModel>>,
}

impl BoundModels {
    /// A model that judges groups.
    pub fn of_group(model: impl BoundModel + 'static) -> Self {
        Self { of_groups: vec![Box::new(model)], of_table: Vec::new() }
    }

    /// A model that judges the table as a whole.
    pub fn of_table(model: impl BoundTableModel + 'static) -> Self {
        Self { of_groups: Vec::new(), of_table: vec![Box::new(model)] }
    }

    /// Adds the parts of another model.
    pub fn extend(&mut self, other: Self) {
        self.of_groups.extend(other.of_groups);
        self.of_table.extend(other.of_table);
    }
}

/// A model that judges one group of a table at a time.
pub trait BoundModel: Send + Sync {
    /// The model in words, for messages and reports.
    fn describe(&self) -> Description;

    /// The columns whose released values the attacker is assumed to know, sorted. A group has equal labels in these
    /// columns.
    fn scope(&self) -> &[ColumnId];

    /// Whether the union of two groups that satisfy the model always satisfies it. Searches that merge groups
    /// rely on it and refuse a model that is not closed; a property test over the registry checks the claim.
    fn is_closed_under_union(&self) -> bool;

    /// The distance from the limit as a share of the limit (see `margin.rs`): negative if the group violates the model.
    fn margin(&self, group: &Group<'_>) -> f64;

    /// Whether a group satisfies the model.
    fn holds(&self, group: &Group<'_>) -> bool {
        self.margin(group) >= 0.0
    }

    /// The figure that is compared with the limit; if there are several, the one with the smallest margin.
    fn figure(&self, group: &Group<'_>) -> Figure;

    /// The facts of the model, for programs.
    fn facts(&self) -> ModelFacts;

    /// Lower bound on the records of a group that satisfies the model. A search rejects smaller groups without counting
    /// values.
    fn min_records(&self) -> u64 {
        1
    }

    /// Limits on a group's counts that are equivalent to the model, so that a search can keep counts instead of
    /// records. `None` if only [`margin`](Self::margin) can decide.
    fn limits(&self) -> Option<Vec<Limit>> {
        None
    }

    /// The highest confidence of inferring a guarded value in the group, if the model limits that.
    fn confidence(&self, _group: &Group<'_>) -> Option<f64> {
        None
    }

    /// Whether this is one of several parts of a model, each with its own scope. Consecutive parts with the same
    /// description share one judgement.
    fn is_part(&self) -> bool {
        false
    }

    /// Whether the model has data by tuple or variant of the table that it was bound to. It cannot judge groups of a
    /// part of the table, whose ids differ, so a search that would leave out records and start again does not.
    fn has_tuple_data(&self) -> bool {
        false
    }

    /// Something the data holder should know before the search, such as a group size that the model implies. It must
    /// not name a value of the data.
    fn advice(&self) -> Option<String> {
        None
    }

    /// A sentence about the result, for models whose worst figure does not say all. `smallest` is the size of the
    /// smallest group, `confidence` the highest confidence.
    fn finding(&self, _smallest: u64, _confidence: Option<f64>) -> Option<Sentence> {
        None
    }
}

/// A model that judges a table as a whole, by the sizes of its groups.
pub trait BoundTableModel: Send + Sync {
    /// The model in words, for messages and reports.
    fn describe(&self) -> Description;

    /// Whether a table that satisfies the model still does after two of its groups are merged.
    fn is_closed_under_union(&self) -> bool;

    /// The distance from the limit as a share of the limit: negative if the table violates the model.
    fn margin(&self, sizes: &GroupSizes) -> f64;

    /// The figure that is compared with the limit.
    fn figure(&self, sizes: &GroupSizes) -> Figure;

    /// The facts of the model, for programs.
    fn facts(&self) -> ModelFacts;
}

/// A model that does not fit the table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ModelError(pub String);
