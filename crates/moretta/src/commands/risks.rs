//! `moretta risks`

use moretta_flow::{FindRisks, FlowError, OutputFile};

use super::run_request;
use crate::{
    arguments::Risks,
    stdout::{print, print_data},
    summary::to_json,
    tables::risks::{text, written},
};

pub fn run(arguments: Risks) -> Result<(), FlowError> {
    let Risks { input, columns, most, output, overwrite, json, resources } = arguments;
    let output = OutputFile { path: output, overwrite };
    let request = FindRisks { input: input.into(), columns, most: most.into(), output };
    let risks = run_request(&resources, |session| session.risks(&request))?;
    match &request.output.path {
        _ if json => print_data(&to_json(&risks)),
        Some(path) => print(&written(&risks, path)),
        None => print(&text(&risks)),
    }
}
