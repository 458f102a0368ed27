//! One run of a policy's method that ends before anything is written: search, then verify.
//!
//! For whoever wants to know what a release would be and needs none: comparisons of methods, errors on records held
//! back, the experiments of the papers. What comes out is as [`Verified`] as a release would be.

use crate::{
    measure::{Goal, Measures, Scene, weights},
    policy::{Policy, PolicyError},
    privacy::{ModelError, bind_all},
    profile::Profile,
    search::{Observer, SearchError, Step, Stop, Task, Unsupported, method_of},
    verify::{Verified, VerifyError, verify},
};

/// What a method found, verified.
#[derive(Debug)]
pub struct Trial {
    /// The recoding and what leaves under it.
    pub verified: Verified,
    /// Why the search ended.
    pub stop: Stop,
    /// How it got there, where it went step by step.
    pub path: Vec<Step>,
    /// What it did, by name.
    pub work: Vec<(&'static str, u64)>,
}

/// Why nothing was found.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrialError {
    /// The policy's method, or what it is told, makes no sense.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// A model cannot be held against this table.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The method cannot serve the policy.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// There is nothing to be found.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// What was found does not hold.
    #[error(transparent)]
    Verify(#[from] VerifyError),
}

impl Trial {
    /// Searches and verifies.
    pub fn run(policy: &Policy, profile: &Profile, seed: u64, observer: &dyn Observer) -> Result<Self, TrialError> {
        let models = bind_all(policy, profile)?;
        let method = method_of(policy)?;
        let max_suppressed = policy.privacy.allowed_records(profile.records());
        let task = Task { profile, models: &models, max_suppressed, seed };
        method.supports(&task)?;
        let outcome = method.run(&task, observer)?;
        let verified = verify(profile, outcome.recoding, &models, &policy.release, max_suppressed)?;
        Ok(Self { verified, stop: outcome.stop, path: outcome.path, work: outcome.work })
    }

    /// Everything that a release of this would have lost.
    pub fn measures(&self, policy: &Policy, profile: &Profile) -> Measures {
        Measures::of(&self.scene(policy, profile, &weights(policy)), true)
    }

    /// What the policy's `[measure]` comes to, weighted and added up; none where it has none.
    pub fn goal(&self, policy: &Policy, profile: &Profile) -> Option<f64> {
        let weights = weights(policy);
        let scene = self.scene(policy, profile, &weights);
        let value = |goal: &Goal| goal.value(&scene).map(|value| goal.weight * value);
        policy.goals().iter().map(value).reduce(|sum, value| Some(sum? + value?)).flatten()
    }

    fn scene<'a>(&'a self, policy: &'a Policy, profile: &'a Profile, weights: &'a [f64]) -> Scene<'a> {
        let (k, goals) = (policy.privacy.k, policy.goals());
        Scene { released: self.verified.released(), records: profile, weights, k, goals }
    }

    /// One of the counters of what was done; 0 where there is none of that name.
    pub fn worked(&self, name: &str) -> u64 {
        self.work.iter().find(|(known, _)| *known == name).map_or(0, |(_, count)| *count)
    }
}
