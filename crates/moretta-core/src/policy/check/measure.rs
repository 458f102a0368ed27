//! `[measure]`, or several `[[measure]]`: what the release is for.

use std::collections::BTreeMap;

use super::super::MeasureChoice;
use crate::declaration::{ColumnPolicy, Columns};
use crate::document::{self, Entry, Fields, Place, PolicyError, Table, Value, as_number, list, wrong};
use crate::objective::{Costs, Dispersion, Goal, Loss, Purpose};
use crate::schema::{Kind, Role};
use crate::text::shown;

/// The keys of the section.
pub(super) const KEYS: &[&str] = &["name", "weight", "column", "costs", "dispersion"];

#[derive(Clone, Copy, PartialEq)]
enum Name {
    Precision(Loss),
    Classification,
    Regression,
}

const NAMES: &[(&str, Name)] = &[
    (Loss::Ncp.name(), Name::Precision(Loss::Ncp)),
    (Loss::Lm.name(), Name::Precision(Loss::Lm)),
    ("cm", Name::Classification),
    ("rm", Name::Regression),
];
const DISPERSIONS: &[(&str, Dispersion)] = &[("variance", Dispersion::Variance), ("deviation", Dispersion::Deviation)];
const COSTS: &str = "a table of tables: costs.sick.healthy = 5 is what a record of class `sick` costs in a group whose \
                     majority is `healthy`";

/// Which keys mean something for which measure.
fn keys_of(name: Name) -> &'static [&'static str] {
    match name {
        Name::Precision(_) => &["name", "weight"],
        Name::Classification => &["name", "weight", "column", "costs"],
        Name::Regression => &["name", "weight", "column", "dispersion"],
    }
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
        let fields = Fields::new(table, section, KEYS)?;
        let goal = goal(&fields, columns)?;
        if goals.iter().any(|other| same(&other.purpose, &goal.purpose, columns)) {
            let message = format!("[[measure]] asks for the same \"{}\" twice", goal.purpose.name());
            return Err(fields.error(message).help("ask for it once; `weight` says how much it counts"));
        }
        goals.push(goal);
    }
    let span = tables.first().map_or(&entry.item.span, |table| &table.span);
    Ok(Some(MeasureChoice { goals, place: Place::new(span, text) }))
}

fn goal(fields: &Fields<'_>, columns: &[ColumnPolicy]) -> Result<Goal, PolicyError> {
    let name = fields.required_choice("name", NAMES)?;
    if let Some(extra) = fields.table.entries.iter().find(|entry| !keys_of(name).contains(&entry.key.as_str())) {
        let of =
            |key: &str| list(NAMES.iter().filter(|(_, name)| keys_of(*name).contains(&key)).map(|(word, _)| *word));
        let word = NAMES.iter().find(|(_, other)| *other == name).map_or("", |(word, _)| word);
        let message = format!("`{}` means nothing for measure \"{word}\"; it is for {}", extra.key, of(&extra.key));
        return Err(PolicyError::new(&extra.key_span, message));
    }
    let weight = document::weight(fields)?;
    let purpose = match name {
        Name::Precision(loss) => Purpose::Precision(loss),
        Name::Classification => {
            let (column, _) = predicted(fields, columns, "cm")?;
            Purpose::Classification { column, costs: costs(fields)? }
        }
        Name::Regression => {
            let (column, about) = predicted(fields, columns, "rm")?;
            if about.kind == Some(Kind::Category) {
                let at_fault = if column.is_some() { "column" } else { "name" };
                let message = format!("measure \"rm\" is for numbers, but `{}` is a category", shown(&about.name));
                return Err(PolicyError::new(fields.span(at_fault), message).help("\"cm\" is for classes"));
            }
            Purpose::Regression { column, dispersion: fields.choice("dispersion", DISPERSIONS)?.unwrap_or_default() }
        }
    };
    Ok(Goal { purpose, weight })
}

/// The column as it is named, if it is, and what is known of the one that is meant.
fn predicted<'c>(
    fields: &Fields<'_>,
    columns: &'c [ColumnPolicy],
    measure: &str,
) -> Result<(Option<String>, &'c ColumnPolicy), PolicyError> {
    let named = Columns::new(columns).kept(fields)?;
    let about = about(named.as_deref(), columns).ok_or_else(|| {
        let message = format!("measure \"{measure}\" needs a column: none has the role \"class\"");
        fields.error(message).help("give it to what the recipient predicts, or name a sensitive one in `column`")
    })?;
    Ok((named, about))
}

fn about<'c>(named: Option<&str>, columns: &'c [ColumnPolicy]) -> Option<&'c ColumnPolicy> {
    match named {
        Some(name) => columns.iter().find(|column| column.name == name),
        None => columns.iter().find(|column| column.role == Role::Class),
    }
}

/// Whether two are the same, however the class is named.
fn same(one: &Purpose, other: &Purpose, columns: &[ColumnPolicy]) -> bool {
    let with_column = |purpose: &Purpose| {
        let mut purpose = purpose.clone();
        if let Purpose::Classification { column, .. } | Purpose::Regression { column, .. } = &mut purpose {
            *column = about(column.as_deref(), columns).map(|column| column.name.clone());
        }
        purpose
    };
    with_column(one) == with_column(other)
}

fn costs(fields: &Fields<'_>) -> Result<Costs, PolicyError> {
    let Some(item) = fields.item("costs") else { return Ok(Costs::default()) };
    let Value::Table(classes) = &item.value else { return Err(wrong("costs", item, COSTS)) };
    let mut costs = BTreeMap::new();
    for Entry { key: actual, item, .. } in &classes.entries {
        let Value::Table(majorities) = &item.value else {
            return Err(wrong(&format!("costs.{}", shown(actual)), item, &format!("part of {COSTS}")));
        };
        let mut of_class = BTreeMap::new();
        for entry in &majorities.entries {
            of_class.insert(entry.key.clone(), cost(actual, entry)?);
        }
        if !of_class.is_empty() {
            costs.insert(actual.clone(), of_class);
        }
    }
    Ok(Costs(costs))
}

fn cost(actual: &str, entry: &Entry) -> Result<f64, PolicyError> {
    let key = format!("costs.{}.{}", shown(actual), shown(&entry.key));
    if entry.key == actual {
        let message = format!("`{key}` is of a record of the majority's own class, which costs nothing; leave it out");
        return Err(PolicyError::new(&entry.key_span, message));
    }
    match as_number(&entry.item.value) {
        Some(cost) if (0.0..=1e6).contains(&cost) => Ok(cost),
        _ => Err(wrong(&key, &entry.item, "a number from 0 to 1000000 (1 where it is left out)")),
    }
}
