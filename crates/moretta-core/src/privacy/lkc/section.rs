//! `[privacy.lkc]`: its keys, its parser and a draft.

use std::sync::Arc;

use super::Lkc;
use crate::{
    declaration::Columns,
    document::{Fields, PolicyError},
    privacy::{DraftColumns, ModelEntry, PrivacyModel, SectionForm, k_anonymity, template::above_zero_to_one},
    schema::Role,
    text::{count, counted},
};

pub(in crate::privacy) const ENTRY: ModelEntry = ModelEntry {
    name: "lkc",
    key: "lkc",
    form: SectionForm::Table,
    keys: &["l", "k", "c"],
    summary: "an attacker who knows any l quasi-identifiers finds at least k records alike and infers a sensitive value with confidence at most c",
    example: "[privacy.lkc]\nl = 2\nk = 5\nc = 0.6",
    read,
    draft,
    #[cfg(any(test, feature = "testing"))]
    conformance: super::conformance::CONFORMANCE,
};

fn draft(columns: &DraftColumns<'_>) -> Option<String> {
    let section = "# An attacker who knows any l quasi-identifiers finds at least k matching records, and infers no sensitive value\n\
                   # with a confidence above c. For tables with so many columns that no attacker knows all of them.\n\
                   [privacy.lkc]\nl = 2\nk = 10\nc = 0.5\n";
    columns.has_sensitive.then(|| section.to_owned())
}

fn read(fields: &Fields<'_>, columns: &Columns<'_>) -> Result<Arc<dyn PrivacyModel>, PolicyError> {
    let accepted = "a whole number of at least 1: how many quasi-identifiers an attacker may know (usual: 2 to 4)";
    let l = fields.required("l", accepted, fields.whole("l", accepted)?)?;
    let k = fields.required("k", k_anonymity::ACCEPTED_K, fields.whole("k", k_anonymity::ACCEPTED_K)?)?;
    let accepted = "a number above 0, up to 1 (0.6 is 60 %)";
    let c = fields.required("c", accepted, fields.number("c", accepted, above_zero_to_one)?)?;
    if k == 1 && c >= 1.0 {
        let error =
            fields.error("[privacy.lkc] guarantees nothing: `k` is 1 and `c` is 1, which every table satisfies");
        return Err(error.help("raise `k` (usual: 5 to 50), lower `c` (0.6 is 60 %), or leave the section out"));
    }
    if columns.of_role(Role::Sensitive) == 0 {
        let error = fields.error("[privacy.lkc] guards no column: `c` is for those with role \"sensitive\"");
        return Err(error.help("give a column that role, or ask for `k` under [privacy] instead"));
    }
    let smaller_sets = columns.of_role(Role::Person) > 0 && c < 1.0;
    check_number_of_sets(fields, l, columns.of_role(Role::QuasiIdentifier), smaller_sets)?;
    Ok(Arc::new(Lkc { l, k, c }))
}

/// Refuses an `l` with more than [`Lkc::MAX_SETS`] sets of columns. With `smaller_sets`, those of fewer columns are
/// judged, too.
fn check_number_of_sets(fields: &Fields<'_>, l: u64, columns: u64, smaller_sets: bool) -> Result<(), PolicyError> {
    const COUNT_CAP: u64 = 1_000_000_000;
    let num_sets = |l: u64| {
        let sizes = if smaller_sets { 1..=l.min(columns) } else { l..=l };
        // After a few thousand sizes there are too many sets in any case.
        let sizes = sizes.take(Lkc::MAX_SETS as usize + 1);
        sizes.map(|size| Lkc::num_sets(columns, size, COUNT_CAP)).fold(0, u64::saturating_add).min(COUNT_CAP)
    };
    let found = num_sets(l);
    if found <= Lkc::MAX_SETS {
        return Ok(());
    }
    let most = if smaller_sets { "up to " } else { "" };
    let many = if found < COUNT_CAP { count(found) } else { format!("more than {}", count(COUNT_CAP - 1)) };
    let message = format!(
        "`l` is {l}: there are {many} sets of {most}{l} of the {columns} quasi-identifiers, and at most {} are judged; \
         lower `l`",
        count(Lkc::MAX_SETS)
    );
    let fits = (1..l.min(columns)).rev().map(|l| (l, num_sets(l))).find(|(_, sets)| *sets <= Lkc::MAX_SETS);
    let help = fits.map(|(l, sets)| format!("`l = {l}` has {}", counted(sets, "set", "sets")));
    Err(PolicyError::new(fields.span("l"), message).maybe_help(help))
}
