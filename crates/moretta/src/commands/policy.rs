//! `moretta policy`

use moretta_flow::{ConvertPolicy, FlowError, OutputFile};

use super::run_request;
use crate::{
    arguments::{Policy, Resources},
    stdout::{print, print_data},
    summary,
};

pub fn run(arguments: Policy) -> Result<(), FlowError> {
    let Policy { input, output, overwrite } = arguments;
    let request = ConvertPolicy { input, output: OutputFile { path: output, overwrite } };
    let text = run_request(&Resources::default(), |session| session.convert_policy(&request))?;
    match &request.output.path {
        Some(path) => print(&format!("wrote {}\n", summary::file_name(path))),
        None => print_data(&text),
    }
}
