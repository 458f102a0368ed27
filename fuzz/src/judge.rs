//! The rules that every case must keep, whatever its input.
//!
//! - A request ends with a result or with one error that is not internal; its message has a bounded length.
//! - Messages and notes show at most one cell of the table.
//! - After an error the folder is as before; after success only the requested files were added.
//! - A release has groups of at least k records, counted in the printed text, and `check` accepts it.

use std::{collections::BTreeMap, fs, path::Path};

use moretta_core::{policy::Policy, schema::Role, search::method_names};
use moretta_flow::{ErrorKind, FlowError};

use crate::{
    csv::{self, DELIMITERS, TextTable},
    job::{Answer, Job, Notes, POLICY, listing},
};

/// Bound on an error message in bytes: a policy's line, the list of its columns and an advice fit.
const MAX_MESSAGE: usize = 4000;
/// Minimum length in bytes of a cell that is searched for in messages; shorter ones occur there by chance.
const MIN_CELL: usize = 5;

/// A broken rule, with the first line of its description as signature.
pub type Violation = String;

/// The cells of persons, to be recognized in messages.
pub struct Persons {
    cells: Vec<String>,
    /// The input files after the mutation, which may have joined several cells: a message may show one of these.
    inputs: Vec<TextTable>,
}

impl Persons {
    /// Collects the cells of a table that occur in no other file of the case.
    pub fn new(table: &TextTable, folder: &Path, tables: &[&str]) -> Self {
        let mut known = table.first().map(|header| header.join("\n")).unwrap_or_default();
        let mut inputs = Vec::new();
        for name in listing(folder) {
            let text = fs::read(folder.join(&name)).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            let text = text.unwrap_or_default();
            if tables.iter().any(|table| Path::new(table) == name) {
                let cells = |table: &TextTable| table.iter().map(Vec::len).sum::<usize>();
                inputs.extend(DELIMITERS.map(|delimiter| csv::parse(&text, delimiter)).into_iter().max_by_key(cells));
            } else {
                known += &text;
            }
        }
        // Cells that differ in surrounding blanks cannot be distinguished in a message.
        let mut cells: Vec<String> = table.iter().skip(1).flatten().map(|cell| cell.trim().to_owned()).collect();
        cells.sort();
        cells.dedup();
        cells.retain(|cell| cell.len() >= MIN_CELL && !known.contains(cell));
        Self { cells, inputs }
    }

    /// Checks that a text shows at most one cell of the table.
    pub fn check(&self, text: &str) -> Result<(), Violation> {
        let shown: Vec<&String> = self.cells.iter().filter(|cell| text.contains(cell.as_str())).collect();
        let in_one = |cell: &String| shown.iter().all(|text| cell.contains(text.as_str()));
        if shown.len() <= 1 || self.inputs.iter().flatten().flatten().any(in_one) {
            return Ok(());
        }
        Err(format!("message shows {} cells of the table\n{shown:?} in: {text}", shown.len()))
    }
}

/// Checks an error: its kind, length and cells.
pub fn error(error: &FlowError, persons: &Persons) -> Result<(), Violation> {
    if error.kind == ErrorKind::Internal {
        return Err(format!("internal error\n{}", error.message));
    }
    message(&error.message, persons)
}

/// Checks length and cells of a message.
pub fn message(text: &str, persons: &Persons) -> Result<(), Violation> {
    if text.len() > MAX_MESSAGE {
        let start: String = text.chars().take(300).collect();
        return Err(format!("message of more than {MAX_MESSAGE} bytes\n{} bytes: {start}", text.len()));
    }
    if text.trim().is_empty() {
        return Err("empty message".to_owned());
    }
    persons.check(text)
}

/// Checks that a request left the files in the folder that it should.
pub fn files(job: &Job, before: &[std::path::PathBuf], folder: &Path, succeeded: bool) -> Result<(), Violation> {
    let mut expected = before.to_vec();
    if succeeded {
        expected.extend(job.writes().into_iter().map(Into::into));
        expected.sort();
        expected.dedup();
    }
    let after = listing(folder);
    if after == expected { Ok(()) } else { Err(format!("files left behind\n{after:?} instead of {expected:?}")) }
}

/// Runs a request in this process and judges it. Returns whether it succeeded.
pub fn in_process(job: &Job, folder: &Path, persons: &Persons) -> Result<bool, Violation> {
    let before = listing(folder);
    let notes = Notes::default();
    let result = job.run(folder, &notes);
    let notes = notes.text();
    persons.check(&notes)?;
    if let Err(problem) = &result {
        error(problem, persons)?;
    }
    files(job, &before, folder, result.is_ok())?;
    if let (Ok(_), Some(output)) = (&result, job.output()) {
        release(folder, output, matches!(job, Job::Anonymize { .. }))?;
    }
    Ok(!matches!(result, Err(_) | Ok(Answer::Checked(false))))
}

/// Judges a release: groups of at least k records in the printed text; accepted by `check` if the policy is a file.
fn release(folder: &Path, output: &str, has_policy: bool) -> Result<(), Violation> {
    if !has_policy {
        return Ok(());
    }
    let policy = fs::read_to_string(folder.join(POLICY)).unwrap_or_default();
    let policy = Policy::parse(&policy, &method_names()).map_err(|error| format!("policy of a release\n{error}"))?;
    let names = |role: Role| -> Vec<String> {
        policy.columns.iter().filter(|column| column.role == role).map(|column| column.name.clone()).collect()
    };
    let quasi = names(Role::QuasiIdentifier);
    let usual = policy.input.quote == '"' && policy.input.delimiter.is_none_or(|sign| DELIMITERS.contains(&sign));
    if output.ends_with(".csv") && usual {
        let text = fs::read(folder.join(output)).map_err(|error| format!("no release\n{error}"))?;
        let text = String::from_utf8(text).map_err(|_| "release is not UTF-8")?;
        let table = csv::parse_any(&text, &quasi).ok_or("release is not a CSV table to RFC 4180 readers")?;
        smallest_group(&table, &quasi, policy.privacy.k())?;
        if let Some(name) = names(Role::Identifier).iter().find(|name| table[0].contains(name)) {
            return Err(format!("identifier released\n{name}"));
        }
    }
    let released = if output.ends_with(".csv") { "out.csv" } else { "out.parquet" };
    match (Job::Check { released }).run(folder, &Notes::default()) {
        Ok(Answer::Checked(true)) => Ok(()),
        Ok(_) => Err("check finds that a release violates its policy".to_owned()),
        Err(error) => Err(format!("check refuses a release\n{}", error.message)),
    }
}

/// Checks that each combination of quasi-identifier texts occurs at least k times.
fn smallest_group(table: &TextTable, quasi: &[String], k: Option<u64>) -> Result<(), Violation> {
    let at: Vec<usize> = quasi.iter().filter_map(|name| table[0].iter().position(|known| known == name)).collect();
    let mut groups: BTreeMap<Vec<&str>, u64> = BTreeMap::new();
    for row in &table[1..] {
        *groups.entry(at.iter().map(|&column| row[column].as_str()).collect()).or_default() += 1;
    }
    match groups.values().min() {
        Some(smallest) if k.is_some_and(|k| *smallest < k) => {
            Err(format!("release has a group below k\n{smallest} records, k = {k:?}"))
        }
        _ => Ok(()),
    }
}
