//! `moretta anonymize`

use moretta_flow::{Earlier, FlowError, Output, ReleaseOptions};
use moretta_insight::report::Report;

use super::run_request;
use crate::{
    arguments::{self, Anonymize, IfLinkable},
    stdout::{print, print_data},
    summary,
};

pub fn run(arguments: Anonymize) -> Result<(), FlowError> {
    let Anonymize { input, policy, output, recoding, at, effort, time_limit, earlier, if_linkable, resources } =
        arguments;
    let earlier = Earlier { releases: earlier, warn: if_linkable == Some(IfLinkable::Warn) };
    let arguments::Output { seed, keep_order, json, .. } = output;
    let effort = effort.map(arguments::Effort::budget);
    let options = ReleaseOptions { seed, keep_order, time_limit, effort, at, path: json, recoding: false };
    let request = moretta_flow::Anonymize { input, policy, output: (&output).into(), recoding, earlier, options };
    let report = run_request(&resources, |session| session.anonymize(&request))?;
    say(&report, &output)
}

impl From<&arguments::Output> for Output {
    fn from(output: &arguments::Output) -> Self {
        let arguments::Output { output, report, overwrite, .. } = output;
        Self { release: output.clone(), reports: report.clone(), overwrite: *overwrite }
    }
}

/// Prints the result of `anonymize` and `apply`.
pub fn say(report: &Report, output: &arguments::Output) -> Result<(), FlowError> {
    let printed = if output.json { print_data(&report.to_json()) } else { print(&summary::release(report, output)) };
    printed.map_err(|error| {
        let message = format!("{}; the release {} is complete", error.message, output.output.display());
        FlowError { message, ..error }
    })
}
