//! `moretta queries`

use moretta_flow::{FlowError, OutputFile};

use super::run_request;
use crate::{
    arguments::Queries,
    stdout::{print, print_data},
    tables,
};

pub fn run(arguments: Queries) -> Result<(), FlowError> {
    let Queries { original, released, policy, count, seed, columns, sum, queries, json, resources, .. } = arguments;
    let output = OutputFile { path: arguments.output, overwrite: arguments.overwrite };
    let columns = columns.map(usize::from);
    let (original, released, policy) = (original.into(), released.into(), policy.into());
    let request = moretta_flow::Queries { original, released, policy, queries, count, columns, sum, seed, output };
    let found = run_request(&resources, |session| session.queries(&request))?;
    match &request.output.path {
        _ if json => print_data(&moretta_pages::queries::json(&found)),
        Some(path) => print(&tables::queries::written(&found, path)),
        None => print(&tables::queries::text(&found)),
    }
}
