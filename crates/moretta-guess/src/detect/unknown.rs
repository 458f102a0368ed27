//! Columns without evidence: in doubt, an attacker may know them.

use moretta_core::{schema::Role, text::count};

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
    let look = &column.look;
    let amount = match (look.different, look.missing) {
        (1, 0) if !column.complete => {
            format!("the same value in the first {} records, but later ones are unknown", count(look.present))
        }
        (1, missing) if missing > 0 => "one value or none".to_owned(),
        _ => column.amount(),
    };
    let why = format!("{amount}; in doubt, an attacker may know it");
    Some(Decision::new(Role::QuasiIdentifier, why).in_doubt())
}
