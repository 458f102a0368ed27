//! The method chosen by a policy, with its parameters.
//!
//! The policy does not know the parameters of a method. It keeps them as written, with their locations;
//! [`MethodChoice::read_parameters`] fills the method's own serde struct from them, so that an error of the struct or
//! of the method names the line.

use std::{cell::Cell, collections::BTreeMap, fmt};

use serde::{
    Serialize,
    de::{self, DeserializeOwned, Deserializer, IntoDeserializer, Visitor, value::MapDeserializer},
    forward_to_deserialize_any,
};

use super::DEFAULT_METHOD;
use crate::{
    document::{Entry, PolicyError, TextLocation},
    suggest::nearest,
    text::shown,
};

/// The method and its parameters: everything in `[method]`.
#[derive(Debug, Clone, Serialize)]
pub struct MethodChoice {
    /// The method's name.
    pub name: String,
    /// The other keys of `[method]`, for the method's own serde struct.
    #[serde(flatten)]
    pub parameters: toml::Table,
    #[serde(skip)]
    locations: BTreeMap<String, TextLocation>,
}

impl Default for MethodChoice {
    fn default() -> Self {
        Self::new(DEFAULT_METHOD, toml::Table::new())
    }
}

/// Ignores the locations of the parameters.
impl PartialEq for MethodChoice {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.parameters == other.parameters
    }
}

impl MethodChoice {
    /// A choice without locations.
    pub fn new(name: impl Into<String>, parameters: toml::Table) -> Self {
        Self { name: name.into(), parameters, locations: BTreeMap::new() }
    }

    pub(super) fn from_entries<'t>(name: String, entries: impl Iterator<Item = &'t Entry>, text: &str) -> Self {
        let mut choice = Self::new(name, toml::Table::new());
        for entry in entries {
            choice.locations.insert(entry.key.clone(), TextLocation::new(&entry.key_span, text));
            choice.parameters.insert(entry.key.clone(), entry.item.to_toml());
        }
        choice
    }

    /// Deserializes a method's parameters. The struct must have `#[serde(deny_unknown_fields)]`, so that misspelt
    /// parameters are refused.
    pub fn read_parameters<T: DeserializeOwned>(&self) -> Result<T, PolicyError> {
        let current = Cell::new(None);
        let mut pairs = self.parameters.iter();
        let pairs = std::iter::from_fn(|| {
            let pair = pairs.next();
            current.set(pair.map(|(key, _)| key.as_str()));
            pair.map(|(key, value)| (key.as_str(), Parameter(value.clone())))
        });
        T::deserialize(MapDeserializer::new(pairs)).map_err(|error: Complaint| {
            let method = shown(&self.name);
            let key = current.get().unwrap_or_default();
            match error {
                Complaint::Unknown([]) => self.error(key, format!("the method `{method}` has no parameters")),
                Complaint::Unknown(known) => {
                    let help = nearest(key, known.iter().copied()).map(|near| format!("did you mean `{near}`?"));
                    let known = known.join("`, `");
                    let asked = shown(key);
                    let message = format!("`{asked}` is not a parameter of the method `{method}`; it has `{known}`");
                    self.error(key, message).maybe_help(help)
                }
                Complaint::Missing(key) => {
                    PolicyError::new(&None, format!("the method `{method}` needs the parameter `{key}` in [method]"))
                }
                Complaint::Other(message) => self.error(key, format!("`{}`: {message}", shown(key))),
            }
        })
    }

    /// An error about a parameter, at its location. `message` must name the parameter.
    pub fn error(&self, parameter: &str, message: impl Into<String>) -> PolicyError {
        self.locations.get(parameter).unwrap_or(&TextLocation::default()).error(message)
    }
}

/// Deserialization errors of a parameter struct, by kind, because each kind has its own message.
#[derive(Debug)]
enum Complaint {
    Unknown(&'static [&'static str]),
    Missing(&'static str),
    Other(String),
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(known) => write!(f, "unknown parameter; known are {known:?}"),
            Self::Missing(key) => write!(f, "missing parameter `{key}`"),
            Self::Other(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for Complaint {}

impl de::Error for Complaint {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::Other(message.to_string())
    }

    fn unknown_field(_: &str, expected: &'static [&'static str]) -> Self {
        Self::Unknown(expected)
    }

    fn missing_field(field: &'static str) -> Self {
        Self::Missing(field)
    }
}

/// A TOML value whose errors are [`Complaint`]s.
struct Parameter(toml::Value);

impl<'de> IntoDeserializer<'de, Complaint> for Parameter {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

fn complaint(error: toml::de::Error) -> Complaint {
    de::Error::custom(plain(error.message()))
}

/// Replaces serde's type names by plain words.
fn plain(message: &str) -> String {
    let Some((before, expected)) = message.rsplit_once("expected ") else { return message.to_owned() };
    let expected = match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, 0 or more",
        "a nonzero u8" | "a nonzero u16" | "a nonzero u32" | "a nonzero u64" | "a nonzero usize" => {
            "a whole number, 1 or more"
        }
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "a boolean" => "true or false",
        other => other,
    };
    format!("{before}expected {expected}")
}

impl<'de> Deserializer<'de> for Parameter {
    type Error = Complaint;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Complaint> {
        self.0.deserialize_any(visitor).map_err(complaint)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Complaint> {
        self.0.deserialize_option(visitor).map_err(complaint)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Complaint> {
        self.0.deserialize_newtype_struct(name, visitor).map_err(complaint)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Complaint> {
        self.0.deserialize_enum(name, variants, visitor).map_err(complaint)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;
    use crate::policy::Policy;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum Order {
        Best,
        First,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields, rename_all = "kebab-case")]
    struct Parameters {
        #[serde(default)]
        take_back: bool,
        rate: f64,
        limit: Option<u32>,
        order: Option<Order>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct NoParameters {}

    fn choice(parameters: &str) -> MethodChoice {
        let text = format!(
            "version = 1\nprivacy.k = 2\ncolumns.a.role = \"quasi-identifier\"\n[method]\nname = \"m\"\n{parameters}"
        );
        Policy::parse(&text, &["m"]).unwrap().method
    }

    #[test]
    fn parameters_fill_a_struct() {
        let read: Parameters = choice("rate = 1\nlimit = 3\norder = \"first\"").read_parameters().unwrap();
        assert_eq!(read, Parameters { take_back: false, rate: 1.0, limit: Some(3), order: Some(Order::First) });
        choice("").read_parameters::<NoParameters>().unwrap();
    }

    #[test]
    fn complaints_name_the_line() {
        for (parameters, expected) in [
            (
                "rate = 1\ntak-back = true",
                "line 7: `tak-back` is not a parameter of the method `m`; it has `take-back`, ",
            ),
            (
                "rate = 1\n\nlimit = -1",
                "line 8: `limit`: invalid value: integer `-1`, expected a whole number, 0 or more",
            ),
            ("take-back = 3\nrate = 1", "line 6: `take-back`: invalid type: integer `3`, expected true or false"),
            ("rate = \"x\"", "line 6: `rate`: invalid type: string \"x\", expected a number"),
            ("rate = 1\norder = \"worst\"", "line 7: `order`: unknown variant `worst`, expected `best` or `first`"),
            ("limit = 3", "the method `m` needs the parameter `rate` in [method]"),
        ] {
            let error = choice(parameters).read_parameters::<Parameters>().unwrap_err();
            assert!(error.to_string().starts_with(expected), "{error}");
        }
        let error = choice("rate = 1\ntak-back = true").read_parameters::<Parameters>().unwrap_err();
        assert_eq!(error.help.as_deref(), Some("did you mean `take-back`?"));
        let error = choice("\nrate = 1").read_parameters::<NoParameters>().unwrap_err();
        assert_eq!(error.to_string(), "line 7: the method `m` has no parameters");
    }

    #[test]
    fn a_method_can_complain_itself() {
        let error = choice("rate = 7").error("rate", "`rate` is 7; it must be at most 1");
        assert_eq!(error.to_string(), "line 6: `rate` is 7; it must be at most 1");
        let error = MethodChoice::default().error("rate", "no");
        assert_eq!((error.to_string().as_str(), error.span), ("no", None));
    }
}
