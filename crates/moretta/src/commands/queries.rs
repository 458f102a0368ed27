//! `moretta queries`

use moretta_flow::FlowError;

use super::{output_file, run_request};
use crate::{arguments::Queries, summary, tables};

pub fn run(arguments: &Queries) -> Result<(), FlowError> {
    let Queries { original, released, policy, count, seed, columns, sum, queries, .. } = arguments;
    let request = moretta_flow::Queries {
        original: original.clone(),
        released: released.clone(),
        policy: policy.clone(),
        queries: queries.clone(),
        count: *count,
        columns: columns.map(usize::from),
        sum: sum.clone(),
        seed: *seed,
        output: output_file(&arguments.output, arguments.overwrite),
    };
    let found = run_request(&arguments.resources, |session| session.queries(&request))?;
    summary::print(&match &arguments.output {
        _ if arguments.json => moretta_pages::queries::json(&found),
        Some(path) => tables::queries::written(&found, path),
        None => tables::queries::text(&found),
    });
    Ok(())
}
