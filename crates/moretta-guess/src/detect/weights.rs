//! Survey weights: numbers of the persons that a record stands for.

use moretta_core::schema::Role;

use super::{Decision, Evidence};
use crate::{reading::Reading, topics::Meaning};

fn survey_weight(column: &Evidence<'_>, why: &str) -> Decision {
    let why = format!("{why} ({}), which is no property of a person", column.amount());
    let decision = Decision::new(Role::Insensitive, why).reads(Reading::number("weights"));
    Decision { is_dispensable: true, ..decision }
}

/// Weights scaled so that their mean is 1: positive fractions.
pub(super) fn scaled(column: &Evidence<'_>) -> Option<Decision> {
    let numbers = column.look.numbers()?;
    // A quarter of a percent; the mean of other fractions is hardly ever this near to 1, the mean of a sample may not
    // be.
    let is_scaled =
        (numbers.mean - 1.0).abs() <= 0.0025 && numbers.low > 0.0 && !numbers.whole && column.look.different > 5;
    (is_scaled && column.look.present >= 100).then(|| survey_weight(column, "its mean is 1, as of survey weights"))
}

/// The name says a weight. Body weights differ from person to person and are below 350 kg (700 pounds).
pub(super) fn named(column: &Evidence<'_>) -> Option<Decision> {
    let numbers = column.look.numbers()?;
    match column.words.topic(&column.look)?.meaning {
        Meaning::SurveyWeight => Some(survey_weight(column, "the name suggests a survey weight")),
        Meaning::Weight => {
            let of_a_body = numbers.low >= 0.0 && numbers.high <= 700.0 && !column.is_of_a_group;
            let of_a_newborn = column.words.has_part(&["birth", "geburt"]) && numbers.high <= 7_000.0;
            (!of_a_body && !of_a_newborn)
                .then(|| survey_weight(column, "its numbers are not of bodies: looks like a survey weight"))
        }
        _ => None,
    }
}
