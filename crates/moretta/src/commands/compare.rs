//! `moretta compare`. Several jobs run in a process each, so that the memory of each is its own.

use moretta_flow::{FlowError, OutputFile, STANDARD_STREAM};

use super::run_request_with_progress;
use crate::{
    arguments::Compare,
    child_process,
    stdout::{print, print_data},
    summary::to_json,
    tables::comparison::{table, written},
};

pub fn run(arguments: &Compare) -> Result<(), FlowError> {
    if arguments.child {
        child_process::end_with_parent();
    }
    if [Some(&arguments.input), arguments.test.as_ref()].contains(&Some(&STANDARD_STREAM.to_owned())) {
        let message = "`compare` starts a process for each run, and standard input can be read only once; name a file";
        return Err(FlowError::usage(message));
    }
    let Compare { input, policy, methods, k, test, queries, seed, time_limit, output, overwrite, .. } =
        arguments.clone();
    let split_options = arguments.split_options.into();
    let output = OutputFile { path: output, overwrite };
    let (input, policy, test) = (input.into(), policy.into(), test.map(Into::into));
    let request =
        moretta_flow::Compare { input, policy, methods, k, test, split_options, queries, seed, time_limit, output };
    let compared = run_request_with_progress(&arguments.resources, |session, progress| {
        session.compare_with(&request, Some(&|job, records| child_process::run(arguments, job, records, progress)))
    })?;
    if arguments.child {
        // The parent reads a refusal as a row; the exit code says that it is one.
        print_data(&to_json(&compared.comparison))?;
        return compared.into_result().map(|_| ());
    }
    let found = compared.into_result()?;
    match &arguments.output {
        _ if arguments.json => print_data(&to_json(&found)),
        Some(path) => print(&written(&found, path)),
        None => print(&table(&found)),
    }
}
