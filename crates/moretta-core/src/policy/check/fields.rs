//! Reading one table of the tree: its keys are known, its values are of the right type and in range, or an error says so.

use std::collections::HashSet;

use super::super::error::{PolicyError, shown};
use super::super::suggest::nearest;
use super::super::tree::{Entry, Item, Span, Table, Value};

/// The keys of each section: to refuse the others, and to say where a misplaced one belongs.
pub(super) const TOP: &[&str] = &["version", "privacy", "method", "measure", "columns", "release", "input"];
pub(super) const PRIVACY: &[&str] = &["k", "max-suppressed", "template", "lkc", "l-diversity", "t-closeness"];
pub(super) const TEMPLATE: &[&str] = &["given", "column", "values", "rarest", "max-confidence"];
pub(super) const LKC: &[&str] = &["l", "k", "c"];
pub(super) const L_DIVERSITY: &[&str] = &["column", "l", "kind", "c"];
pub(super) const T_CLOSENESS: &[&str] = &["column", "t", "distance"];
pub(super) const COLUMN: &[&str] = &["role", "type", "format", "hierarchy", "weight", "missing"];
pub(super) const HIERARCHY: &[&str] =
    &["widths", "bins", "prefix", "dates", "method", "levels", "threshold", "fan-out", "parts"];
pub(super) const MEASURE: &[&str] = &["name", "weight", "column", "costs", "dispersion"];
pub(super) const RELEASE: &[&str] = &["labels", "numbers", "order"];
pub(super) const INPUT: &[&str] = &["delimiter", "quote", "missing", "population"];

const SECTIONS: &[(&str, &[&str])] = &[
    ("at the top of the policy", TOP),
    ("in [privacy]", PRIVACY),
    ("in [[privacy.template]]", TEMPLATE),
    ("in [[privacy.l-diversity]]", L_DIVERSITY),
    ("in [privacy.lkc]", LKC),
    ("in [[privacy.t-closeness]]", T_CLOSENESS),
    ("in the table of a column", COLUMN),
    ("in `hierarchy`", HIERARCHY),
    ("in [method] or [measure]", &["name"]),
    ("in [measure]", MEASURE),
    ("in [release]", RELEASE),
    ("in [input]", INPUT),
];

/// A table of which all keys are known.
pub(super) struct Fields<'t> {
    pub table: &'t Table,
    /// How the section is written, e.g. `[privacy]`.
    section: &'t str,
}

impl<'t> Fields<'t> {
    pub fn new(table: &'t Table, section: &'t str, known: &[&str]) -> Result<Fields<'t>, PolicyError> {
        match table.entries.iter().find(|entry| !known.contains(&entry.key.as_str())) {
            None => Ok(Fields { table, section }),
            Some(unknown) => Err(unknown_key(unknown, section, known)),
        }
    }

    pub fn get(&self, key: &str) -> Option<&'t Entry> {
        self.table.get(key)
    }

    pub fn item(&self, key: &str) -> Option<&'t Item> {
        self.get(key).map(|entry| &entry.item)
    }

    pub fn error(&self, message: impl Into<String>) -> PolicyError {
        PolicyError::new(&self.table.span, message)
    }

    pub fn missing(&self, key: &str, right: &str) -> PolicyError {
        self.error(format!("{} has no `{key}`, which must be {right}", self.section))
    }

    /// A number for which `fits` holds.
    pub fn number(&self, key: &str, right: &str, fits: impl Fn(f64) -> bool) -> Result<Option<f64>, PolicyError> {
        let Some(item) = self.item(key) else {
            return Ok(None);
        };
        match as_number(item) {
            Some(number) if fits(number) => Ok(Some(number)),
            _ => Err(wrong(key, item, right)),
        }
    }

    /// A whole number of at least 1.
    pub fn whole(&self, key: &str, right: &str) -> Result<Option<u64>, PolicyError> {
        let Some(item) = self.item(key) else {
            return Ok(None);
        };
        match item.value {
            Value::Integer(number @ 1..) => Ok(Some(number.unsigned_abs())),
            _ => Err(wrong(key, item, right)),
        }
    }

    pub fn text(&self, key: &str, right: &str) -> Result<Option<&'t str>, PolicyError> {
        let Some(item) = self.item(key) else {
            return Ok(None);
        };
        match &item.value {
            Value::Text(text) => Ok(Some(text)),
            _ => Err(wrong(key, item, right)),
        }
    }

    /// A list of texts, none twice.
    pub fn texts(&self, key: &str, right: &str) -> Result<Option<Vec<(&'t str, &'t Span)>>, PolicyError> {
        let Some(item) = self.item(key) else {
            return Ok(None);
        };
        let Value::Array(items) = &item.value else {
            return Err(wrong(key, item, right));
        };
        let mut texts: Vec<(&str, &Span)> = Vec::with_capacity(items.len());
        let mut seen = HashSet::new();
        for item in items {
            let Value::Text(text) = &item.value else {
                let error = PolicyError::new(&item.span, format!("`{key}` holds {item}; it must be {right}"));
                return Err(error.help("write it in quotes, exactly as it stands in the data"));
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
        let right = || list(words.iter().map(|(word, _)| *word));
        let Some(item) = self.item(key) else {
            return Ok(None);
        };
        let Value::Text(text) = &item.value else {
            return Err(wrong(key, item, &right()));
        };
        match words.iter().find(|(word, _)| word == text) {
            Some((_, choice)) => Ok(Some(*choice)),
            None => {
                let help = nearest(text, words.iter().map(|(word, _)| *word));
                Err(wrong(key, item, &right()).maybe_help(help.map(|near| format!("did you mean \"{near}\"?"))))
            }
        }
    }

    /// A list of tables, each written `[[section]]`.
    pub fn tables(&self, key: &str, section: &str) -> Result<Vec<&'t Table>, PolicyError> {
        let Some(item) = self.item(key) else {
            return Ok(Vec::new());
        };
        let right = format!("a list of tables, each begun with {section}");
        let Value::Array(items) = &item.value else {
            return Err(wrong(key, item, &right));
        };
        items
            .iter()
            .map(|item| match &item.value {
                Value::Table(table) => Ok(table),
                _ => Err(PolicyError::new(&item.span, format!("`{key}` holds {item}; it must be {right}"))),
            })
            .collect()
    }
}

/// The table under a key of the policy.
pub(super) fn section<'t>(table: &'t Table, key: &str) -> Result<Option<&'t Table>, PolicyError> {
    section_written(table, key, key)
}

/// The table under a key of another; `written` is its path from the top.
pub(super) fn section_written<'t>(
    table: &'t Table,
    key: &str,
    written: &str,
) -> Result<Option<&'t Table>, PolicyError> {
    match table.get(key) {
        None => Ok(None),
        Some(Entry { item: Item { value: Value::Table(section), .. }, .. }) => Ok(Some(section)),
        Some(entry) => Err(wrong(key, &entry.item, &format!("a table, begun with [{written}]"))),
    }
}

pub(super) fn wrong(key: &str, item: &Item, right: &str) -> PolicyError {
    PolicyError::new(&item.span, format!("`{key}` is {item}; it must be {right}"))
}

pub(super) fn as_number(item: &Item) -> Option<f64> {
    match item.value {
        Value::Integer(integer) => Some(integer as f64),
        Value::Float(float) => Some(float),
        _ => None,
    }
}

/// What a column or a measure counts: more or less than this and the others beside it are lost in rounding.
pub(super) fn weight(fields: &Fields<'_>) -> Result<f64, PolicyError> {
    let right = "a number from 0.000001 to 1000000 (1 unless set)";
    Ok(fields.number("weight", right, |weight| (1e-6..=1e6).contains(&weight))?.unwrap_or(1.0))
}

/// `"a", "b" or "c"`.
pub(super) fn list<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| format!("\"{}\"", shown(word))).collect();
    match words.split_last() {
        None => "nothing".to_owned(),
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
    }
}

fn unknown_key(entry: &Entry, section: &str, known: &[&str]) -> PolicyError {
    let message = format!("`{}` is not a key of {section}", shown(&entry.key));
    let elsewhere = SECTIONS.iter().find(|(_, keys)| keys.contains(&entry.key.as_str()));
    let help = match (nearest(&entry.key, known.iter().copied()), elsewhere) {
        (Some(near), _) => format!("did you mean `{near}`?"),
        (None, Some((place, _))) => format!("it belongs {place}"),
        (None, None) => format!("it may have `{}`", known.join("`, `")),
    };
    PolicyError::new(&entry.key_span, message).help(help)
}
