//! `moretta apply`: a saved recoding on new records, with the suppression needed there, verified again.

use std::path::PathBuf;

use moretta_core::{
    compare::{self, Compared},
    hierarchy::DomainError,
    policy::Policy,
    profile::Profile,
    recoding::saved::Saved,
    report::Report,
    search::Stop,
    text::counted,
    verify::{self, Verified, VerifyError},
};
use moretta_engine::Engine;

use crate::{
    arguments::Apply,
    failure::Failure,
    inputs,
    pipeline::{self, Clock, Table},
    summary,
    watch::{self, Watch},
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
    // Before the columns learn what occurs in the recoding alone.
    let fresh = arguments.compare.then(|| Profile::build(policy, hierarchies, &counts));
    let in_input = |error: DomainError| Failure::domain(&arguments.input, &error);
    let profile = saved.profile(&mut counts).map_err(in_input)?;
    let fresh = fresh.transpose().map_err(in_input)?;
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
    if let Some(fresh) = fresh {
        let mut compared = compared(policy, (&profile, &verified), &fresh, seed, arguments);
        compared.seconds = clock.lap();
        report.seconds.total = compared.seconds;
        report.compared = Some(compared);
    }

    let table = Table { engine: &engine, policy, hierarchies, counts: &counts, profile: &profile, settings: &settings };
    pipeline::finish(&table, &verified, report, &arguments.output, &target, None, clock)
}

/// What a search anew finds on the same records. Whoever stops it still gets the release.
fn compared(
    policy: &Policy,
    applied: (&Profile, &Verified),
    fresh: &Profile,
    seed: u64,
    arguments: &Apply,
) -> Compared {
    let watch = Watch::new("comparing").with_limit(arguments.time_limit);
    let compared = compare::with_anew(policy, applied, fresh, seed, &watch);
    drop(watch);
    if compared.stop == Some(Stop::Cancelled) {
        summary::note("interrupted: the comparison ends here, and the release is written; again, and nothing is");
        watch::go_on();
    }
    compared
}
