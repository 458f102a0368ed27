//! `moretta anonymize`

use moretta_flow::{FlowError, Output, ReleaseOptions};
use moretta_insight::report::Report;

use super::run_request;
use crate::{
    arguments::{self, Anonymize},
    summary,
};

pub fn run(arguments: &Anonymize) -> Result<(), FlowError> {
    let Anonymize { input, policy, output, recoding, at, time_limit, resources } = arguments;
    let request = moretta_flow::Anonymize {
        input: input.clone(),
        policy: policy.clone(),
        output: output.into(),
        recoding: recoding.clone(),
        options: ReleaseOptions {
            seed: output.seed,
            keep_order: output.keep_order,
            time_limit: *time_limit,
            at: *at,
            path: output.json,
            recoding: false,
        },
    };
    let report = run_request(resources, |session| session.anonymize(&request))?;
    say(&report, output);
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
