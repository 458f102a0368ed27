//! `moretta evaluate`: what a model can still learn from a release, counted on records that took no part in the search.

use moretta_core::{
    evaluate::{self, Errors, EvaluateError},
    measure::{self, Measures, Scene},
    profile::Profile,
    recoding::saved::Saved,
    search::{self, Stop, Task},
    verify,
};
use moretta_engine::{Engine, Settings};
use serde::Serialize;

use crate::{
    arguments::Evaluate,
    failure::Failure,
    inputs::{self, Asked},
    pipeline, summary,
    watch::Watch,
};

/// What is printed as JSON.
#[derive(Serialize)]
struct Evaluation {
    errors: Errors,
    records: Records,
    method: String,
    seed: u64,
    stop: Stop,
    measures: Measures,
}

#[derive(Serialize)]
struct Records {
    train: u64,
    test: u64,
    /// Test records that no released cell covers.
    uncovered: u64,
}

/// Runs it.
pub fn run(arguments: &Evaluate) -> Result<(), Failure> {
    let Asked { policy, hierarchies, .. } = Asked::read(&arguments.policy)?;
    if policy.class().is_none() {
        return Err(Failure::input(format!("{}: {}", arguments.policy.display(), EvaluateError::NoClass)));
    }
    let settings = inputs::settings(&arguments.resources);
    let engine = inputs::engine(&arguments.input, &policy.input, settings.clone())?;
    let (_, train) = inputs::profile(&engine, &arguments.input, &policy, &hierarchies)?;

    let seed = pipeline::seed(arguments.seed)?;
    inputs::check_goals(&policy, &train, &arguments.policy)?;
    let models = inputs::bind(&policy, &train)?;
    let max_suppressed = policy.privacy.allowed_records(train.records());
    let task = Task { profile: &train, models: &models, max_suppressed, seed };
    let method = search::method_of(&policy).map_err(|error| Failure::input(error.to_string()))?;
    method.supports(&task).map_err(|error| Failure::input(error.to_string()))?;
    let outcome = method.run(&task, &Watch::new("searching").with_limit(arguments.time_limit))?;
    if outcome.stop == Stop::Cancelled {
        return Err(Failure::interrupted());
    }
    let saved = Saved::of(&policy, &hierarchies, &train, &outcome.recoding);
    let verified = verify::verify(&train, outcome.recoding, &models, &policy.release, max_suppressed)?;

    // Only now: what the test records say must not reach the search.
    let test = test_profile(arguments, &saved, settings)?;
    let errors = evaluate::errors(&train, verified.recoding(), &saved, &test)
        .map_err(|error| Failure::input(error.to_string()))?;
    let records =
        Records { train: train.records(), test: test.records(), uncovered: evaluate::uncovered(&saved, &test) };
    if !arguments.json {
        summary::print(&summary::errors(&errors, (records.uncovered, records.test), outcome.stop));
        return Ok(());
    }
    let weights = measure::weights(&policy);
    let scene = Scene {
        released: verified.released(),
        records: &train,
        weights: &weights,
        k: policy.privacy.k,
        goals: policy.goals(),
    };
    let evaluation = Evaluation {
        errors,
        records,
        measures: Measures::of(&scene, true),
        method: policy.method.name.clone(),
        seed,
        stop: outcome.stop,
    };
    summary::print(&(serde_json::to_string_pretty(&evaluation).expect("names and numbers") + "\n"));
    Ok(())
}

/// The profile of the records to test with, in which the cells of the recoding can be read.
fn test_profile(arguments: &Evaluate, saved: &Saved, settings: Settings) -> Result<Profile, Failure> {
    let policy = &saved.policy;
    let engine = inputs::engine(&arguments.test, &policy.input, settings)?;
    inputs::check_header(policy, &arguments.test, &engine.columns()?)?;
    let mut counts = engine.group_and_count(&Profile::grouped_columns(policy), &Watch::new("reading"))?;
    saved.profile(&mut counts).map_err(|error| Failure::domain(&arguments.test, &error))
}
