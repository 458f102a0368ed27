//! Generalization hierarchies of the synthetic people, as texts of hierarchy files.

use std::fmt::Write as _;

use super::diagnoses::DIAGNOSES;
use super::tables::{EDUCATIONS, MARITAL_STATUSES, OCCUPATIONS, PLACES, SEXES};

/// Returns the hierarchy file of a column: a row `leaf;parent;...;*` per possible value, all rows of the same length.
///
/// There is one for `sex`, `postcode` (`20105;201**;20***;2****;*`), `education`, `occupation`, `marital-status` and
/// `diagnosis` (by chapter). The other columns are numbers, names, or not generalized.
pub fn hierarchy(column: &str) -> Option<String> {
    let text = match column {
        "sex" => rows(SEXES.map(|sex| [sex])),
        "postcode" => postcodes(),
        "education" => rows(EDUCATIONS.map(|e| [e.label, e.above[0], e.above[1]])),
        "occupation" => rows(OCCUPATIONS.map(|o| [o.label, o.above[0], o.above[1]])),
        "marital-status" => rows(MARITAL_STATUSES),
        "diagnosis" => rows(DIAGNOSES.map(|d| [d.label, d.chapter])),
        _ => return None,
    };
    Some(text)
}

fn rows<const N: usize>(paths: impl IntoIterator<Item = [&'static str; N]>) -> String {
    let mut text = String::new();
    for path in paths {
        for node in path {
            text.push_str(node);
            text.push(';');
        }
        text.push_str("*\n");
    }
    text
}

fn postcodes() -> String {
    let mut codes: Vec<u32> =
        PLACES.iter().flat_map(|place| (0..place.areas * place.codes).map(|n| place.postcode(n))).collect();
    codes.sort_unstable();
    let mut text = String::with_capacity(codes.len() * 28);
    for code in codes {
        let (three, two, one) = (code / 100, code / 1000, code / 10_000);
        writeln!(text, "{code:05};{three:03}**;{two:02}***;{one}****;*").expect("writing to a String cannot fail");
    }
    text
}
