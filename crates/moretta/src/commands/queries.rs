//! `moretta queries`

use moretta_flow::{FlowError, OutputFile};

use super::run_request;
use crate::{arguments::Queries, summary, tables};

pub fn run(arguments: Queries) -> Result<(), FlowError> {
    let Queries { original, released, policy, count, seed, columns, sum, queries, json, resources, .. } = arguments;
    let output = OutputFile { path: arguments.output, overwrite: arguments.overwrite };
    let columns = columns.map(usize::from);
    let request = moretta_flow::Queries { original, released, policy, queries, count, columns, sum, seed, output };
    let found = run_request(&resources, |session| session.queries(&request))?;
    summary::print(&match &request.output.path {
        _ if json => moretta_pages::queries::json(&found),
        Some(path) => tables::queries::written(&found, path),
        None => tables::queries::text(&found),
    });
    Ok(())
}
