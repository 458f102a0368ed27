//! `moretta anonymize`

use moretta_flow::{FlowError, Output, ReleaseOptions};
use moretta_insight::report::Report;

use super::run_request;
use crate::{
    arguments::{self, Anonymize},
    summary,
};

pub fn run(arguments: Anonymize) -> Result<(), FlowError> {
    let Anonymize { input, policy, output, recoding, at, time_limit, resources } = arguments;
    let arguments::Output { seed, keep_order, json, .. } = output;
    let options = ReleaseOptions { seed, keep_order, time_limit, at, path: json, recoding: false };
    let request = moretta_flow::Anonymize { input, policy, output: (&output).into(), recoding, options };
    let report = run_request(&resources, |session| session.anonymize(&request))?;
    say(&report, &output);
    Ok(())
}

impl From<&arguments::Output> for Output {
    fn from(output: &arguments::Output) -> Self {
        let arguments::Output { output, report, overwrite, .. } = output;
        Self { release: output.clone(), reports: report.clone(), overwrite: *overwrite }
    }
}

/// Prints the result of `anonymize` and `apply`.
pub fn say(report: &Report, output: &arguments::Output) {
    summary::print(&if output.json { report.to_json() } else { summary::release(report, output) });
}
