//! `moretta evaluate`

use moretta_core::{measure::Measures, observer::Stop};
use moretta_flow::{Evaluation, FlowError, HeldBack};
use moretta_insight::evaluate::{Errors, Spread, Tested, TestedRecords};
use serde::Serialize;

use super::job;
use crate::{
    arguments::{self, Evaluate},
    summary::{self, to_json},
};

/// The printed JSON: one split with its figures, or several as a list.
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

pub fn run(arguments: &Evaluate) -> Result<(), FlowError> {
    let request = moretta_flow::Evaluate {
        input: arguments.input.clone(),
        policy: arguments.policy.clone(),
        test: arguments.test.clone(),
        held_back: arguments.held_back.into(),
        seed: arguments.seed,
        time_limit: arguments.time_limit,
    };
    let Evaluation { splits, method, seed } = job(&arguments.resources, |session| session.evaluate(&request))?;
    let errors: Vec<Errors> = splits.iter().map(|tested| tested.errors).collect();
    let Some(Spread { mean, deviation }) = Spread::of(&errors) else { return Ok(()) };
    summary::print(&match arguments.json {
        false => summary::errors(&splits, &mean, deviation.as_ref()),
        true => to_json(&Json {
            errors: mean,
            spread: deviation,
            one: match &splits[..] {
                [one] => Some(One { records: one.records, stop: one.stop, measures: &one.measures }),
                _ => None,
            },
            folds: (splits.len() > 1).then_some(&splits),
            method: &method,
            seed,
        }),
    });
    Ok(())
}

impl From<arguments::HeldBack> for HeldBack {
    fn from(arguments::HeldBack { folds, hold_out }: arguments::HeldBack) -> Self {
        Self { folds, hold_out }
    }
}
