//! `moretta anonymize`: profile, search, verify; then write, read back, report.

use std::path::{Path, PathBuf};

use moretta_core::{
    policy::Policy,
    privacy::Confidence,
    profile::Profile,
    recoding::saved::Saved,
    report::Report,
    search::{self, Stop, Task},
    verify,
};

use crate::{
    arguments::Anonymize,
    failure::Failure,
    inputs::{self, Asked},
    pipeline::{self, Clock, Table},
    summary,
    watch::Watch,
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
    check_templates(policy, &profile, &arguments.policy)?;
    let models = inputs::bind(policy, &profile)?;
    let max_suppressed = policy.privacy.allowed_records(profile.records());
    let task = Task { profile: &profile, models: &models, max_suppressed, seed };
    let method = search::method_of(policy).map_err(|error| Failure::input(error.to_string()))?;
    method.supports(&task).map_err(|error| Failure::input(error.to_string()))?;
    let outcome = method.run(&task, &Watch::new("searching").with_limit(arguments.time_limit))?;
    if outcome.stop == Stop::Cancelled {
        return Err(Failure::interrupted());
    }
    let saved = arguments
        .recoding
        .as_ref()
        .map(|path| (path, Saved::of(policy, hierarchies, &profile, &outcome.recoding).to_json()));
    let verified = verify::verify(&profile, outcome.recoding, &models, &policy.release, max_suppressed)?;
    let columns = engine.source().columns().len();
    let mut report = Report::of(policy, &profile, &verified, (outcome.stop, &outcome.work), seed, columns);
    report.seconds.profile = profile_seconds;
    report.seconds.search = clock.lap();

    summary::notes(policy, asked.unconfirmed);
    let table = Table { engine: &engine, policy, hierarchies, counts: &counts, profile: &profile, settings: &settings };
    pipeline::finish(&table, &verified, report, &arguments.output, &target, saved, clock)
}

/// A template on a value that the table does not have holds whatever the table says: most likely it is misspelt.
fn check_templates(policy: &Policy, profile: &Profile, path: &Path) -> Result<(), Failure> {
    for template in &policy.privacy.templates {
        if let Some((value, near)) = Confidence(template.clone()).unknown_value(profile) {
            let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            let column = &template.column;
            let message = format!("a template guards `{value}`, which does not occur in column `{column}`{hint}");
            return Err(Failure::input(format!("{}: {message}", path.display())));
        }
    }
    Ok(())
}
