//! `moretta init`

use moretta_flow::FlowError;

use super::{job, output_file};
use crate::{
    arguments::{Init, Resources},
    summary,
};

pub fn run(arguments: &Init) -> Result<(), FlowError> {
    let Init { input, output, overwrite } = arguments;
    let request = moretta_flow::Init { input: input.clone(), output: output_file(output, *overwrite) };
    let draft = job(&Resources::default(), |session| session.init(&request))?;
    summary::print(&match output {
        Some(path) => summary::guesses(&draft.guesses, path),
        None => draft.text,
    });
    Ok(())
}
