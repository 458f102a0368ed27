//! A policy as a table with one line per column, to edit in a spreadsheet.
//!
//! ```text
//! column,role,type,hierarchy,missing,weight,guard,more,reason,confirmed
//! privacy,policy,,,,,,k = 10,,no                                              a section of the policy
//! age,quasi-identifier,number,"{ widths = [5, 10] }",,2,,,a person's age,yes
//! diagnosis,sensitive,category,,category,,l=3,,,no                            guarded by l-diversity with l = 3
//! ```
//!
//! `write.rs` makes the table of a policy, `read.rs` the policy of a table. Both work on the syntax of the policy, so
//! that every model, method and measure has its place in the table: a privacy model of one column is in `guard`, other
//! keys of a column and all other sections are in `more`. A policy that was made from a table is checked like any
//! other; an error in it is reported at the cell that it came from.
//!
//! A spreadsheet takes a cell that begins with `=`, `+`, `-` or `@` for a formula. Such a cell, and one that begins
//! with an apostrophe, is written with an apostrophe before it, which is removed when the table is read.

mod guard;
mod read;
#[cfg(test)]
mod tests;
mod write;

use std::path::{Path, PathBuf};

use moretta_core::{
    document::{Item, PolicyError, TomlTable, Value, toml_key},
    engine::Records,
    policy::InputOptions,
    text::one_line,
};

pub(crate) use self::write::table_of_policy;
use crate::{
    error::{ErrorKind, FlowError},
    files::OutputFile,
    policy::read_text,
    session::Session,
};

/// Columns of the table. Those after the second may be left out of a table that is read.
const HEADER: [&str; 10] =
    ["column", "role", "type", "hierarchy", "missing", "weight", "guard", "more", "reason", "confirmed"];

/// Role of a line that is a section of the policy.
const SECTION_ROLE: &str = "policy";

/// Keys of a policy's column that have a column of the same name in the table.
const KEYS: [&str; 5] = ["role", "type", "hierarchy", "missing", "weight"];

/// Maximum lines of a table that is read, more than any table has columns.
const MAX_LINES: usize = 1_000_000;

/// Request of `moretta policy`.
#[derive(Debug, Clone)]
pub struct ConvertPolicy {
    /// A policy (`.toml`) or a table of its columns (`.csv`).
    pub input: PathBuf,
    /// The other of both.
    pub output: OutputFile,
}

impl Session<'_> {
    /// Turns a policy into a table with a line per column, or such a table into a policy. Returns its text.
    pub fn convert_policy(&self, request: &ConvertPolicy) -> Result<String, FlowError> {
        let to_policy = match extension(&request.input) {
            Some("toml") => false,
            Some("csv") => true,
            _ => return Err(unknown_extension(&request.input, ".toml (a policy) or .csv (a table of its columns)")),
        };
        let right = if to_policy { "toml" } else { "csv" };
        if let Some(output) = request.output.path.as_ref().filter(|output| extension(output) != Some(right)) {
            return Err(unknown_extension(output, &format!(".{right}")));
        }
        request.output.check(std::slice::from_ref(&request.input), &[])?;
        let text = if to_policy {
            let name = request.input.display().to_string();
            let table = self.open(&(&*name).into(), &InputOptions::default())?;
            let sample = table.sample(MAX_LINES)?;
            read::policy_of_table(&sample.columns, &sample.rows)
                .map_err(|error| FlowError::new(ErrorKind::Policy, format!("{}{error}", one_line(&name))))?
        } else {
            let text = read_text(&request.input, ErrorKind::Policy)?;
            table_of_policy(&text).map_err(|error| FlowError::policy(&request.input, &text, &error))?
        };
        request.output.write(|| text.clone())?;
        Ok(text)
    }
}

fn extension(path: &Path) -> Option<&str> {
    path.extension().and_then(|extension| extension.to_str())
}

fn unknown_extension(path: &Path, right: &str) -> FlowError {
    FlowError::usage(format!("{}: the name must end with {right}", path.display()))
}

/// Returns the cell in a form that no spreadsheet reads as a formula.
fn guarded(cell: &str) -> String {
    let is_odd = cell.starts_with(['=', '+', '-', '@', '\t', '\r', '\'']);
    if is_odd { format!("'{cell}") } else { cell.to_owned() }
}

fn unguarded(cell: &str) -> &str {
    cell.strip_prefix('\'').unwrap_or(cell)
}

/// A text as TOML.
fn quoted(text: &str) -> String {
    let key = toml_key(text);
    if key.starts_with('"') { key } else { format!("\"{key}\"") }
}

/// A value as TOML on one line.
fn inline(value: &Value) -> String {
    match value {
        Value::Text(text) => quoted(text),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => format!("{number:?}"),
        Value::Bool(yes) => yes.to_string(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| inline(&item.value)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Table(table) if table.entries.is_empty() => "{}".to_owned(),
        Value::Table(table) => format!("{{ {} }}", entries(table)),
    }
}

/// The entries of a table as TOML on one line, without braces.
fn entries(table: &TomlTable) -> String {
    let entries = table.entries.iter().map(|entry| format!("{} = {}", toml_key(&entry.key), inline(&entry.item.value)));
    entries.collect::<Vec<_>>().join(", ")
}

/// Reads one value of TOML.
fn value(text: &str) -> Result<Value, PolicyError> {
    let table = TomlTable::parse(&format!("value = {text}"))?;
    let mut items = table.entries.into_iter().map(|entry| entry.item);
    // A line break in a cell could hide a second key.
    match (items.next(), items.next()) {
        (Some(Item { value, .. }), None) => Ok(value),
        (None, _) => Err(PolicyError::new(&None, "there is no value")),
        (Some(_), Some(_)) => Err(PolicyError::new(&None, "it has several lines; it must be one value")),
    }
}
