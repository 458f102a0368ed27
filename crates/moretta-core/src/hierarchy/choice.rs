//! The hierarchy that a policy chooses for a column.

use serde::{
    Serialize,
    ser::{SerializeMap, Serializer},
};

use super::{
    DateLevel, Decimal,
    numeric::{Builder, Built},
};

/// The key `hierarchy` of a column: how its values are generalized.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HierarchyChoice {
    /// Not set. A category: all values directly under `*`. A number or a date: any interval.
    #[default]
    Default,
    /// Any interval of numbers or dates.
    Free,
    /// Intervals of these widths, one level each: ascending, each a multiple of the one before.
    Widths(Vec<Decimal>),
    /// Intervals between these edges: at least two, ascending.
    Bins(Vec<Decimal>),
    /// The first characters of a code, this many per level: descending, at least 1.
    Prefix(Vec<u32>),
    /// These levels of the calendar, the finest first.
    Dates(Vec<DateLevel>),
    /// Intervals of numbers or dates that are built from the data.
    #[serde(untagged, serialize_with = "built")]
    Built(Built),
    /// A hierarchy file, as the policy writes its path.
    #[serde(untagged)]
    File(String),
}

impl HierarchyChoice {
    /// Whether a column with this hierarchy and no declared type is a column of numbers.
    pub(crate) fn is_for_numbers(&self) -> bool {
        matches!(self, Self::Free | Self::Widths(_) | Self::Bins(_) | Self::Built(_))
    }
}

/// Writes the parameters of the chosen method only.
fn built<S: Serializer>(built: &Built, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    map.serialize_entry("method", built.builder.name())?;
    match &built.builder {
        Builder::Iotf | Builder::Otf => {}
        Builder::Chu { threshold } => map.serialize_entry("threshold", threshold)?,
        Builder::Han { fan_out, threshold } => {
            map.serialize_entry("fan-out", fan_out)?;
            map.serialize_entry("threshold", threshold)?;
        }
        Builder::EqualWidth(parts) | Builder::EqualFrequency(parts) => map.serialize_entry("parts", parts)?,
    }
    if let Some(levels) = built.levels {
        map.serialize_entry("levels", &levels)?;
    }
    map.end()
}
