//! Dates as people write them, with or without a time of day.
//!
//! Without a format a date is ISO 8601: `1984-03-31`, or with a time `1984-03-31T12:30:05.123Z`, where seconds, their
//! fraction and the `Z` may be left out and a blank may stand for the `T`. A [`DateFormat`] says otherwise, in the
//! notation of `strftime`. Times are taken as they stand: there are no zones here, so none may be written.

use std::fmt;

use chrono::{
    Datelike, NaiveDate, NaiveDateTime, NaiveTime, Timelike,
    format::{Fixed, Item, Numeric, Parsed, StrftimeItems, parse},
};

/// Years outside are slips: `31.03.84` is not of the year 84.
const YEARS: std::ops::RangeInclusive<i32> = 1000..=9999;

/// How the dates of a column are written, in the notation of `strftime`: `%d.%m.%Y`.
#[derive(Clone, PartialEq, Eq)]
pub struct DateFormat {
    text: String,
    items: Vec<Item<'static>>,
    has_time: bool,
}

impl DateFormat {
    /// Checks a format; what is wrong with it otherwise.
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

    /// As the policy writes it.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it says the time of day.
    pub fn has_time(&self) -> bool {
        self.has_time
    }

    fn read(&self, text: &str) -> Option<NaiveDateTime> {
        let mut parsed = Parsed::new();
        parse(&mut parsed, text, self.items.iter()).ok()?;
        let date = parsed.to_naive_date().ok()?;
        let time = if self.has_time { parsed.to_naive_time().ok()? } else { NaiveTime::MIN };
        // A second 60 would be taken for the first one of the next minute.
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

/// A date that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    at: NaiveDateTime,
    has_time: bool,
}

impl Moment {
    /// Reads a date; none where the text is not written that way or there is no such day.
    pub fn read(text: &str, format: Option<&DateFormat>) -> Option<Self> {
        let (at, has_time) = match format {
            Some(format) => (format.read(text)?, format.has_time),
            None => iso(text)?,
        };
        YEARS.contains(&at.year()).then_some(Self { at, has_time })
    }

    /// Seconds since 1970.
    pub fn seconds(self) -> f64 {
        let at = self.at.and_utc();
        at.timestamp() as f64 + f64::from(at.timestamp_subsec_nanos()) / 1e9
    }

    /// The instant, however it is written.
    pub(crate) fn at(self) -> NaiveDateTime {
        self.at
    }

    /// Whether its text says the time of day.
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

/// A number of exactly so many digits.
fn digits(text: &str, many: usize) -> Option<u32> {
    let plain = text.len() == many && text.bytes().all(|byte| byte.is_ascii_digit());
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
