//! `moretta frontier`

use moretta_flow::{FlowError, OutputFile};

use super::run_request;
use crate::{
    arguments::Frontier,
    stdout::{print, print_data},
    summary::to_json,
    tables::tradeoff,
};

pub fn run(arguments: Frontier) -> Result<(), FlowError> {
    let Frontier { input, policy, output, overwrite, all, seed, json, resources } = arguments;
    let (seed, output) = (seed.unwrap_or(0), OutputFile { path: output, overwrite });
    let (input, policy) = (input.into(), policy.into());
    let request = moretta_flow::FindTradeOff { input, policy, seed, output };
    let found = run_request(&resources, |session| session.find_trade_off(&request))?;
    match &request.output.path {
        _ if json => print_data(&to_json(&found)),
        Some(path) => print(&tradeoff::written(&found, path)),
        None => print(&tradeoff::table(&found, all)),
    }
}
