//! The rules that every case must keep, whatever its input.
//!
//! - A request ends with a result or with one error that is not internal; its message has a bounded length.
//! - Messages and notes show at most one cell of the table.
//! - After an error the folder is as before; after success only the requested files were added.
//! - A release satisfies its policy, and its page names no rare value ([`release`]).

use std::{fs, path::Path};

use moretta_flow::{ErrorKind, FlowError};

use crate::{
    csv::{self, TextTable},
    job::{Answer, Job, Notes, listing},
    release,
};

/// Bound on an error message in bytes: a policy's line, the list of its columns and an advice fit.
const MAX_MESSAGE: usize = 4000;
/// Minimum length in bytes of a cell that is searched for in messages; shorter ones occur there by chance.
pub const MIN_CELL: usize = 5;

/// A broken rule, with the first line of its description as signature.
pub type Violation = String;

/// The cells of persons, to be recognized in messages.
pub struct Persons {
    cells: Vec<String>,
    /// The input files after the mutation, which may have joined several cells: a message may show one of these.
    inputs: Vec<TextTable>,
    /// Path of the case's folder. Its number may contain a cell by chance.
    folder: String,
}

impl Persons {
    /// Collects the cells of a table that occur in no other file of the case.
    pub fn new(table: &TextTable, folder: &Path, tables: &[&str]) -> Self {
        let header = table.first().map_or(&[][..], Vec::as_slice);
        let mut known = header.join("\n");
        let mut inputs = Vec::new();
        for name in listing(folder) {
            // Without NUL bytes, the ASCII characters of UTF-16 can be read, too.
            let text = fs::read(folder.join(&name)).map(|bytes| String::from_utf8_lossy(&bytes).replace('\0', ""));
            let text = text.unwrap_or_default();
            if tables.iter().any(|table| Path::new(table) == name) {
                inputs.push(csv::parse_most_likely(&text, header));
            } else {
                known += &text;
            }
        }
        // Cells that differ in surrounding blanks cannot be distinguished in a message.
        let mut cells: Vec<String> = table.iter().skip(1).flatten().map(|cell| cell.trim().to_owned()).collect();
        cells.sort();
        cells.dedup();
        cells.retain(|cell| cell.len() >= MIN_CELL && !known.contains(cell));
        Self { cells, inputs, folder: folder.display().to_string() }
    }

    /// Checks that a text shows at most one cell of the table.
    pub fn check(&self, text: &str) -> Result<(), Violation> {
        let text = text.replace(&self.folder, "");
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
    if result.is_ok() {
        release::judge(job, folder)?;
    }
    Ok(!matches!(result, Err(_) | Ok(Answer::Checked(false))))
}
