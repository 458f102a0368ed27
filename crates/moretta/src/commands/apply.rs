//! `moretta apply`

use moretta_flow::FlowError;

use super::{
    anonymize::{check_output, say},
    run_request,
};
use crate::arguments::{Apply, Output};

pub fn run(arguments: Apply) -> Result<(), FlowError> {
    let Apply { input, recoding, output, compare, time_limit, resources } = arguments;
    check_output(&output)?;
    let Output { seed, keep_order, .. } = output;
    let files = (&output).into();
    let (input, recoding) = (input.into(), recoding.into());
    let request = moretta_flow::Apply { input, recoding, output: files, seed, keep_order, compare, time_limit };
    let report = run_request(&resources, |session| session.apply(&request))?;
    say(&report, &output)
}
