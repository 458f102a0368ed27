//! Columns without evidence: in doubt, an attacker may know them.

use moretta_core::schema::Role;

use super::{Decision, Evidence};

/// Fractional numbers that nearly all differ.
pub(super) fn measurement(column: &Evidence<'_>) -> Option<Decision> {
    let numbers = column.look.numbers()?;
    (!numbers.whole && column.look.nearly_unique()).then(|| {
        let why = format!(
            "{}: exact to a person; in doubt, others have them, so it is generalized",
            column.amount_in_records()
        );
        Decision::new(Role::QuasiIdentifier, why)
            .in_doubt()
            .note("If the recipient does not need it, make it an identifier: a column of unique numbers costs much.")
    })
}

pub(super) fn anything(column: &Evidence<'_>) -> Option<Decision> {
    let why = format!("{}; in doubt, an attacker may know it", column.amount());
    Some(Decision::new(Role::QuasiIdentifier, why).in_doubt())
}
