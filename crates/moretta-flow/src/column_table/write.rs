//! Writes a policy as a table.

use std::ops::Range;

use moretta_core::{
    document::{Entry, PolicyError, TomlTable, Value, section},
    policy::PolicyFile,
    search,
};
use moretta_pages::csv;

use super::{HEADER, KEYS, SECTION_ROLE, entries, guard, guarded, inline, quoted};

/// Mark of a guess that is not reviewed.
const MARK: &str = "# CONFIRM";

/// Returns the table of a policy.
pub(crate) fn table_of_policy(text: &str) -> Result<String, PolicyError> {
    let file = PolicyFile::parse(text)?;
    if !file.has_patterns() {
        file.policy(&search::method_names())?;
    }
    let columns: &[Entry] = section(file.tree(), "columns")?.map_or(&[], |table| &table.entries);
    let comments = Comments::new(text, file.tree(), columns);
    let (mut guards, mut privacy) = (vec![Vec::new(); columns.len()], Vec::new());
    if let Some(table) = section(file.tree(), "privacy")? {
        privacy = take_guards(table, columns, &mut guards);
    }
    let mut lines = vec![csv::line(HEADER)];
    for entry in &file.tree().entries {
        let more = match (entry.key.as_str(), &entry.item.value) {
            ("version" | "columns", _) => continue,
            ("privacy", _) => privacy.join(", "),
            (_, Value::Table(table)) => entries(table),
            (_, other) => inline(other),
        };
        lines.push(line(&entry.key, |column| match column {
            "role" => SECTION_ROLE.to_owned(),
            "more" => more.clone(),
            _ => comments.cell(column, entry),
        }));
    }
    for (entry, guards) in columns.iter().zip(guards) {
        let Value::Table(table) = &entry.item.value else { continue };
        let others = table.entries.iter().filter(|entry| !KEYS.contains(&entry.key.as_str())).cloned().collect();
        let more = entries(&TomlTable { entries: others, span: None });
        lines.push(line(&entry.key, |column| match column {
            "guard" => guards.join("; "),
            "more" => more.clone(),
            key if KEYS.contains(&key) => table.get(key).map_or(String::new(), |found| cell(&found.item.value)),
            _ => comments.cell(column, entry),
        }));
    }
    Ok(lines.concat())
}

fn line(name: &str, cell: impl Fn(&str) -> String) -> String {
    csv::line(HEADER.map(|column| guarded(&if column == HEADER[0] { name.to_owned() } else { cell(column) })))
}

/// A value of a column's key: a text without quotes, if it cannot be mistaken for another value.
fn cell(value: &Value) -> String {
    match value {
        Value::Text(text) if text.is_empty() || text.trim() != text || text.starts_with(['{', '[', '"']) => {
            quoted(text)
        }
        Value::Text(text) if text.chars().any(char::is_control) => quoted(text),
        Value::Text(text) => text.clone(),
        other => inline(other),
    }
}

/// Moves the models of one column to their columns; returns the other entries of `[privacy]`.
fn take_guards(privacy: &TomlTable, columns: &[Entry], guards: &mut [Vec<String>]) -> Vec<String> {
    let mut others = Vec::new();
    for entry in &privacy.entries {
        let is_guard = guard::models().any(|model| model.key == entry.key);
        let mut left = Vec::new();
        let Value::Array(items) = &entry.item.value else {
            others.push(format!("{} = {}", entry.key, inline(&entry.item.value)));
            continue;
        };
        for item in items {
            let own = match &item.value {
                Value::Table(table) if is_guard => column_of(table, columns).map(|column| (column, table)),
                _ => None,
            };
            match own {
                Some((column, table)) => guards[column].push(guard::short(table)),
                None => left.push(inline(&item.value)),
            }
        }
        if !left.is_empty() {
            others.push(format!("{} = [{}]", entry.key, left.join(", ")));
        }
    }
    others
}

fn column_of(section: &TomlTable, columns: &[Entry]) -> Option<usize> {
    let Value::Text(name) = &section.get("column")?.item.value else { return None };
    columns.iter().position(|column| column.key == *name)
}

/// Comments above the entries of a policy, and their marks.
struct Comments<'t> {
    text: &'t str,
    /// Start of each entry with the comment above it, ascending.
    starts: Vec<usize>,
}

impl<'t> Comments<'t> {
    fn new(text: &'t str, policy: &TomlTable, columns: &[Entry]) -> Self {
        let entries = policy.entries.iter().filter(|entry| entry.key != "columns").chain(columns);
        let mut starts: Vec<usize> = entries.filter_map(|entry| Some(comment_above(text, entry)?.start)).collect();
        starts.sort_unstable();
        Self { text, starts }
    }

    /// The cells `reason` and `confirmed` of an entry; empty for other columns of the table.
    fn cell(&self, column: &str, entry: &Entry) -> String {
        let Some(comment) = comment_above(self.text, entry) else { return String::new() };
        match column {
            "reason" => {
                let lines = self.text[comment].lines().map(|line| line.trim().trim_start_matches('#').trim());
                let words = lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
                words.trim_start_matches("CONFIRM").trim_start_matches(':').trim().to_owned()
            }
            "confirmed" => {
                let end = self.starts.iter().find(|start| **start > comment.start).copied();
                let own = &self.text[comment.start..end.unwrap_or(self.text.len())];
                if own.contains(MARK) { "no" } else { "yes" }.to_owned()
            }
            _ => String::new(),
        }
    }
}

/// The comment lines directly above an entry; empty at its line if there are none.
fn comment_above(text: &str, entry: &Entry) -> Option<Range<usize>> {
    let key = entry.key_span.as_ref()?.start;
    let end = text[..key].rfind('\n').map_or(0, |at| at + 1);
    let mut start = end;
    while start > 0 {
        let line = text[..start - 1].rfind('\n').map_or(0, |at| at + 1);
        if !text[line..start].trim_start().starts_with('#') {
            break;
        }
        start = line;
    }
    Some(start..end)
}
