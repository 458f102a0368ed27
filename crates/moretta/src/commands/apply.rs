//! `moretta apply`: a saved recoding on new records, with the suppression needed there, verified again.

use std::path::PathBuf;

use moretta_core::{
    profile::Profile,
    recoding::saved::Saved,
    report::Report,
    search::Stop,
    text::counted,
    verify::{self, VerifyError},
};
use moretta_engine::Engine;

use crate::{
    arguments::Apply,
    failure::Failure,
    inputs,
    pipeline::{self, Clock, Table},
    watch::Watch,
};

/// A saved recoding keeps its policy, so that is where to allow more.
fn refused(error: VerifyError, saved: &Saved, profile: &Profile) -> Failure {
    let too_many = matches!(error, VerifyError::Suppressed { .. });
    let mut failure = Failure::from(error);
    if too_many {
        for (column, records) in saved.uncovered(profile) {
            let records = counted(records, "record has", "records have");
            failure.message += &format!("; {records} a value of `{column}` that no released cell covers");
        }
        failure.message +=
            "; raise `max-suppressed` in the policy and save the recoding again with `anonymize --recoding`";
    }
    failure
}

/// Runs it.
pub fn run(arguments: &Apply) -> Result<(), Failure> {
    let text = inputs::read_text(&arguments.recoding)?;
    let in_file = |message: String| Failure::input(format!("{}: {message}", arguments.recoding.display()));
    let saved = Saved::parse(&text).map_err(|error| in_file(error.to_string()))?;
    let (policy, hierarchies) = (&saved.policy, &saved.hierarchies);
    let settings = inputs::settings(&arguments.resources);
    let engine = inputs::engine(&arguments.input, &policy.input, settings.clone())?;
    let mut reads: Vec<PathBuf> = engine.source().paths().map(PathBuf::from).collect();
    reads.push(arguments.recoding.clone());
    inputs::check_beside(&arguments.output.output, &arguments.input)?;
    let target = pipeline::check_paths(&arguments.output, None, &reads, engine.source())?;

    let mut clock = Clock::start();
    inputs::check_header(policy, &arguments.input, &engine.columns()?)?;
    let mut counts = engine.group_and_count(&Profile::grouped_columns(policy), &Watch::new("reading"))?;
    let profile = saved.profile(&mut counts).map_err(|error| Failure::domain(&arguments.input, &error))?;
    let profile_seconds = clock.lap();

    let models = inputs::bind(policy, &profile)?;
    let recoding = saved.apply(&profile, &models);
    let max_suppressed = policy.privacy.allowed_records(profile.records());
    let verified = verify::verify(&profile, recoding, &models, &policy.release, max_suppressed)
        .map_err(|error| refused(error, &saved, &profile))?;
    let seed = pipeline::seed(arguments.output.seed)?;
    let columns = engine.source().columns().len();
    let mut report = Report::of(policy, &profile, &verified, (Stop::Finished, &[]), seed, columns);
    report.seconds.profile = profile_seconds;
    report.seconds.search = clock.lap();

    let table = Table { engine: &engine, policy, hierarchies, counts: &counts, profile: &profile, settings: &settings };
    pipeline::finish(&table, &verified, report, &arguments.output, &target, None, clock)
}
