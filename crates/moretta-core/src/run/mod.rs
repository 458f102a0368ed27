//! Search and verification in one call, for callers that need the figures of a release and not the release: comparisons
//! of methods, errors on held-out records, the experiments of the papers. The result is [`Verified`] like a release.

mod raised_k;

use crate::{
    measure::{MeasureContext, Measures},
    objective::Goal,
    policy::{BoundPolicy, Policy, PolicyError},
    privacy::ModelError,
    profile::{Profile, Tables},
    recoding::Step,
    search::{Observer, Outcome, SearchError, Stop, Task, Unsupported, check_supported, entry_of, method_of},
    verify::{Verified, VerifyError, verify},
};

/// The verified result of a method.
#[derive(Debug)]
pub struct Trial<'a> {
    /// The recoding, and the table under it.
    pub verified: Verified<'a>,
    /// Why the search ended.
    pub stop: Stop,
    /// The steps of the search, if it went step by step.
    pub path: Vec<Step>,
    /// Counters of the search, by name.
    pub work: Vec<(&'static str, u64)>,
}

/// Why nothing was found.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrialError {
    /// The policy's method, its parameters or its objectives are wrong.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// A model does not fit the table.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The method cannot serve the policy.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// There is nothing to be found.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// The recoding does not satisfy the policy.
    #[error("the result violates the policy: {0}")]
    Verify(#[from] VerifyError),
}

/// Runs the policy's method, if it can serve the policy.
///
/// Searches see models that judge each group. If a model judges the table as a whole, or is not closed under union,
/// the result is judged here, and the method runs again with a larger k until all models hold.
pub fn search(bound: &BoundPolicy<'_>, seed: u64, observer: &dyn Observer) -> Result<Outcome, TrialError> {
    let (entry, method) = (entry_of(bound.policy())?, method_of(bound.policy())?);
    let task = Task::of(bound, seed);
    check_supported(&*method, entry.name, &task)?;
    let outcome = method.run(&task, observer)?;
    let closed = bound.models().iter().all(|model| model.is_closed_under_union());
    if closed && bound.table_models().is_empty() {
        return Ok(outcome);
    }
    raised_k::search(bound, &*method, &task, outcome, observer)
}

impl<'a> Trial<'a> {
    /// Searches and verifies.
    pub fn run(
        policy: &'a Policy,
        profile: &'a Profile,
        seed: u64,
        observer: &dyn Observer,
    ) -> Result<Self, TrialError> {
        Self::with_tables(policy, Tables::of(profile), seed, observer)
    }

    /// The same for models that need a second table.
    pub fn with_tables(
        policy: &'a Policy,
        tables: Tables<'a>,
        seed: u64,
        observer: &dyn Observer,
    ) -> Result<Self, TrialError> {
        let bound = BoundPolicy::with_tables(policy, tables)?;
        let outcome = search(&bound, seed, observer)?;
        let verified = verify(&bound, outcome.recoding)?;
        Ok(Self { verified, stop: outcome.stop, path: outcome.path, work: outcome.work })
    }

    /// Every measure of what a release of this would lose.
    pub fn measures(&self) -> Measures {
        Measures::of(&self.context())
    }

    /// The weighted sum of the policy's `[measure]`; `None` if it has none.
    pub fn goal(&self) -> Option<f64> {
        let context = self.context();
        let value = |goal: &Goal| goal.value(&context).map(|value| goal.weight * value);
        context.objectives.iter().map(value).reduce(|sum, value| Some(sum? + value?)).flatten()
    }

    fn context(&self) -> MeasureContext<'_> {
        MeasureContext::of_recoding(self.verified.policy(), self.verified.profile(), self.verified.released())
    }

    /// One of the counters of what was done; 0 where there is none of that name.
    pub fn worked(&self, name: &str) -> u64 {
        self.work.iter().find(|(known, _)| *known == name).map_or(0, |(_, count)| *count)
    }
}
