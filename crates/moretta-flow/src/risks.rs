//! `risks`: the columns of a table that single people out, before a policy exists.

use moretta_core::{
    counts::Counts,
    engine::{EngineFault, Records, Sample},
    observer::Stage,
    schema::Role,
    suggest::nearest,
    text::{count, counted, listed, shown},
};
use moretta_engine::{EngineError, LocalEngine};
use moretta_guess::ColumnFacts;
use moretta_insight::{
    column_sets::ColumnSets,
    risks::{Limits, MAX_COLUMNS, MAX_WORK, Risks},
};

use crate::{
    dialect::UnknownTable,
    error::FlowError,
    files::{OutputFile, OutputFormat},
    input::Input,
    session::Session,
};

/// Records that are read to recognize a first line that is a record, and numbers of persons. Not tuned.
const SAMPLE: usize = 5_000;

/// Maximum number of columns in which a number of persons is looked for: all pairs are compared. Not tuned.
const MAX_GUESSED: usize = 200;

/// Request of `moretta risks`.
#[derive(Debug, Clone)]
pub struct FindRisks {
    /// Table that is read.
    pub input: Input,
    /// Names of the columns; none for all.
    pub columns: Vec<String>,
    /// Maximum number of columns in a minimal unique set, at least 1.
    pub most: usize,
    /// The page, as .html.
    pub output: OutputFile,
}

impl Session<'_> {
    /// Counts the records that columns, pairs and small sets of columns single out.
    pub fn risks(&self, request: &FindRisks) -> Result<Risks, FlowError> {
        self.install(|| {
            let UnknownTable { engine, sample, facts, .. } = self.open_unknown(&request.input, SAMPLE)?;
            let person = guessed_person(&facts, &sample);
            request.output.format(&[OutputFormat::Html], "a page must be named .html; `--json` prints JSON")?;
            request.output.check(&[], &[&engine])?;
            let columns = chosen(request, engine.columns())?;
            if columns.len() > MAX_COLUMNS {
                let (found, most) = (count(columns.len() as u64), count(MAX_COLUMNS as u64));
                let message =
                    format!("{found} columns are more than the {most} of an analysis; choose some with --columns");
                return Err(FlowError::input(&request.input, message));
            }
            let (counts, without_text) = self.count_texts(&engine, columns, request.columns.is_empty())?;
            let memory = self.check_risk_memory(&counts)?;
            let names: Vec<String> = counts.columns.iter().map(|column| column.name.clone()).collect();
            let sets = ColumnSets::of_counts(&counts);
            drop(counts);
            self.observer.stage(Stage::Grouping);
            let limits = Limits { most: request.most, work: MAX_WORK, memory };
            let file = request.input.file_name();
            let found = Risks::of(&sets, (file, &names), &limits, self.observer);
            let mut risks = found.map_err(|_| FlowError::interrupted())?;
            risks.person = person;
            if !without_text.is_empty() {
                let columns = counted(without_text.len() as u64, "column", "columns");
                risks.left_out.push(format!("{columns} without a plain text form: {}", listed(&without_text)));
            }
            request.output.write(|| moretta_pages::risks::page(&risks))?;
            Ok(risks)
        })
    }

    /// Counts the records of columns. If `all` are requested, those without a text form, such as lists, are left out
    /// and their quoted names returned.
    fn count_texts(
        &self,
        engine: &LocalEngine,
        mut columns: Vec<String>,
        all: bool,
    ) -> Result<(Counts, Vec<String>), FlowError> {
        let mut without_text = Vec::new();
        self.observer.stage(Stage::Reading);
        loop {
            let fault = match engine.count(&columns, self.observer) {
                Ok(counts) => return Ok((counts, without_text)),
                Err(fault) => fault,
            };
            let unsupported = match &fault {
                EngineFault::Failed { error, .. } => match error.downcast_ref() {
                    Some(EngineError::UnsupportedType { column, .. }) => Some(column.clone()),
                    _ => None,
                },
                _ => None,
            };
            let Some(name) = unsupported.filter(|_| all && columns.len() > 1) else {
                return Err(self.risks_refused(engine, &columns, fault));
            };
            columns.retain(|column| *column != name);
            without_text.push(format!("`{}`", shown(&name)));
        }
    }
}

/// The column that looks like the number of a person with several records.
fn guessed_person(facts: &[ColumnFacts], sample: &Sample) -> Option<String> {
    if facts.len() > MAX_GUESSED {
        return None;
    }
    let guesses = moretta_guess::guess(facts, &ColumnSets::of_rows(facts.len(), &sample.rows));
    guesses.columns.into_iter().find(|guess| guess.role == Role::Person).map(|guess| guess.name)
}

/// The requested columns, each once.
fn chosen(request: &FindRisks, known: &[String]) -> Result<Vec<String>, FlowError> {
    if request.columns.is_empty() {
        return Ok(known.to_vec());
    }
    for (index, name) in request.columns.iter().enumerate() {
        if request.columns[..index].contains(name) {
            return Err(FlowError::usage(format!("`--columns` names `{}` twice", shown(name))));
        }
        if !known.contains(name) {
            let near = nearest(name, known.iter().map(String::as_str));
            let hint = near.map_or("check its name and that the file has a header".to_owned(), |near| {
                format!("did you mean `{}`?", shown(near))
            });
            return Err(FlowError::input(&request.input, format!("there is no column `{}`; {hint}", shown(name))));
        }
    }
    Ok(request.columns.clone())
}
