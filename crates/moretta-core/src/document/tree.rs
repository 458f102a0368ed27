//! The tree of a policy file: tables, lists and plain values, each with its place.
//!
//! Two things become a tree: TOML text, with places, and anything that serde can read (JSON), without. All checks read
//! trees, so the same rules apply to both.

use std::collections::HashSet;
use std::fmt;
use std::ops::Range;

use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::PolicyError;
use crate::text::shown;

/// Bytes of the text; `None` if there is no text.
pub type Span = Option<Range<usize>>;

/// Deeper nesting than any policy needs; keeps recursion over a tree bounded.
const DEEPEST: usize = 32;

/// Keys with values, in the order in which the text names them first.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// In the order of the text.
    pub entries: Vec<Entry>,
    /// The header, for `[a]`; the braces and all between, for `{ a = 1 }`; the start, for the whole file.
    pub span: Span,
}

/// A key with its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Without quotes.
    pub key: String,
    /// The place of the key.
    pub key_span: Span,
    /// The value with its place.
    pub item: Item,
}

/// A value with its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// Without its place.
    pub value: Value,
    /// The place of the value.
    pub span: Span,
}

/// There are no dates, and no numbers that are not finite: nothing in a policy has a use for them.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A text in quotes.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// A finite number with a fraction or exponent.
    Float(f64),
    /// `true` or `false`.
    Bool(bool),
    /// `[..]`.
    Array(Vec<Item>),
    /// Keys with values.
    Table(Table),
}

impl Table {
    /// Reads TOML.
    pub fn parse(text: &str) -> Result<Table, PolicyError> {
        let document = DeTable::parse(text).map_err(|error| syntax_error(&error, text))?;
        table(document.get_ref(), Some(0..0), 0)
    }

    /// The entry of a key.
    pub fn get(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// The first byte that belongs to the table.
    fn start(&self) -> usize {
        let own = self.span.as_ref().map_or(usize::MAX, |span| span.start);
        self.entries.iter().map(Entry::start).fold(own, usize::min)
    }
}

impl Entry {
    fn start(&self) -> usize {
        let own = self.key_span.as_ref().map_or(usize::MAX, |span| span.start);
        own.min(self.item.start())
    }
}

impl Item {
    fn start(&self) -> usize {
        match (&self.value, &self.span) {
            (Value::Table(table), _) => table.start(),
            (_, Some(span)) => span.start,
            (_, None) => usize::MAX,
        }
    }

    /// As TOML without places, for a method's own parameters.
    pub fn to_toml(&self) -> toml::Value {
        match &self.value {
            Value::Text(text) => toml::Value::String(text.clone()),
            Value::Integer(integer) => toml::Value::Integer(*integer),
            Value::Float(float) => toml::Value::Float(*float),
            Value::Bool(yes) => toml::Value::Boolean(*yes),
            Value::Array(items) => toml::Value::Array(items.iter().map(Item::to_toml).collect()),
            Value::Table(table) => toml::Value::Table(
                table.entries.iter().map(|entry| (entry.key.clone(), entry.item.to_toml())).collect(),
            ),
        }
    }
}

/// As a message shows it.
impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            Value::Text(text) => write!(f, "\"{}\"", shown(text)),
            Value::Integer(integer) => write!(f, "{integer}"),
            Value::Float(float) => write!(f, "{float:?}"),
            Value::Bool(yes) => write!(f, "{yes}"),
            Value::Array(items) if items.is_empty() => f.write_str("an empty list"),
            Value::Array(_) => f.write_str("a list"),
            Value::Table(_) => f.write_str("a table"),
        }
    }
}

fn syntax_error(error: &toml::de::Error, text: &str) -> PolicyError {
    let span = error.span();
    let at_fault = span.clone().and_then(|span| text.get(span)).unwrap_or_default();
    match error.message() {
        "duplicate key" => PolicyError::new(&span, format!("`{}` is set twice", shown(at_fault))),
        message if message.contains("must be quoted") && at_fault.is_empty() => {
            PolicyError::new(&span, "this is not TOML: there is no value after `=`")
        }
        message if message.contains("must be quoted") => {
            PolicyError::new(&span, format!("this is not TOML: `{}` is not a value", shown(at_fault)))
                .help(format!("write texts in quotes: \"{}\"", shown(at_fault)))
        }
        message => PolicyError::new(&span, format!("this is not TOML: {}", shown(message))),
    }
}

fn table(from: &DeTable<'_>, span: Span, depth: usize) -> Result<Table, PolicyError> {
    let mut entries = Vec::with_capacity(from.len());
    for (key, value) in from {
        let key_span = Some(key.span());
        entries.push(Entry { key: key.get_ref().to_string(), key_span, item: item(value, depth + 1)? });
    }
    // The parser moves a table to where its own header stands, even where `[columns.age.x]` named it before.
    entries.sort_by_cached_key(Entry::start);
    Ok(Table { entries, span })
}

fn item(from: &Spanned<DeValue<'_>>, depth: usize) -> Result<Item, PolicyError> {
    let span = Some(from.span());
    if depth > DEEPEST {
        return Err(PolicyError::new(&span, "this is nested too deeply for a policy"));
    }
    let value = match from.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(integer) => i64::from_str_radix(integer.as_str(), integer.radix())
            .map(Value::Integer)
            .map_err(|_| PolicyError::new(&span, "this number has too many digits"))?,
        DeValue::Float(float) => match float.as_str().parse::<f64>() {
            Ok(float) if float.is_finite() => Value::Float(float),
            _ => {
                return Err(PolicyError::new(&span, format!("`{}` is not a finite number", shown(float.as_str()))));
            }
        },
        DeValue::Boolean(yes) => Value::Bool(*yes),
        DeValue::Datetime(_) => {
            return Err(PolicyError::new(&span, "this is a date, and a policy has no dates")
                .help("write a text that looks like a date in quotes"));
        }
        DeValue::Array(values) => {
            Value::Array(values.iter().map(|value| item(value, depth + 1)).collect::<Result<_, _>>()?)
        }
        DeValue::Table(inner) => Value::Table(table(inner, span.clone(), depth)?),
    };
    Ok(Item { value, span })
}

impl<'de> Deserialize<'de> for Item {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Item, D::Error> {
        let value = deserializer.deserialize_any(ValueVisitor)?;
        Ok(Item { value, span: None })
    }
}

impl<'de> Deserialize<'de> for Table {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Table, D::Error> {
        match Item::deserialize(deserializer)?.value {
            Value::Table(table) => Ok(table),
            _ => Err(de::Error::custom("a policy is a table")),
        }
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, number, boolean, list or table")
    }

    fn visit_bool<E: de::Error>(self, yes: bool) -> Result<Value, E> {
        Ok(Value::Bool(yes))
    }

    fn visit_i64<E: de::Error>(self, integer: i64) -> Result<Value, E> {
        Ok(Value::Integer(integer))
    }

    fn visit_u64<E: de::Error>(self, integer: u64) -> Result<Value, E> {
        i64::try_from(integer).map(Value::Integer).map_err(|_| E::custom("this number has too many digits"))
    }

    fn visit_f64<E: de::Error>(self, float: f64) -> Result<Value, E> {
        match float.is_finite() {
            true => Ok(Value::Float(float)),
            false => Err(E::custom(format!("`{float}` is not a finite number"))),
        }
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = sequence.next_element()? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut keys = HashSet::new();
        while let Some(key) = map.next_key::<String>()? {
            if !keys.insert(key.clone()) {
                return Err(de::Error::custom(format!("`{}` is set twice", shown(&key))));
            }
            entries.push(Entry { key, key_span: None, item: map.next_value()? });
        }
        Ok(Value::Table(Table { entries, span: None }))
    }
}
