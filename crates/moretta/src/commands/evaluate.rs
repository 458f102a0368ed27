//! `moretta evaluate`

use moretta_core::{measure::Measures, observer::Stop};
use moretta_flow::{Evaluation, FlowError, SplitOptions};
use moretta_insight::evaluate::{Errors, EvaluateError, Spread, Tested, TestedRecords};
use serde::Serialize;

use super::run_request;
use crate::{
    arguments::{self, Evaluate},
    stdout::{print, print_data},
    summary::{self, to_json},
};

/// The printed JSON: figures of one split, or a list of several.
#[derive(Serialize)]
struct Json<'a> {
    errors: Errors,
    #[serde(skip_serializing_if = "Option::is_none")]
    spread: Option<Errors>,
    #[serde(flatten)]
    one: Option<One<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    folds: Option<&'a [Tested]>,
    method: &'a str,
    seed: u64,
}

#[derive(Serialize)]
struct One<'a> {
    records: TestedRecords,
    stop: Stop,
    measures: &'a Measures,
}

pub fn run(arguments: Evaluate) -> Result<(), FlowError> {
    let Evaluate { input, policy, test, split_options, seed, time_limit, json, resources } = arguments;
    let (split_options, test) = (split_options.into(), test.map(Into::into));
    let (input, policy) = (input.into(), policy.into());
    let request = moretta_flow::Evaluate { input, policy, test, split_options, seed, time_limit };
    let evaluation = run_request(&resources, |session| session.evaluate(&request))?;
    if json {
        return print_data(&json_of(evaluation.as_ref()));
    }
    let Some(Evaluation { splits, .. }) = evaluation else {
        // This is no error, so that a list of commands runs through on any table.
        return print(&format!("nothing to evaluate: {}\n", EvaluateError::NoClass));
    };
    let errors: Vec<Errors> = splits.iter().map(|tested| tested.errors).collect();
    let Some(Spread { mean, deviation }) = Spread::of(&errors) else { return Ok(()) };
    print(&summary::errors(&splits, &mean, deviation.as_ref()))
}

/// The result for programs; `None` if no column has the role `class`.
pub fn json_of(evaluation: Option<&Evaluation>) -> String {
    let nothing = "{\n  \"errors\": null\n}\n";
    let Some(Evaluation { splits, method, seed }) = evaluation else { return nothing.to_owned() };
    let errors: Vec<Errors> = splits.iter().map(|tested| tested.errors).collect();
    let Some(Spread { mean, deviation }) = Spread::of(&errors) else { return nothing.to_owned() };
    let one = match &splits[..] {
        [one] => Some(One { records: one.records, stop: one.stop, measures: &one.measures }),
        _ => None,
    };
    let folds = (splits.len() > 1).then_some(&splits[..]);
    to_json(&Json { errors: mean, spread: deviation, one, folds, method, seed: *seed })
}

impl From<arguments::SplitOptions> for SplitOptions {
    fn from(arguments::SplitOptions { folds, hold_out }: arguments::SplitOptions) -> Self {
        Self { folds, hold_out }
    }
}
