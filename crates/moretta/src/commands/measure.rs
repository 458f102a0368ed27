//! `moretta measure`: what a release lost, from the two files alone.

use moretta_core::measure::{self, Measures, Scene};

use crate::{
    arguments::Measure,
    failure::Failure,
    inputs::{Asked, Pair},
    summary,
};

/// Runs it.
pub fn run(arguments: &Measure) -> Result<(), Failure> {
    let Asked { policy, hierarchies, .. } = Asked::read(&arguments.policy)?;
    let Pair { file, released, cells, .. } =
        Pair::read(&arguments.original, &arguments.released, &policy, &hierarchies, &arguments.resources)?;
    let weights = measure::weights(&policy);
    let scene =
        Scene { released: &released, records: &file, weights: &weights, k: policy.privacy.k, goals: policy.goals() };
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
