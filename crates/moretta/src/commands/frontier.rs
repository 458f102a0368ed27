//! `moretta frontier`

use moretta_flow::FlowError;

use super::{output_file, run_request};
use crate::{
    arguments::Frontier,
    summary::{self, to_json},
    tables::tradeoff,
};

pub fn run(arguments: &Frontier) -> Result<(), FlowError> {
    let request = moretta_flow::FindTradeOff {
        input: arguments.input.clone(),
        policy: arguments.policy.clone(),
        seed: arguments.seed.unwrap_or(0),
        output: output_file(&arguments.output, arguments.overwrite),
    };
    let found = run_request(&arguments.resources, |session| session.find_trade_off(&request))?;
    summary::print(&match &arguments.output {
        _ if arguments.json => to_json(&found),
        Some(path) => tradeoff::written(&found, path),
        None => tradeoff::table(&found, arguments.all),
    });
    Ok(())
}
