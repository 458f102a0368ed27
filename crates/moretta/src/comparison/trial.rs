//! One method at one k, in this process: the search on the whole table, then what its release would be good for.

use std::time::Instant;

use moretta_core::{
    counts::Counts,
    evaluate::{
        Errors, TestError, Tested,
        holdout::{self, Plan, Split},
        queries::{self, Draw},
    },
    policy::{MethodChoice, Policy},
    profile::Profile,
    search::{Observer, SearchError, Stop, method_of},
    trial::{Trial, TrialError},
};

use super::{Answers, Comparison, Found, Pair, Refused, Row, Splits};
use crate::{arguments::Compare, failure::Failure, inputs::Asked, watch::Watch};

/// A table, and what is to be done with it.
pub struct Job<'a> {
    /// What the user wants.
    pub arguments: &'a Compare,
    /// The policy as it was read.
    pub asked: &'a Asked,
    /// The counted table.
    pub counts: Counts,
    /// Its profile.
    pub profile: &'a Profile,
    /// On what errors are counted.
    pub against: Against,
}

/// On what errors are counted.
pub enum Against {
    /// On nothing: there is no class.
    Nothing,
    /// On other records.
    Others(Counts),
    /// On some of the table's own, by the place of the class.
    HeldBack(usize, Plan),
}

/// The policy with the method and the k of a pair. The policy's own method keeps its parameters.
pub fn policy_of(policy: &Policy, pair: &Pair) -> Policy {
    let mut policy = policy.clone();
    if policy.method.name != pair.method {
        policy.method = MethodChoice::new(pair.method, Default::default());
    }
    policy.privacy.k = pair.k;
    policy
}

/// Searches, measures, asks, tests.
pub fn run(job: Job<'_>, pair: &Pair) -> Result<Result<Comparison, Refused>, Failure> {
    let (arguments, profile) = (job.arguments, job.profile);
    let policy = policy_of(&job.asked.policy, pair);
    // A complaint names the method, so its line in the policy is not needed; the policy may not even name it.
    if let Err(error) = method_of(&policy) {
        return Ok(Err(Refused::open(Failure::input(error.message))));
    }
    let watch = watch(arguments);
    let start = Instant::now();
    let trial = Trial::run(&policy, profile, arguments.seed, &watch);
    let seconds = start.elapsed().as_secs_f64();
    let peak_memory_bytes = moretta_engine::peak_memory_bytes();
    check_interrupt(&watch)?;
    drop(watch);
    let trial = match trial {
        Ok(trial) => trial,
        Err(error) => return Ok(Err(refused(error))),
    };

    let (queries, summed) = asked(arguments, &policy, profile, &trial)?;
    let mut found = measured(&policy, profile, &trial, queries, (seconds, peak_memory_bytes));
    let mut tested = None;
    match errors(job, &policy, trial)? {
        Ok(all) => {
            let errors: Vec<Errors> = all.iter().map(|tested| tested.errors).collect();
            found.set_errors(&errors);
            let records = all.iter().map(|tested| tested.records.test).sum();
            tested = (!all.is_empty()).then_some(Splits { splits: all.len(), records });
        }
        Err(reason) => found.untested = Some(reason),
    }
    Ok(Ok(Comparison {
        records: profile.records(),
        seed: arguments.seed,
        queries: arguments.queries,
        summed,
        measure: measure(&policy),
        tested,
        errors: found.errors.map(Into::into),
        spread: found.spread.map(Into::into),
        rows: vec![Row { method: pair.method.to_owned(), k: pair.k, cannot: None, detail: None, found: Some(found) }],
    }))
}

/// All there is to say of a search on the whole table; errors come later.
fn measured(policy: &Policy, profile: &Profile, trial: &Trial, queries: Answers, took: (f64, Option<u64>)) -> Found {
    let released = trial.verified.released();
    let sizes = (0..released.groups()).map(|group| released.records(group));
    let (seconds, peak_memory_bytes) = took;
    Found {
        stop: trial.stop,
        measures: trial.measures(policy, profile),
        goal: trial.goal(policy, profile),
        groups: released.groups() as u64,
        smallest_group: sizes.min().unwrap_or(0),
        suppressed_rows: trial.verified.recoding().suppressed_records(profile),
        errors: None,
        spread: None,
        untested: None,
        queries,
        seconds,
        peak_memory_bytes,
    }
}

/// What `[measure]` names.
pub fn measure(policy: &Policy) -> Option<String> {
    let names: Vec<&str> = policy.goals().iter().map(|goal| goal.purpose.name()).collect();
    (!names.is_empty()).then(|| names.join(" + "))
}

fn watch(arguments: &Compare) -> Watch {
    Watch::new("searching").with_limit(arguments.time_limit)
}

fn check_interrupt(watch: &Watch) -> Result<(), Failure> {
    if watch.stop() == Some(Stop::Cancelled) { Err(Failure::interrupted()) } else { Ok(()) }
}

/// An error's own words may name what a template learned from the data, its rarest values. What everybody may read is
/// made from what kind of error it is, and has the words only where they come from the policy and the registries.
pub(super) fn refused(error: TrialError) -> Refused {
    let cannot = match &error {
        TrialError::Search(SearchError::Impossible { .. }) => {
            "the policy cannot be met, not even with all records in one group".to_owned()
        }
        TrialError::Policy(_) | TrialError::Unsupported(_) | TrialError::Search(SearchError::Unsupported(_)) => {
            error.to_string()
        }
        TrialError::Model(_) => "a rule of the policy makes no sense of this table".to_owned(),
        TrialError::Verify(_) => "what it found does not hold".to_owned(),
        _ => "it found nothing".to_owned(),
    };
    Refused { cannot, failure: error.into() }
}

/// The errors of the answers to random queries, and the column that is summed.
fn asked(
    arguments: &Compare,
    policy: &Policy,
    profile: &Profile,
    trial: &Trial,
) -> Result<(Answers, Option<String>), Failure> {
    let watch = Watch::new("asking");
    let draw = Draw { count: arguments.queries as usize, seed: arguments.seed, columns: None };
    let answered = queries::compare(profile, trial.verified.released(), &policy.release, None, &draw);
    check_interrupt(&watch)?;
    let answered = answered.map_err(|error| Failure::input(error.to_string()))?;
    let count = queries::errors(&answered.count.answered);
    let sum = answered.sum.map(|sum| queries::errors(&sum.answered));
    let column = queries::summed(profile).map(|column| profile.columns()[column.index()].name.clone());
    Ok((Answers { count, sum }, column))
}

/// What was tested, or why the search found nothing without the records held back.
fn errors(job: Job<'_>, policy: &Policy, trial: Trial) -> Result<Result<Vec<Tested>, String>, Failure> {
    let Job { arguments, asked, counts, profile, against } = job;
    let hierarchies = &asked.hierarchies;
    match against {
        Against::Nothing => Ok(Ok(Vec::new())),
        Against::Others(test) => {
            // The whole table is what is learned from, and its search has been done.
            let tested = Tested::of_trial(policy, hierarchies, (profile, &trial), test);
            sorted(arguments, tested.map(|tested| vec![tested]))
        }
        Against::HeldBack(class, plan) => {
            drop(trial);
            // A column is of numbers or not for all parts alike.
            let policy = policy.with_kinds_of(profile);
            let test = |split: Split| {
                let watch = watch(arguments);
                let tested = Tested::run(&policy, hierarchies, split, arguments.seed, &watch);
                check_interrupt(&watch).map(|()| tested)
            };
            let splits = holdout::splits(&counts, class, plan, arguments.seed);
            let tested: Vec<Result<Tested, TestError>> = splits.map(test).collect::<Result<_, Failure>>()?;
            sorted(arguments, tested.into_iter().collect())
        }
    }
}

/// That a part of the table cannot be anonymised says something about the row; anything else is a failure.
fn sorted(arguments: &Compare, tested: Result<Vec<Tested>, TestError>) -> Result<Result<Vec<Tested>, String>, Failure> {
    match tested {
        Ok(tested) => Ok(Ok(tested)),
        Err(error) => {
            let says_something = matches!(error, TestError::Trial(_));
            let failure = Failure::test(error, &arguments.input, arguments.test.as_deref());
            if says_something { Ok(Err(failure.message)) } else { Err(failure) }
        }
    }
}
