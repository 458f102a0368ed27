//! Changes of cells on their way into a release: numbers in another notation, and an apostrophe before texts that a
//! spreadsheet would compute as a formula.
//!
//! Guarantee: [`unguarded`] undoes [`guarded`] for every text, so a release that is read back has the texts that were
//! verified. Cost: nothing if a release needs no change; otherwise one look at each copied cell.

use std::borrow::Cow;

use moretta_core::notation::Notation;

/// Changes of the copied columns of a source.
#[derive(Debug, Default)]
pub(crate) struct Conversion {
    /// By column of the source. Empty if no column changes.
    pub(crate) notations: Vec<Option<NotationChange>>,
    /// Whether formulas are guarded. Only a CSV release does that.
    pub(crate) guard: bool,
}

/// Another notation for the numbers of a column.
#[derive(Debug, Clone)]
pub(crate) struct NotationChange {
    pub(crate) from: Notation,
    pub(crate) to: Notation,
    /// Texts that are no numbers in this column, whatever they look like.
    pub(crate) missing: Vec<Box<str>>,
}

impl Conversion {
    /// Whether cells are copied as they are.
    pub(crate) fn is_none(&self) -> bool {
        self.notations.is_empty() && !self.guard
    }

    /// A text of a column in the notation of the release; other texts than numbers are as they are.
    pub(crate) fn number<'t>(&self, column: usize, text: &'t str) -> Cow<'t, str> {
        let Some(Some(NotationChange { from, to, missing })) = self.notations.get(column) else {
            return Cow::Borrowed(text);
        };
        match from.number(text).filter(|_| missing.iter().all(|missing| **missing != *text)) {
            Some(plain) => Cow::Owned(to.write(&plain).into_owned()),
            None => Cow::Borrowed(text),
        }
    }

    /// A text of a column as the release has it.
    pub(crate) fn text<'t>(&self, column: usize, text: &'t str) -> Cow<'t, str> {
        let number = self.number(column, text);
        match self.guard.then(|| guarded(&number)).flatten() {
            Some(guarded) => Cow::Owned(guarded),
            None => number,
        }
    }
}

/// The text with an apostrophe before it if a spreadsheet would take it for a formula; `None` if it would not. A text that
/// already has apostrophes before a formula gets one more, so that it is distinguished from a guarded one.
pub(crate) fn guarded(text: &str) -> Option<String> {
    is_formula(text.trim_start_matches('\'')).then(|| format!("'{text}"))
}

/// The text before it was guarded.
pub(crate) fn unguarded(text: &str) -> &str {
    match text.strip_prefix('\'') {
        Some(rest) if is_formula(rest.trim_start_matches('\'')) => rest,
        _ => text,
    }
}

/// Whether a spreadsheet may take a text for a formula. A number with a sign is none, in any notation.
fn is_formula(text: &str) -> bool {
    match text.chars().next() {
        Some('=' | '@' | '\t' | '\r') => true,
        Some('+' | '-') => !is_number(&text[1..]),
        _ => false,
    }
}

/// Whether a text has only digits, marks between them, and an exponent.
fn is_number(unsigned: &str) -> bool {
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let is_mark = |char: char| matches!(char, '.' | ',' | ' ' | '\'' | '\u{2019}' | '\u{a0}' | '\u{2009}' | '\u{202f}');
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    mantissa.starts_with(|char: char| char.is_ascii_digit() || matches!(char, '.' | ','))
        && mantissa.chars().all(|char| char.is_ascii_digit() || is_mark(char))
        && mantissa.contains(|char: char| char.is_ascii_digit())
        && digits(exponent.strip_prefix(['-', '+']).unwrap_or(exponent))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn formulas_are_guarded_and_numbers_are_not() {
        for (text, written) in [
            ("=1+1", "'=1+1"),
            ("+SUM(A1)", "'+SUM(A1)"),
            ("-1+2", "'-1+2"),
            ("-", "'-"),
            ("@a", "'@a"),
            ("\tx", "'\tx"),
            ("'=1", "''=1"),
            ("''-x", "'''-x"),
        ] {
            assert_eq!(guarded(text).as_deref(), Some(written));
            assert_eq!(unguarded(written), text);
        }
        for text in ["-1", "+1.5", "-1.234,5", "-1e-5", "+1 000", "[-3, 5]", "*", "a=b", "'x", "O'Brien", "", "'"] {
            assert_eq!(guarded(text), None, "{text}");
            assert_eq!(unguarded(text), text);
        }
    }

    #[test]
    fn numbers_change_their_notation() {
        let comma = Notation { decimal: ',', thousands: Some('.') };
        let change = |from, to| Some(NotationChange { from, to, missing: vec!["-9,9".into()] });
        let conversion = Conversion { notations: vec![change(comma, Notation::PLAIN), None], guard: true };
        assert_eq!(conversion.text(0, "-1.234,5"), "-1234.5");
        assert_eq!(conversion.text(0, "-9,9"), "-9,9", "a missing value");
        assert_eq!(conversion.text(0, "k.A."), "k.A.");
        assert_eq!(conversion.text(0, "=1,5"), "'=1,5");
        assert_eq!(conversion.text(1, "1.234,5"), "1.234,5");
        let back = Conversion { notations: vec![change(Notation::PLAIN, comma)], guard: false };
        assert_eq!(back.text(0, "1234.5"), "1234,5");
    }

    proptest! {
        #[test]
        fn guarding_is_undone(text in "['=+@\t\r1,e. x-]{0,6}", other in "['=+@\t\r1,e. x-]{0,6}") {
            let written = guarded(&text).unwrap_or_else(|| text.clone());
            prop_assert_eq!(unguarded(&written), &text);
            prop_assert!(!is_formula(&written));
            let other_written = guarded(&other).unwrap_or_else(|| other.clone());
            prop_assert_eq!(written == other_written, text == other);
        }
    }
}
