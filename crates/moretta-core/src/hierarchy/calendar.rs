//! Calendar hierarchy over dates: days (for dates with a time of day), months, quarters, years, decades.
//!
//! A label depends on the date and the level alone, so the same levels give the same labels for any data. A month is a
//! node even if only one of its dates occurs: its label is less precise than the date.

use chrono::{NaiveDate, NaiveTime};
use serde::Serialize;

use super::{numeric::from_levels, tree::Tree, value_parser::ValueParser};
use crate::dates::Moment;

/// A level of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DateLevel {
    /// `1984-03-31`, for dates with a time of day.
    Day,
    /// `1984-03`.
    Month,
    /// `1984-Q1`.
    Quarter,
    /// `1984`.
    Year,
    /// `1980s`.
    Decade,
}

impl DateLevel {
    /// All levels, the finest first.
    pub const ALL: [Self; 5] = [Self::Day, Self::Month, Self::Quarter, Self::Year, Self::Decade];

    /// Name in a policy.
    pub fn name(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Month => "month",
            Self::Quarter => "quarter",
            Self::Year => "year",
            Self::Decade => "decade",
        }
    }

    fn label(self, moment: Moment) -> String {
        let (year, month, day) = moment.day();
        match self {
            Self::Day => format!("{year}-{month:02}-{day:02}"),
            Self::Month => format!("{year}-{month:02}"),
            Self::Quarter => format!("{year}-Q{}", month.div_ceil(3)),
            Self::Year => year.to_string(),
            Self::Decade => format!("{}s", year / 10 * 10),
        }
    }
}

/// Builds the tree over the distinct dates in order. The levels come finest first.
pub(crate) fn build(moments: &[Moment], texts: &[Box<str>], levels: &[DateLevel]) -> Tree {
    // Without times of day, the day level would repeat the dates.
    let timed = moments.iter().any(|moment| moment.has_time());
    let levels = levels.iter().rev().filter(|level| timed || **level != DateLevel::Day);
    let labels = |level: &DateLevel| moments.iter().map(|moment| level.label(*moment)).collect();
    from_levels(texts, &levels.map(labels).collect::<Vec<Vec<String>>>())
}

/// The first and the last second of the period that a label of one of these levels means, since 1970-01-01; `None` if
/// the text is no such label.
pub fn period_ends(text: &str, levels: &[DateLevel], parser: &ValueParser) -> Option<(f64, f64)> {
    let first = first_day(text, levels, parser)?;
    let level = *levels.iter().find(|level| level.label(first) == text)?;
    let (year, month, _) = first.day();
    let months = match level {
        DateLevel::Day => return Some((first.seconds(), first.seconds() + 86_399.0)),
        DateLevel::Month => 1,
        DateLevel::Quarter => 3,
        DateLevel::Year => 12,
        DateLevel::Decade => 120,
    };
    let next = year * 12 + month as i32 - 1 + months;
    let next = NaiveDate::from_ymd_opt(next.div_euclid(12), next.rem_euclid(12) as u32 + 1, 1)?;
    Some((first.seconds(), next.and_time(NaiveTime::MIN).and_utc().timestamp() as f64 - 1.0))
}

/// Whether a text is a label of one of these levels.
pub(crate) fn is_label(text: &str, levels: &[DateLevel], parser: &ValueParser) -> bool {
    first_day(text, levels, parser).is_some()
}

/// The first day of the period that a label of one of these levels means; `None` if the text is no such label.
pub(crate) fn first_day(text: &str, levels: &[DateLevel], parser: &ValueParser) -> Option<Moment> {
    let first_day = match (text.split_once("-Q"), text.strip_suffix('s')) {
        (Some((year, "1")), _) => format!("{year}-01-01"),
        (Some((year, "2")), _) => format!("{year}-04-01"),
        (Some((year, "3")), _) => format!("{year}-07-01"),
        (Some((year, "4")), _) => format!("{year}-10-01"),
        (Some(_), _) => return None,
        (None, Some(year)) => format!("{year}-01-01"),
        (None, None) => format!("{text}{}", "0000-01-01".get(text.len()..).unwrap_or_default()),
    };
    let moment = Moment::read(&first_day, None)?;
    let timed = |level: &DateLevel| *level != DateLevel::Day || parser.may_have_time();
    let is_label = levels.iter().filter(|level| timed(level)).any(|level| level.label(moment) == text);
    is_label.then_some(moment)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{hierarchy::file, schema::Kind};

    fn rows(texts: &[&str], levels: &[DateLevel]) -> Vec<String> {
        let moments: Vec<Moment> = texts.iter().map(|text| Moment::read(text, None).unwrap()).collect();
        let texts: Vec<Box<str>> = texts.iter().map(|text| (*text).into()).collect();
        file::write(&build(&moments, &texts, levels)).lines().map(str::to_owned).collect()
    }

    #[test]
    fn every_level_is_a_node_even_around_one_date() {
        assert_eq!(
            rows(&["1979-12-31", "1984-03-31", "1984-04-01"], &DateLevel::ALL),
            [
                "1979-12-31;1979-12;1979-Q4;1979;1970s;*",
                "1984-03-31;1984-03;1984-Q1;1984;1980s;*",
                "1984-04-01;1984-04;1984-Q2;1984;1980s;*",
            ]
        );
        assert_eq!(rows(&["1984-03-31"], &[DateLevel::Month, DateLevel::Decade]), ["1984-03-31;1984-03;1980s;*"]);
    }

    #[test]
    fn days_are_a_level_where_there_are_times() {
        let levels = [DateLevel::Day, DateLevel::Year];
        assert_eq!(
            rows(&["1984-03-31T08:00", "1984-03-31T09:30", "1984-04-01T00:00"], &levels),
            [
                "1984-03-31T08:00;1984-03-31;1984;*",
                "1984-03-31T09:30;1984-03-31;1984;*",
                "1984-04-01T00:00;1984-04-01;1984;*",
            ]
        );
        // A date without a time has the label of its day, so there is no node for that day.
        let mixed = rows(&["1984-03-31", "1984-03-31T09:30"], &levels);
        assert_eq!(mixed, ["1984-03-31;1984;*", "1984-03-31T09:30;1984;*"]);
    }

    #[test]
    fn periods_end_before_the_next_one() {
        let iso = ValueParser::new(Kind::Date, None);
        let seconds = |text: &str| Moment::read(text, None).unwrap().seconds();
        for (label, first, next) in [
            ("1984-02", "1984-02-01", "1984-03-01"),
            ("1984-12", "1984-12-01", "1985-01-01"),
            ("1984-Q4", "1984-10-01", "1985-01-01"),
            ("1984", "1984-01-01", "1985-01-01"),
            ("1980s", "1980-01-01", "1990-01-01"),
            ("1984-02-28", "1984-02-28", "1984-02-29"),
        ] {
            let ends = period_ends(label, &DateLevel::ALL, &iso);
            assert_eq!(ends, Some((seconds(first), seconds(next) - 1.0)), "{label}");
        }
        assert_eq!(period_ends("1984-13", &DateLevel::ALL, &iso), None);
    }

    #[test]
    fn labels_are_known_by_their_form() {
        let iso = ValueParser::new(Kind::Date, None);
        for right in ["1984-03-31", "1984-03", "1984-Q1", "1984-Q4", "1984", "1980s"] {
            assert!(is_label(right, &DateLevel::ALL, &iso), "{right}");
        }
        let wrong = [
            "",
            "1",
            "84",
            "1984-13",
            "1984-Q5",
            "1984-Q0",
            "1984-Q",
            "1984s",
            "80s",
            "1984-3",
            "1984-",
            "s",
            "-Q1",
            "1984-02-30",
        ];
        for wrong in wrong.into_iter().chain(["1984-Q99999999999", "é984", "1984-Q4294967295"]) {
            assert!(!is_label(wrong, &DateLevel::ALL, &iso), "{wrong}");
        }
        assert!(!is_label("1984-Q1", &[DateLevel::Month, DateLevel::Year], &iso));
    }
}
