//! Dates as people write them, with or without a time of day.
//!
//! By default a date is ISO 8601: `1984-03-31`, or with a time `1984-03-31T12:30:05.123Z`; seconds, their fraction and
//! the `Z` are optional, and a blank may replace the `T`. A [`DateFormat`] sets another format, in `strftime` notation.
//! Time zones are not supported: a text with an offset is refused, and `Z` is ignored.

use std::fmt;

use chrono::{
    Datelike, NaiveDate, NaiveDateTime, NaiveTime, Timelike,
    format::{Fixed, Item, Numeric, Parsed, StrftimeItems, parse},
};

/// Accepted years. A year outside is taken to be a typing error: `31.03.84` does not mean the year 84.
const YEARS: std::ops::RangeInclusive<i32> = 1000..=9999;

/// Format of a column's dates, in `strftime` notation: `%d.%m.%Y`.
#[derive(Clone, PartialEq, Eq)]
pub struct DateFormat {
    text: String,
    items: Vec<Item<'static>>,
    has_time: bool,
}

impl DateFormat {
    /// Checks a format; the error is a sentence for the user.
    pub fn new(text: &str) -> Result<Self, &'static str> {
        let items = StrftimeItems::new(text).parse_to_owned();
        let items = items.map_err(|_| "it has a % that is not followed by a known letter")?;
        let numeric =
            |wanted: Numeric| items.iter().any(|item| matches!(item, Item::Numeric(found, _) if *found == wanted));
        let fixed =
            |wanted: &[Fixed]| items.iter().any(|item| matches!(item, Item::Fixed(found) if wanted.contains(found)));
        if numeric(Numeric::YearMod100) {
            return Err("a two-digit year has no century; write four digits in the data and %Y here");
        }
        if let Some(item) = items.iter().find(|item| !is_known(item)) {
            return Err(match item {
                Item::Fixed(_) => "time zones are not supported; remove them from the data",
                _ => "only years, months, days, month and weekday names, and times of day are supported",
            });
        }
        let month = numeric(Numeric::Month) || fixed(&[Fixed::ShortMonthName, Fixed::LongMonthName]);
        if !numeric(Numeric::Year) || !(month && numeric(Numeric::Day) || numeric(Numeric::Ordinal)) {
            return Err("a date needs a year (%Y), a month (%m) and a day (%d)");
        }
        let half_days = numeric(Numeric::Hour12) && fixed(&[Fixed::LowerAmPm, Fixed::UpperAmPm]);
        let has_time = numeric(Numeric::Hour) || half_days;
        if numeric(Numeric::Hour12) && !has_time {
            return Err("12-hour times (%I) need AM or PM (%p)");
        }
        let finer = numeric(Numeric::Second) || numeric(Numeric::Nanosecond) || fixed(&[Fixed::Nanosecond]);
        let half = fixed(&[Fixed::LowerAmPm, Fixed::UpperAmPm]);
        if has_time != numeric(Numeric::Minute) || !has_time && (finer || half) {
            return Err("a time of day needs hours (%H) and minutes (%M)");
        }
        Ok(Self { text: text.to_owned(), items, has_time })
    }

    /// The format as written in the policy.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether the format includes a time of day.
    pub fn has_time(&self) -> bool {
        self.has_time
    }

    fn read(&self, text: &str) -> Option<NaiveDateTime> {
        let mut parsed = Parsed::new();
        parse(&mut parsed, text, self.items.iter()).ok()?;
        let date = parsed.to_naive_date().ok()?;
        let time = if self.has_time { parsed.to_naive_time().ok()? } else { NaiveTime::MIN };
        // chrono represents second 60 (a leap second) as nanoseconds of 10^9 or more.
        if time.nanosecond() >= 1_000_000_000 {
            return None;
        }
        Some(date.and_time(time))
    }
}

impl fmt::Debug for DateFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}

fn is_known(item: &Item<'_>) -> bool {
    use Numeric::{Day, Hour, Hour12, Minute, Month, Nanosecond, Ordinal, Second, Year};
    match item {
        Item::Numeric(Year | Month | Day | Ordinal | Hour | Hour12 | Minute | Second | Nanosecond, _) => true,
        Item::Numeric(..) | Item::Error => false,
        Item::Fixed(Fixed::ShortMonthName | Fixed::LongMonthName | Fixed::LowerAmPm | Fixed::UpperAmPm) => true,
        Item::Fixed(Fixed::ShortWeekdayName | Fixed::LongWeekdayName | Fixed::Nanosecond) => true,
        Item::Fixed(_) => false,
        _ => true,
    }
}

/// A parsed date, with or without a time of day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    at: NaiveDateTime,
    has_time: bool,
}

impl Moment {
    /// Parses a date; `None` if the text does not match the format or the day does not exist.
    pub fn read(text: &str, format: Option<&DateFormat>) -> Option<Self> {
        let (at, has_time) = match format {
            Some(format) => (format.read(text)?, format.has_time),
            None => iso(text)?,
        };
        YEARS.contains(&at.year()).then_some(Self { at, has_time })
    }

    /// Writes the date in a format; by default in ISO 8601 with the time of day.
    pub(crate) fn write(self, format: Option<&DateFormat>) -> String {
        match format {
            Some(format) => self.at.format_with_items(format.items.iter()).to_string(),
            None => self.at.format("%Y-%m-%dT%H:%M:%S%.f").to_string(),
        }
    }

    /// Seconds since 1970-01-01T00:00.
    pub fn seconds(self) -> f64 {
        let at = self.at.and_utc();
        at.timestamp() as f64 + f64::from(at.timestamp_subsec_nanos()) / 1e9
    }

    /// Exact date and time; midnight if the text has no time. Unlike [`seconds`](Self::seconds), nothing is rounded.
    pub(crate) fn date_time(self) -> NaiveDateTime {
        self.at
    }

    /// Whether the text included a time of day.
    pub fn has_time(self) -> bool {
        self.has_time
    }

    /// Year, month and day.
    pub fn day(self) -> (i32, u32, u32) {
        (self.at.year(), self.at.month(), self.at.day())
    }
}

/// A date in ISO 8601, and whether it has a time of day.
fn iso(text: &str) -> Option<(NaiveDateTime, bool)> {
    let (day, rest) = text.split_at_checked(10)?;
    let parts: Vec<&str> = day.split('-').collect();
    let &[year, month, day] = parts.as_slice() else { return None };
    let date = NaiveDate::from_ymd_opt(digits(year, 4)? as i32, digits(month, 2)?, digits(day, 2)?)?;
    if rest.is_empty() {
        return Some((date.and_time(NaiveTime::MIN), false));
    }
    let time = rest.strip_prefix(['T', ' '])?;
    let time = time.strip_suffix('Z').unwrap_or(time);
    let (time, fraction) = time.split_once('.').map_or((time, None), |(time, fraction)| (time, Some(fraction)));
    let parts: Vec<&str> = time.split(':').collect();
    let (hour, minute, second) = match *parts.as_slice() {
        [hour, minute] if fraction.is_none() => (hour, minute, "00"),
        [hour, minute, second] => (hour, minute, second),
        _ => return None,
    };
    let nanoseconds = match fraction {
        None => 0,
        Some("") => return None,
        Some(fraction) => digits(&format!("{fraction:0<9}"), 9)?,
    };
    let time = NaiveTime::from_hms_nano_opt(digits(hour, 2)?, digits(minute, 2)?, digits(second, 2)?, nanoseconds)?;
    Some((date.and_time(time), true))
}

/// Parses a number of exactly `count` ASCII digits.
fn digits(text: &str, count: usize) -> Option<u32> {
    let plain = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iso_dates() {
        let day = |text| Moment::read(text, None).map(Moment::day);
        assert_eq!(day("1984-03-31"), Some((1984, 3, 31)));
        assert_eq!(day("2024-02-29 23:59"), Some((2024, 2, 29)));
        let same = ["1984-03-31T12:30", "1984-03-31 12:30:00", "1984-03-31T12:30:00.000Z", "1984-03-31T12:30Z"];
        let moments = same.map(|text| Moment::read(text, None).unwrap());
        assert!(moments.iter().all(|moment| *moment == moments[0] && moment.has_time()));
        assert_eq!(moments[0].seconds(), 449_584_200.0);
        assert_eq!(Moment::read("1970-01-01T00:00:00.25", None).unwrap().seconds(), 0.25);
        for wrong in [
            "",
            "1984",
            "1984-03",
            "84-03-31",
            "1984-3-31",
            "1984-02-30",
            "1984-13-01",
            "0084-03-31",
            "31.03.1984",
            "1984-03-31T",
            "1984-03-31T12",
            "1984-03-31T24:00",
            "1984-03-31T12:30:61",
            "1984-03-31T12:30.5",
            "1984-03-31T12:30:05.",
            "1984-03-31T12:30:05.1234567890",
            "1984-03-31T12:30+02:00",
            "1984-03-31Z",
            " 1984-03-31",
            "1984-03-31 ",
            "+984-03-31",
            "1984-03-3é",
            "19840331",
        ] {
            assert_eq!(Moment::read(wrong, None), None, "{wrong}");
        }
    }

    #[test]
    fn other_formats() {
        for (format, text, has_time) in [
            ("%d.%m.%Y", "31.03.1984", false),
            ("%d.%m.%Y", "31.3.1984", false),
            ("%m/%d/%Y", "3/31/1984", false),
            ("%Y%m%d", "19840331", false),
            ("%B %d, %Y", "March 31, 1984", false),
            ("%d %b %Y", "31 Mar 1984", false),
            ("%Y-%j", "1984-091", false),
            ("%d.%m.%Y %H:%M", "31.03.1984 12:30", true),
            ("%m/%d/%Y %I:%M %p", "03/31/1984 12:30 PM", true),
        ] {
            let format = DateFormat::new(format).unwrap();
            let moment = Moment::read(text, Some(&format)).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((moment.day(), moment.has_time()), ((1984, 3, 31), has_time), "{text}");
        }
        let german = DateFormat::new("%d.%m.%Y").unwrap();
        for wrong in ["31.03.84", "31.02.1984", "1984-03-31", "31.03.1984 12:30", "31/03/1984", "31.03.+12345", ""] {
            assert_eq!(Moment::read(wrong, Some(&german)), None, "{wrong}");
        }
    }

    #[test]
    fn formats_that_do_not_make_a_date() {
        for (format, says) in [
            ("%d.%m.%y", "two-digit"),
            ("%D", "two-digit"),
            ("%m.%Y", "a month (%m) and a day (%d)"),
            ("", "a year (%Y)"),
            ("TT.MM.JJJJ", "a year (%Y)"),
            ("%Y-%m-%d %", "known letter"),
            ("%Y-%m-%d %Q", "known letter"),
            ("%Y-%m-%dT%H:%M%z", "zones"),
            ("%Y-%m-%d %I:%M", "AM or PM"),
            ("%Y-%m-%d %H", "minutes"),
            ("%Y-%m-%d %M", "hours"),
            ("%Y-%m-%d %S", "hours"),
            ("%Y-%m-%d %f", "hours"),
            ("%Y-%m-%d %p", "hours"),
            ("%s", "only years"),
            ("%G-%m-%d", "only years"),
        ] {
            let error = DateFormat::new(format).unwrap_err();
            assert!(error.contains(says), "{format}: {error}");
        }
    }
}
