//! `moretta measure`

use moretta_core::measure::Measures;
use moretta_flow::{FlowError, Measured};
use moretta_insight::kept::Kept;
use serde::Serialize;

use super::run_request;
use crate::{
    arguments::Measure,
    stdout::{print, print_data},
    summary::{self, to_json},
};

#[derive(Serialize)]
struct MeasureJson<'a> {
    #[serde(flatten)]
    measures: &'a Measures,
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<&'a Kept>,
}

/// The result for programs.
pub fn json_of(Measured { measures, kept, .. }: &Measured) -> String {
    to_json(&MeasureJson { measures, kept: kept.as_ref() })
}

pub fn run(arguments: Measure) -> Result<(), FlowError> {
    let Measure { original, released, policy, json, resources } = arguments;
    let (original, released, policy) = (original.into(), released.into(), policy.into());
    let request = moretta_flow::Measure { original, released, policy };
    let measured = run_request(&resources, |session| session.measure(&request))?;
    if json {
        return print_data(&json_of(&measured));
    }
    let Measured { measures, cells, kept } = measured;
    print(&summary::measures(&measures, kept.as_ref()))?;
    if !cells {
        summary::note(
            "numbers are released as one value per group, so their loss cannot be measured from the file; see the report of `anonymize`",
        );
    }
    Ok(())
}
