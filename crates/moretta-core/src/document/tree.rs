//! The tree of a policy file: tables, lists and plain values, each with its location in the text.
//!
//! A tree is built from TOML text, or by serde from other formats (JSON), then without locations. All checks read
//! trees, so the same rules apply to both.

use std::{collections::HashSet, fmt, ops::Range};

use serde::{
    Deserialize,
    de::{self, Deserializer, MapAccess, SeqAccess, Visitor},
};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::PolicyError;
use crate::text::shown;

/// Byte range in the text; `None` if there is no text.
pub type Span = Option<Range<usize>>;

/// Maximum nesting, which bounds the recursion over a tree; more than any policy needs.
const MAX_DEPTH: usize = 32;

/// A table: keys with values, in the order in which the text first names them.
#[derive(Debug, Clone, PartialEq)]
pub struct TomlTable {
    /// In the order of the text.
    pub entries: Vec<Entry>,
    /// The header of `[a]`; the braces and all between of `{ a = 1 }`; the start of the text for the whole file.
    pub span: Span,
}

/// A key with its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Without quotes.
    pub key: String,
    /// Location of the key.
    pub key_span: Span,
    /// The value and its location.
    pub item: Item,
}

/// A value and its location.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// The value itself.
    pub value: Value,
    /// Location of the value.
    pub span: Span,
}

/// A value of a policy. Dates and non-finite numbers of TOML are refused: no key of a policy takes one.
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
    Table(TomlTable),
}

impl TomlTable {
    /// Reads TOML.
    pub fn parse(text: &str) -> Result<Self, PolicyError> {
        let document = DeTable::parse(text).map_err(|error| syntax_error(&error, text))?;
        table(document.get_ref(), Some(0..0), 0)
    }

    /// The entry of a key.
    pub fn get(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// First byte that belongs to the table, wherever its header is.
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

    /// The value as TOML without locations, for the parameters of a method.
    pub fn to_toml(&self) -> toml::Value {
        match &self.value {
            Value::Text(text) => toml::Value::String(text.clone()),
            Value::Integer(integer) => toml::Value::Integer(*integer),
            Value::Float(float) => toml::Value::Float(*float),
            Value::Bool(yes) => toml::Value::Boolean(*yes),
            Value::Array(items) => toml::Value::Array(items.iter().map(Self::to_toml).collect()),
            Value::Table(table) => toml::Value::Table(
                table.entries.iter().map(|entry| (entry.key.clone(), entry.item.to_toml())).collect(),
            ),
        }
    }
}

/// The value as shown in a message.
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

fn table(from: &DeTable<'_>, span: Span, depth: usize) -> Result<TomlTable, PolicyError> {
    let mut entries = Vec::with_capacity(from.len());
    for (key, value) in from {
        let key_span = Some(key.span());
        entries.push(Entry { key: key.get_ref().to_string(), key_span, item: item(value, depth + 1)? });
    }
    // The parser orders tables by their own headers; here a table comes where it is first named, as by
    // `[columns.age.x]`.
    entries.sort_by_cached_key(Entry::start);
    Ok(TomlTable { entries, span })
}

fn item(from: &Spanned<DeValue<'_>>, depth: usize) -> Result<Item, PolicyError> {
    let span = Some(from.span());
    if depth > MAX_DEPTH {
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
        DeValue::Array(values) => Value::Array(values.iter().map(|v| item(v, depth + 1)).collect::<Result<_, _>>()?),
        DeValue::Table(inner) => Value::Table(table(inner, span.clone(), depth)?),
    };
    Ok(Item { value, span })
}

impl<'de> Deserialize<'de> for Item {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = deserializer.deserialize_any(ValueVisitor)?;
        Ok(Self { value, span: None })
    }
}

impl<'de> Deserialize<'de> for TomlTable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
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
        if float.is_finite() {
            Ok(Value::Float(float))
        } else {
            Err(E::custom(format!("`{float}` is not a finite number")))
        }
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Value, A::Error> {
        std::iter::from_fn(|| sequence.next_element().transpose()).collect::<Result<_, _>>().map(Value::Array)
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
        Ok(Value::Table(TomlTable { entries, span: None }))
    }
}
