//! `moretta check`: fails if the file does not satisfy the policy.

use moretta_flow::{Checked, FlowError};
use moretta_insight::{kept::Kept, report::Privacy};
use serde::Serialize;

use super::run_request;
use crate::{
    arguments::Check,
    stdout::{print, print_data},
    summary::{self, to_json},
};

#[derive(Serialize)]
struct CheckJson<'a> {
    holds: bool,
    rows: u64,
    groups: usize,
    /// Records with `*` in every quasi-identifier: a released file does not show which of them were suppressed.
    suppressed_rows: u64,
    identifiers_present: &'a [String],
    privacy: &'a Privacy,
    kept: &'a Kept,
}

/// The result for programs.
pub fn json_of(checked: &Checked) -> String {
    let Checked { records, groups, fully_generalized, identifiers, privacy, kept, .. } = checked;
    to_json(&CheckJson {
        holds: checked.holds(),
        rows: *records,
        groups: *groups,
        suppressed_rows: *fully_generalized,
        identifiers_present: identifiers,
        privacy,
        kept,
    })
}

pub fn run(arguments: Check) -> Result<(), FlowError> {
    let Check { released, policy, json, resources } = arguments;
    let request = moretta_flow::Check { released: (&*released).into(), policy: policy.clone().into() };
    let checked = run_request(&resources, |session| session.check(&request))?;
    let holds = checked.holds();
    if json {
        print_data(&json_of(&checked))?;
    } else {
        print(&summary::check(&checked, &released))?;
    }
    if holds {
        return Ok(());
    }
    Err(FlowError::unsatisfied(format!("{} does not satisfy {}", released, policy.display())))
}
