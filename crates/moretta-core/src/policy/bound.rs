//! A policy bound to a table: every model that it names, and how many records it allows to be suppressed.

use super::Policy;
use crate::{
    privacy::{BoundModel, BoundModels, BoundTableModel, ModelError},
    profile::{Profile, Tables},
    schema::MissingRule,
};

/// A policy bound to a table. It has every model of the policy: there is no way to leave one out.
pub struct BoundPolicy<'a> {
    policy: &'a Policy,
    tables: Tables<'a>,
    models: BoundModels,
}

impl<'a> BoundPolicy<'a> {
    /// Binds every model; an error if the policy has none, or if a model does not fit the table or would guard nothing.
    pub fn new(policy: &'a Policy, profile: &'a Profile) -> Result<Self, ModelError> {
        Self::with_tables(policy, Tables::of(profile))
    }

    /// Binds every model to a table and the second tables that models need. An error if the policy counts persons and
    /// the table has none: records must not be counted in their place.
    pub fn with_tables(policy: &'a Policy, tables: Tables<'a>) -> Result<Self, ModelError> {
        let unjudged = if tables.table.unit() == policy.unit() { Vec::new() } else { policy.privacy.of_persons() };
        if !unjudged.is_empty() {
            let message = format!(
                "the policy counts persons, and this table does not say which records are of one person, so it cannot be \
                 judged by {}",
                unjudged.join(", ")
            );
            return Err(ModelError(message));
        }
        for model in &policy.privacy.models {
            if let Some(name) = model.second_tables().into_iter().find(|name| tables.second(name).is_none()) {
                let message = format!("`{}` needs the table `{name}`, which this request does not read", model.key());
                return Err(ModelError(message));
            }
            model.check_table(tables.table)?;
        }
        let models = policy.privacy.bind(&tables)?;
        // The parser refuses such a policy, but code can construct one.
        if models.of_groups.is_empty() && models.of_table.is_empty() {
            return Err(ModelError("the policy names no privacy model, so it guarantees nothing".to_owned()));
        }
        let merges_missing = policy.person().is_some_and(|person| person.missing == MissingRule::Category);
        if merges_missing && let Some(open) = models.of_groups.iter().find(|model| !model.is_closed_under_union()) {
            return Err(ModelError(format!(
                "with missing = \"category\", all records without a person count as one person, which is too few for {}; \
                 give each of them a number, or use missing = \"error\"",
                open.describe()
            )));
        }
        Ok(Self { policy, tables, models })
    }

    /// The policy whose models these are.
    pub fn policy(&self) -> &'a Policy {
        self.policy
    }

    /// The table that the models judge.
    pub fn profile(&self) -> &'a Profile {
        self.tables.table
    }

    /// The table, and the second tables that models use.
    pub fn tables(&self) -> Tables<'a> {
        self.tables
    }

    /// The models that judge each group.
    pub fn models(&self) -> &[Box<dyn BoundModel>] {
        &self.models.of_groups
    }

    /// The models that judge the table as a whole.
    pub fn table_models(&self) -> &[Box<dyn BoundTableModel>] {
        &self.models.of_table
    }

    /// Maximum number of records of the table that may be suppressed.
    pub fn max_suppressed(&self) -> u64 {
        self.policy.privacy.allowed_records(self.profile().records())
    }
}

/// The models of a policy that judge groups, for tests that need no guarantee.
#[cfg(any(test, feature = "testing"))]
pub fn bind_all(policy: &Policy, profile: &Profile) -> Result<Vec<Box<dyn BoundModel>>, ModelError> {
    Ok(policy.privacy.bind(&Tables::of(profile))?.of_groups)
}
