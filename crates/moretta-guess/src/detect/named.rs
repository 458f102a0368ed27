//! The topic of a column's name, if the values fit it.

use moretta_core::schema::Role;

use super::{Decision, Evidence};
use crate::{
    reading::Reading,
    topics::{Meaning, POSTCODE, Reads},
    values::ENOUGH,
};

/// Names, addresses and numbers of persons, however many there are.
pub(super) fn identifier(column: &Evidence<'_>) -> Option<Decision> {
    let topic = column.words.topic(&column.look)?;
    let few = column.look.different <= 3 && column.look.present >= ENOUGH;
    (topic.meaning == Meaning::Identifier && !few)
        .then(|| Decision::new(Role::Identifier, format!("the name suggests {}, so it is removed", topic.what)))
}

/// Small whole numbers under a name that starts with a word for a count: `number_inpatient`, `NUMYOUNG`.
pub(super) fn count(column: &Evidence<'_>) -> Option<Decision> {
    let numbers = column.look.numbers()?;
    let are_counts =
        numbers.whole && (0.0..=10.0).contains(&numbers.low) && numbers.high < 1_000.0 && !numbers.has_outlier;
    (are_counts && column.words.starts_like_a_count() && column.look.has_few_values()).then(|| {
        let why = format!("the name suggests a count, with {}: an attacker may know it", column.amount());
        Decision::new(Role::QuasiIdentifier, why).reads(Reading::number("the name says a count"))
    })
}

pub(super) fn topic(column: &Evidence<'_>) -> Option<Decision> {
    let topic = column.words.topic(&column.look)?;
    let says = |rest: &str| format!("the name suggests {}, with {}: {rest}", topic.what, column.amount());
    let quasi = || Decision::new(Role::QuasiIdentifier, says("an attacker may know it"));
    let decision = match topic.meaning {
        Meaning::Identifier | Meaning::WeakIdentifier => {
            let few = topic.meaning == Meaning::Identifier
                || (column.look.has_few_values() && !column.look.has_form_of_names);
            if few && column.look.present >= ENOUGH {
                let why = format!("{}: too few to identify a person, but an attacker may know it", column.amount());
                Decision::new(Role::QuasiIdentifier, why)
            } else {
                Decision::new(Role::Identifier, format!("the name suggests {}, so it is removed", topic.what))
            }
        }
        Meaning::SurveyWeight => return None,
        Meaning::Quasi | Meaning::Weight => quasi(),
        Meaning::Class => {
            let rank = if column.words.is_single() { 3 } else { 2 };
            Decision::new(Role::Sensitive, says("another column is the class, so this one is protected as sensitive"))
                .or_class(rank, says("looks like a value to predict"))
        }
        Meaning::Amount => {
            let rest = "exact amounts are known to others (banks, employers, authorities), so it is generalized";
            Decision::new(Role::QuasiIdentifier, says(rest))
        }
        Meaning::Money => {
            let decision = Decision::new(Role::Sensitive, says("an attacker should not learn it"));
            match column.look.different {
                2 | 3 => decision.or_class(1, says("looks like a value to predict")),
                _ => decision,
            }
        }
        Meaning::Sensitive => {
            let is_diagnosis = column.look.different > 2 && column.words.says_diagnosis();
            Decision { is_diagnosis, ..Decision::new(Role::Sensitive, says("an attacker should not learn it")) }
        }
        // A rare value could still point to a person.
        Meaning::Technical | Meaning::Opinion if column.look.least < ENOUGH => return None,
        Meaning::Technical => {
            let why = says("no property of a person, and each value is shared by many records");
            Decision::new(Role::Insensitive, why)
        }
        Meaning::Opinion => {
            let why = says("others hardly know it, and each value is shared by many records");
            Decision::new(Role::Insensitive, why)
        }
    };
    Some(match topic.reads {
        Reads::Numbers if topic.meaning == Meaning::Amount => decision.reads(Reading::number("amounts")),
        Reads::Numbers => decision.reads(Reading::number("the name says a quantity or a time")),
        Reads::Codes if topic.what == POSTCODE => {
            decision.reads(Reading::prefixes("Postcodes are read as codes, not as numbers."))
        }
        Reads::Codes => decision.reads(Reading::category("the name says a category")),
        Reads::Either => decision,
    })
}
