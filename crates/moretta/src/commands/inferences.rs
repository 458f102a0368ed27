//! `moretta inferences`: what a file gives away as it stands, raw or released.

use std::path::{Path, PathBuf};

use moretta_core::{
    inferences::{self, Question},
    policy::Policy,
    profile::Profile,
    schema::Role,
};
use moretta_engine::{Engine, LocalEngine, Observer};

use crate::{
    arguments::Inferences,
    failure::Failure,
    inferences::{Listing, SHOWN},
    inputs::{self, Asked},
    summary,
    watch::Watch,
};

/// Runs it.
pub fn run(arguments: &Inferences) -> Result<(), Failure> {
    let asked = Asked::read(&arguments.policy)?;
    let policy = &asked.policy;
    check_asks(policy, &arguments.policy)?;
    let engine = inputs::engine(&arguments.input, &policy.input, inputs::settings(&arguments.resources))?;
    if let Some(path) = &arguments.output {
        check_output(path, arguments, &engine, &asked.files)?;
    }
    inputs::check_released_header(policy, &arguments.input, engine.columns()?)?;
    let watch = Watch::new("reading");
    let counts = engine.group_and_count(&Profile::grouped_columns(policy), &watch)?;
    // Every text is a value of its own: raw values and released labels are counted by the same code.
    let profile = Profile::of_release(policy, &asked.hierarchies, &counts)
        .map_err(|error| Failure::domain(&arguments.input, &error))?;
    inputs::check_templates(policy, &profile, &arguments.policy)?;
    let questions = Question::of_policy(policy, &profile)?;
    let shown = !arguments.all && !arguments.json && arguments.output.is_none();
    let found = inferences::find(&profile, &questions, arguments.above, shown.then_some(SHOWN));
    if watch.stop().is_some() {
        return Err(Failure::interrupted());
    }
    drop(watch);

    let listing = Listing {
        file: &arguments.input,
        privacy: &policy.privacy,
        above: arguments.above,
        profile: &profile,
        questions: &questions,
        found: &found,
    };
    if let Some(path) = &arguments.output {
        inputs::write_text(path, &listing.csv(), arguments.overwrite)?;
    }
    summary::note(&format!("this shows real combinations of values: it is as confidential as {}", arguments.input));
    let text = match &arguments.output {
        _ if arguments.json => listing.json(),
        Some(path) => listing.written(path),
        None => listing.text(arguments.all),
    };
    summary::print(&text);
    Ok(())
}

/// Without a template and without a sensitive column there is nothing to infer.
fn check_asks(policy: &Policy, path: &Path) -> Result<(), Failure> {
    let sensitive = policy.columns.iter().any(|column| column.role == Role::Sensitive);
    if sensitive || !policy.privacy.templates.is_empty() {
        return Ok(());
    }
    let message =
        "there is nothing to infer: no column has the role `sensitive`, and there is no `[[privacy.template]]`";
    Err(Failure::input(format!("{}: {message}", path.display())))
}

fn check_output(path: &Path, arguments: &Inferences, engine: &LocalEngine, read: &[PathBuf]) -> Result<(), Failure> {
    if path.extension().is_none_or(|extension| extension != "csv") {
        let message = "a list of inferences is CSV, its name ends in .csv; `--json` prints it as JSON";
        return Err(Failure::input(format!("{}: {message}", path.display())));
    }
    let mut reads: Vec<PathBuf> = engine.source().paths().map(PathBuf::from).collect();
    reads.extend(read.iter().cloned());
    inputs::check_beside(path, &arguments.input)?;
    inputs::check_outputs(&[path], &reads, arguments.overwrite)
}
