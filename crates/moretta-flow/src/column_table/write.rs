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
            "reason" => self.reason(comment),
            "confirmed" => {
                let end = self.starts.iter().find(|start| **start > comment.start).copied();
                let own = &self.text[comment.start..end.unwrap_or(self.text.len())];
                if own.contains(MARK) { "no" } else { "yes" }.to_owned()
            }
            _ => String::new(),
        }
    }

    /// The comments of an entry as one text: those above it, and those within its section up to the first empty line. A
    /// comment behind a value begins with its key. A line that is not indented begins a sentence.
    fn reason(&self, above: Range<usize>) -> String {
        let mut reason = String::new();
        let end = self.starts.iter().find(|start| **start > above.start).copied().unwrap_or(self.text.len());
        let within = self.text[above.end..end.max(above.end)].lines().take_while(|line| !line.is_empty());
        for line in self.text[above].lines().chain(within) {
            let Some((value, comment)) = split_comment(line) else { continue };
            let (key, words) = (value.split_once('=').map(|(key, _)| key.trim()), comment.trim());
            let words = words.strip_prefix("CONFIRM").map_or(words, |words| words.trim_start_matches(':').trim());
            if words.is_empty() {
                continue;
            }
            let is_indented = key.is_none() && comment.starts_with("  ");
            let starts = key.is_some() || (!is_indented && words.starts_with(char::is_uppercase));
            if starts && !reason.is_empty() && !reason.ends_with(['.', ':', ';', '?', '!']) {
                reason.push('.');
            }
            if !reason.is_empty() {
                reason.push(' ');
            }
            if let Some(key) = key {
                reason.push_str(key);
                reason.push_str(": ");
            }
            reason.push_str(words);
        }
        reason
    }
}

/// Splits a line at the mark of its comment; `None` without a comment. A mark in quotes is part of a text.
fn split_comment(line: &str) -> Option<(&str, &str)> {
    let (mut quote, mut is_escaped) = (None, false);
    for (at, character) in line.char_indices() {
        match (quote, character) {
            (None, '#') => return Some((&line[..at], &line[at + 1..])),
            (None, '"' | '\'') => quote = Some(character),
            (Some('"'), '\\') if !is_escaped => {
                is_escaped = true;
                continue;
            }
            (Some(open), _) if open == character && !is_escaped => quote = None,
            _ => {}
        }
        is_escaped = false;
    }
    None
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
