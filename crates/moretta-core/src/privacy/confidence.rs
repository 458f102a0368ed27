//! Confidence templates (Wang, Fung, Yu 2007): whoever knows some columns must not infer a sensitive value with
//! more than a given confidence.
//!
//! `conf(qid -> pi)` is the share of the records with the released values `qid` that carry `pi`; the limit is on its
//! maximum over all `qid` in the table, `*` included as a value. A template over several values is one for each.

use super::{
    BoundModel, Group, Limit, ModelEntry, ModelError, ModelFacts, PrivacyModel, ShareLimit, TOLERANCE, attribute_named,
    below,
};
use crate::{
    ids::{AttributeId, ColumnId},
    policy::{Policy, Template, TemplateValues},
    profile::Profile,
    suggest::nearest,
};

pub(super) const ENTRY: ModelEntry = ModelEntry {
    name: "template",
    summary: "whoever knows the `given` columns infers a sensitive value with at most max-confidence",
    example: "[[privacy.template]]\ngiven = [\"job\", \"country\"]\ncolumn = \"bankruptcy\"\nvalues = [\"Discharged\"]   # or: rarest = 0.5\nmax-confidence = 0.75",
    from_policy: |policy| Confidence::all(policy).map(|model| Box::new(model) as Box<dyn PrivacyModel>).collect(),
};

/// A limit on the confidence of inferring sensitive values.
#[derive(Debug, Clone)]
pub struct Confidence {
    /// What the policy asks for.
    pub template: Template,
    /// Its place among the policy's templates.
    pub place: usize,
}

struct Bound {
    asked: Template,
    place: usize,
    value: String,
    /// None where the value does not occur: then nothing can be inferred.
    code: Option<u32>,
    attribute: AttributeId,
    scope: Vec<ColumnId>,
}

impl Confidence {
    /// Every template of a policy.
    pub fn all(policy: &Policy) -> impl Iterator<Item = Self> {
        policy.privacy.templates.iter().cloned().enumerate().map(|(place, template)| Self { template, place })
    }

    /// The known columns, in order, and the guarded one, in this table.
    pub fn place(&self, profile: &Profile) -> Result<(Vec<ColumnId>, AttributeId), ModelError> {
        let attribute = attribute_named(profile, &self.template.column)?;
        let mut scope = Vec::new();
        for name in &self.template.given {
            let column = profile.columns().iter().position(|column| column.name == *name);
            let column =
                column.ok_or_else(|| ModelError(format!("`{name}` is not a quasi-identifier of this table")))?;
            scope.push(ColumnId::from_index(column));
        }
        scope.sort_unstable();
        Ok((scope, attribute))
    }

    /// The values the template speaks of, in this table.
    pub fn values(&self, profile: &Profile) -> Result<Vec<String>, ModelError> {
        let attribute = attribute_named(profile, &self.template.column)?;
        match &self.template.values {
            TemplateValues::Listed(values) => Ok(values.clone()),
            TemplateValues::Rarest(share) => Ok(rarest(profile, attribute, *share)),
        }
    }

    /// Refuses a share of the values that is none of them: the template would guard nothing, and nobody would notice.
    pub fn check_values(&self, profile: &Profile) -> Result<(), ModelError> {
        match &self.template.values {
            TemplateValues::Rarest(share) if self.values(profile)?.is_empty() => {
                let column = &self.template.column;
                let known = profile.attributes()[attribute_named(profile, column)?.index()].values.len();
                let message =
                    format!("template on `{column}`: `rarest = {share}` of its {known} values is none; raise it");
                Err(ModelError(message))
            }
            _ => Ok(()),
        }
    }

    /// A listed value that the table does not have, and the one that may have been meant. Such a template would hold
    /// whatever the table says, so a holder must hear of it.
    pub fn unknown_value(&self, profile: &Profile) -> Option<(&str, Option<String>)> {
        let attribute = &profile.attributes()[profile.attribute(&self.template.column)?.index()];
        let TemplateValues::Listed(values) = &self.template.values else { return None };
        let unknown = values.iter().find(|value| attribute.code(value).is_none())?;
        let near = nearest(unknown, attribute.values.iter().map(|value| &**value));
        Some((unknown, near.map(str::to_owned)))
    }
}

/// The less frequent share of a column's values: by count, then by label, the first floor(share of them).
fn rarest(profile: &Profile, attribute: AttributeId, share: f64) -> Vec<String> {
    let everything = profile.everything();
    let values = &profile.attributes()[attribute.index()].values;
    let mut counted: Vec<(u64, &str)> = Group::new(profile, &everything)
        .histogram(attribute)
        .iter()
        .map(|&(code, records)| (records, &*values[code as usize]))
        .collect();
    counted.sort_unstable();
    let kept = (share * counted.len() as f64 + TOLERANCE).floor() as usize;
    counted[..kept.min(counted.len())].iter().map(|(_, value)| (*value).to_owned()).collect()
}

impl PrivacyModel for Confidence {
    fn bind(&self, profile: &Profile) -> Result<Vec<Box<dyn BoundModel>>, ModelError> {
        let (scope, attribute) = self.place(profile)?;
        let known = &profile.attributes()[attribute.index()];
        let bound = |value: String| -> Box<dyn BoundModel> {
            let (asked, code, scope) = (self.template.clone(), known.code(&value), scope.clone());
            Box::new(Bound { asked, place: self.place, value, code, attribute, scope })
        };
        Ok(self.values(profile)?.into_iter().map(bound).collect())
    }
}

impl Bound {
    fn inferred(&self, group: &Group<'_>) -> f64 {
        let Some(code) = self.code else { return 0.0 };
        group.records_with(self.attribute, code) as f64 / group.records().max(1) as f64
    }
}

impl BoundModel for Bound {
    fn describe(&self) -> String {
        let Template { given, column, max_confidence, .. } = &self.asked;
        let value = if self.value.is_empty() { "\"\"" } else { &self.value };
        format!("confidence ({} -> {column} = {value}, at most {max_confidence})", given.join(", "))
    }

    fn scope(&self) -> &[ColumnId] {
        &self.scope
    }

    fn margin(&self, group: &Group<'_>) -> f64 {
        below(self.asked.max_confidence, self.inferred(group))
    }

    fn limits(&self) -> Option<Vec<Limit>> {
        let share = ShareLimit::at_most(self.asked.max_confidence);
        let limit = |value| Limit::Share { attribute: self.attribute, value, share };
        Some(self.code.map(limit).into_iter().collect())
    }

    fn figure(&self, group: &Group<'_>) -> String {
        // More digits where three would seem to be within the limit.
        let (found, most) = (self.inferred(group), self.asked.max_confidence);
        let digits = if found > most && (found * 1000.0).round() <= most * 1000.0 { 9 } else { 3 };
        format!("confidence {found:.digits$}")
    }

    fn confidence(&self, group: &Group<'_>) -> Option<f64> {
        Some(self.inferred(group))
    }

    fn facts(&self) -> ModelFacts {
        let Template { given, column, max_confidence, .. } = self.asked.clone();
        ModelFacts::Confidence { template: self.place, given, column, value: self.value.clone(), max_confidence }
    }
}
