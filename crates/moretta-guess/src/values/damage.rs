//! Values that a program has damaged or packed: numbers that lost their decimal point, lists in a cell.

use std::collections::HashSet;

use moretta_core::hierarchy::parse_number;

/// Whether a spreadsheet took a number's decimal point for a separator of thousands: `4.222.835.382.315.940`. Five
/// groups are more than any amount of money has.
pub(crate) fn is_regrouped(text: &str) -> bool {
    let unsigned = text.trim().trim_start_matches('-');
    ['.', ','].iter().any(|separator| {
        let mut groups = unsigned.split(*separator);
        let is_digits = |group: &str, lengths: std::ops::RangeInclusive<usize>| {
            lengths.contains(&group.len()) && group.bytes().all(|byte| byte.is_ascii_digit())
        };
        groups.next().is_some_and(|first| is_digits(first, 1..=3))
            && groups.clone().count() >= 4
            && groups.all(|group| is_digits(group, 3..=3))
    })
}

/// Whether a spreadsheet has rounded a long number: `1.23457E+11`.
fn is_rounded(text: &str) -> bool {
    let Some((mantissa, exponent)) = text.trim().split_once("E+") else { return false };
    let is_digit = |c: char| c.is_ascii_digit();
    mantissa.starts_with(is_digit)
        && mantissa.chars().all(|c| is_digit(c) || matches!(c, '.' | ','))
        && exponent.len() >= 2
        && exponent.chars().all(is_digit)
}

/// Damage of the numbers of a column, in words. One in ten distinct values is damaged, or one in a hundred if all
/// others are numbers; otherwise `None`.
pub(super) fn of(texts: &[&str]) -> Option<&'static str> {
    type Test = fn(&str) -> bool;
    let kinds: [(Test, &str); 2] = [
        (is_regrouped, "a spreadsheet has taken their decimal point for a separator of thousands"),
        (is_rounded, "a spreadsheet has rounded them to a few digits and an exponent"),
    ];
    let found = |test: Test| {
        let damaged = texts.iter().filter(|text| test(text)).count();
        let are_numbers = || texts.iter().all(|text| test(text) || parse_number(text.trim()).is_ok());
        damaged * 10 > texts.len() || (damaged > 1 && damaged * 100 > texts.len() && are_numbers())
    };
    kinds.into_iter().find(|(test, _)| found(*test)).map(|(_, what)| what)
}

/// The items of a cell: of a list in brackets, or between the separators `;` and `|`.
fn items(text: &str) -> Option<Vec<&str>> {
    let text = text.trim();
    let pairs = [('[', ']'), ('{', '}'), ('(', ')')];
    let inner = pairs.iter().find_map(|(open, close)| text.strip_prefix(*open)?.strip_suffix(*close));
    if let Some(inner) = inner {
        return Some(inner.split([',', ';']).map(str::trim).collect());
    }
    let separator = [';', '|'].into_iter().find(|separator| text.contains(*separator))?;
    Some(text.split(separator).map(str::trim).filter(|item| !item.is_empty()).collect())
}

/// Whether cells are lists: a third of the distinct values have several items, their number differs from cell to cell,
/// and items occur in several cells. Intervals such as `[30, 39]` always have two.
pub(super) fn are_lists(texts: &[&str]) -> bool {
    let lists: Vec<Vec<&str>> = texts.iter().filter_map(|text| items(text)).filter(|items| items.len() > 1).collect();
    let lengths: HashSet<usize> = lists.iter().map(Vec::len).collect();
    let different: HashSet<&str> = lists.iter().flatten().copied().collect();
    let all: usize = lists.iter().map(Vec::len).sum();
    lists.len() * 3 >= texts.len() && lengths.len() > 1 && all >= different.len() + different.len() / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_numbers() {
        assert!(
            ["4.222.835.382.315.940", "-7.256.295.055.096.880", "13,348,799,999,999,900"]
                .iter()
                .all(|text| is_regrouped(text))
        );
        assert!(
            !["1.234.567", "1.2.3.4.5", "42.1816", "999.999.999.999", "192.168.1.1", ""]
                .iter()
                .any(|text| is_regrouped(text))
        );
        assert!(is_rounded("1.23457E+11") && is_rounded("3,6E+14"));
        assert!(!["E+11", "1e300", "12.5", "E11.9", "1E+x1"].iter().any(|text| is_rounded(text)));
        assert!(of(&["1.5", "2.5", "13.348.799.999.999.900"]).is_some() && of(&["1.5", "2.5"]).is_none());
    }

    #[test]
    fn lists_in_cells() {
        assert!(are_lists(&["I10;E11", "I10", "E11;I10;J45", "J45;I10"]));
        assert!(are_lists(&["[1, 2]", "[2]", "[1, 2, 3]", "[3, 1]"]));
        assert!(are_lists(&["['a', 'b']", "['b', 'a', 'c']", "[]", "['a', 'c']"]));
        assert!(!are_lists(&["[30, 39]", "[40, 49]", "[30, 49]"]), "intervals");
        assert!(!are_lists(&["Main Street 5; Boston", "Elm Street 7; Salem"]), "texts with a semicolon");
        assert!(!are_lists(&["a", "b"]));
    }
}
