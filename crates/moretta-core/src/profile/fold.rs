//! Spellings of one value.
//!
//! Texts that differ only in blanks, case, Unicode form or the spelling of a number mean the same to a recipient. If
//! they counted as different values, a group whose records are all `HIV`, `HIV ` and `hiv` would be diverse.

use unicode_normalization::UnicodeNormalization;

use crate::{decimal::Decimal, notation::Notation, text::is_invisible};

/// Text that all spellings of a value share. It identifies the value and is never shown.
///
/// - Blanks: those at the ends are removed, inner runs become one space; invisible characters are removed everywhere.
/// - Numbers: `1000`, `1000.0`, `01000`, `+1000` and `1e3` are one number, compared exactly; in another notation also
///   `1.000` and `1000,0`.
/// - Case and Unicode form: canonical caseless matching. Upper case in between lower case takes the letters together
///   that have no counterpart of one letter (`ß` and `SS`), as case folding does.
///
/// Compatibility forms (NFKC) stay different: they take `x²` and `x2` together, which mean different things.
pub(super) fn fold(text: &str, notation: Notation) -> String {
    let visible: String = text.chars().filter(|char| char.is_whitespace() || !is_ignorable(*char)).collect();
    let mut folded = String::with_capacity(visible.len());
    for word in visible.split_whitespace() {
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.push_str(word);
    }
    match notation.number(&folded).and_then(|number| Decimal::parse(&number)) {
        Some(number) => number.scientific(),
        None if folded.is_ascii() => folded.to_ascii_lowercase(),
        None => {
            let decomposed: String = folded.nfd().collect();
            decomposed.to_lowercase().to_uppercase().to_lowercase().nfc().collect()
        }
    }
}

/// Whether a character cannot be seen by itself, so that texts with and without it look the same.
fn is_ignorable(char: char) -> bool {
    is_invisible(char) || matches!(char, '\u{34f}' | '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}')
}

#[cfg(test)]
mod tests {
    use crate::notation::Notation;

    fn fold(text: &str) -> String {
        super::fold(text, Notation::PLAIN)
    }

    #[test]
    fn numbers_of_another_notation() {
        let german = Notation { decimal: ',', thousands: Some('.') };
        let fold = |text: &str| super::fold(text, german);
        assert!(["1000", "1000,0", "1.000,00", " +1000", "1e3"].iter().all(|text| fold(text) == fold("1.000")));
        assert!(["1.0", "1", "1000.0"].iter().all(|text| fold(text) != fold("1.000")));
        let french = Notation { decimal: ',', thousands: Some(' ') };
        assert_eq!(super::fold("1\u{202f}000", french), super::fold("1000", french));
    }

    #[test]
    fn spellings_of_one_value() {
        let spellings: [&[&str]; 9] = [
            &[
                "HIV",
                "hiv",
                " HIV",
                "HIV ",
                "\u{a0}Hiv\t",
                "\u{feff}HIV",
                "H\u{200b}IV",
                "HIV\u{3000}",
                "HIV\u{200e}",
                "H\u{ad}IV",
                "H\u{200d}IV\u{fe0f}",
            ],
            &["type 2", "Type  2", "type\u{a0}2", "TYPE \u{2007} 2\n"],
            &["caf\u{e9}", "cafe\u{301}", "CAF\u{c9}", "Cafe\u{301} "],
            &["1000", "1000.0", "01000", "+1000", "1e3", "1E+3", " 1000", "10e2"],
            &["0", "-0", "0.00", "+0e5", ".0"],
            &["-0.5", "-.5", "-5e-1", "-0.50"],
            &["Stra\u{df}e", "STRASSE", "strasse", "STRA\u{1e9e}E"],
            &["\u{39f}\u{3b4}\u{3cc}\u{3c2}", "\u{39f}\u{394}\u{38c}\u{3a3}", "\u{3bf}\u{3b4}\u{3bf}\u{301}\u{3c3}"],
            &["", " ", "\u{a0}\t"],
        ];
        for same in spellings {
            same.iter().for_each(|text| assert_eq!(fold(text), fold(same[0]), "{text:?} and {:?}", same[0]));
        }
        for (at, one) in spellings.iter().enumerate() {
            assert!(spellings[..at].iter().all(|other| fold(other[0]) != fold(one[0])), "{one:?}");
        }
    }

    #[test]
    fn values_that_stay_apart() {
        let apart = [
            "12",
            "1 2",
            "1.2",
            "-1.2",
            "x2",
            "x\u{b2}",
            "inf",
            "nan",
            "1e99999999999",
            "e",
            "\u{e9}",
            "H\u{399}V",
            "hiv",
            "1,000",
        ];
        for (at, text) in apart.iter().enumerate() {
            assert!(apart[..at].iter().all(|other| fold(other) != fold(text)), "{text}");
            assert_eq!(fold(&fold(text)), fold(text));
        }
    }
}
