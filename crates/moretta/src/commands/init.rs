//! `moretta init`: look at the data, write a commented policy to edit.

use moretta_core::{guess, hierarchy::parse_number};
use moretta_engine::{CsvOptions, LocalEngine, Source};

use crate::{
    arguments::Init,
    failure::Failure,
    inputs::{check_outputs, write_text},
    summary,
};

/// How many records are looked at: enough to tell an id from a postcode, and read in an instant.
const SAMPLE: usize = 100_000;

/// Runs it.
pub fn run(arguments: &Init) -> Result<(), Failure> {
    let source = Source::open(&arguments.input, &CsvOptions::default())?;
    let reads: Vec<_> = source.paths().map(std::path::PathBuf::from).collect();
    if let Some(output) = &arguments.output {
        check_outputs(&[output], &reads, arguments.overwrite)?;
    }
    let sample = LocalEngine::new(source).sample(SAMPLE)?;
    let numbers = sample.columns.iter().filter(|name| parse_number(name).is_ok()).count();
    if 3 * numbers >= sample.columns.len() {
        // The names are not shown: they may be somebody's.
        let message = "a third of the first line are numbers; is the header that names the columns missing?";
        return Err(Failure::input(format!("{}: {message}", arguments.input)));
    }
    let mut facts = guess::facts(&sample.columns, &sample.rows);
    facts.iter_mut().for_each(|column| column.complete = sample.rows.len() < SAMPLE);
    let guesses = guess::guess(&facts);
    let text = guess::policy_text(&guesses, &arguments.input);
    let Some(output) = &arguments.output else {
        summary::print(&text);
        return Ok(());
    };
    write_text(output, &text, arguments.overwrite)?;
    summary::print(&summary::guesses(&guesses, output));
    Ok(())
}
