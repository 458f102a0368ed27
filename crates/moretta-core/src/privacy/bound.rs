//! A policy bound to a table: every model that it names, and how many records it allows to be suppressed.

use super::{BoundModel, Confidence, MODELS, ModelError};
use crate::{policy::Policy, profile::Profile};

/// A policy bound to a table. It has every model of the policy: there is no way to leave one out.
pub struct BoundPolicy<'a> {
    policy: &'a Policy,
    profile: &'a Profile,
    models: Vec<Box<dyn BoundModel>>,
}

impl<'a> BoundPolicy<'a> {
    /// Binds every model; an error if there is none, or if one does not fit the table or would guard nothing.
    pub fn new(policy: &'a Policy, profile: &'a Profile) -> Result<Self, ModelError> {
        Confidence::all(policy).try_for_each(|template| template.check_values(profile))?;
        let models = bind_all(policy, profile)?;
        // The parser refuses such a policy, but a program can make one.
        if models.is_empty() {
            return Err(ModelError("the policy names no privacy model, so nothing would be guaranteed".to_owned()));
        }
        Ok(Self { policy, profile, models })
    }

    /// The policy whose models these are.
    pub fn policy(&self) -> &'a Policy {
        self.policy
    }

    /// The table that the models judge.
    pub fn profile(&self) -> &'a Profile {
        self.profile
    }

    /// Every model of the policy.
    pub fn models(&self) -> &[Box<dyn BoundModel>] {
        &self.models
    }

    /// How many records of the table may be suppressed.
    pub fn max_suppressed(&self) -> u64 {
        self.policy.privacy.allowed_records(self.profile.records())
    }
}

/// Every model the policy asks for, bound to the table.
pub fn bind_all(policy: &Policy, profile: &Profile) -> Result<Vec<Box<dyn BoundModel>>, ModelError> {
    let mut bound = Vec::new();
    for entry in MODELS {
        for model in (entry.from_policy)(policy) {
            bound.extend(model.bind(profile)?);
        }
    }
    Ok(bound)
}
