//! `[[privacy.t-closeness]]`: its keys, its parser and a draft.

use std::sync::Arc;

use super::{Distance, TCloseness};
use crate::{
    declaration::Columns,
    document::{Fields, PolicyError},
    privacy::{DraftColumns, ModelEntry, PrivacyModel, SectionForm},
};

pub(in crate::privacy) const ENTRY: ModelEntry = ModelEntry {
    name: "t-closeness",
    key: "t-closeness",
    form: SectionForm::List,
    keys: &["column", "t", "distance"],
    summary: "in every group a sensitive column is spread nearly as in the whole table",
    example: "[[privacy.t-closeness]]\ncolumn = \"income\"\nt = 0.2\ndistance = \"ordered\"   # or \"equal\", \"hierarchical\"",
    read,
    draft,
    #[cfg(any(test, feature = "testing"))]
    conformance: super::conformance::CONFORMANCE,
};

const DISTANCES: &[(&str, Distance)] =
    &[("equal", Distance::Equal), ("ordered", Distance::Ordered), ("hierarchical", Distance::Hierarchical)];

fn draft(columns: &DraftColumns<'_>) -> Option<String> {
    let ordered = columns.guarded.iter().find(|column| column.kind.is_ordered());
    let column = ordered.or(columns.category()).or(columns.guarded.first())?;
    let distance = if column.kind.is_ordered() { "ordered" } else { "equal" };
    Some(format!(
        "# In each group a sensitive column is distributed nearly as in the whole table: t from 0 (equal) to 1.\n\
         [[privacy.t-closeness]]\ncolumn = {}\nt = 0.2\ndistance = \"{distance}\"\n",
        column.name
    ))
}

fn read(fields: &Fields<'_>, columns: &Columns<'_>) -> Result<Arc<dyn PrivacyModel>, PolicyError> {
    let column = columns.guarded(fields)?;
    let accepted = "a number from 0 to 1 (usual: 0.1 to 0.3)";
    let t = fields.required("t", accepted, fields.number("t", accepted, |t| (0.0..=1.0).contains(&t))?)?;
    Ok(Arc::new(TCloseness { column, t, distance: fields.required_choice("distance", DISTANCES)? }))
}
