//! How the dates of a column are written.

use moretta_core::dates::{DateFormat, Moment};

/// How the dates of a column are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Written {
    /// As the policy takes them to be when it does not say.
    Iso,
    /// In one way only that fits all of them.
    As(&'static str),
    /// In one of two ways that fit all of them, and no value tells in which.
    Either(&'static str, &'static str),
    /// In no one way that fits all of them.
    Otherwise,
}

/// The ways to look for. With dots the day comes first, everywhere.
#[rustfmt::skip]
const FORMATS: &[&str] = &[
    "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d",
    "%d.%m.%Y %H:%M", "%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M", "%d.%m.%Y %H:%M:%S", "%d/%m/%Y %H:%M:%S",
    "%m/%d/%Y %H:%M:%S",
];

impl Written {
    pub fn of(texts: &[&str]) -> Self {
        let all = |format: Option<&DateFormat>| texts.iter().all(|text| Moment::read(text, format).is_some());
        if all(None) {
            return Self::Iso;
        }
        let fits = |text: &&&str| DateFormat::new(text).is_ok_and(|format| all(Some(&format)));
        let fitting: Vec<&'static str> = FORMATS.iter().filter(fits).copied().collect();
        match *fitting.as_slice() {
            [] => Self::Otherwise,
            [one] => Self::As(one),
            [first, second, ..] => Self::Either(first, second),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_may_tell() {
        assert_eq!(Written::of(&["1984-03-31", "1984-03-31T12:30"]), Written::Iso);
        assert_eq!(Written::of(&["1984-3-31", "1984-12-01"]), Written::As("%Y-%m-%d"));
        assert_eq!(Written::of(&["1.2.2020", "03.04.2020"]), Written::As("%d.%m.%Y"));
        assert_eq!(Written::of(&["01/02/2020", "13/02/2020"]), Written::As("%d/%m/%Y"));
        assert_eq!(Written::of(&["01/02/2020", "02/13/2020"]), Written::As("%m/%d/%Y"));
        assert_eq!(Written::of(&["01/02/2020", "03/04/2020"]), Written::Either("%d/%m/%Y", "%m/%d/%Y"));
        assert_eq!(Written::of(&["13/02/2020", "02/13/2020"]), Written::Otherwise);
        assert_eq!(Written::of(&["3/31/24"]), Written::Otherwise);
        assert_eq!(Written::of(&["19840331"]), Written::As("%Y%m%d"));
        assert_eq!(Written::of(&["31.03.1984 12:30"]), Written::As("%d.%m.%Y %H:%M"));
    }
}
