//! `moretta init`

use moretta_flow::{FlowError, OutputFile};

use super::run_request;
use crate::{
    arguments::{Init, Resources},
    summary,
};

pub fn run(arguments: Init) -> Result<(), FlowError> {
    let Init { input, output, overwrite } = arguments;
    let request = moretta_flow::Init { input, output: OutputFile { path: output, overwrite } };
    let draft = run_request(&Resources::default(), |session| session.init(&request))?;
    summary::print(&match &request.output.path {
        Some(path) => summary::guesses(&draft.guesses, path),
        None => draft.text,
    });
    Ok(())
}
