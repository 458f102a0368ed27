//! The values of a column, independent of its name.

pub(crate) mod damage;
pub(crate) mod dates;
mod lexicon;
mod numbers;
pub(crate) mod patterns;
mod placeholder;
pub(crate) mod sentinels;

use std::collections::HashSet;

pub(crate) use self::numbers::Numbers;
use self::{dates::DateStyle, patterns as is};
use crate::ColumnFacts;

type Test = fn(&str) -> bool;

/// Minimum number of records for conclusions from the number of distinct values; not tuned.
pub(crate) const ENOUGH: u64 = 20;
/// Maximum number of distinct numbers that are read as codes without further evidence; not tuned.
pub(crate) const MAX_CODED_NUMBERS: u64 = 12;

/// Summary of the values of a column, without missing ones.
#[derive(Debug)]
pub(crate) struct Look {
    pub shape: Shape,
    /// Number of distinct values.
    pub different: u64,
    /// Number of records with a value.
    pub present: u64,
    /// Number of records with a missing value.
    pub missing: u64,
    /// Number of records with the least frequent value.
    pub least: u64,
    /// Number of records with the most frequent value.
    pub most: u64,
    /// Probability that two records have different values, missing ones included.
    pub diversity: f64,
    /// Whether `*` is a value, the mark of suppressed values in a release.
    pub has_star: bool,
    /// Characters of the longest value; `None` if a value ends in `*`, like a shortened code of a release.
    pub longest: Option<u32>,
    /// Whether nearly all values are single words of at least five letters and digits, with digits.
    pub has_form_of_ids: bool,
    /// Whether most values have a digit.
    pub has_digits: bool,
    /// Whether nearly all values are a number behind a few letters.
    pub has_prefixed_numbers: bool,
    /// Whether nearly all values have the form of names of persons; occupations and towns have it, too.
    pub has_form_of_names: bool,
    /// Whether nearly all values are one or two words in lower case.
    pub has_folded_words: bool,
    /// Number of records with a frequent value that looks like a placeholder for a missing one; 0 if there is none.
    pub placeholder: u64,
    /// Whether equal values follow one another and nowhere else: the records of a household, a case or a person.
    pub is_in_blocks: bool,
}

/// Common form of the values.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shape {
    /// There are no values.
    Nothing,
    /// Lists or structures, which have no text.
    Nested,
    /// Several values in a cell.
    Lists,
    /// Numbers, and what a program did to them, in words.
    Damaged(&'static str),
    /// Numbers, all of them finite.
    Numbers(Numbers),
    /// Digits, some with a leading 0.
    Code,
    /// Universal ids, of whatever they identify.
    Uuids,
    /// Personal identifiers of this type, in words.
    Personal(&'static str),
    /// Most are dates.
    Dates(DateStyle),
    Sexes,
    MaritalStatuses,
    /// Codes or names of this type, in words, from health care.
    Medical(&'static str),
    /// Names of persons.
    Names,
    /// The two results of a test or a decision.
    Outcomes,
    /// Sentences.
    FreeText,
    Texts,
}

impl Look {
    pub fn at(facts: &ColumnFacts, markers: &HashSet<&str>) -> Self {
        let is_missing = |text: &str| markers.contains(text);
        type Counted<'a> = Vec<(&'a str, u64)>;
        let (missing, values): (Counted<'_>, Counted<'_>) =
            facts.values.iter().map(|(text, count)| (text.as_str(), *count)).partition(|(text, _)| is_missing(text));
        let sum = |counted: &[(&str, u64)]| counted.iter().fold(0u64, |sum, (_, count)| sum.saturating_add(*count));
        let present = sum(&values);
        let texts: Vec<&str> = values.iter().map(|(text, _)| *text).collect();
        let most = |test: Test| {
            let met = texts.iter().filter(|text| test(text)).count();
            met > 0 && met * 10 >= texts.len() * 9
        };
        let shape = if facts.nested { Shape::Nested } else { Shape::of(&values, &texts, present) };
        Self {
            placeholder: placeholder::records(&values, &shape),
            shape,
            different: texts.len() as u64,
            present,
            missing: sum(&missing),
            least: values.iter().map(|(_, count)| *count).min().unwrap_or(0),
            most: values.iter().map(|(_, count)| *count).max().unwrap_or(0),
            diversity: diversity(&facts.values),
            has_star: texts.contains(&"*"),
            longest: longest(&texts),
            has_form_of_ids: most(is::has_form_of_id),
            has_digits: texts.iter().filter(|text| text.bytes().any(|byte| byte.is_ascii_digit())).count() * 2
                > texts.len(),
            has_prefixed_numbers: most(is::is_prefixed_number),
            has_form_of_names: most(lexicon::has_form_of_name),
            has_folded_words: most(lexicon::is_folded_name),
            is_in_blocks: facts.runs == facts.values.len() as u64,
        }
    }

    /// Whether nearly all values are unique, with enough records to conclude so.
    pub fn nearly_unique(&self) -> bool {
        self.present >= ENOUGH && self.different as f64 >= 0.95 * self.present as f64
    }

    /// Whether values repeat so often that they do not identify a person: twenty records per value on average.
    pub fn has_few_values(&self) -> bool {
        self.different.saturating_mul(20) <= self.present
    }

    pub fn numbers(&self) -> Option<&Numbers> {
        match &self.shape {
            Shape::Numbers(numbers) => Some(numbers),
            _ => None,
        }
    }

    /// Whether the values are running numbers: whole, nearly all unique, and dense.
    pub fn is_running_number(&self) -> bool {
        self.nearly_unique() && self.numbers().is_some_and(|numbers| numbers.are_dense(self.different))
    }
}

fn diversity(values: &[(String, u64)]) -> f64 {
    let all = values.iter().fold(0.0, |sum, (_, count)| sum + *count as f64);
    1.0 - values.iter().map(|(_, count)| (*count as f64 / all.max(1.0)).powi(2)).sum::<f64>()
}

fn longest(texts: &[&str]) -> Option<u32> {
    let characters = texts.iter().map(|text| text.chars().count()).max()?;
    u32::try_from(characters).ok().filter(|_| !texts.iter().any(|text| text.ends_with('*')))
}

impl Shape {
    fn of(values: &[(&str, u64)], texts: &[&str], present: u64) -> Self {
        if texts.is_empty() {
            return Self::Nothing;
        }
        let share = |test: Test| texts.iter().filter(|text| test(text)).count() as f64 / texts.len() as f64;
        let most = |test: Test| share(test) >= 0.9;
        if let Some(what) = damage::of(texts) {
            return Self::Damaged(what);
        }
        if damage::are_lists(texts) {
            return Self::Lists;
        }
        if most(is::is_uuid) {
            return Self::Uuids;
        }
        let kinds: [(Test, &'static str); 4] = [
            (is::is_email, "e-mail addresses"),
            (is::is_iban, "bank account numbers"),
            (is::is_ip_address, "network addresses"),
            (is::is_phone, "phone, card or social security numbers"),
        ];
        if let Some((_, what)) = kinds.into_iter().find(|(test, _)| most(*test)) {
            return Self::Personal(what);
        }
        if texts.iter().any(|text| is::has_leading_zero(text)) && texts.iter().all(|text| is::digits(text).is_some()) {
            return if texts.iter().all(|text| is::is_compact_date(text)) {
                Self::Dates(DateStyle::of(texts))
            } else {
                Self::Code
            };
        }
        if texts.iter().all(|text| is::is_compact_date(text)) {
            return Self::Dates(DateStyle::of(texts));
        }
        if let Some(numbers) = Numbers::of(values) {
            return Self::Numbers(numbers);
        }
        if most(is::is_date) {
            return Self::Dates(DateStyle::of(texts));
        }
        Self::of_words(values, texts, present, share)
    }

    fn of_words(values: &[(&str, u64)], texts: &[&str], present: u64, share: impl Fn(Test) -> f64) -> Self {
        if texts.len() >= 2 && texts.iter().all(|text| is::is_sex(text)) {
            return Self::Sexes;
        }
        if texts.iter().filter(|text| is::is_marital(text)).count() >= 2 && texts.len() <= 12 {
            return Self::MaritalStatuses;
        }
        if let [a, b] = texts
            && is::are_outcomes(a, b)
        {
            return Self::Outcomes;
        }
        if texts.len() >= 10 {
            // Some codes have no detail; without any detail, too many other codes have the form.
            let icd = |text: &str| is::is_icd(text) || is::is_icd_category(text);
            if share(is::is_icd) >= 0.3 && share(icd) >= 0.9 {
                return Self::Medical("codes of diagnoses");
            }
            if share(is::is_ops) >= 0.9 {
                return Self::Medical("codes of procedures");
            }
        }
        let letters = texts.iter().fold(0usize, |sum, text| sum.saturating_add(text.len()));
        let sentences =
            letters / texts.len() > 30 && texts.iter().filter(|text| text.contains(' ')).count() * 2 > texts.len();
        if texts.len() >= 5
            && share(lexicon::names_an_illness) >= 0.25
            && !(sentences && texts.len() as u64 >= present / 2)
        {
            return Self::Medical("names of illnesses");
        }
        if lexicon::are_names(values) {
            return Self::Names;
        }
        // Stock phrases repeat, but what is written about one person occurs once; long names of categories do not.
        let once = values.iter().filter(|(_, records)| *records == 1).count();
        let is_written = texts.len() as u64 >= present / 2 || (once >= ENOUGH as usize && once * 4 >= texts.len());
        if sentences && present >= ENOUGH && is_written {
            return Self::FreeText;
        }
        Self::Texts
    }
}
