//! `moretta measure`: what a release lost, from the two files alone.

use moretta_core::{
    measure::{self, Measures, Scene},
    policy::Numbers,
    profile::Profile,
    released::Released,
};
use moretta_engine::Engine;

use crate::{
    arguments::Measure,
    failure::Failure,
    inputs::{self, Asked},
    summary,
    watch::Watch,
};

/// Runs it.
pub fn run(arguments: &Measure) -> Result<(), Failure> {
    let Asked { policy, hierarchies, .. } = Asked::read(&arguments.policy)?;
    let settings = inputs::settings(&arguments.resources);
    let engine = inputs::engine(&arguments.original, &policy.input, settings.clone())?;
    let (_, original) = inputs::profile(&engine, &arguments.original, &policy, &hierarchies)?;

    let engine = inputs::engine(&arguments.released, &policy.input, settings)?;
    let counts = engine.group_and_count(&Profile::grouped_columns(&policy), &Watch::new("reading"))?;
    let in_file = |message: String| Failure::input(format!("{}: {message}", arguments.released));
    let file = Profile::of_release(&policy, &hierarchies, &counts).map_err(|error| in_file(error.to_string()))?;
    if file.records() != original.records() {
        return Err(in_file(format!(
            "{} records, but {} has {}; these are not a release and its original",
            file.records(),
            arguments.original,
            original.records()
        )));
    }
    // One number for a whole group does not show how wide the group is.
    let cells = policy.release.numbers == Numbers::Interval;
    let released = if cells {
        Released::of_file(&original, &file).map_err(|error| in_file(error.to_string()))?
    } else {
        Released::of_opaque(&file)
    };
    let weights = measure::weights(&policy);
    let scene = Scene { released: &released, records: &file, weights: &weights, k: policy.privacy.k };
    let measures = Measures::of(&scene, cells);
    if arguments.json {
        summary::print(&(serde_json::to_string_pretty(&measures).expect("names and numbers") + "\n"));
    } else {
        summary::print(&summary::measures(&measures));
        if !cells {
            summary::note(
                "numbers were released as one value per group: what cells lost is only in the report of `anonymize`",
            );
        }
    }
    Ok(())
}
