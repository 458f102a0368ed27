//! `moretta init`

use moretta_flow::{FlowError, OutputFile};

use super::run_request;
use crate::{
    arguments::{Init, Resources},
    stdout::{print, print_data},
    summary,
};

pub fn run(arguments: Init) -> Result<(), FlowError> {
    let Init { input, output, overwrite } = arguments;
    let request = moretta_flow::Init { input, output: OutputFile { path: output, overwrite } };
    let draft = run_request(&Resources::default(), |session| session.init(&request))?;
    match &request.output.path {
        Some(path) => print(&summary::guesses(&draft.guesses, path)),
        None => print_data(&draft.text),
    }
}
