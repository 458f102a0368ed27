//! Values of a known kind: sexes, marital statuses, diagnoses, results.

use moretta_core::schema::Role;

use super::{Decision, Evidence};
use crate::{topics::Meaning, values::Shape};

pub(super) fn sexes(column: &Evidence<'_>) -> Option<Decision> {
    // `F` and `M` under another name are codes: felony and misdemeanor.
    let is_other = column
        .words
        .topic(&column.look)
        .is_some_and(|topic| topic.meaning != Meaning::WeakIdentifier && topic.what != "a sex or gender");
    if column.look.longest == Some(1) && is_other {
        return None;
    }
    let why = "its values look like sexes, which an attacker knows";
    (column.look.shape == Shape::Sexes).then(|| Decision::new(Role::QuasiIdentifier, why))
}

pub(super) fn marital_statuses(column: &Evidence<'_>) -> Option<Decision> {
    let why = "its values look like marital statuses, which an attacker may know";
    (column.look.shape == Shape::MaritalStatuses).then(|| Decision::new(Role::QuasiIdentifier, why))
}

pub(super) fn medical(column: &Evidence<'_>) -> Option<Decision> {
    let Shape::Medical(what) = column.look.shape else { return None };
    let why = format!("its values look like {what} ({}), which an attacker should not learn", column.amount());
    Some(Decision { is_diagnosis: true, ..Decision::new(Role::Sensitive, why) })
}

pub(super) fn outcomes(column: &Evidence<'_>) -> Option<Decision> {
    (column.look.shape == Shape::Outcomes).then(|| {
        Decision::new(
            Role::Sensitive,
            "its two values look like the results of a test or a decision; another column is the class",
        )
        .or_class(2, "its two values look like the results of a test or a decision: a value to predict")
    })
}
