//! `moretta anonymize`: profile, search, verify; then write, read back, report.

use std::path::PathBuf;

use moretta_core::{
    policy::Policy,
    recoding::saved::Saved,
    report::Report,
    search::{self, Outcome, Stop, Task},
    verify,
};

use crate::{
    arguments::Anonymize,
    failure::Failure,
    frontier,
    inputs::{self, Asked},
    pipeline::{self, Clock, Table},
    summary,
    watch::{self, Watch},
};

/// Runs it.
pub fn run(arguments: &Anonymize) -> Result<(), Failure> {
    let asked = Asked::read(&arguments.policy)?;
    let Asked { policy, hierarchies, .. } = &asked;
    let settings = inputs::settings(&arguments.resources);
    let engine = inputs::engine(&arguments.input, &policy.input, settings.clone())?;
    let mut reads: Vec<PathBuf> = engine.source().paths().map(PathBuf::from).collect();
    reads.extend(asked.files.iter().cloned());
    inputs::check_beside(&arguments.output.output, &arguments.input)?;
    let target = pipeline::check_paths(&arguments.output, arguments.recoding.as_ref(), &reads, engine.source())?;

    let mut clock = Clock::start();
    let (counts, profile) = inputs::profile(&engine, &arguments.input, policy, hierarchies)?;
    let profile_seconds = clock.lap();

    let seed = pipeline::seed(arguments.output.seed)?;
    inputs::check_templates(policy, &profile, &arguments.policy)?;
    inputs::check_goals(policy, &profile, &arguments.policy)?;
    inputs::check_population(policy, &profile, &arguments.policy)?;
    let models = inputs::bind(policy, &profile)?;
    let max_suppressed = policy.privacy.allowed_records(profile.records());
    // The points of `moretta frontier` are counted from the same seed there and here.
    let path_seed = if arguments.at.is_some() { arguments.output.seed.unwrap_or(0) } else { seed };
    let task = Task { profile: &profile, models: &models, max_suppressed, seed: path_seed };
    let (outcome, first_holds) = match arguments.at {
        Some(at) => frontier::outcome_at(policy, &task, at)?,
        None => (search(policy, &task, arguments)?, None),
    };
    let saved = arguments
        .recoding
        .as_ref()
        .map(|path| (path, Saved::of(policy, hierarchies, &profile, &outcome.recoding).to_json()));
    let verified =
        verify::verify(&profile, outcome.recoding, &models, &policy.release, max_suppressed).map_err(|error| {
            match arguments.at {
                Some(at) => frontier::refused(at, first_holds, &error),
                None => Failure::from(error),
            }
        })?;
    let columns = engine.source().columns().len();
    let mut report = Report::of(policy, &profile, &verified, (outcome.stop, &outcome.work), seed, columns);
    report.at = arguments.at;
    report.seconds.profile = profile_seconds;
    report.seconds.search = clock.lap();
    let reported = arguments.output.json || !arguments.output.report.is_empty();
    if reported && !outcome.path.is_empty() {
        report.path = frontier::measured(policy, &task, &outcome.path, None)?;
        report.seconds.total = clock.lap();
    }

    summary::notes(policy, asked.unconfirmed);
    let table = Table { engine: &engine, policy, hierarchies, counts: &counts, profile: &profile, settings: &settings };
    pipeline::finish(&table, &verified, report, &arguments.output, &target, saved, clock)
}

/// What the policy's method finds.
fn search(policy: &Policy, task: &Task<'_>, arguments: &Anonymize) -> Result<Outcome, Failure> {
    let method = search::method_of(policy).map_err(|error| Failure::input(error.to_string()))?;
    method.supports(task).map_err(|error| Failure::input(error.to_string()))?;
    let outcome = method.run(task, &Watch::new("searching").with_limit(arguments.time_limit))?;
    match outcome.stop {
        // Where nothing has been told yet there is nothing worth releasing.
        Stop::Cancelled if method.anytime() && outcome.recoding.tells(task.profile) => {
            summary::note("interrupted: what the search has found so far is released; again, and nothing is");
            watch::go_on();
            Ok(outcome)
        }
        Stop::Cancelled => Err(Failure::interrupted()),
        _ => Ok(outcome),
    }
}
