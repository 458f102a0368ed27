//! `[[privacy.template]]`: its keys, its parser and a draft.

use std::sync::Arc;

use super::{Template, TemplateValues};
use crate::{
    declaration::Columns,
    document::{Fields, PolicyError, wrong},
    privacy::{DraftColumns, ModelEntry, PrivacyModel, SectionForm},
    schema::Role,
};

pub(in crate::privacy) const ENTRY: ModelEntry = ModelEntry {
    name: "template",
    key: "template",
    form: SectionForm::List,
    keys: &["given", "column", "values", "rarest", "max-confidence"],
    summary: "an attacker who knows the `given` columns infers a sensitive value with at most max-confidence",
    example: "[[privacy.template]]\ngiven = [\"job\", \"country\"]\ncolumn = \"bankruptcy\"\nvalues = [\"Discharged\"]   # or: rarest = 0.5\nmax-confidence = 0.75",
    read,
    draft,
    #[cfg(any(test, feature = "testing"))]
    conformance: super::conformance::CONFORMANCE,
};

fn draft(columns: &DraftColumns<'_>) -> Option<String> {
    let column = &columns.category().or(columns.guarded.first())?.name;
    let given: Vec<&str> = columns.quasi_identifiers.iter().take(3).map(String::as_str).collect();
    Some(format!(
        "# An attacker who knows the given columns infers the values with at most this confidence.\n\
         [[privacy.template]]\ngiven = [{}]\ncolumn = {column}\n\
         rarest = 0.5                          # the rarer half of its values; or values = [\"..\", \"..\"]\n\
         max-confidence = 0.5\n",
        given.join(", ")
    ))
}

pub(in crate::privacy) fn above_zero_to_one(number: f64) -> bool {
    number > 0.0 && number <= 1.0
}

fn read(fields: &Fields<'_>, columns: &Columns<'_>) -> Result<Arc<dyn PrivacyModel>, PolicyError> {
    let accepted = "a list of columns with role \"quasi-identifier\", at least one";
    let given = fields.required("given", accepted, fields.texts("given", accepted)?)?;
    if let (true, Some(item)) = (given.is_empty(), fields.item("given")) {
        return Err(wrong("given", item, accepted));
    }
    for (name, span) in &given {
        let accepted = "columns with role \"quasi-identifier\"";
        columns.require("given", name, span, accepted, |role| role == Role::QuasiIdentifier)?;
    }
    let column = columns.guarded(fields)?;
    let values = template_values(fields)?;
    let accepted = "a number above 0, up to 1 (0.75 is 75 %)";
    let max_confidence = fields.number("max-confidence", accepted, above_zero_to_one)?;
    let max_confidence = fields.required("max-confidence", accepted, max_confidence)?;
    let given = given.into_iter().map(|(name, _)| name.to_owned()).collect();
    Ok(Arc::new(Template { given, column, values, max_confidence }))
}

fn template_values(fields: &Fields<'_>) -> Result<TemplateValues, PolicyError> {
    let accepted = "a list of the values to guard, at least one";
    let values = fields.texts("values", accepted)?;
    let share = "a share of the column's values, above 0, up to 1 (0.5 is the rarer half)";
    let rarest = fields.number("rarest", share, above_zero_to_one)?;
    match (values, rarest) {
        (Some(values), None) if !values.is_empty() => {
            Ok(TemplateValues::Listed(values.into_iter().map(|(value, _)| value.to_owned()).collect()))
        }
        (None, Some(share)) => Ok(TemplateValues::Rarest(share)),
        (Some(_), Some(_)) => {
            let span = fields.get("rarest").map_or(&fields.table.span, |entry| &entry.key_span);
            Err(PolicyError::new(span, "the template has both `values` and `rarest`; it must have one of them"))
        }
        (_, None) => match fields.item("values") {
            Some(item) => Err(wrong("values", item, accepted)),
            None => Err(fields
                .error("the template does not say which values it guards")
                .help("it needs values = [\"..\"], or rarest = 0.5 for the rarer half")),
        },
    }
}
