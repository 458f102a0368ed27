//! `moretta check`: does a file satisfy a policy? It sees the file alone, as a recipient would.

use moretta_core::{
    ids::TupleId,
    policy::Policy,
    profile::{Column, Profile},
    readback,
    report::Privacy,
    verify,
};
use moretta_engine::Engine;
use serde::Serialize;

use crate::{
    arguments::Check,
    failure::{Failure, UNSATISFIED},
    inputs::{self, Asked},
    summary::{self, Outcome},
    watch::Watch,
};

#[derive(Serialize)]
struct Checked<'a> {
    holds: bool,
    rows: u64,
    groups: usize,
    suppressed_rows: u64,
    identifiers_present: &'a [String],
    privacy: Privacy,
}

/// Runs it.
pub fn run(arguments: &Check) -> Result<(), Failure> {
    let Asked { policy, hierarchies, .. } = Asked::read(&arguments.policy)?;
    let engine = inputs::engine(&arguments.released, &policy.input, inputs::settings(&arguments.resources))?;
    let header = engine.columns()?;
    let identifiers = identifiers_in(&policy, &header);
    inputs::check_released_header(&policy, &arguments.released, header)?;

    let counts = engine.group_and_count(&Profile::grouped_columns(&policy), &Watch::new("checking"))?;
    let in_file = |message: String| Failure::input(format!("{}: {message}", arguments.released));
    let file = Profile::of_release(&policy, &hierarchies, &counts).map_err(|error| in_file(error.to_string()))?;
    readback::check_forms(&policy, &hierarchies, &file).map_err(|error| in_file(error.to_string()))?;
    let judgements = verify::check(&file, &inputs::bind(&policy, &file)?);

    let outcome = Outcome {
        file: &arguments.released,
        records: file.records(),
        groups: file.tuples(),
        smallest: file.smallest_tuple(),
        suppressed: suppressed(&file),
        identifiers: &identifiers,
        judgements: &judgements,
    };
    if arguments.json {
        let checked = Checked {
            holds: outcome.holds(),
            rows: file.records(),
            groups: file.tuples(),
            suppressed_rows: outcome.suppressed,
            identifiers_present: &identifiers,
            privacy: Privacy::of(&policy, &judgements, outcome.smallest),
        };
        summary::print(&(serde_json::to_string_pretty(&checked).expect("texts and numbers") + "\n"));
    } else {
        summary::print(&summary::check(&outcome));
    }
    if outcome.holds() {
        Ok(())
    } else {
        let message = format!("{} does not satisfy {}", arguments.released, arguments.policy.display());
        Err(Failure { code: UNSATISFIED, message })
    }
}

/// How many records print `*` in every quasi-identifier.
fn suppressed(file: &Profile) -> u64 {
    let is_star = |(column, code): (&Column, &u32)| column.domain.text(*code) == "*";
    let tuples = (0..file.tuples()).map(TupleId::from_index);
    let starred = tuples.filter(|tuple| file.columns().iter().zip(file.codes(*tuple)).all(is_star));
    starred.map(|tuple| file.tuple_records(tuple)).sum()
}

fn identifiers_in(policy: &Policy, header: &[String]) -> Vec<String> {
    policy.identifiers().map(|column| column.name.clone()).filter(|name| header.contains(name)).collect()
}
