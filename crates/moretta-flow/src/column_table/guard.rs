//! The cell `guard`: privacy models of one column in a short form.
//!
//! ```text
//! l=3                          [[privacy.l-diversity]] l = 3
//! l=2, kind=entropy            [[privacy.l-diversity]] l = 2, kind = "entropy"
//! t=0.2, distance=ordered      [[privacy.t-closeness]] t = 0.2, distance = "ordered"
//! l=3; t=0.2                   both; t-closeness has the distance "ordered" for numbers and dates, else "equal"
//! ```
//!
//! A model is found by its keys: those that the registry lists for models of one column. Values are TOML; a word needs
//! no quotes.

use moretta_core::{
    document::{TomlTable, Value, toml_key},
    privacy::{MODELS, ModelEntry, SectionForm},
    text::shown,
};

use super::{inline, value};

/// A model of a column: its entry in the registry, and the keys of its section as TOML.
pub(super) struct Guard {
    pub model: &'static ModelEntry,
    pub keys: Vec<(String, String)>,
}

/// The models that guard one column.
pub(super) fn models() -> impl Iterator<Item = &'static ModelEntry> {
    MODELS.iter().filter(|entry| entry.form == SectionForm::List && entry.keys.contains(&"column"))
}

/// The short form of a section.
pub(super) fn short(section: &TomlTable) -> String {
    let entries = section.entries.iter().filter(|entry| entry.key != "column");
    let short = |value: &Value| match value {
        Value::Text(text) if is_word(text) => text.clone(),
        other => inline(other),
    };
    let keys: Vec<String> =
        entries.map(|entry| format!("{}={}", toml_key(&entry.key), short(&entry.item.value))).collect();
    keys.join(", ")
}

/// Whether a text needs no quotes in the short form.
fn is_word(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    !text.is_empty() && text.bytes().all(plain) && value(text).is_err()
}

/// Reads the short form. `is_ordered` says whether the column has numbers or dates.
pub(super) fn read(cell: &str, is_ordered: bool) -> Result<Vec<Guard>, String> {
    let guards = parts(cell, ';').into_iter().filter(|part| !part.trim().is_empty());
    guards.map(|part| read_one(part.trim(), is_ordered)).collect()
}

fn read_one(text: &str, is_ordered: bool) -> Result<Guard, String> {
    let mut keys: Vec<(String, String)> = Vec::new();
    for part in parts(text, ',') {
        let (key, given) = part.split_once('=').ok_or_else(|| wrong(part))?;
        let (key, given) = (key.trim().trim_matches('"').to_owned(), given.trim());
        let toml = match value(given) {
            Ok(value) => inline(&value),
            Err(_) if is_word(given) => super::quoted(given),
            Err(_) => return Err(wrong(part)),
        };
        keys.push((key, toml));
    }
    // The first key decides: `c` and `kind` have no meaning alone.
    let fits = |entry: &&ModelEntry| keys.iter().all(|(key, _)| key != "column" && entry.keys.contains(&key.as_str()));
    let Some(model) = models().find(fits) else { return Err(wrong(text)) };
    if model.keys.contains(&"distance") && !keys.iter().any(|(key, _)| key == "distance") {
        let distance = if is_ordered { "ordered" } else { "equal" };
        keys.push(("distance".to_owned(), super::quoted(distance)));
    }
    Ok(Guard { model, keys })
}

fn wrong(text: &str) -> String {
    let keys: Vec<String> = models()
        .map(|entry| {
            let keys: Vec<&str> = entry.keys.iter().copied().filter(|key| *key != "column").collect();
            format!("{} ({})", entry.name, keys.join(", "))
        })
        .collect();
    format!(
        "`{}` is no privacy model of a column; write its keys, such as `l=3` or `t=0.2, distance=ordered`, and `;` between \
         models; the models are {}",
        shown(text.trim()),
        keys.join(", ")
    )
}

/// Divides a text at a character outside quotes and brackets.
fn parts(text: &str, at: char) -> Vec<&str> {
    let (mut depth, mut is_quoted, mut is_escaped, mut start) = (0i32, false, false, 0);
    let mut parts = Vec::new();
    for (index, character) in text.char_indices() {
        if is_quoted {
            is_quoted = is_escaped || character != '"';
            is_escaped = !is_escaped && character == '\\';
            continue;
        }
        match character {
            '"' => is_quoted = true,
            '[' | '{' => depth += 1,
            ']' | '}' => depth -= 1,
            _ if character == at && depth == 0 => {
                parts.push(&text[start..index]);
                start = index + character.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}
