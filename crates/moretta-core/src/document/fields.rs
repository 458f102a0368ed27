//! Reads one section of a policy: checks that its keys are known and its values have the right type and range.

use std::collections::HashSet;

use super::{Entry, Item, PolicyError, Span, TomlTable, Value};
use crate::{suggest::nearest, text::shown};

/// Reads one section, whose keys are all known.
pub struct Fields<'t> {
    /// The section with the locations of its keys and values.
    pub table: &'t TomlTable,
    /// Name in messages, e.g. `[privacy]`.
    section: String,
}

impl<'t> Fields<'t> {
    /// Refuses a key that is not known; `section` is its name in messages, e.g. `[privacy]`.
    pub fn new(table: &'t TomlTable, section: impl Into<String>, known: &[&str]) -> Result<Self, PolicyError> {
        let section = section.into();
        match table.entries.iter().find(|entry| !known.contains(&entry.key.as_str())) {
            None => Ok(Self { table, section }),
            Some(unknown) => Err(unknown_key(unknown, &section, known)),
        }
    }

    /// A key with its value, if it is set.
    pub fn get(&self, key: &str) -> Option<&'t Entry> {
        self.table.get(key)
    }

    /// The value of a key, if it is set.
    pub fn item(&self, key: &str) -> Option<&'t Item> {
        self.get(key).map(|entry| &entry.item)
    }

    /// An error about the section as a whole.
    pub fn error(&self, message: impl Into<String>) -> PolicyError {
        PolicyError::new(&self.table.span, message)
    }

    /// The span of a key's value, or of the whole table if the key is not set.
    pub fn span(&self, key: &str) -> &'t Span {
        self.item(key).map_or(&self.table.span, |item| &item.span)
    }

    /// Reads a key's value by `read`; `right` says which values are accepted.
    pub fn read<T>(
        &self,
        key: &str,
        right: &str,
        read: impl FnOnce(&'t Value) -> Option<T>,
    ) -> Result<Option<T>, PolicyError> {
        let Some(item) = self.item(key) else { return Ok(None) };
        read(&item.value).map(Some).ok_or_else(|| wrong(key, item, right))
    }

    /// The value of a key that must be set; `found` is the result of another method of this type.
    pub fn required<T>(&self, key: &str, right: &str, found: Option<T>) -> Result<T, PolicyError> {
        found.ok_or_else(|| self.error(format!("{} has no `{key}`, which must be {right}", self.section)))
    }

    /// A number for which `fits` holds.
    pub fn number(&self, key: &str, right: &str, fits: impl Fn(f64) -> bool) -> Result<Option<f64>, PolicyError> {
        self.read(key, right, |value| as_number(value).filter(|number| fits(*number)))
    }

    /// A whole number of at least 1.
    pub fn whole(&self, key: &str, right: &str) -> Result<Option<u64>, PolicyError> {
        self.read(key, right, |value| match value {
            Value::Integer(number @ 1..) => Some(number.unsigned_abs()),
            _ => None,
        })
    }

    /// A text in quotes.
    pub fn text(&self, key: &str, right: &str) -> Result<Option<&'t str>, PolicyError> {
        self.read(key, right, |value| match value {
            Value::Text(text) => Some(text.as_str()),
            _ => None,
        })
    }

    fn array(&self, key: &str, right: &str) -> Result<Option<&'t [Item]>, PolicyError> {
        self.read(key, right, |value| match value {
            Value::Array(items) => Some(items.as_slice()),
            _ => None,
        })
    }

    /// A list of distinct texts.
    pub fn texts(&self, key: &str, right: &str) -> Result<Option<Vec<(&'t str, &'t Span)>>, PolicyError> {
        let Some(items) = self.array(key, right)? else { return Ok(None) };
        let mut texts: Vec<(&str, &Span)> = Vec::with_capacity(items.len());
        let mut seen = HashSet::new();
        for item in items {
            let Value::Text(text) = &item.value else {
                return Err(holds(key, item, right).help("write it in quotes, exactly as in the data"));
            };
            if !seen.insert(text.as_str()) {
                return Err(PolicyError::new(&item.span, format!("`{key}` names `{}` twice", shown(text))));
            }
            texts.push((text, &item.span));
        }
        Ok(Some(texts))
    }

    /// One of several words.
    pub fn choice<T: Copy>(&self, key: &str, words: &[(&str, T)]) -> Result<Option<T>, PolicyError> {
        let all = || words.iter().map(|(word, _)| *word);
        let Some(text) = self.text(key, &list(all()))? else { return Ok(None) };
        let chosen = words.iter().find(|(word, _)| *word == text);
        chosen.map(|(_, choice)| Some(*choice)).ok_or_else(|| self.unknown_word(key, text, all()))
    }

    /// One of several words, which must be set.
    pub fn required_choice<T: Copy>(&self, key: &str, words: &[(&str, T)]) -> Result<T, PolicyError> {
        self.required(key, &list(words.iter().map(|(word, _)| *word)), self.choice(key, words)?)
    }

    /// An error about a word that is not among the known words of a key.
    pub fn unknown_word<'w>(&self, key: &str, text: &str, known: impl Iterator<Item = &'w str> + Clone) -> PolicyError {
        let near = nearest(text, known.clone());
        let message = format!("`{key}` is \"{}\"; it must be {}", shown(text), list(known));
        PolicyError::new(self.span(key), message).maybe_help(near.map(|near| format!("did you mean \"{near}\"?")))
    }

    /// A list of tables, each written `[[section]]`.
    pub fn tables(&self, key: &str, section: &str) -> Result<Vec<&'t TomlTable>, PolicyError> {
        let right = format!("a list of tables, each begun with {section}");
        tables(key, self.array(key, &right)?.unwrap_or_default(), &right)
    }
}

/// The table under a key of the policy.
pub fn section<'t>(table: &'t TomlTable, key: &str) -> Result<Option<&'t TomlTable>, PolicyError> {
    section_at(table, key, key)
}

/// The table under a key of another table; `path` is its path from the top of the policy.
pub fn section_at<'t>(table: &'t TomlTable, key: &str, path: &str) -> Result<Option<&'t TomlTable>, PolicyError> {
    match table.get(key) {
        None => Ok(None),
        Some(Entry { item: Item { value: Value::Table(section), .. }, .. }) => Ok(Some(section)),
        Some(entry) => Err(wrong(key, &entry.item, &format!("a table, begun with [{path}]"))),
    }
}

/// An error about a value: `right` says which values are accepted.
pub fn wrong(key: &str, item: &Item, right: &str) -> PolicyError {
    PolicyError::new(&item.span, format!("`{key}` is {item}; it must be {right}"))
}

/// An error about an element of a list: `right` says which lists are accepted.
pub fn holds(key: &str, item: &Item, right: &str) -> PolicyError {
    PolicyError::new(&item.span, format!("`{key}` holds {item}; it must be {right}"))
}

/// Elements of a list that must all be tables.
pub fn tables<'t>(key: &str, items: &'t [Item], right: &str) -> Result<Vec<&'t TomlTable>, PolicyError> {
    let table = |item: &'t Item| match &item.value {
        Value::Table(table) => Ok(table),
        _ => Err(holds(key, item, right)),
    };
    items.iter().map(table).collect()
}

/// A number, whole or not.
pub fn as_number(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(integer) => Some(*integer as f64),
        Value::Float(float) => Some(*float),
        _ => None,
    }
}

/// Weight of a column or a measure. The range is limited because a weight much smaller than another would be lost in
/// rounding.
pub fn weight(fields: &Fields<'_>) -> Result<f64, PolicyError> {
    let right = "a number from 0.000001 to 1000000 (default: 1)";
    Ok(fields.number("weight", right, |weight| (1e-6..=1e6).contains(&weight))?.unwrap_or(1.0))
}

/// `"a", "b" or "c"`.
pub fn list<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| format!("\"{}\"", shown(word))).collect();
    match words.split_last() {
        None => "nothing".to_owned(),
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
    }
}

fn unknown_key(entry: &Entry, section: &str, known: &[&str]) -> PolicyError {
    let error = PolicyError::new(&entry.key_span, format!("`{}` is not a key of {section}", shown(&entry.key)));
    match nearest(&entry.key, known.iter().copied()) {
        Some(near) => error.help(format!("did you mean `{near}`?")),
        None => error.help(format!("it may have `{}`", known.join("`, `"))).of_unknown_key(&entry.key),
    }
}
