//! Values that stand for a missing one: zeros or nines as a postcode, the first day of a calendar as a date.

use super::Shape;

/// Minimum number of distinct values: among few codes, 0 and 9 are ordinary ones.
const MIN_VALUES: usize = 20;

/// Minimum share of the records: one in twenty.
const MIN_SHARE: f64 = 0.05;

/// How many times as frequent as any other value it must be. Not tuned.
const MIN_TIMES: u64 = 5;

/// Number of records with a value that looks like a placeholder; 0 if there is none. It is far more frequent than all
/// other values, and its form is one that people choose: all digits 0 or all digits 9, with a minus a single negative
/// number, or a first or last day of a calendar.
pub(super) fn records(values: &[(&str, u64)], shape: &Shape) -> u64 {
    let Some((text, records)) = values.iter().max_by_key(|(_, records)| *records) else { return 0 };
    // `00` is an ordinary count, written with two digits.
    let is_long = values.iter().any(|(text, _)| text.trim().len() >= 4);
    let has_form = match shape {
        Shape::Numbers(numbers) if numbers.low < 0.0 => {
            is_negative_placeholder(text) && values.iter().filter(|(text, _)| text.trim().starts_with('-')).count() == 1
        }
        Shape::Numbers(numbers) if numbers.whole => is_long && is_repeated_digit(text),
        Shape::Code => is_long && is_repeated_digit(text),
        Shape::Dates(_) => is_end_of_calendar(text),
        _ => false,
    };
    let present = values.iter().fold(0.0, |sum, (_, records)| sum + *records as f64);
    let others = values.iter().filter(|(other, _)| other != text).map(|(_, records)| *records).max().unwrap_or(0);
    let is_frequent = *records as f64 >= MIN_SHARE * present && *records / MIN_TIMES >= others;
    if has_form && values.len() >= MIN_VALUES && is_frequent { *records } else { 0 }
}

/// `0`, `00000`, `99999`.
fn is_repeated_digit(text: &str) -> bool {
    let text = text.trim();
    ['0', '9'].iter().any(|digit| !text.is_empty() && text.chars().all(|character| character == *digit))
}

/// `-1`, `-9`, `-99.0`.
fn is_negative_placeholder(text: &str) -> bool {
    let text = text.trim();
    let Some(number) = text.strip_prefix('-') else { return false };
    let whole = number.trim_end_matches('0').trim_end_matches('.');
    whole == "1" || is_repeated_digit(whole)
}

/// The first of January of 1, 1900, 1901 or 1970, or a day of 9999, in any order of day and month.
fn is_end_of_calendar(text: &str) -> bool {
    let day = text.trim().split(['T', ' ']).next().unwrap_or_default();
    let parts: Vec<&str> = day.split(['-', '/', '.']).collect();
    let digits: String = parts.concat();
    let compact = parts.len() == 1 && digits.len() == 8;
    let (year, rest) = match compact {
        true => digits.split_at(4),
        false => match parts.iter().find(|part| part.len() == 4) {
            Some(year) => (*year, ""),
            None => return false,
        },
    };
    let is_first = match compact {
        true => rest == "0101",
        false => parts.iter().filter(|part| **part != year).all(|part| matches!(*part, "1" | "01")),
    };
    year == "9999" || (is_first && matches!(year, "0001" | "1900" | "1901" | "1970"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_placeholders() {
        for text in ["0", "00000", "9", "99999"] {
            assert!(is_repeated_digit(text), "{text}");
        }
        assert!(!["10", "", "09", "-9"].iter().any(|text| is_repeated_digit(text)));
        assert!(["-1", "-9", "-99", "-999.0"].iter().all(|text| is_negative_placeholder(text)));
        assert!(!["-12", "9", "-", "-1.5"].iter().any(|text| is_negative_placeholder(text)));
        for text in ["1900-01-01", "01.01.1900", "1/1/1970", "19000101", "9999-12-31", "1900-01-01 00:00:00"] {
            assert!(is_end_of_calendar(text), "{text}");
        }
        assert!(!["1900-01-02", "2000-01-01", "20000101", "1/1/70"].iter().any(|text| is_end_of_calendar(text)));
    }
}
