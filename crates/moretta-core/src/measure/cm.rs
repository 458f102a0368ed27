//! Classification metric (Iyengar 2002): records that differ from the majority class of their group.

use std::collections::BTreeMap;

use super::{MeasureContext, MeasureEntry, ObjectiveEntry, objective_entry::predicted, objective_value};
use crate::{
    document::{Entry, Fields, PolicyError, Value, as_number, wrong},
    ids::AttributeId,
    objective::{Costs, ObjectiveKind},
    privacy::Group,
    text::shown,
};

pub(super) const ENTRY: MeasureEntry = MeasureEntry {
    name: "cm",
    summary: "classification metric: share of records suppressed or outside their group's majority class, weighted by `costs` if set",
    value: |context| {
        objective_value::of_policy(context, &ObjectiveKind::Classification { column: None, costs: Costs::default() })
    },
    of_column: None,
    needs_cells: false,
    objective: Some(ObjectiveEntry {
        keys: &["column", "costs"],
        read: |fields, columns| {
            let (column, _) = predicted(fields, columns, "cm")?;
            Ok(ObjectiveKind::Classification { column, costs: read_costs(fields)? })
        },
    }),
};

const COSTS: &str = "a table of tables: costs.sick.healthy = 5 is the cost of a record of class `sick` in a group whose \
                     majority is `healthy`";

/// Mean cost per record of classifying it by its group's majority, or of its suppression.
pub(super) fn mistakes(context: &MeasureContext<'_>, class: AttributeId, costs: &Costs) -> f64 {
    let costs = costs.bind(&context.records.attributes()[class.index()]);
    let of_group = |group: usize| {
        let members = context.released.grouping().members(group);
        let suppressed = context.released.is_suppressed(group);
        // Fast path for original tables: a group of one variant has one class, so no mistakes.
        if members.len() == 1 && !suppressed {
            return 0.0;
        }
        let group = Group::of_records(context.records, members);
        let histogram = group.histogram(class);
        if suppressed {
            histogram.iter().map(|&(class, n)| costs.of_suppressed(class) * n as f64).sum()
        } else {
            costs.of_group(histogram)
        }
    };
    (0..context.released.groups()).map(of_group).sum::<f64>() / context.total()
}

fn read_costs(fields: &Fields<'_>) -> Result<Costs, PolicyError> {
    let Some(item) = fields.item("costs") else { return Ok(Costs::default()) };
    let Value::Table(classes) = &item.value else { return Err(wrong("costs", item, COSTS)) };
    let mut costs = BTreeMap::new();
    for Entry { key: actual, item, .. } in &classes.entries {
        let Value::Table(majorities) = &item.value else {
            return Err(wrong(&format!("costs.{}", shown(actual)), item, &format!("part of {COSTS}")));
        };
        let mut of_class = BTreeMap::new();
        for entry in &majorities.entries {
            of_class.insert(entry.key.clone(), read_cost(actual, entry)?);
        }
        if !of_class.is_empty() {
            costs.insert(actual.clone(), of_class);
        }
    }
    Ok(Costs(costs))
}

fn read_cost(actual: &str, entry: &Entry) -> Result<f64, PolicyError> {
    let key = format!("costs.{}.{}", shown(actual), shown(&entry.key));
    if entry.key == actual {
        let message = format!("`{key}` is the cost of the correct class, which is always 0; remove it");
        return Err(PolicyError::new(&entry.key_span, message));
    }
    match as_number(&entry.item.value) {
        Some(cost) if (0.0..=1e6).contains(&cost) => Ok(cost),
        _ => Err(wrong(&key, &entry.item, "a number from 0 to 1000000 (default: 1)")),
    }
}
