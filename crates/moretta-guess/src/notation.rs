//! Finds out how the numbers of a sample are written: decimal mark and separator of thousands.
//!
//! A notation is proposed only for positive evidence, because a policy has one for all columns: a column whose texts
//! are all numbers in it and not all numbers in plain notation. A notation that would take the numbers of another
//! column away (`1.5` under a decimal comma) is not proposed; then the draft has a note instead.
//!
//! | texts of a column | evidence of |
//! | --- | --- |
//! | `72,5`, `1,25` | a decimal comma |
//! | `1.234,5`, `1.234.567` | a decimal comma and `.` between thousands |
//! | `1,234.5`, `1,234,567` | a decimal point and `,` between thousands |
//! | `1'234`, `980` | `'` between thousands; the same with a space |
//! | only such as `1,234` | one of both: in a file with semicolons, a decimal comma; the draft says so |

use moretta_core::notation::Notation;

use crate::{
    ColumnFacts,
    values::{damage, patterns},
};

/// Notation of the numbers of a table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FoundNotation {
    /// Plain if there is no evidence of another one.
    pub notation: Notation,
    /// The columns that show it.
    pub columns: Vec<String>,
    /// Whether the evidence has another reading: a comma before three digits each time.
    pub ambiguous: bool,
    /// Columns with numbers in a notation that does not fit the other columns.
    pub conflicting: Vec<String>,
}

/// Notation that the texts of a column show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Evidence {
    /// No numbers, or numbers that every notation reads alike.
    Any,
    /// Numbers with a decimal point, which no other decimal mark allows.
    Point,
    /// Numbers in this notation only.
    Only(Notation),
    /// A comma before three digits, in each text that has one.
    CommaBeforeThree,
    /// A point before three digits, in each text that has one: `1.234` is a plain number, too.
    PointBeforeThree,
}

/// A decimal comma and no separator of thousands.
const COMMA: Notation = Notation { decimal: ',', thousands: None };

/// Finds the notation of the numbers of a table. `delimiter` is that of the file, if it is CSV.
pub fn found_notation(facts: &[ColumnFacts], delimiter: Option<char>) -> FoundNotation {
    let evidence: Vec<(&ColumnFacts, Evidence)> = facts.iter().map(|column| (column, evidence_of(column))).collect();
    let of = |wanted: Evidence| evidence.iter().filter(move |(_, found)| *found == wanted);
    let names = |columns: Vec<&(&ColumnFacts, Evidence)>| columns.iter().map(|(it, _)| it.name.clone()).collect();
    // The decimal mark and the separators that columns show; the richest notation that reads all of them wins.
    let shown: Vec<Notation> = evidence
        .iter()
        .filter_map(|(_, found)| if let Evidence::Only(it) = found { Some(*it) } else { None })
        .collect();
    let has_points = of(Evidence::Point).next().is_some();
    let unclear = of(Evidence::CommaBeforeThree).collect::<Vec<_>>();
    let mut chosen = Notation::COMMON.into_iter().find(|candidate| {
        let agrees = |shown: &Notation| {
            shown.decimal == candidate.decimal && (shown.thousands.is_none() || shown.thousands == candidate.thousands)
        };
        !shown.is_empty() && shown.iter().all(agrees) && (candidate.decimal == '.' || !has_points)
    });
    let ambiguous = shown.is_empty() && !unclear.is_empty();
    if ambiguous {
        let comma = !has_points && delimiter.is_some_and(|delimiter| delimiter != ',');
        chosen = Some(if comma { COMMA } else { Notation { decimal: '.', thousands: Some(',') } });
    }
    // With a decimal comma, `1.234` has a separator of thousands.
    let of_thousands = of(Evidence::PointBeforeThree).next().is_some();
    if chosen == Some(COMMA) && of_thousands {
        chosen = Some(Notation { thousands: Some('.'), ..COMMA });
    }
    let Some(chosen) = chosen else {
        let conflicting = evidence.iter().filter(|(_, found)| matches!(found, Evidence::Only(_)));
        return FoundNotation { conflicting: names(conflicting.collect()), ..FoundNotation::default() };
    };
    let shows = evidence.iter().filter(|(_, found)| matches!(found, Evidence::Only(_) | Evidence::CommaBeforeThree));
    FoundNotation { notation: chosen, columns: names(shows.collect()), ambiguous, conflicting: Vec::new() }
}

/// The same columns with the numbers of number columns in plain notation.
pub fn in_plain_notation(facts: &[ColumnFacts], notation: Notation) -> Vec<ColumnFacts> {
    let plain = |column: &ColumnFacts| {
        let mut column = column.clone();
        if !notation.is_plain() && is_of_numbers(&column, notation) {
            for (text, _) in &mut column.values {
                if let Some(number) = notation.number(text).filter(|_| !patterns::is_missing_marker(text)) {
                    *text = number.into_owned();
                }
            }
        }
        column
    };
    facts.iter().map(plain).collect()
}

/// Texts of a column that do not stand for a missing value.
fn present(column: &ColumnFacts) -> impl Iterator<Item = &str> + Clone {
    column.values.iter().map(|(text, _)| text.as_str()).filter(|text| !patterns::is_missing_marker(text))
}

fn is_of_numbers(column: &ColumnFacts, notation: Notation) -> bool {
    let mut texts = present(column).peekable();
    texts.peek().is_some() && texts.all(|text| notation.number(text).is_some() && !damage::is_regrouped(text))
}

fn evidence_of(column: &ColumnFacts) -> Evidence {
    /// Fewer distinct texts may be codes such as `1,2`.
    const MIN_TEXTS: usize = 3;
    let texts = || present(column);
    // A group of three digits, whose mark separates thousands, or decimals.
    let before_three = |mark: char| {
        texts().filter(|text| text.contains(mark)).all(|text| {
            let unsigned = text.trim_start_matches(['-', '+']);
            let lengths: Vec<usize> = unsigned.split(mark).map(str::len).collect();
            matches!(lengths[..], [1..=3, 3]) && !unsigned.starts_with('0') && !unsigned.contains(['e', 'E'])
        })
    };
    if is_of_numbers(column, Notation::PLAIN) {
        return match texts().filter(|text| text.contains('.')).count() {
            0 => Evidence::Any,
            MIN_TEXTS.. if before_three('.') => Evidence::PointBeforeThree,
            _ => Evidence::Point,
        };
    }
    let Some(candidate) = Notation::COMMON.into_iter().find(|candidate| is_of_numbers(column, *candidate)) else {
        return Evidence::Any;
    };
    // Texts that plain notation does not read.
    let marked = texts().filter(|text| Notation::PLAIN.number(text).is_none());
    // Numbers have different lengths or a decimal mark, and codes such as `555 123` do not.
    let are_like_codes = |candidate: Notation| {
        let digits = |text: &str| text.split(|char: char| !char.is_ascii_digit()).map(str::len).collect::<Vec<_>>();
        let first = texts().next().map(digits);
        texts().all(|text| !text.contains(candidate.decimal) && Some(digits(text)) == first)
    };
    match candidate {
        _ if marked.clone().count() < MIN_TEXTS => Evidence::Any,
        Notation { decimal: ',', thousands: None } if before_three(',') => Evidence::CommaBeforeThree,
        Notation { thousands: Some(' ' | '\''), .. } if are_like_codes(candidate) => Evidence::Any,
        candidate => Evidence::Only(candidate),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notation(decimal: char, thousands: Option<char>) -> Notation {
        Notation { decimal, thousands }
    }

    fn column(name: &str, texts: &[&str]) -> ColumnFacts {
        let values = texts.iter().map(|text| ((*text).to_owned(), 5)).collect();
        ColumnFacts { name: name.to_owned(), values, records: 5 * texts.len() as u64, ..ColumnFacts::default() }
    }

    fn found(delimiter: char, columns: &[&[&str]]) -> FoundNotation {
        let columns: Vec<ColumnFacts> =
            (0..).zip(columns).map(|(at, texts)| column(&format!("c{at}"), texts)).collect();
        found_notation(&columns, Some(delimiter))
    }

    #[test]
    fn evidence_of_each_notation() {
        let weights: &[&str] = &["72,5", "81,25", "60", "95,0"];
        for (columns, expected) in [
            (&[weights][..], notation(',', None)),
            (&[weights, &["1.234", "980", "12.000", "2.500"]], notation(',', Some('.'))),
            (&[&["1.234,5", "980,25", "12.000,0"]], notation(',', Some('.'))),
            (&[&["1.234.567", "2.000.000", "980", "3.100.000"]], notation(',', Some('.'))),
            (&[&["1,234.5", "980", "12,000.25", "3,000"]], notation('.', Some(','))),
            (&[&["1'234", "980", "12'000", "2'000"]], notation(',', Some('\''))),
            (&[&["1'234.5", "980.25", "12'000.5", "2'000"]], notation('.', Some('\''))),
            (&[&["1\u{202f}234,5", "980", "2 000", "3 000"]], notation(',', Some(' '))),
            (&[weights, &["1'234", "980", "12'000", "3'000"]], notation(',', Some('\''))),
            (&[&["1'234,50", "3'412,75", "2'000,25"]], notation(',', Some('\''))),
            (&[&["12 345", "9 870", "61 200"]], notation(',', Some(' '))),
            (&[&["1.5", "2.25", "3.125"], &["a", "b"]], Notation::PLAIN),
            (&[&["1.234", "2.500", "3.125"]], Notation::PLAIN),
            (&[&["555 123", "555 124", "555 125"]], Notation::PLAIN),
            (&[&["030 123", "0221 456", "089 771"]], Notation::PLAIN),
            (&[&["1,2", "3"]], Notation::PLAIN),
            (&[&["4.222.835.382.315.940", "3.222.835.382.315.941", "5.222.835.382.315.942"]], Notation::PLAIN),
            (&[&["0,5", "n/a", "1,5", "k.A.", "2,5"]], notation(',', None)),
        ] {
            let found = found(';', columns);
            assert_eq!((found.notation, found.ambiguous), (expected, false), "{columns:?}");
        }
    }

    #[test]
    fn unclear_and_conflicting_columns() {
        let unclear: &[&str] = &["1,234", "2,500", "980", "3,125"];
        assert_eq!((found(';', &[unclear]).notation, found(';', &[unclear]).ambiguous), (notation(',', None), true));
        assert_eq!(found(',', &[unclear]).notation, notation('.', Some(',')));
        assert_eq!(found(';', &[unclear, &["1.5", "2.25"]]).notation, notation('.', Some(',')));
        let both = found(';', &[&["72,5", "81,2", "60,1"], &["1.5", "2.25"]]);
        assert_eq!((both.notation, both.conflicting), (Notation::PLAIN, vec!["c0".to_owned()]));
    }

    #[test]
    fn numbers_become_plain_and_other_texts_stay() {
        let german = notation(',', Some('.'));
        let columns = [column("a", &["1.234,5", "2", "k.A."]), column("b", &["1,5", "x"])];
        let plain = in_plain_notation(&columns, german);
        let texts = |column: &ColumnFacts| column.values.iter().map(|(text, _)| text.clone()).collect::<Vec<_>>();
        assert_eq!(texts(&plain[0]), ["1234.5", "2", "k.A."]);
        assert_eq!(texts(&plain[1]), ["1,5", "x"]);
    }
}
