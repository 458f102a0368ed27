//! `moretta bound`

use moretta_flow::{FindBound, FlowError};

use super::run_request;
use crate::{
    arguments::Bound,
    stdout::{print, print_data},
    summary::{self, to_json},
};

pub fn run(arguments: Bound) -> Result<(), FlowError> {
    let Bound { input, policy, released, time_limit, json, resources } = arguments;
    let (input, policy, released) = (input.into(), policy.into(), released.map(Into::into));
    let request = FindBound { input, policy, released, time_limit };
    let certificate = run_request(&resources, |session| session.find_bound(&request))?;
    if json { print_data(&to_json(&certificate)) } else { print(&summary::bound(&certificate)) }
}
