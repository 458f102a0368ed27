//! Guesses the date format of a column.

use moretta_core::dates::{DateFormat, Moment};

/// Date format of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DateStyle {
    /// ISO 8601, the default of a policy.
    Iso,
    /// The only format that fits all values.
    As(&'static str),
    /// Two formats fit all values.
    Ambiguous(&'static str, &'static str),
    /// No format fits all values.
    Unknown,
}

/// Known formats. With dots the day always comes first.
#[rustfmt::skip]
const FORMATS: &[&str] = &[
    "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d",
    "%d.%m.%Y %H:%M", "%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M", "%d.%m.%Y %H:%M:%S", "%d/%m/%Y %H:%M:%S",
    "%m/%d/%Y %H:%M:%S",
];

impl DateStyle {
    pub fn of(texts: &[&str]) -> Self {
        let all = |format: Option<&DateFormat>| texts.iter().all(|text| Moment::read(text, format).is_some());
        if all(None) {
            return Self::Iso;
        }
        let fits = |text: &&&str| DateFormat::new(text).is_ok_and(|format| all(Some(&format)));
        let fitting: Vec<&'static str> = FORMATS.iter().filter(fits).copied().collect();
        match *fitting.as_slice() {
            [] => Self::Unknown,
            [one] => Self::As(one),
            [first, second, ..] => Self::Ambiguous(first, second),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_may_decide_the_format() {
        assert_eq!(DateStyle::of(&["1984-03-31", "1984-03-31T12:30"]), DateStyle::Iso);
        assert_eq!(DateStyle::of(&["1984-3-31", "1984-12-01"]), DateStyle::As("%Y-%m-%d"));
        assert_eq!(DateStyle::of(&["1.2.2020", "03.04.2020"]), DateStyle::As("%d.%m.%Y"));
        assert_eq!(DateStyle::of(&["01/02/2020", "13/02/2020"]), DateStyle::As("%d/%m/%Y"));
        assert_eq!(DateStyle::of(&["01/02/2020", "02/13/2020"]), DateStyle::As("%m/%d/%Y"));
        assert_eq!(DateStyle::of(&["01/02/2020", "03/04/2020"]), DateStyle::Ambiguous("%d/%m/%Y", "%m/%d/%Y"));
        assert_eq!(DateStyle::of(&["13/02/2020", "02/13/2020"]), DateStyle::Unknown);
        assert_eq!(DateStyle::of(&["3/31/24"]), DateStyle::Unknown);
        assert_eq!(DateStyle::of(&["19840331"]), DateStyle::As("%Y%m%d"));
        assert_eq!(DateStyle::of(&["31.03.1984 12:30"]), DateStyle::As("%d.%m.%Y %H:%M"));
    }
}
