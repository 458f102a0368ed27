//! `moretta evaluate`: what a model can still learn from a release, counted on records that took no part in the search.

use std::path::Path;

use hashbrown::HashMap;
use moretta_core::{
    counts::Counts,
    evaluate::{
        Errors, EvaluateError, Spread, Tested, TestedRecords,
        holdout::{self, Plan, Split},
    },
    hierarchy::Tree,
    measure::Measures,
    policy::Policy,
    profile::Profile,
    search::{self, Stop},
};
use moretta_engine::{Engine, Settings, same_file};
use serde::Serialize;

use crate::{
    arguments::{Evaluate, HeldBack},
    failure::Failure,
    inputs::{self, Asked},
    pipeline, summary,
    watch::Watch,
};

/// In so many parts a table is divided where nobody says.
const FOLDS: u16 = 5;

/// What is printed as JSON. With one split it has what there is to say of that one, with several a list of them.
#[derive(Serialize)]
struct Evaluation<'a> {
    errors: Errors,
    #[serde(skip_serializing_if = "Option::is_none")]
    spread: Option<Errors>,
    #[serde(flatten)]
    one: Option<One<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    folds: Option<&'a [Tested]>,
    method: &'a str,
    seed: u64,
}

#[derive(Serialize)]
struct One<'a> {
    records: TestedRecords,
    stop: Stop,
    measures: &'a Measures,
}

/// Runs it.
pub fn run(arguments: &Evaluate) -> Result<(), Failure> {
    let asked = Asked::read(&arguments.policy)?;
    let class = class(&asked.policy)
        .ok_or_else(|| Failure::input(format!("{}: {}", arguments.policy.display(), EvaluateError::NoClass)))?;
    let settings = inputs::settings(&arguments.resources);
    let engine = inputs::engine(&arguments.input, &asked.policy.input, settings.clone())?;
    let (counts, whole) = inputs::profile(&engine, &arguments.input, &asked.policy, &asked.hierarchies)?;
    inputs::check_templates(&asked.policy, &whole, &arguments.policy)?;
    inputs::check_goals(&asked.policy, &whole, &arguments.policy)?;
    // For what they say of the whole table; every part binds its own.
    inputs::bind(&asked.policy, &whole)?;

    let seed = pipeline::seed(arguments.seed)?;
    let found = match &arguments.test {
        Some(test) => {
            check_other(&arguments.input, test)?;
            let test = test_counts(test, &asked.policy, settings)?;
            vec![tested(&asked.policy, &asked.hierarchies, Split { train: counts, test }, seed, arguments)?]
        }
        None => {
            // A column is of numbers or not for all parts alike.
            let policy = asked.policy.with_kinds_of(&whole);
            let plan = plan(&arguments.held_back)?;
            check_size(&counts, plan, &arguments.input)?;
            let splits = holdout::splits(&counts, class, plan, seed);
            splits.map(|split| tested(&policy, &asked.hierarchies, split, seed, arguments)).collect::<Result<_, _>>()?
        }
    };
    say(&found, &asked.policy.method.name, seed, arguments.json)
}

/// The place of the class among the counted columns.
pub fn class(policy: &Policy) -> Option<usize> {
    let columns = Profile::grouped_columns(policy);
    policy.class().and_then(|class| columns.iter().position(|name| *name == class.name))
}

/// How the user wants the table divided.
pub fn plan(held_back: &HeldBack) -> Result<Plan, Failure> {
    let folds = usize::from(held_back.folds.unwrap_or(FOLDS));
    match held_back.hold_out {
        Some(share) => Ok(Plan::Draws { draws: folds, share }),
        None if folds < 2 => Err(Failure::input(
            "--folds 1: a table is divided into 2 parts at least; to hold back records once, give --hold-out 0.33 too",
        )),
        None => Ok(Plan::Folds(folds)),
    }
}

/// Both parts need records.
pub fn check_size(counts: &Counts, plan: Plan, input: &str) -> Result<(), Failure> {
    plan.check(counts.records).map_err(|error| Failure::input(format!("{input}: {error}")))
}

/// Records that the search saw are no test.
pub fn check_other(input: &str, test: &str) -> Result<(), Failure> {
    match same_file(Path::new(input), Path::new(test)) {
        true => Err(Failure::input(format!(
            "{test}: these are the records that are learned from; name others, or leave --test out to hold some back"
        ))),
        false => Ok(()),
    }
}

/// The counts of the records to test with.
pub fn test_counts(test: &str, policy: &Policy, settings: Settings) -> Result<Counts, Failure> {
    let engine = inputs::engine(test, &policy.input, settings)?;
    inputs::check_header(policy, test, &engine.columns()?)?;
    let counts = engine.group_and_count(&Profile::grouped_columns(policy), &Watch::new("reading"))?;
    match counts.records {
        0 => Err(Failure::input(format!("{test}: {}", EvaluateError::Empty { table: "test" }))),
        _ => Ok(counts),
    }
}

fn tested(
    policy: &Policy,
    hierarchies: &HashMap<String, Tree>,
    split: Split,
    seed: u64,
    arguments: &Evaluate,
) -> Result<Tested, Failure> {
    let watch = Watch::new("searching").with_limit(arguments.time_limit);
    let found = Tested::run(policy, hierarchies, split, seed, &watch);
    if search::Observer::stop(&watch) == Some(Stop::Cancelled) {
        return Err(Failure::interrupted());
    }
    found.map_err(|error| Failure::test(error, &arguments.input, arguments.test.as_deref()))
}

fn say(found: &[Tested], method: &str, seed: u64, json: bool) -> Result<(), Failure> {
    let errors: Vec<Errors> = found.iter().map(|tested| tested.errors).collect();
    let Some(Spread { mean, deviation }) = Spread::of(&errors) else { return Ok(()) };
    if !json {
        summary::print(&summary::errors(found, &mean, deviation.as_ref()));
        return Ok(());
    }
    let evaluation = Evaluation {
        errors: mean,
        spread: deviation,
        one: match found {
            [one] => Some(One { records: one.records, stop: one.stop, measures: &one.measures }),
            _ => None,
        },
        folds: (found.len() > 1).then_some(found),
        method,
        seed,
    };
    summary::print(&(serde_json::to_string_pretty(&evaluation).expect("names and numbers") + "\n"));
    Ok(())
}
