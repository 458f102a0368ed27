//! `init`: drafts a policy from a sample of the data.

use std::path::PathBuf;

use moretta_guess::Guesses;
use moretta_insight::column_sets::ColumnSets;

use crate::{
    column_table::table_of_policy,
    dialect::UnknownTable,
    error::{ErrorKind, FlowError},
    files::{OutputFile, OutputFormat},
    hierarchy_trial::try_hierarchies,
    input::Input,
    session::Session,
};

/// Records in the sample: enough to distinguish an id from a postcode, and quick to read; not tuned.
const SAMPLE: usize = 100_000;

/// Request of `moretta init`.
#[derive(Debug, Clone)]
pub struct Init {
    /// Table that is read.
    pub input: Input,
    /// The policy file.
    pub output: OutputFile,
    /// The draft as a table with a line per column.
    pub table: OutputFile,
}

/// A draft policy.
#[derive(Debug, Clone)]
pub struct Draft {
    /// The guess for each column, with its reason.
    pub guesses: Guesses,
    /// The policy, with a comment on every guess.
    pub text: String,
}

impl Session<'_> {
    /// Inspects a dataset and drafts a policy.
    pub fn init(&self, request: &Init) -> Result<Draft, FlowError> {
        let UnknownTable { engine, sample, mut facts, dialect } = self.open_unknown(&request.input, SAMPLE)?;
        request.output.check(&[], &[&engine])?;
        request.table.format(&[OutputFormat::Csv], "the table of the columns must be named .csv")?;
        let policy: Vec<PathBuf> = request.output.path.clone().into_iter().collect();
        request.table.check(&policy, &[&engine])?;
        if sample.rows.is_empty() {
            return Err(FlowError::input(&request.input, "it has no records, so nothing says what its columns are"));
        }
        let nested = engine.source().columns_without_text();
        for (column, nested) in facts.iter_mut().zip(nested) {
            column.complete = sample.rows.len() < SAMPLE;
            column.nested = nested;
        }
        let sets = ColumnSets::of_rows(sample.columns.len(), &sample.rows);
        let mut guesses = Guesses { dialect, ..moretta_guess::guess(&facts, &sets) };
        let draft = moretta_guess::policy_text(&guesses, request.input.name());
        try_hierarchies(&mut guesses, &draft, &sample);
        let text = moretta_guess::policy_text(&guesses, request.input.name());
        if request.table.path.is_some() {
            let table =
                table_of_policy(&text).map_err(|error| FlowError::new(ErrorKind::Internal, error.to_string()))?;
            request.table.write(|| table)?;
        }
        request.output.write(|| text.clone())?;
        Ok(Draft { guesses, text })
    }
}
