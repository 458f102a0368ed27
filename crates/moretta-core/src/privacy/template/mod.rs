//! Confidence templates (Wang, Fung, Yu 2007): an attacker who knows some columns must not infer a sensitive value with
//! more than a given confidence.
//!
//! `conf(qid -> pi)` is the share of the records (or persons, if the table has a person column) with the released
//! values `qid` that carry `pi`; the limit is on its maximum over all `qid` in the table, `*` included as a value. A
//! template over several values is one for each.

#[cfg(any(test, feature = "testing"))]
mod conformance;
mod redundancy;
mod section;

use std::sync::Arc;

use serde::{Serialize, Serializer, ser::SerializeMap};

pub use self::redundancy::redundant;
pub(super) use self::section::{ENTRY, above_zero_to_one};
use super::{
    BoundModel, BoundModels, Description, Figure, Group, Limit, ModelError, ModelFacts, PrivacyModel, Sentence,
    ShareLimit, TOLERANCE, at_most, attribute_named, to_json,
};
use crate::{
    declaration::ColumnPolicy,
    ids::{AttributeId, ColumnId},
    profile::{Profile, Tables},
    schema::Unit,
    suggest::nearest,
    text::shown,
};

/// A limit on the confidence of inferring sensitive values.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Template {
    /// The known columns: quasi-identifiers, at least one, none twice.
    pub given: Vec<String>,
    /// The guarded column: sensitive or class.
    pub column: String,
    /// The guarded values of that column; the limit applies to each of them.
    #[serde(flatten)]
    pub values: TemplateValues,
    /// Above 0, at most 1.
    pub max_confidence: f64,
}

/// The values that a template guards.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub enum TemplateValues {
    /// At least one value, none twice.
    #[serde(rename = "values")]
    Listed(Vec<String>),
    /// The least frequent values: this share (above 0, at most 1) of the distinct values.
    #[serde(rename = "rarest")]
    Rarest(f64),
}

/// A template for one value, for reports.
#[derive(Debug, Clone, PartialEq)]
pub struct TemplateFacts {
    /// The template of the policy, which may guard other values too.
    pub template: Arc<Template>,
    /// The value that must not be inferred.
    pub value: String,
    /// The value in reports: itself if the policy lists it. The rarest values come from the data and are numbered.
    pub named: String,
}

impl Serialize for TemplateFacts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Template { given, column, max_confidence, .. } = &*self.template;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("given", given)?;
        map.serialize_entry("column", column)?;
        map.serialize_entry("value", &self.named)?;
        map.serialize_entry("max_confidence", max_confidence)?;
        map.end()
    }
}

impl TemplateFacts {
    /// The model in reports, without values that come from the data. [`BoundModel::describe`] names them, for the data
    /// holder.
    pub fn description(&self) -> Description {
        description(&self.template, &self.named)
    }
}

fn description(template: &Template, value: &str) -> Description {
    let Template { given, column, max_confidence, .. } = template;
    let value = if value.is_empty() { "\"\"".to_owned() } else { shown(value) };
    let limit = format!("{} -> {column} = {value}, at most {max_confidence}", given.join(", "));
    Description::new(ENTRY.key, "confidence", limit)
}

struct BoundTemplate {
    facts: TemplateFacts,
    /// `None` if the value does not occur: then it cannot be inferred.
    code: Option<u32>,
    attribute: AttributeId,
    scope: Vec<ColumnId>,
    unit: Unit,
}

impl Template {
    /// The known columns (sorted) and the guarded column in this table.
    pub fn columns(&self, profile: &Profile) -> Result<(Vec<ColumnId>, AttributeId), ModelError> {
        let attribute = attribute_named(profile, &self.column)?;
        let mut scope = Vec::new();
        for name in &self.given {
            let column = profile.columns().iter().position(|column| column.name == *name);
            let column = column
                .ok_or_else(|| ModelError(format!("`{}` is not a quasi-identifier of this table", shown(name))))?;
            scope.push(ColumnId::from_index(column));
        }
        scope.sort_unstable();
        Ok((scope, attribute))
    }

    /// The guarded values in this table.
    pub fn values_in(&self, profile: &Profile) -> Result<Vec<String>, ModelError> {
        let attribute = attribute_named(profile, &self.column)?;
        match &self.values {
            TemplateValues::Listed(values) => Ok(values.clone()),
            TemplateValues::Rarest(share) => Ok(rarest(profile, attribute, *share)),
        }
    }
}

/// The `floor(share * n)` least frequent of the n values of a column; ties are broken by label.
fn rarest(profile: &Profile, attribute: AttributeId, share: f64) -> Vec<String> {
    let everything = profile.everything();
    let values = &profile.attributes()[attribute.index()];
    let mut counted: Vec<(u64, &str, u32)> = Group::new(profile, &everything)
        .histogram(attribute)
        .iter()
        .map(|&(code, records)| (records, &*values.values[code as usize], code))
        .collect();
    counted.sort_unstable();
    let kept = (share * counted.len() as f64 + TOLERANCE).floor() as usize;
    counted[..kept.min(counted.len())].iter().map(|(_, _, code)| values.named(*code).into_owned()).collect()
}

impl PrivacyModel for Template {
    fn key(&self) -> &'static str {
        ENTRY.key
    }

    fn section(&self) -> serde_json::Value {
        to_json(self)
    }

    fn sentence(&self, _: &[ColumnPolicy]) -> Sentence {
        let sentence = Sentence::default().text("an attacker who knows ").names(&self.given, "and");
        let sentence = sentence.text(" of a person can be at most ").share(self.max_confidence).text(" sure that ");
        let sentence = sentence.name(&self.column).text(" is ");
        match &self.values {
            TemplateValues::Listed(values) => {
                sentence.names(values, "or").text(if values.len() > 1 { ", each taken on its own" } else { "" })
            }
            TemplateValues::Rarest(share) => {
                sentence.text("any one of the rarest ").share(*share).text(" of its values")
            }
        }
    }

    fn guards(&self, _: &[ColumnPolicy]) -> Vec<String> {
        vec![self.column.clone()]
    }

    fn assumes_known(&self, _: &[ColumnPolicy]) -> Vec<String> {
        self.given.clone()
    }

    fn is_trivial(&self) -> bool {
        self.max_confidence >= 1.0
    }

    fn bind(&self, tables: &Tables<'_>) -> Result<BoundModels, ModelError> {
        let (scope, attribute) = self.columns(tables.table)?;
        let known = &tables.table.attributes()[attribute.index()];
        let (template, mut bound) = (Arc::new(self.clone()), BoundModels::default());
        let values = self.values_in(tables.table)?;
        let count = values.len();
        for (number, value) in (1..).zip(values) {
            let (code, scope) = (known.code_of_named(&value), scope.clone());
            let named = match self.values {
                TemplateValues::Listed(_) => value.clone(),
                TemplateValues::Rarest(_) => format!("rare value {number} of {count}"),
            };
            let facts = TemplateFacts { template: Arc::clone(&template), value, named };
            let unit = tables.table.unit();
            bound.of_groups.push(Box::new(BoundTemplate { facts, code, attribute, scope, unit }));
        }
        Ok(bound)
    }

    /// Refuses a share of the values that rounds to no value.
    fn check_table(&self, table: &Profile) -> Result<(), ModelError> {
        match &self.values {
            TemplateValues::Rarest(share) if self.values_in(table)?.is_empty() => {
                let known = table.attributes()[attribute_named(table, &self.column)?.index()].values.len();
                let column = shown(&self.column);
                let message =
                    format!("template on `{column}`: `rarest = {share}` of its {known} values is none; raise it");
                Err(ModelError(message))
            }
            _ => Ok(()),
        }
    }

    fn check_values(&self, original: &Profile) -> Result<(), ModelError> {
        let attribute = &original.attributes()[attribute_named(original, &self.column)?.index()];
        let TemplateValues::Listed(values) = &self.values else { return Ok(()) };
        let Some(unknown) = values.iter().find(|value| attribute.code_of_named(value).is_none()) else { return Ok(()) };
        let near = nearest(unknown, attribute.values.iter().map(|value| &**value));
        let hint = near.map_or(String::new(), |near| format!("; did you mean `{}`?", shown(near)));
        let (unknown, column) = (shown(unknown), shown(&self.column));
        Err(ModelError(format!("a template guards `{unknown}`, which does not occur in column `{column}`{hint}")))
    }

    /// Lists the rarest values of this table: other values may be the rarest in another one.
    fn fixed(&self, table: &Profile) -> Option<Arc<dyn PrivacyModel>> {
        let TemplateValues::Rarest(_) = self.values else { return None };
        let values = self.values_in(table).ok().filter(|values| !values.is_empty())?;
        Some(Arc::new(Self { values: TemplateValues::Listed(values), ..self.clone() }))
    }
}

impl BoundTemplate {
    fn max_confidence(&self) -> f64 {
        self.facts.template.max_confidence
    }

    fn inferred(&self, group: &Group<'_>) -> f64 {
        self.code.map_or(0.0, |code| group.share_of(self.attribute, code))
    }
}

impl BoundModel for BoundTemplate {
    fn describe(&self) -> Description {
        description(&self.facts.template, &self.facts.value)
    }

    fn scope(&self) -> &[ColumnId] {
        &self.scope
    }

    fn is_closed_under_union(&self) -> bool {
        self.unit == Unit::Records
    }

    fn margin(&self, group: &Group<'_>) -> f64 {
        at_most(self.max_confidence(), self.inferred(group))
    }

    fn figure(&self, group: &Group<'_>) -> Figure {
        // More digits if three would seem to be within the limit.
        let (found, limit) = (self.inferred(group), self.max_confidence());
        let digits = if found > limit && (found * 1000.0).round() <= limit * 1000.0 { 9 } else { 3 };
        Figure::new(found, format!("confidence {found:.digits$}"))
    }

    fn facts(&self) -> ModelFacts {
        ModelFacts::new(self.facts.clone())
    }

    fn limits(&self) -> Option<Vec<Limit>> {
        let share = ShareLimit::at_most(self.max_confidence());
        let limit = |value| Limit::Share { attribute: self.attribute, value, share };
        (self.unit == Unit::Records).then(|| self.code.map(limit).into_iter().collect())
    }

    fn confidence(&self, group: &Group<'_>) -> Option<f64> {
        Some(self.inferred(group))
    }
}
