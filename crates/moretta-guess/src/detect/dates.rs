//! Dates and years.

use moretta_core::schema::Role;

use super::{Decision, Evidence};
use crate::{reading::Reading, topics::Meaning, values::Shape};

pub(super) fn dates(column: &Evidence<'_>) -> Option<Decision> {
    if !matches!(column.look.shape, Shape::Dates(_)) {
        return None;
    }
    let topic = column.words.topic(&column.look).filter(|topic| topic.meaning == Meaning::Quasi);
    Some(Decision::new(
        Role::QuasiIdentifier,
        match topic {
            Some(topic) => {
                format!("the name suggests {}, with {}: an attacker may know it", topic.what, column.amount())
            }
            None => format!("its values look like dates ({}), which an attacker may know", column.amount()),
        },
    ))
}

/// Years without a name that says so: a dozen or more of four digits in two centuries.
pub(super) fn years(column: &Evidence<'_>) -> Option<Decision> {
    let numbers = column.look.numbers()?;
    let found = numbers.are_years() && column.look.different > 12 && numbers.are_dense(column.look.different);
    found.then(|| {
        let why = format!("its values look like years ({}), which an attacker may know", column.amount());
        Decision::new(Role::QuasiIdentifier, why).reads(Reading::number("years"))
    })
}
