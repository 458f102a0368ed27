//! Properties of a column of numbers that distinguish amounts, counts, ids and codes.

use moretta_core::hierarchy::parse_number;

use super::patterns;

/// Summary of the numbers of a column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Numbers {
    pub low: f64,
    pub high: f64,
    /// Whether all are whole, also written as `7.0`.
    pub whole: bool,
    /// Number of digits if all are plain digits of the same length.
    pub digits: Option<usize>,
    /// Most digits after the point.
    pub decimals: u32,
    /// Share of the distinct numbers with at least four digits after the point.
    pub fine: f64,
    /// Mean over the records.
    pub mean: f64,
    /// Whether more numbers between the frequent ones are absent than chance explains: they are codes, not
    /// measurements.
    pub has_gaps: bool,
    /// Whether a frequent number is far beyond all others, such as 97 for "does not apply".
    pub has_outlier: bool,
}

impl Numbers {
    /// Returns `None` if a text is no finite number.
    pub fn of(values: &[(&str, u64)]) -> Option<Self> {
        let mut numbers = Vec::with_capacity(values.len());
        for (text, records) in values {
            let number = parse_number(text).ok().filter(|number| number.is_finite())?;
            numbers.push((number, *records));
        }
        numbers.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (low, high) = (numbers.first()?.0, numbers.last()?.0);
        let digits = patterns::digits(values.first()?.0);
        let decimals =
            |text: &str| text.split_once('.').map_or(0, |(_, decimals)| decimals.trim_end_matches('0').len());
        let records = numbers.iter().fold(0.0, |sum, (_, records)| sum + *records as f64);
        let whole = numbers.iter().all(|(number, _)| number.fract() == 0.0);
        Some(Self {
            low,
            high,
            whole,
            digits: digits.filter(|_| values.iter().all(|(text, _)| patterns::digits(text) == digits)),
            decimals: values.iter().map(|(text, _)| decimals(text) as u32).max().unwrap_or(0),
            fine: values.iter().filter(|(text, _)| decimals(text) >= 4).count() as f64 / values.len() as f64,
            mean: numbers.iter().map(|(number, records)| number * *records as f64).sum::<f64>() / records.max(1.0),
            has_gaps: whole && has_gaps(&numbers),
            has_outlier: whole && has_outlier(&numbers, records),
        })
    }

    /// Whether every number is a year of the last two centuries or of this one.
    pub fn are_years(&self) -> bool {
        self.whole && self.low >= 1850.0 && self.high <= 2100.0
    }

    /// Whether the numbers leave little room: at least half of those from the first to the last occur.
    pub fn are_dense(&self, different: u64) -> bool {
        self.whole && self.high - self.low < 2.0 * different as f64
    }
}

/// Compares the numbers that occur with those that would occur if the records of each ten neighbors were spread evenly
/// over them. Only tens with at least ten records count, and they must be three and hold half of the records, or
/// nothing follows.
/// Amounts rounded to tens or thousands are counted in these units. The lowest number does not count: many amounts are
/// 0.
fn has_gaps(numbers: &[(f64, u64)]) -> bool {
    const TEN: f64 = 10.0;
    /// Share of the expected numbers: of evenly spread ones, hardly ever fewer than 80 % occur.
    const MAX_SHARE: f64 = 0.6;
    /// Whole numbers beyond this are not exact.
    const MAX_EXACT: f64 = 9_007_199_254_740_992.0;
    let [_, numbers @ ..] = numbers else { return false };
    if numbers.iter().any(|(number, _)| number.abs() > MAX_EXACT) {
        return false;
    }
    let unit = numbers.iter().fold(0u64, |unit, (number, _)| common_divisor(unit, number.abs() as u64)).max(1);
    let ten = |number: f64| (number / unit as f64 / TEN).floor();
    let (mut all, mut judged, mut tens, mut occurring, mut expected) = (0.0, 0.0, 0, 0.0, 0.0);
    for neighbors in numbers.chunk_by(|(a, _), (b, _)| ten(*a) == ten(*b)) {
        let records = neighbors.iter().fold(0.0, |sum, (_, records)| sum + *records as f64);
        all += records;
        if records >= TEN {
            judged += records;
            tens += 1;
            occurring += neighbors.len() as f64;
            expected += TEN * (1.0 - (-records / TEN).exp());
        }
    }
    // The first and the last ten may be cut off by the range.
    tens > 2 && judged >= all / 2.0 && occurring < MAX_SHARE * (expected - TEN)
}

fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

/// Whether the highest number is as far from the second as the others span, with the place of a code (9, 97, 999, ..),
/// and belongs to a hundredth of the records.
fn has_outlier(numbers: &[(f64, u64)], records: f64) -> bool {
    let [(low, _), .., (second, _), (high, with_high)] = numbers else { return false };
    let last_places = [7.0, 8.0, 9.0].contains(&(high % 10.0)) && (*high < 10.0 || (high / 10.0).floor() % 10.0 == 9.0);
    last_places && high - second >= (second - low).max(2.0) && *with_high as f64 >= records / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(values: impl IntoIterator<Item = (u64, u64)>) -> Numbers {
        let values: Vec<(String, u64)> =
            values.into_iter().map(|(number, records)| (number.to_string(), records)).collect();
        let values: Vec<(&str, u64)> = values.iter().map(|(text, records)| (text.as_str(), *records)).collect();
        Numbers::of(&values).expect("numbers")
    }

    #[test]
    fn gaps_distinguish_codes_from_counts_and_amounts() {
        assert!(!numbers((15..75).map(|age| (age, 60))).has_gaps, "ages");
        assert!(!numbers((0..200).map(|n| (1_000 * n * n % 90_000, 20))).has_gaps, "rounded amounts");
        assert!(!numbers((0..900).map(|n| (7_919 * n % 1_000_003, 2))).has_gaps, "amounts");
        assert!(!numbers([(0, 5_000), (1, 70), (2, 40), (3, 30), (4, 9), (5, 4)]).has_gaps, "counts");
        assert!(numbers((0..120).map(|n| (113 + 41 * n, 20))).has_gaps, "codes");
        assert!(numbers((0..120).map(|n| (if n == 0 { 0 } else { 113 + 41 * n }, 20))).has_gaps, "codes and a zero");
    }

    #[test]
    fn an_outlier_is_a_code_for_something_else() {
        assert!(numbers((0..18).map(|age| (age, 50)).chain([(97, 2_000)])).has_outlier);
        assert!(numbers([(1, 50), (2, 50), (9, 50)]).has_outlier);
        assert!(!numbers((0..98).map(|age| (age, 50))).has_outlier);
        assert!(!numbers([(1, 50), (2, 50), (3, 50)]).has_outlier);
        assert!(!numbers((0..18).map(|age| (age, 500)).chain([(97, 2)])).has_outlier, "a single person");
    }
}
