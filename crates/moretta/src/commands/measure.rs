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
    kept: &'a Kept,
}

pub fn run(arguments: Measure) -> Result<(), FlowError> {
    let Measure { original, released, policy, json, resources } = arguments;
    let request = moretta_flow::Measure { original, released, policy };
    let Measured { measures, cells, kept } = run_request(&resources, |session| session.measure(&request))?;
    if json {
        return print_data(&to_json(&MeasureJson { measures: &measures, kept: &kept }));
    }
    print(&summary::measures(&measures, &kept))?;
    if !cells {
        summary::note(
            "numbers are released as one value per group, so their loss cannot be measured from the file; see the report of `anonymize`",
        );
    }
    Ok(())
}
