//! `evaluate`: trains a classifier on a release and counts its errors on records that were not part of the search.

use std::time::Duration;

use moretta_core::{
    counts::Counts,
    observer::{Deadline, Stage},
    policy::{BoundPolicy, Policy},
    profile::Profile,
};
use moretta_engine::LocalEngine;
use moretta_insight::evaluate::{
    EvaluateError, Tested,
    holdout::{self, Plan, Split},
};

use crate::{
    error::FlowError,
    input::{Input, PolicySource},
    memory::Purpose,
    policy::LoadedPolicy,
    release::random_bytes,
    session::{Session, check_standard_input, check_stop},
};

/// Default number of cross-validation folds.
const FOLDS: u16 = 5;

/// Request of `moretta evaluate`.
#[derive(Debug, Clone)]
pub struct Evaluate {
    /// Table that is read.
    pub input: Input,
    /// Policy of the request.
    pub policy: PolicySource,
    /// Test records; held-out records of the input by default.
    pub test: Option<Input>,
    /// How records of the input are held out.
    pub split_options: SplitOptions,
    /// Random seed of the search and of the held-out records; random by default.
    pub seed: Option<u64>,
    /// Limit of each search.
    pub time_limit: Option<Duration>,
}

/// How records of the input are held out.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SplitOptions {
    /// Cross-validation folds, or number of draws if `hold_out` is set.
    pub folds: Option<u16>,
    /// Share of the records that each draw holds out.
    pub hold_out: Option<f64>,
}

impl SplitOptions {
    pub(crate) fn plan(&self) -> Result<Plan, FlowError> {
        let folds = usize::from(self.folds.unwrap_or(FOLDS));
        match self.hold_out {
            Some(share) => Ok(Plan::Draws { draws: folds, share }),
            None if folds < 2 => Err(FlowError::usage(
                "--folds 1: cross-validation needs at least 2 folds; to hold out records once, add --hold-out 0.33",
            )),
            None => Ok(Plan::Folds(folds)),
        }
    }
}

/// Errors on every split.
#[derive(Debug, Clone)]
pub struct Evaluation {
    /// One entry per split.
    pub splits: Vec<Tested>,
    /// Method of the policy.
    pub method: String,
    /// The seed that was used.
    pub seed: u64,
}

impl Session<'_> {
    /// Trains a classifier on a release and tests it on held-out records. `None` if no column has the role `class`.
    pub fn evaluate(&self, request: &Evaluate) -> Result<Option<Evaluation>, FlowError> {
        self.install(|| {
            let loaded = self.policy_for(&request.policy, &request.input)?;
            let engine = self.open(&request.input, &loaded.policy.input)?;
            let test = request.test.as_ref().map(|test| self.open_test(&request.input, test, &loaded.policy));
            let test = test.transpose()?;
            let Some(class) = class(&loaded.policy) else { return Ok(None) };
            let (counts, whole) = self.original(&loaded, &engine)?;
            // Checks the models on the whole table; each split binds its own.
            let bound = BoundPolicy::new(&loaded.policy, &whole)?;
            self.check_memory(&bound, &counts, (Purpose::Test, &[]))?;
            // 53 bits, because JSON readers keep whole numbers up to 2^53. Nothing secret depends on this seed.
            let drawn = || random_bytes().map(|bytes| u64::from_le_bytes(bytes) >> 11);
            let seed = request.seed.map_or_else(drawn, Ok)?;
            let splits = match &test {
                Some(test) => {
                    let test = self.test_counts(test, &loaded.policy)?;
                    vec![self.tested(&loaded.policy, &loaded, Split { train: counts, test }, (request, seed))?]
                }
                None => {
                    // Fix the column types: a part of the table could look numeric where the whole is not.
                    let policy = loaded.policy.with_kinds_of(&whole);
                    let plan = request.split_options.plan()?;
                    check_size(&counts, plan, request.input.name())?;
                    let splits = holdout::splits(&counts, class, plan, seed);
                    let tested = |split| self.tested(&policy, &loaded, split, (request, seed));
                    splits.map(tested).collect::<Result<_, _>>()?
                }
            };
            Ok(Some(Evaluation { splits, method: loaded.policy.method.name.clone(), seed }))
        })
    }

    fn tested(
        &self,
        policy: &Policy,
        loaded: &LoadedPolicy,
        split: Split,
        (request, seed): (&Evaluate, u64),
    ) -> Result<Tested, FlowError> {
        self.observer.stage(Stage::Searching);
        let observer = Deadline::after(self.observer, request.time_limit);
        let found = Tested::run(policy, &loaded.hierarchies, split, seed, &observer);
        check_stop(self.observer)?;
        found.map_err(|error| FlowError::test(error, request.input.name(), request.test.as_ref().map(Input::name)))
    }

    /// Opens the test records; refuses the training file.
    pub(crate) fn open_test(&self, input: &Input, test: &Input, policy: &Policy) -> Result<LocalEngine, FlowError> {
        check_standard_input([input, test])?;
        if input.is_same_file(test) {
            return Err(FlowError::usage(format!(
                "{test}: this is the training file; name another one, or omit --test to hold out some of its records"
            )));
        }
        self.open(test, &policy.input)
    }

    /// Counts the test records.
    pub(crate) fn test_counts(&self, test: &LocalEngine, policy: &Policy) -> Result<Counts, FlowError> {
        let counts = self.counts(policy, test, 0)?;
        match counts.records {
            0 => Err(FlowError::input(test.source().name(), EvaluateError::Empty { table: "test" })),
            _ => Ok(counts),
        }
    }
}

/// Returns the index of the class among the counted columns.
pub(crate) fn class(policy: &Policy) -> Option<usize> {
    let columns = Profile::grouped_columns(policy);
    policy.class().and_then(|class| columns.iter().position(|name| *name == class.name))
}

/// Refuses a table with too few records to hold out some.
pub(crate) fn check_size(counts: &Counts, plan: Plan, input: &str) -> Result<(), FlowError> {
    plan.check(counts.records).map_err(|error| FlowError::input(input, error))
}
