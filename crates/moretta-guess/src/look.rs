//! Classifies a column by its values, independent of its name.

use std::collections::HashSet;

use moretta_core::hierarchy::parse_number;

use super::{ColumnFacts, dates::DateStyle, patterns as is};

type Test = fn(&str) -> bool;

/// Minimum number of records for conclusions from the number of distinct values; not tuned.
pub(super) const ENOUGH: u64 = 20;

/// Summary of the values of a column, without missing ones.
#[derive(Debug)]
pub(super) struct Look {
    pub shape: Shape,
    /// Number of distinct values.
    pub different: u64,
    /// Number of records with a value.
    pub present: u64,
    /// Number of records with a missing value.
    pub missing: u64,
    /// Whether `*` is a value, the mark of suppressed values in a release.
    pub has_star: bool,
    /// Characters of the longest value; `None` if a value ends in `*`, like a shortened code of a release.
    pub longest: Option<u32>,
}

/// Common form of the values.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Shape {
    /// There are no values.
    Nothing,
    /// Numbers, all of them finite.
    Numbers {
        low: f64,
        high: f64,
        whole: bool,
        /// Number of digits if all values are plain digits of the same length.
        digits: Option<usize>,
    },
    /// Digits, some with a leading 0.
    Code,
    /// Personal identifiers of this type, in words.
    Personal(&'static str),
    /// Most are dates.
    Dates(DateStyle),
    Sexes,
    MaritalStatuses,
    Icd,
    /// Sentences.
    FreeText,
    Texts,
}

impl Look {
    pub fn at(facts: &ColumnFacts, markers: &HashSet<&str>) -> Self {
        let is_missing = |text: &str| markers.contains(text);
        let values: Vec<(&str, u64)> = facts.values.iter().map(|(text, count)| (text.as_str(), *count)).collect();
        let sum = |missing: bool| {
            let counted = values.iter().filter(|(text, _)| is_missing(text) == missing);
            counted.fold(0u64, |sum, (_, count)| sum.saturating_add(*count))
        };
        let (present, missing) = (sum(false), sum(true));
        let texts: Vec<&str> = values.into_iter().map(|(text, _)| text).filter(|text| !is_missing(text)).collect();
        Self {
            shape: Shape::of(&texts, present),
            different: texts.len() as u64,
            present,
            missing,
            has_star: texts.contains(&"*"),
            longest: longest(&texts),
        }
    }

    /// Whether nearly all values are unique, with enough records to conclude so.
    pub fn nearly_unique(&self) -> bool {
        self.present >= ENOUGH && self.share_different() >= 0.95
    }

    /// Distinct values per record with a value.
    pub fn share_different(&self) -> f64 {
        if self.present == 0 { 0.0 } else { self.different as f64 / self.present as f64 }
    }

    /// Whether the values are running numbers: whole, nearly all unique, and without large gaps or all of the same
    /// length of at least 7 digits.
    pub fn is_running_number(&self) -> bool {
        let Shape::Numbers { low, high, whole: true, digits } = self.shape else { return false };
        self.nearly_unique() && (high - low < 2.0 * self.different as f64 || digits.is_some_and(|digits| digits >= 7))
    }
}

fn longest(texts: &[&str]) -> Option<u32> {
    let characters = texts.iter().map(|text| text.chars().count()).max()?;
    u32::try_from(characters).ok().filter(|_| !texts.iter().any(|text| text.ends_with('*')))
}

impl Shape {
    fn of(texts: &[&str], present: u64) -> Self {
        if texts.is_empty() {
            return Self::Nothing;
        }
        let most = |test: Test| {
            let met = texts.iter().filter(|text| test(text)).count();
            met * 10 >= texts.len() * 9
        };
        let kinds: [(Test, &'static str); 5] = [
            (is::is_email, "e-mail addresses"),
            (is::is_uuid, "universal ids"),
            (is::is_iban, "bank account numbers"),
            (is::is_ip_address, "network addresses"),
            (is::is_phone, "phone, card or social security numbers"),
        ];
        if let Some((_, what)) = kinds.into_iter().find(|(test, _)| most(*test)) {
            return Self::Personal(what);
        }
        if texts.iter().any(|text| is::has_leading_zero(text)) && texts.iter().all(|text| is::digits(text).is_some()) {
            return Self::Code;
        }
        if texts.iter().all(|text| is::is_compact_date(text)) {
            return Self::Dates(DateStyle::of(texts));
        }
        if let Some(numbers) = Self::numbers(texts) {
            return numbers;
        }
        if most(is::is_date) {
            return Self::Dates(DateStyle::of(texts));
        }
        if texts.len() >= 2 && texts.iter().all(|text| is::is_sex(text)) {
            return Self::Sexes;
        }
        if texts.iter().filter(|text| is::is_marital(text)).count() >= 2 && texts.len() <= 12 {
            return Self::MaritalStatuses;
        }
        if texts.len() >= 10 && most(is::is_icd) {
            return Self::Icd;
        }
        let letters = texts.iter().fold(0usize, |sum, text| sum.saturating_add(text.len()));
        let sentences =
            letters / texts.len() > 30 && texts.iter().filter(|text| text.contains(' ')).count() * 2 > texts.len();
        if sentences && present >= ENOUGH && texts.len() as u64 >= present / 2 {
            return Self::FreeText;
        }
        Self::Texts
    }

    fn numbers(texts: &[&str]) -> Option<Self> {
        let (mut low, mut high, mut whole) = (f64::INFINITY, f64::NEG_INFINITY, true);
        for text in texts {
            let number = parse_number(text).ok().filter(|number| number.is_finite())?;
            (low, high) = (low.min(number), high.max(number));
            whole &= number.fract() == 0.0;
        }
        let digits = texts.first().and_then(|first| is::digits(first));
        let digits = digits.filter(|digits| texts.iter().all(|text| is::digits(text) == Some(*digits)));
        Some(Self::Numbers { low, high, whole, digits })
    }
}
