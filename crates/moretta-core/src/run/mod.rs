//! Search and verification in one call, for callers that need the measures of a release but not the file: comparisons
//! of methods, errors on held-out records, the experiments of the papers. The result is [`Verified`], as for a release.

mod raised_k;

use crate::{
    measure::{MeasureContext, Measures},
    objective::Objective,
    policy::{BoundPolicy, Policy, PolicyError},
    privacy::ModelError,
    profile::{Profile, Tables},
    recoding::Step,
    search::{Observer, Outcome, SearchError, Stop, Task, Unsupported, check_supported, entry_of, method_of},
    verify::{Verified, VerifyError, verify},
};

/// The verified result of a method.
#[derive(Debug)]
pub struct VerifiedRun<'a> {
    /// The recoding and the recoded table.
    pub verified: Verified<'a>,
    /// Why the search ended.
    pub stop: Stop,
    /// The generalization steps; empty if the method has none.
    pub path: Vec<Step>,
    /// Counters of the search, by name.
    pub work: Vec<(&'static str, u64)>,
}

/// Why a run has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The policy's method, its parameters or its objectives are wrong.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// A model does not fit the table.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The method cannot serve the policy.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// The search found no recoding.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// The recoding that was found does not satisfy the policy.
    #[error("the result violates the policy: {0}")]
    Verify(#[from] VerifyError),
}

/// Runs the policy's method, if it can serve the policy.
///
/// A search only sees the models that judge one group at a time. If a model judges the table as a whole, or is not
/// closed under union, the result is verified here and the method runs again with a larger k until all models hold
/// (`raised_k.rs`).
pub fn search(bound: &BoundPolicy<'_>, seed: u64, observer: &dyn Observer) -> Result<Outcome, RunError> {
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

impl<'a> VerifiedRun<'a> {
    /// Searches and verifies.
    pub fn run(policy: &'a Policy, profile: &'a Profile, seed: u64, observer: &dyn Observer) -> Result<Self, RunError> {
        Self::with_tables(policy, Tables::of(profile), seed, observer)
    }

    /// Like [`VerifiedRun::run`], for models that need a second table.
    pub fn with_tables(
        policy: &'a Policy,
        tables: Tables<'a>,
        seed: u64,
        observer: &dyn Observer,
    ) -> Result<Self, RunError> {
        let bound = BoundPolicy::with_tables(policy, tables)?;
        let outcome = search(&bound, seed, observer)?;
        let verified = verify(&bound, outcome.recoding)?;
        Ok(Self { verified, stop: outcome.stop, path: outcome.path, work: outcome.work })
    }

    /// All measures of the recoded table.
    pub fn measures(&self) -> Measures {
        Measures::of(&self.context())
    }

    /// The weighted sum of the policy's `[measure]` objectives; `None` if it has no such section.
    pub fn objective_value(&self) -> Option<f64> {
        let context = self.context();
        let value = |objective: &Objective| objective.value(&context).map(|value| objective.weight * value);
        context.objectives.iter().map(value).reduce(|sum, value| Some(sum? + value?)).flatten()
    }

    fn context(&self) -> MeasureContext<'_> {
        MeasureContext::of_recoding(self.verified.policy(), self.verified.profile(), self.verified.released())
    }

    /// The search counter of this name; 0 if there is none.
    pub fn worked(&self, name: &str) -> u64 {
        self.work.iter().find(|(known, _)| *known == name).map_or(0, |(_, count)| *count)
    }
}
