//! Serialization of a policy, for reports and recoding files.
//!
//! The serialized policy has the keys of the TOML file, so that the same code can check it when it is read back.

use serde::{
    de::{Deserialize, Deserializer, Error},
    ser::{Serialize, SerializeMap, Serializer},
};

use super::{ColumnPolicy, MeasureChoice, Policy, check};
use crate::{
    document::TomlTable,
    hierarchy::HierarchyChoice,
    objective::{Costs, Dispersion, Objective, ObjectiveKind},
    schema::Role,
};

/// Runs every check of [`Policy::parse`], except for the method's name: the list of methods is not available here.
impl<'de> Deserialize<'de> for Policy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let table = TomlTable::deserialize(deserializer)?;
        check::policy(&table, "", None).map_err(D::Error::custom)
    }
}

/// Leaves out the name, which is the key in `columns`, and the keys that the column's role does not have.
impl Serialize for ColumnPolicy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("role", &self.role)?;
        if let Some(kind) = &self.kind {
            map.serialize_entry("type", kind)?;
        }
        if let Some(format) = &self.format {
            map.serialize_entry("format", format.as_str())?;
        }
        if self.hierarchy != HierarchyChoice::Default {
            map.serialize_entry("hierarchy", &self.hierarchy)?;
        }
        if self.role == Role::QuasiIdentifier {
            map.serialize_entry("weight", &self.weight)?;
        }
        if !matches!(self.role, Role::Identifier | Role::Insensitive) {
            map.serialize_entry("missing", &self.missing)?;
        }
        if !self.missing_texts.is_empty() {
            map.serialize_entry("missing-texts", &self.missing_texts)?;
        }
        if !self.fold {
            map.serialize_entry("fold", &false)?;
        }
        map.end()
    }
}

/// A single objective as a table, several as a list of tables.
impl Serialize for MeasureChoice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.objectives.as_slice() {
            [objective] => objective.serialize(serializer),
            objectives => objectives.serialize(serializer),
        }
    }
}

/// Leaves out keys with default values.
impl Serialize for Objective {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", self.kind.name())?;
        if self.weight != 1.0 {
            map.serialize_entry("weight", &self.weight)?;
        }
        if let ObjectiveKind::Classification { column: Some(column), .. }
        | ObjectiveKind::Regression { column: Some(column), .. } = &self.kind
        {
            map.serialize_entry("column", column)?;
        }
        match &self.kind {
            ObjectiveKind::Classification { costs, .. } if *costs != Costs::default() => {
                map.serialize_entry("costs", costs)?;
            }
            ObjectiveKind::Regression { dispersion, .. } if *dispersion != Dispersion::default() => {
                map.serialize_entry("dispersion", dispersion)?;
            }
            _ => {}
        }
        map.end()
    }
}

pub(super) fn columns<S: Serializer>(columns: &[ColumnPolicy], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(columns.iter().map(|column| (&column.name, column)))
}
