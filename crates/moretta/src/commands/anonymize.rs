//! `moretta anonymize`

use std::path::Path;

use moretta_flow::{Earlier, FlowError, Output, ReleaseOptions, STANDARD_STREAM};
use moretta_insight::report::Report;

use super::run_request;
use crate::{
    arguments::{self, Anonymize, IfLinkable},
    stdout::{print, print_data},
    summary,
};

pub fn run(arguments: Anonymize) -> Result<(), FlowError> {
    let Anonymize { input, policy, output, recoding, at, effort, time_limit, bound, earlier, if_linkable, resources } =
        arguments;
    check_output(&output)?;
    let earlier = earlier.into_iter().map(Into::into).collect();
    let earlier = Earlier { releases: earlier, warn: if_linkable == Some(IfLinkable::Warn) };
    let arguments::Output { seed, keep_order, json, .. } = output;
    let effort = effort.map(arguments::Effort::budget);
    let options = ReleaseOptions { seed, keep_order, time_limit, effort, at, path: json, bound, recoding: false };
    let (input, policy) = (input.into(), policy.into());
    let request = moretta_flow::Anonymize { input, policy, output: (&output).into(), recoding, earlier, options };
    let report = run_request(&resources, |session| session.anonymize(&request))?;
    say(&report, &output)
}

impl From<&arguments::Output> for Output {
    fn from(output: &arguments::Output) -> Self {
        let arguments::Output { output, report, overwrite, output_format: format, .. } = output;
        Self { release: output.clone().into(), reports: report.clone(), overwrite: *overwrite, format: *format }
    }
}

/// Returns an error if the report and the release would both be printed.
pub fn check_output(output: &arguments::Output) -> Result<(), FlowError> {
    if output.json && output.output == Path::new(STANDARD_STREAM) {
        return Err(FlowError::usage(
            "`--json` prints the report, but `--output -` prints the release; use --report R.json",
        ));
    }
    Ok(())
}

/// Prints the result of `anonymize` and `apply`.
pub fn say(report: &Report, output: &arguments::Output) -> Result<(), FlowError> {
    if output.output == Path::new(STANDARD_STREAM) {
        // Standard output has the release.
        anstream::eprint!("{}", summary::release(report, output));
        return Ok(());
    }
    let printed = if output.json { print_data(&report.to_json()) } else { print(&summary::release(report, output)) };
    printed.map_err(|error| {
        let message = format!("{}; the release {} is complete", error.message, output.output.display());
        FlowError { message, ..error }
    })
}
