//! Notation of numbers in text: the decimal mark and the separator of thousands.
//!
//! The core computes with numbers in plain notation (`1234.5`) only. A [`Notation`] translates at its borders: the
//! texts of a number column when a profile is built, the labels of a release when they are written and read.
//!
//! ```text
//! input             core               release
//! 1.234,5   read ▶  1234.5    write ▶  1234,5
//!                   [1.5, 2]  write ▶  [1,5; 2]   read ▶  [1.5, 2]
//! ```
//!
//! With a decimal comma the ends of an interval are separated by `; `, because `[1,5, 2,75]` is hard to read, for
//! people and programs. No separator of thousands is written, so that every reader of the notation accepts the numbers.
//! Texts are read strictly: `1.5` is no number under a decimal comma, groups of thousands must be complete, and the
//! first of them does not begin with 0 (`0.123`).

use std::borrow::Cow;

use crate::decimal::Decimal;

/// How numbers are written in a table of texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Notation {
    /// `.` or `,`.
    pub decimal: char,
    /// Separator of thousands, another of [`Notation::THOUSANDS`] than the decimal mark.
    pub thousands: Option<char>,
}

impl Default for Notation {
    fn default() -> Self {
        Self::PLAIN
    }
}

impl Notation {
    /// Decimal point and no separator of thousands, as numbers are written in Parquet and in the core.
    pub const PLAIN: Self = Self { decimal: '.', thousands: None };
    /// The separators of thousands. A space stands for spaces of all widths that are used for it, `'` also for `’`.
    pub const THOUSANDS: [char; 4] = ['.', ',', ' ', '\''];

    /// The notations that are common, plain notation aside: those without a separator of thousands first.
    pub const COMMON: [Self; 7] = [
        Self { decimal: ',', thousands: None },
        Self { decimal: ',', thousands: Some('.') },
        Self { decimal: '.', thousands: Some(',') },
        Self { decimal: ',', thousands: Some(' ') },
        Self { decimal: ',', thousands: Some('\'') },
        Self { decimal: '.', thousands: Some(' ') },
        Self { decimal: '.', thousands: Some('\'') },
    ];

    /// The first common notation in which all texts are numbers; `None` if all are plain numbers, or there are none.
    pub fn that_reads<'t>(texts: impl Iterator<Item = &'t str> + Clone) -> Option<Self> {
        let reads = |notation: Self| texts.clone().all(|text| notation.number(text).is_some());
        if reads(Self::PLAIN) { None } else { Self::COMMON.into_iter().find(|notation| reads(*notation)) }
    }

    /// The keys of `[input]` that declare the notation, as a policy has them.
    pub fn keys(self) -> String {
        let decimal = (self.decimal != '.').then(|| format!("`decimal = \"{}\"`", self.decimal));
        let thousands = self.thousands.map(|separator| format!("`thousands = \"{separator}\"`"));
        decimal.into_iter().chain(thousands).collect::<Vec<_>>().join(" and ")
    }

    /// Whether numbers are read as they are.
    pub fn is_plain(self) -> bool {
        self == Self::PLAIN
    }

    fn separates_thousands(self, char: char) -> bool {
        match self.thousands {
            Some(' ') => matches!(char, ' ' | '\u{a0}' | '\u{2009}' | '\u{202f}'),
            Some('\'') => matches!(char, '\'' | '\u{2019}'),
            separator => separator == Some(char),
        }
    }

    /// The number of a text in plain notation; `None` if the text is no number in this notation.
    pub fn number(self, text: &str) -> Option<Cow<'_, str>> {
        if self.is_plain() {
            return Decimal::parse(text).map(|_| Cow::Borrowed(text));
        }
        let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
        let end = unsigned.find([self.decimal, 'e', 'E']).unwrap_or(unsigned.len());
        let (whole, rest) = unsigned.split_at(end);
        let fraction = rest.strip_prefix(self.decimal);
        // A point that is not the decimal mark is none in the rest, either.
        if fraction.unwrap_or(rest).contains(['.', ',']) {
            return None;
        }
        let mut plain = text[..text.len() - unsigned.len()].to_owned();
        let mut groups = whole.split(|char| self.separates_thousands(char));
        let first = groups.next().unwrap_or_default();
        plain.push_str(first);
        let mut grouped = false;
        for group in groups {
            if group.len() != 3 {
                return None;
            }
            grouped = true;
            plain.push_str(group);
        }
        let is_whole = plain.bytes().skip(text.len() - unsigned.len()).all(|byte| byte.is_ascii_digit());
        if !is_whole || grouped && (!(1..=3).contains(&first.len()) || first.starts_with('0')) {
            return None;
        }
        match fraction {
            Some(fraction) => {
                plain.push('.');
                plain.push_str(fraction);
            }
            None => plain.push_str(rest),
        }
        Decimal::parse(&plain).map(|_| Cow::Owned(plain))
    }

    /// A released label of a number column in plain notation: numbers and intervals are translated, other labels are as
    /// they are. `None` if the label would be a number or an interval in plain notation and is none in this one.
    pub fn label(self, text: &str) -> Option<Cow<'_, str>> {
        if self.is_plain() {
            return Some(Cow::Borrowed(text));
        }
        if let Some(number) = self.number(text) {
            return Some(number);
        }
        if let Some((low, high, closed)) = self.interval(text) {
            return Some(Cow::Owned(format!("[{low}, {high}{}", if closed { ']' } else { ')' })));
        }
        (!is_plain_label(text)).then_some(Cow::Borrowed(text))
    }

    /// The ends of a printed interval in plain notation, and whether it includes the upper one.
    fn interval(self, text: &str) -> Option<(Cow<'_, str>, Cow<'_, str>, bool)> {
        if self.decimal == '.' {
            let (low, high, closed) = printed_interval(text)?;
            return Some((self.number(low)?, self.number(high)?, closed));
        }
        let open = text.strip_prefix('[')?;
        let (inside, closed) = match open.strip_suffix(']') {
            Some(inside) => (inside, true),
            None => (open.strip_suffix(')')?, false),
        };
        let (low, high) = inside.split_once("; ")?;
        Some((self.number(low)?, self.number(high)?, closed))
    }

    /// Writes a number, an interval or another label of a number column, given in plain notation.
    pub fn write(self, text: &str) -> Cow<'_, str> {
        if self.decimal == '.' {
            return Cow::Borrowed(text);
        }
        let number = |text: &str| Decimal::parse(text).map(|_| text.replacen('.', &self.decimal.to_string(), 1));
        if let Some(written) = number(text) {
            return Cow::Owned(written);
        }
        let ends = printed_interval(text).and_then(|(low, high, closed)| Some((number(low)?, number(high)?, closed)));
        match ends {
            Some((low, high, closed)) => Cow::Owned(format!("[{low}; {high}{}", if closed { ']' } else { ')' })),
            None => Cow::Borrowed(text),
        }
    }
}

/// The two ends of a printed interval, and whether it includes the upper one: `[24, 32]`, or `[24, 32)` as `widths` and
/// `bins` print it for numbers with fractions. `None` if the text is neither.
pub fn printed_interval(text: &str) -> Option<(&str, &str, bool)> {
    let open = text.strip_prefix('[')?;
    let (inside, closed) = match open.strip_suffix(']') {
        Some(inside) => (inside, true),
        None => (open.strip_suffix(')')?, false),
    };
    split_at_middle_comma(inside).map(|(low, high)| (low, high, closed))
}

/// Splits `low, high` at the middle comma. A date may itself contain commas, but then both ends contain equally many.
pub(crate) fn split_at_middle_comma(inside: &str) -> Option<(&str, &str)> {
    let commas: Vec<usize> = inside.match_indices(", ").map(|(at, _)| at).collect();
    let comma = *commas.get(commas.len() / 2).filter(|_| commas.len() % 2 == 1)?;
    Some((&inside[..comma], &inside[comma + 2..]))
}

/// Whether a label is a number or an interval of numbers in plain notation.
fn is_plain_label(text: &str) -> bool {
    let number = |text: &str| Decimal::parse(text).is_some();
    number(text) || printed_interval(text).is_some_and(|(low, high, _)| number(low) && number(high))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const GERMAN: Notation = Notation { decimal: ',', thousands: Some('.') };
    const SWISS: Notation = Notation { decimal: '.', thousands: Some('\'') };
    const FRENCH: Notation = Notation { decimal: ',', thousands: Some(' ') };
    const ENGLISH: Notation = Notation { decimal: '.', thousands: Some(',') };
    const COMMA: Notation = Notation { decimal: ',', thousands: None };

    fn read(notation: Notation, text: &str) -> Option<String> {
        notation.number(text).map(Cow::into_owned)
    }

    #[test]
    fn numbers_of_other_notations() {
        for (notation, text, plain) in [
            (GERMAN, "1.234.567,89", "1234567.89"),
            (GERMAN, "-1.000", "-1000"),
            (GERMAN, "1000", "1000"),
            (GERMAN, "+0,5e3", "+0.5e3"),
            (GERMAN, ",5", ".5"),
            (GERMAN, "5,", "5."),
            (SWISS, "1'234.5", "1234.5"),
            (SWISS, "1\u{2019}234", "1234"),
            (FRENCH, "1 234,5", "1234.5"),
            (FRENCH, "1\u{202f}234\u{a0}567", "1234567"),
            (ENGLISH, "1,234.5", "1234.5"),
            (COMMA, "2,75", "2.75"),
            (Notation::PLAIN, "1e3", "1e3"),
        ] {
            assert_eq!(read(notation, text).as_deref(), Some(plain), "{text}");
        }
    }

    #[test]
    fn other_texts_are_no_numbers() {
        for (notation, texts) in [
            (
                GERMAN,
                &[
                    "1.5", "1.23", "12.34,5", "1234.567", ".123", "1..000", "1.000.", "1,5,2", "1,000.5", "1.0000",
                    "0.123",
                ][..],
            ),
            (GERMAN, &["", "-", ",", ".", "x", "1,5x", "--1", "1e1,5", "1.000e2.000", "inf", "1\u{660}", " 1"]),
            (COMMA, &["1.5", "1.000", "1,000.5"]),
            (ENGLISH, &["1,5", "1.5,000", "1.000.000", "12,34"]),
            (FRENCH, &["1 23", " 123", "1  234", "1.5", "030 123"]),
            (Notation::PLAIN, &["1,5", "1 000"]),
        ] {
            texts.iter().for_each(|text| assert_eq!(read(notation, text), None, "{text}"));
        }
    }

    #[test]
    fn labels_are_written_and_read() {
        for (plain, written) in [
            ("1.5", "1,5"),
            ("1000", "1000"),
            ("[1.5, 2.75]", "[1,5; 2,75]"),
            ("[-3, 1000)", "[-3; 1000)"),
            ("*", "*"),
            ("k.A.", "k.A."),
            ("1-2.5", "1-2.5"),
        ] {
            assert_eq!(GERMAN.write(plain), written);
            assert_eq!(GERMAN.label(written).as_deref(), Some(plain));
            assert_eq!(Notation::PLAIN.write(plain), plain);
            assert_eq!(Notation::PLAIN.label(plain).as_deref(), Some(plain));
            assert_eq!(SWISS.write(plain), plain);
        }
        assert_eq!(GERMAN.label("[1.000; 2.000]").as_deref(), Some("[1000, 2000]"));
        for wrong in ["1.5", "[1.5, 2.75]", "[1, 2]", "1000.5"] {
            assert_eq!(GERMAN.label(wrong), None, "{wrong}");
        }
        assert_eq!(SWISS.label("[1'000, 2'000]").as_deref(), Some("[1000, 2000]"));
    }

    /// Writes a whole number and its decimals with the naive rule: from the right, a separator before every third
    /// digit.
    fn naive(notation: Notation, number: (bool, u64, &str), grouped: bool) -> String {
        let (negative, whole, decimals) = number;
        let digits = whole.to_string();
        let mut text = String::from(if negative { "-" } else { "" });
        for (at, digit) in digits.chars().enumerate() {
            if let Some(separator) = notation.thousands.filter(|_| grouped && at > 0 && (digits.len() - at) % 3 == 0) {
                text.push(separator);
            }
            text.push(digit);
        }
        if !decimals.is_empty() {
            text.push(notation.decimal);
            text.push_str(decimals);
        }
        text
    }

    fn notations() -> impl Strategy<Value = Notation> {
        prop::sample::select(vec![Notation::PLAIN, GERMAN, SWISS, FRENCH, ENGLISH, COMMA])
    }

    proptest! {
        #[test]
        fn every_notation_reads_as_the_plain_number(
            notation in notations(), negative: bool, whole in prop_oneof![0u64..20_000, any::<u64>()], decimals in "[0-9]{0,5}",
            grouped: bool,
        ) {
            let plain = naive(Notation::PLAIN, (negative, whole, &decimals), false);
            let written = naive(notation, (negative, whole, &decimals), grouped);
            prop_assert_eq!(read(notation, &written), Some(plain.clone()));
            let label = notation.write(&plain).into_owned();
            prop_assert_eq!(read(notation, &label), Some(plain));
        }

        /// A text is read as at most one number, and only if the notation could have written it.
        #[test]
        fn what_is_read_could_have_been_written(notation in notations(), text in "[-]?[0-9.,' ]{1,12}") {
            let Some(plain) = read(notation, &text) else { return Ok(()) };
            let unsigned = plain.trim_start_matches('-');
            let (whole, decimals) = unsigned.split_once('.').unwrap_or((unsigned, ""));
            let zeros = whole.len() - whole.trim_start_matches('0').len();
            prop_assume!(!whole.is_empty() && zeros == 0 && whole.len() < 19 && !plain.ends_with('.'));
            let number = (plain.starts_with('-'), whole.parse().unwrap(), decimals);
            prop_assert!([true, false].iter().any(|grouped| naive(notation, number, *grouped) == text), "{}", text);
        }

        #[test]
        fn labels_survive(notation in notations(), low in -5_000i64..5_000, high in -5_000i64..5_000, closed: bool) {
            let (low, high) = (Decimal::of_units(low.into(), -2), Decimal::of_units(high.into(), -1));
            let plain = format!("[{low}, {high}{}", if closed { ']' } else { ')' });
            let written = notation.write(&plain).into_owned();
            prop_assert_eq!(notation.label(&written).map(Cow::into_owned), Some(plain));
        }
    }
}
