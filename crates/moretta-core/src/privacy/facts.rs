//! How a model describes itself and a group in reports: typed values for programs, words for people.

use std::{any::Any, fmt, sync::Arc};

use serde::{Serialize, Serializer};

/// Parameters of a model, for programs: a struct that each model defines; reports contain it as JSON.
#[derive(Debug, Clone)]
pub struct ModelFacts(Arc<dyn AnyFacts>);

trait AnyFacts: Any + fmt::Debug + Send + Sync {
    fn to_json(&self) -> serde_json::Value;
}

impl<T: Any + fmt::Debug + Send + Sync + Serialize> AnyFacts for T {
    fn to_json(&self) -> serde_json::Value {
        to_json(self)
    }
}

/// Serializes the struct of a model.
pub(super) fn to_json(value: &impl Serialize) -> serde_json::Value {
    serde_json::to_value(value).expect("a model has texts and numbers, whose keys are texts")
}

impl ModelFacts {
    /// Wraps the struct that a model defines.
    pub fn new<T: Any + fmt::Debug + Send + Sync + Serialize>(facts: T) -> Self {
        Self(Arc::new(facts))
    }

    /// Returns the struct if it has this type.
    pub fn get<T: Any>(&self) -> Option<&T> {
        (&*self.0 as &dyn Any).downcast_ref()
    }
}

impl PartialEq for ModelFacts {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_json() == other.0.to_json()
    }
}

impl Serialize for ModelFacts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.to_json().serialize(serializer)
    }
}

/// Name and limit of a model. Prints as `k-anonymity (k = 5)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// Key under `[privacy]`.
    pub key: &'static str,
    /// Name with the kind: `entropy l-diversity`.
    pub name: String,
    /// Limit in words: `diagnosis, l = 3`.
    pub limit: String,
}

impl Description {
    /// `key` is the one in the policy.
    pub fn new(key: &'static str, name: impl Into<String>, limit: impl Into<String>) -> Self {
        Self { key, name: name.into(), limit: limit.into() }
    }
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.limit)
    }
}

/// The figure of a group or a table that a model compares with its limit.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Not finite if the definition gives no number (a logarithm of 0).
    pub value: f64,
    /// In words: `3 records`.
    pub words: String,
}

impl Figure {
    /// `words` includes the number and its unit.
    pub fn new(value: f64, words: impl Into<String>) -> Self {
        Self { value, words: words.into() }
    }
}
