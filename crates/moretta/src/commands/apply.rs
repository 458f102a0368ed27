//! `moretta apply`

use moretta_flow::FlowError;

use super::{anonymize::say, run_request};
use crate::arguments::Apply;

pub fn run(arguments: &Apply) -> Result<(), FlowError> {
    let Apply { input, recoding, output, compare, time_limit, resources } = arguments;
    let request = moretta_flow::Apply {
        input: input.clone(),
        recoding: recoding.clone(),
        output: output.into(),
        seed: output.seed,
        keep_order: output.keep_order,
        compare: *compare,
        time_limit: *time_limit,
    };
    let report = run_request(resources, |session| session.apply(&request))?;
    say(&report, output);
    Ok(())
}
