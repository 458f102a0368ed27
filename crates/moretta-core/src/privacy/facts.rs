//! Facts about models and groups in reports: typed values for programs, texts for people.

use std::{any::Any, fmt, sync::Arc};

use serde::{Serialize, Serializer};

/// Facts about a model for programs: its parameters, as a struct that each model defines. Reports contain the struct as
/// JSON.
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

/// Converts the struct of a model to JSON.
pub(super) fn to_json(value: &impl Serialize) -> serde_json::Value {
    serde_json::to_value(value).expect("the struct of a model serializes to JSON")
}

impl ModelFacts {
    /// Wraps the struct of a model.
    pub fn new<T: Any + fmt::Debug + Send + Sync + Serialize>(facts: T) -> Self {
        Self(Arc::new(facts))
    }

    /// Returns the wrapped struct; `None` if its type is not `T`.
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

/// Name and limit of a model, displayed as `k-anonymity (k = 5)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// Key under `[privacy]`.
    pub key: &'static str,
    /// Name of the model, with its variant if it has several: `entropy l-diversity`.
    pub name: String,
    /// The model's limit as text, after the guarded column if there is one: `diagnosis, l = 3`.
    pub limit: String,
}

impl Description {
    /// `key` is the model's key under `[privacy]` in a policy.
    pub fn new(key: &'static str, name: impl Into<String>, limit: impl Into<String>) -> Self {
        Self { key, name: name.into(), limit: limit.into() }
    }
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.limit)
    }
}

/// The number that a model computes for a group or for the table and compares with its limit.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Not finite if the definition yields no finite number, as for the logarithm of 0.
    pub value: f64,
    /// The value with its unit: `3 records`.
    pub text: String,
}

impl Figure {
    /// `text` contains the value and its unit.
    pub fn new(value: f64, text: impl Into<String>) -> Self {
        Self { value, text: text.into() }
    }
}
