//! The measures that a policy may ask to minimize: the registry's entries that have an [`ObjectiveEntry`].

use super::MEASURES;
use crate::{
    declaration::{ColumnPolicy, Columns},
    document::{Fields, PolicyError},
    objective::ObjectiveKind,
    schema::Role,
};

/// How `[measure]` asks to minimize a measure.
#[derive(Debug, Clone, Copy)]
pub struct ObjectiveEntry {
    /// Keys of the section besides `name` and `weight`.
    pub keys: &'static [&'static str],
    /// Reads these keys.
    pub read: fn(&Fields<'_>, &[ColumnPolicy]) -> Result<ObjectiveKind, PolicyError>,
}

/// The measures that can be minimized, by name, in the order of the registry.
pub fn objectives() -> impl Iterator<Item = (&'static str, &'static ObjectiveEntry)> {
    MEASURES.iter().filter_map(|entry| Some((entry.name, entry.objective.as_ref()?)))
}

/// The value of the key `column`, if it is set, and the target column: the named one, otherwise the class.
pub(super) fn predicted<'c>(
    fields: &Fields<'_>,
    columns: &'c [ColumnPolicy],
    measure: &str,
) -> Result<(Option<String>, &'c ColumnPolicy), PolicyError> {
    let named = Columns::new(columns).kept(fields)?;
    let target = target_column(named.as_deref(), columns).ok_or_else(|| {
        let message = format!("measure \"{measure}\" needs a column: none has the role \"class\"");
        fields.error(message).help("give it to what the recipient predicts, or name a sensitive one in `column`")
    })?;
    Ok((named, target))
}

/// The column that an objective is about: the one it names, otherwise the class.
pub(crate) fn target_column<'c>(named: Option<&str>, columns: &'c [ColumnPolicy]) -> Option<&'c ColumnPolicy> {
    match named {
        Some(name) => columns.iter().find(|column| column.name == name),
        None => columns.iter().find(|column| column.role == Role::Class),
    }
}
