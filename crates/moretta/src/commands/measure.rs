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

pub fn run(arguments: Measure) -> Result<(), FlowError> {
    let Measure { original, released, policy, json, resources } = arguments;
    let request = moretta_flow::Measure { original, released, policy };
    let Measured { measures, cells, kept } = run_request(&resources, |session| session.measure(&request))?;
    if json {
        return print_data(&to_json(&MeasureJson { measures: &measures, kept: kept.as_ref() }));
    }
    print(&summary::measures(&measures, kept.as_ref()))?;
    if !cells {
        summary::note(
            "numbers are released as one value per group, so their loss cannot be measured from the file; see the report of `anonymize`",
        );
    }
    Ok(())
}
