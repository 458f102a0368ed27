//! JSON helpers. Keys keep their order of insertion.

use serde_json::Value;

/// Returns indented JSON with a final line break.
pub fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

/// Returns an object of texts in the order of `pairs`.
pub fn in_order<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> Value {
    pairs.map(|(name, text)| (name.to_owned(), Value::from(text))).collect()
}
