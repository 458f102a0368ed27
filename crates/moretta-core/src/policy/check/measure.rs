//! `[measure]`, or several `[[measure]]`: what the release is for. Each measure reads its own keys
//! ([`ObjectiveEntry`](crate::measure::ObjectiveEntry)).

use super::super::MeasureChoice;
use crate::declaration::ColumnPolicy;
use crate::document::{self, Fields, Place, PolicyError, Table, Value, list, wrong};
use crate::measure::{ObjectiveEntry, objectives, target_column};
use crate::objective::{Goal, Purpose};

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
    policy: &Table,
    text: &str,
    columns: &[ColumnPolicy],
) -> Result<Option<MeasureChoice>, PolicyError> {
    let Some(entry) = policy.get("measure") else { return Ok(None) };
    let right = "a table, begun with [measure], or a list of tables, each begun with [[measure]]";
    let (tables, section): (Vec<&Table>, _) = match &entry.item.value {
        Value::Table(table) => (vec![table], "[measure]"),
        Value::Array(items) if !items.is_empty() => (document::tables("measure", items, right)?, "[[measure]]"),
        _ => return Err(wrong("measure", &entry.item, right)),
    };
    let mut goals: Vec<Goal> = Vec::with_capacity(tables.len());
    for table in &tables {
        let fields = Fields::new(table, section, &keys())?;
        let goal = goal(&fields, columns)?;
        if goals.iter().any(|other| same(&other.purpose, &goal.purpose, columns)) {
            let message = format!("[[measure]] has the measure \"{}\" twice", goal.purpose.name());
            return Err(fields.error(message).help("name it once and set its `weight`"));
        }
        goals.push(goal);
    }
    let span = tables.first().map_or(&entry.item.span, |table| &table.span);
    Ok(Some(MeasureChoice { goals, place: Place::new(span, text) }))
}

fn has_key(objective: &ObjectiveEntry, key: &str) -> bool {
    COMMON.contains(&key) || objective.keys.contains(&key)
}

fn goal(fields: &Fields<'_>, columns: &[ColumnPolicy]) -> Result<Goal, PolicyError> {
    let known: Vec<(&str, (&str, &ObjectiveEntry))> = objectives().map(|(name, entry)| (name, (name, entry))).collect();
    let (name, objective) = fields.required_choice("name", &known)?;
    if let Some(extra) = fields.table.entries.iter().find(|entry| !has_key(objective, &entry.key)) {
        let of = objectives().filter(|(_, objective)| has_key(objective, &extra.key)).map(|(name, _)| name);
        let message = format!("`{}` has no effect for measure \"{name}\"; it is for {}", extra.key, list(of));
        return Err(PolicyError::new(&extra.key_span, message));
    }
    Ok(Goal { purpose: (objective.read)(fields, columns)?, weight: document::weight(fields)? })
}

/// Whether two are the same, however the class is named.
fn same(one: &Purpose, other: &Purpose, columns: &[ColumnPolicy]) -> bool {
    let with_column = |purpose: &Purpose| {
        let mut purpose = purpose.clone();
        if let Purpose::Classification { column, .. } | Purpose::Regression { column, .. } = &mut purpose {
            *column = target_column(column.as_deref(), columns).map(|column| column.name.clone());
        }
        purpose
    };
    with_column(one) == with_column(other)
}
