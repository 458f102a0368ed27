//! `[measure]`, or several `[[measure]]`: the objectives to minimize. Each measure reads its own keys
//! ([`ObjectiveEntry`]).

use crate::{
    declaration::ColumnPolicy,
    document::{self, Fields, PolicyError, TextLocation, TomlTable, Value, list, wrong},
    measure::{ObjectiveEntry, objectives, target_column},
    objective::{Objective, ObjectiveKind},
    policy::MeasureChoice,
};

/// The keys that every objective has.
const COMMON: &[&str] = &["name", "weight"];

/// The keys of the section.
pub(super) fn keys() -> Vec<&'static str> {
    let mut keys = COMMON.to_vec();
    for key in objectives().flat_map(|(_, objective)| objective.keys) {
        if !keys.contains(key) {
            keys.push(key);
        }
    }
    keys
}

pub(super) fn measure(
    policy: &TomlTable,
    text: &str,
    columns: &[ColumnPolicy],
) -> Result<Option<MeasureChoice>, PolicyError> {
    let Some(entry) = policy.get("measure") else { return Ok(None) };
    let right = "a table, begun with [measure], or a list of tables, each begun with [[measure]]";
    let (tables, section): (Vec<&TomlTable>, _) = match &entry.item.value {
        Value::Table(table) => (vec![table], "[measure]"),
        Value::Array(items) if !items.is_empty() => (document::tables("measure", items, right)?, "[[measure]]"),
        _ => return Err(wrong("measure", &entry.item, right)),
    };
    let mut objectives: Vec<Objective> = Vec::with_capacity(tables.len());
    for table in &tables {
        let fields = Fields::new(table, section, &keys())?;
        let objective = objective(&fields, columns)?;
        if objectives.iter().any(|other| same(&other.kind, &objective.kind, columns)) {
            let message = format!("[[measure]] has the measure \"{}\" twice", objective.kind.name());
            return Err(fields.error(message).help("name it once and set its `weight`"));
        }
        objectives.push(objective);
    }
    let span = tables.first().map_or(&entry.item.span, |table| &table.span);
    Ok(Some(MeasureChoice { objectives, location: TextLocation::new(span, text) }))
}

fn has_key(objective: &ObjectiveEntry, key: &str) -> bool {
    COMMON.contains(&key) || objective.keys.contains(&key)
}

fn objective(fields: &Fields<'_>, columns: &[ColumnPolicy]) -> Result<Objective, PolicyError> {
    let known: Vec<(&str, (&str, &ObjectiveEntry))> = objectives().map(|(name, entry)| (name, (name, entry))).collect();
    let (name, objective) = fields.required_choice("name", &known)?;
    if let Some(extra) = fields.table.entries.iter().find(|entry| !has_key(objective, &entry.key)) {
        let of = objectives().filter(|(_, objective)| has_key(objective, &extra.key)).map(|(name, _)| name);
        let message = format!("`{}` has no effect for measure \"{name}\"; it is for {}", extra.key, list(of));
        return Err(PolicyError::new(&extra.key_span, message));
    }
    Ok(Objective { kind: (objective.read)(fields, columns)?, weight: document::weight(fields)? })
}

/// Whether two objectives are the same, whether the class column is named or implied.
fn same(one: &ObjectiveKind, other: &ObjectiveKind, columns: &[ColumnPolicy]) -> bool {
    let with_column = |kind: &ObjectiveKind| {
        let mut kind = kind.clone();
        if let ObjectiveKind::Classification { column, .. } | ObjectiveKind::Regression { column, .. } = &mut kind {
            *column = target_column(column.as_deref(), columns).map(|column| column.name.clone());
        }
        kind
    };
    with_column(one) == with_column(other)
}
