//! Decides whether whole numbers are numbers or codes of categories, with a reason.
//!
//! An interval of codes means nothing: `[2, 5]` of a marital status. So whole numbers are numbers only for a reason:
//! the name says an age, a count, a duration, a year or an amount, or there are more than a dozen and they leave no
//! gaps.

use moretta_core::schema::Kind;

use crate::{
    detect::Evidence,
    values::{MAX_CODED_NUMBERS, Shape},
};

/// How the values of a column are read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reading {
    pub kind: Kind,
    /// Whether the leading characters of the codes group them.
    pub has_prefixes: bool,
    /// Why, as a sentence; `None` if it is obvious.
    pub note: Option<String>,
}

impl Reading {
    pub fn number(because: &str) -> Self {
        Self { kind: Kind::Number, has_prefixes: false, note: Some(format!("Read as numbers: {because}.")) }
    }

    /// Codes for a reason that leaves no doubt.
    pub fn category(because: &str) -> Self {
        let note = format!("Read as codes of categories: {because}.");
        Self { kind: Kind::Category, has_prefixes: false, note: Some(note) }
    }

    /// Codes in doubt.
    pub fn code(because: &str) -> Self {
        let note = format!("Read as codes of categories: {because}. If larger means more, set type = \"number\".");
        Self { kind: Kind::Category, has_prefixes: false, note: Some(note) }
    }

    pub fn prefixes(note: &str) -> Self {
        Self { kind: Kind::Category, has_prefixes: true, note: Some(note.to_owned()) }
    }

    fn obvious(kind: Kind) -> Self {
        Self { kind, has_prefixes: false, note: None }
    }
}

/// Decides how a column is read. `proposed` comes from the detector that found its role. `named_by` is a column of
/// texts; each number belongs to one of them.
pub(crate) fn of(column: &Evidence<'_>, proposed: Option<&Reading>, named_by: Option<&str>) -> Reading {
    match &column.look.shape {
        Shape::Code => {
            let note = "Some values start with 0, so they are read as codes, not as numbers.";
            proposed.filter(|reading| reading.has_prefixes).cloned().unwrap_or_else(|| Reading::prefixes(note))
        }
        Shape::Numbers(numbers) if numbers.whole => match proposed {
            Some(reading) if reading.has_prefixes && numbers.digits.is_none() && column.look.placeholder == 0 => {
                Reading::prefixes(
                    "Postcodes are read as codes, not as numbers. They have different lengths: a spreadsheet may have removed \
                 zeros at the start.",
                )
            }
            _ => whole_numbers(column, proposed, named_by),
        },
        Shape::Numbers(_) => match proposed {
            Some(reading) if reading.kind == Kind::Category => reading.clone(),
            _ => Reading::obvious(Kind::Number),
        },
        Shape::Dates(_) => Reading::obvious(Kind::Date),
        _ => match proposed {
            Some(reading) if reading.has_prefixes => Reading { note: None, ..reading.clone() },
            _ => Reading::obvious(Kind::Category),
        },
    }
}

fn whole_numbers(column: &Evidence<'_>, proposed: Option<&Reading>, named_by: Option<&str>) -> Reading {
    let Some(numbers) = column.look.numbers() else { return Reading::obvious(Kind::Category) };
    let different = column.look.different;
    if different <= 2 && proposed.is_none_or(|reading| reading.kind == Kind::Category) {
        // Two values are the same as numbers and as codes.
        return Reading::obvious(Kind::Category);
    }
    if numbers.has_outlier {
        return Reading::category(
            "one frequent number is far from all others, like a code for a missing answer, and intervals would span the gap",
        );
    }
    if let Some(named_by) = named_by {
        return Reading::category(&format!("each number belongs to one text of {named_by}"));
    }
    let few = different <= MAX_CODED_NUMBERS;
    // Counts leave no gaps.
    let holes = few && (numbers.high - numbers.low) as u64 >= different;
    if let Some(reading) = proposed
        && !(reading.kind == Kind::Number && holes && !numbers.are_years())
    {
        return reading.clone();
    }
    if column.words.starts_like_a_count() && !holes {
        return Reading::number("the name says a count, and the numbers leave no gaps");
    }
    if column.words.says_code() {
        return Reading::category("the name says so");
    }
    if few {
        return Reading::code("few whole numbers, which may mean anything");
    }
    if numbers.has_gaps {
        let code = Reading::code("the numbers leave gaps that chance does not explain");
        return Reading { has_prefixes: numbers.digits.is_some_and(|digits| digits >= 3), ..code };
    }
    match numbers.are_dense(different) {
        true => Reading::number("more than a dozen, and they leave few gaps"),
        false => Reading::number("they differ widely, like amounts or measurements"),
    }
}
