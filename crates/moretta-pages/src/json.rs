//! Results for programs, as JSON. Keys keep the order in which they are added.

use serde_json::Value;

/// The text of a file.
pub fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

/// An object with a text for each name.
pub fn in_order<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> Value {
    pairs.map(|(name, text)| (name.to_owned(), Value::from(text))).collect()
}
