//! `moretta inferences`

use moretta_flow::{FlowError, OutputFile};

use super::run_request;
use crate::{
    arguments::Inferences,
    stdout::{print, print_data},
    tables::inferences::{MAX_LISTED, text, written},
};

pub fn run(arguments: Inferences) -> Result<(), FlowError> {
    let Inferences { input, policy, above, all, output, overwrite, json, resources } = arguments;
    let first = !all && !json && output.is_none();
    let (max_listed, output) = (first.then_some(MAX_LISTED), OutputFile { path: output, overwrite });
    let (input, policy) = (input.into(), policy.into());
    let request = moretta_flow::Inferences { input, policy, above, max_listed, output };
    let listing = run_request(&resources, |session| session.inferences(&request))?;
    match &request.output.path {
        _ if json => print_data(&moretta_pages::inferences::json(&listing)),
        Some(path) => print(&written(&listing, path)),
        None => print(&text(&listing, all)),
    }
}
