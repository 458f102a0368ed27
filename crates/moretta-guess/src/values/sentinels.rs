//! Numbers that stand for a missing value: -9, -99, 999 in a column of numbers.

use moretta_core::hierarchy::parse_number;

use crate::ColumnFacts;

use super::patterns;

/// Distinct other numbers that show what the column's numbers are.
const MIN_OTHERS: usize = 10;
/// Records with the number, at least: a single extreme value may be real.
const MIN_RECORDS: u64 = 5;

/// Texts of a column that are numbers, and most likely stand for a missing value: numbers of nines or eights that at
/// least one record in a hundred has, and that lie far outside the others: below 0 where all others are not, or as far
/// from them as they span.
pub(crate) fn of(column: &ColumnFacts) -> Vec<&str> {
    let mut numbers: Vec<(f64, &str, u64)> = Vec::new();
    for (text, records) in column.values.iter().filter(|(text, _)| !patterns::is_missing_marker(text)) {
        let Ok(number) = parse_number(text) else { return Vec::new() };
        numbers.push((number, text, *records));
    }
    let (codes, others): (Vec<_>, Vec<_>) = numbers.into_iter().partition(|(_, text, _)| is_code(text));
    if others.len() < MIN_OTHERS || codes.is_empty() {
        return Vec::new();
    }
    let low = others.iter().map(|(number, ..)| *number).fold(f64::INFINITY, f64::min);
    let high = others.iter().map(|(number, ..)| *number).fold(f64::NEG_INFINITY, f64::max);
    let far = |number: f64| {
        let is_negative = number < 0.0 && low >= 0.0;
        is_negative || number - high >= (high - low).max(2.0) || low - number >= (high - low).max(2.0)
    };
    let common = |records: u64| records >= MIN_RECORDS && records.saturating_mul(100) >= column.records;
    let mut found: Vec<&str> = codes
        .iter()
        .filter(|(number, _, records)| far(*number) && common(*records))
        .map(|(_, text, _)| *text)
        .collect();
    found.sort_unstable();
    found
}

/// Whether a number is written as codes of missing values are: -9, -88, 99, 9999, but not 8 or 9.
fn is_code(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let same = |digit: u8| digits.bytes().all(|byte| byte == digit);
    !digits.is_empty() && digits.len() <= 6 && (same(b'9') || same(b'8')) && (digits.len() > 1 || text.starts_with('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(values: impl IntoIterator<Item = (i64, u64)>) -> Vec<String> {
        let values: Vec<(String, u64)> = values.into_iter().map(|(number, n)| (number.to_string(), n)).collect();
        let records = values.iter().map(|(_, records)| records).sum();
        let column = ColumnFacts { values, records, ..ColumnFacts::default() };
        of(&column).into_iter().map(str::to_owned).collect()
    }

    #[test]
    fn far_numbers_of_nines_stand_for_missing_values() {
        let ages = || (18..90).map(|age| (age, 10));
        assert_eq!(found(ages().chain([(-99, 40)])), ["-99"]);
        assert_eq!(found(ages().chain([(-9, 40), (-8, 30)])), ["-8", "-9"]);
        assert_eq!(found(ages().chain([(999, 40)])), ["999"]);
    }

    #[test]
    fn without_evidence_a_number_is_a_value() {
        let ages = || (18..90).map(|age| (age, 10));
        let none: Vec<String> = Vec::new();
        assert_eq!(found(ages().chain([(99, 40)])), none, "near the others");
        assert_eq!(found(ages().chain([(-99, 4)])), none, "few records");
        assert_eq!(found((-90..90).map(|number| (number, 10)).chain([(-99, 40)])), none, "negative numbers");
        assert_eq!(found([(1, 50), (2, 50), (3, 50), (-9, 50)]), none, "few numbers");
        assert_eq!(found(ages().chain([(-97, 40)])), none, "no usual code");
    }
}
