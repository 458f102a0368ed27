//! `moretta inferences`

use moretta_flow::FlowError;

use super::{output_file, run_request};
use crate::{
    arguments::Inferences,
    summary,
    tables::inferences::{MAX_LISTED, text, written},
};

pub fn run(arguments: &Inferences) -> Result<(), FlowError> {
    let Inferences { input, policy, above, all, output, overwrite, json, resources } = arguments;
    let first = !all && !json && output.is_none();
    let request = moretta_flow::Inferences {
        input: input.clone(),
        policy: policy.clone(),
        above: *above,
        max_listed: first.then_some(MAX_LISTED),
        output: output_file(output, *overwrite),
    };
    let listing = run_request(resources, |session| session.inferences(&request))?;
    summary::print(&match output {
        _ if *json => moretta_pages::inferences::json(&listing),
        Some(path) => written(&listing, path),
        None => text(&listing, *all),
    });
    Ok(())
}
