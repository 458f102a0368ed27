//! `[[privacy.l-diversity]]`: its keys, its parser and a draft.

use std::sync::Arc;

use super::{LDiversity, LDiversityKind};
use crate::{
    declaration::Columns,
    document::{Fields, PolicyError},
    privacy::{DraftColumns, ModelEntry, PrivacyModel, SectionForm},
};

pub(in crate::privacy) const ENTRY: ModelEntry = ModelEntry {
    name: "l-diversity",
    key: "l-diversity",
    form: SectionForm::List,
    keys: &["column", "l", "kind", "c"],
    summary: "every group has at least l well-represented values of a sensitive column",
    example: "[[privacy.l-diversity]]\ncolumn = \"diagnosis\"\nl = 3\nkind = \"distinct\"   # or \"entropy\", or \"recursive\" with c = 4.0",
    read,
    draft,
    #[cfg(any(test, feature = "testing"))]
    conformance: super::conformance::CONFORMANCE,
};

fn draft(columns: &DraftColumns<'_>) -> Option<String> {
    let column = columns.category()?;
    Some(format!(
        "# Each group has at least l different values of a sensitive column.\n# CONFIRM: do you need this?\n\
         [[privacy.l-diversity]]\ncolumn = {}\nl = {}\n\
         kind = \"distinct\"                   # or \"entropy\", \"recursive\" (then also c = 3)\n",
        column.name,
        column.distinct.clamp(2, 3)
    ))
}

fn read(fields: &Fields<'_>, columns: &Columns<'_>) -> Result<Arc<dyn PrivacyModel>, PolicyError> {
    #[derive(Clone, Copy, PartialEq)]
    enum KindName {
        Distinct,
        Entropy,
        Recursive,
    }
    const KIND_NAMES: &[(&str, KindName)] =
        &[("distinct", KindName::Distinct), ("entropy", KindName::Entropy), ("recursive", KindName::Recursive)];

    let column = columns.guarded(fields)?;
    let kind_name = fields.choice("kind", KIND_NAMES)?.unwrap_or(KindName::Distinct);
    let (min_l, accepted) = match kind_name {
        KindName::Distinct => (1.0, "a whole number of at least 1 (usual: 2 to 10)"),
        KindName::Entropy => (1.0, "a number of at least 1 (usual: 2 to 10)"),
        KindName::Recursive => (2.0, "a whole number of at least 2 (usual: 2 to 10)"),
    };
    let fits = |l: f64| l >= min_l && (kind_name == KindName::Entropy || l.fract() == 0.0);
    let l = fields.required("l", accepted, fields.number("l", accepted, fits)?)?;
    let accepted = "a number above 0 (usual: 1 to 5)";
    let c = fields.number("c", accepted, |c| c > 0.0)?;
    let kind = match (kind_name, c, fields.get("c")) {
        (KindName::Recursive, Some(c), _) => LDiversityKind::Recursive { c },
        (KindName::Recursive, None, _) => {
            return Err(fields.error(format!("recursive l-diversity needs `c`, which must be {accepted}")));
        }
        (_, _, Some(c)) => {
            let message = "`c` is only for kind = \"recursive\"; leave it out, or set that";
            return Err(PolicyError::new(&c.key_span, message));
        }
        (KindName::Distinct, ..) => LDiversityKind::Distinct,
        (KindName::Entropy, ..) => LDiversityKind::Entropy,
    };
    Ok(Arc::new(LDiversity { column, l, kind }))
}
