//! `moretta init`

use moretta_flow::FlowError;

use super::{output_file, run_request};
use crate::{
    arguments::{Init, Resources},
    summary,
};

pub fn run(arguments: &Init) -> Result<(), FlowError> {
    let Init { input, output, overwrite } = arguments;
    let request = moretta_flow::Init { input: input.clone(), output: output_file(output, *overwrite) };
    let draft = run_request(&Resources::default(), |session| session.init(&request))?;
    summary::print(&match output {
        Some(path) => summary::guesses(&draft.guesses, path),
        None => draft.text,
    });
    Ok(())
}
