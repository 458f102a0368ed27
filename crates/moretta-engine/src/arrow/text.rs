//! Text form of values of any Arrow type that has one.
//!
//! Guarantee: equal values have equal texts, different values have different texts (except NaNs), and a text parses
//! back to its value. Integers and decimals are written without exponent, floats with the fewest digits, dates and
//! times as in ISO 8601 (with a time zone: in UTC with `Z`). A null has the empty text.

use std::fmt::{Display, LowerExp, Write};

use arrow_array::{Array, ArrayRef, cast::AsArray, types::*};
use arrow_schema::{ArrowError, DataType, TimeUnit};
use arrow_select::take::take;

/// Whether values of a type have a text form.
pub(crate) fn has_text(data_type: &DataType) -> bool {
    use DataType::*;
    match data_type {
        Dictionary(_, value) => has_text(value),
        Null | Boolean | Utf8 | LargeUtf8 | Utf8View | Date32 | Date64 | Timestamp(..) | Time32(_) | Time64(_) => true,
        Decimal32(..) | Decimal64(..) | Decimal128(..) | Decimal256(..) => true,
        other => other.is_integer() || other.is_floating(),
    }
}

/// Replaces a dictionary array by the plain array of its values; returns any other array unchanged.
pub(crate) fn flatten(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    match array.as_any_dictionary_opt() {
        Some(dictionary) => take(dictionary.values(), dictionary.keys(), None),
        None => Ok(ArrayRef::clone(array)),
    }
}

/// Whether a text of a plain array has a NUL byte.
pub(crate) fn has_nul(array: &dyn Array) -> bool {
    let found = |text: Option<&str>| text.is_some_and(|text| text.contains('\0'));
    match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().iter().any(found),
        DataType::LargeUtf8 => array.as_string::<i64>().iter().any(found),
        DataType::Utf8View => array.as_string_view().iter().any(found),
        _ => false,
    }
}

/// Appends the text of a value of a plain array; nothing if it is null or its type has no text form.
pub(crate) fn write(array: &dyn Array, row: usize, out: &mut String) {
    use DataType::*;
    if array.is_null(row) {
        return;
    }
    // Writing to a string does not fail.
    let _ = match array.data_type() {
        Boolean => write!(out, "{}", array.as_boolean().value(row)),
        Utf8 => out.write_str(array.as_string::<i32>().value(row)),
        LargeUtf8 => out.write_str(array.as_string::<i64>().value(row)),
        Utf8View => out.write_str(array.as_string_view().value(row)),
        Int8 => write!(out, "{}", array.as_primitive::<Int8Type>().value(row)),
        Int16 => write!(out, "{}", array.as_primitive::<Int16Type>().value(row)),
        Int32 => write!(out, "{}", array.as_primitive::<Int32Type>().value(row)),
        Int64 => write!(out, "{}", array.as_primitive::<Int64Type>().value(row)),
        UInt8 => write!(out, "{}", array.as_primitive::<UInt8Type>().value(row)),
        UInt16 => write!(out, "{}", array.as_primitive::<UInt16Type>().value(row)),
        UInt32 => write!(out, "{}", array.as_primitive::<UInt32Type>().value(row)),
        UInt64 => write!(out, "{}", array.as_primitive::<UInt64Type>().value(row)),
        Float16 => float(out, array.as_primitive::<Float16Type>().value(row).to_f32()),
        Float32 => float(out, array.as_primitive::<Float32Type>().value(row)),
        Float64 => float(out, array.as_primitive::<Float64Type>().value(row)),
        Decimal32(..) => out.write_str(&array.as_primitive::<Decimal32Type>().value_as_string(row)),
        Decimal64(..) => out.write_str(&array.as_primitive::<Decimal64Type>().value_as_string(row)),
        Decimal128(..) => out.write_str(&array.as_primitive::<Decimal128Type>().value_as_string(row)),
        Decimal256(..) => out.write_str(&array.as_primitive::<Decimal256Type>().value_as_string(row)),
        Date32 => date(out, i64::from(array.as_primitive::<Date32Type>().value(row))),
        Date64 => date(out, array.as_primitive::<Date64Type>().value(row).div_euclid(86_400_000)),
        Time32(TimeUnit::Second) => time(out, array.as_primitive::<Time32SecondType>().value(row).into(), 1),
        Time32(_) => time(out, array.as_primitive::<Time32MillisecondType>().value(row).into(), 1_000),
        Time64(TimeUnit::Microsecond) => time(out, array.as_primitive::<Time64MicrosecondType>().value(row), 1_000_000),
        Time64(_) => time(out, array.as_primitive::<Time64NanosecondType>().value(row), 1_000_000_000),
        Timestamp(unit, zone) => {
            let (value, per_second) = match unit {
                TimeUnit::Second => (array.as_primitive::<TimestampSecondType>().value(row), 1),
                TimeUnit::Millisecond => (array.as_primitive::<TimestampMillisecondType>().value(row), 1_000),
                TimeUnit::Microsecond => (array.as_primitive::<TimestampMicrosecondType>().value(row), 1_000_000),
                TimeUnit::Nanosecond => (array.as_primitive::<TimestampNanosecondType>().value(row), 1_000_000_000),
            };
            timestamp(out, value, per_second, zone.is_some())
        }
        _ => Ok(()),
    };
}

/// Appends the fewest digits that parse back to the same number; with an exponent if it is very large or small.
fn float<F: Display + LowerExp + Into<f64> + Copy>(out: &mut String, value: F) -> std::fmt::Result {
    let size = value.into().abs();
    if size != 0.0 && size.is_finite() && !(1e-5..1e16).contains(&size) {
        write!(out, "{value:e}")
    } else {
        write!(out, "{value}")
    }
}

/// Appends the date of a day counted from 1970-01-01, in the proleptic Gregorian calendar. Years begin in March here,
/// so that the leap day is the last day of a year; an era is 400 years (Hinnant, "chrono-Compatible Low-Level Date
/// Algorithms").
fn date(out: &mut String, days: i64) -> std::fmt::Result {
    let shifted = i128::from(days) + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let months_since_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * months_since_march + 2) / 5 + 1;
    let month = if months_since_march < 10 { months_since_march + 3 } else { months_since_march - 9 };
    let year = year_of_era + era * 400 + i128::from(month <= 2);
    if year < 0 {
        write!(out, "-{:04}-{month:02}-{day:02}", -year)
    } else {
        write!(out, "{year:04}-{month:02}-{day:02}")
    }
}

fn time(out: &mut String, value: i64, per_second: i64) -> std::fmt::Result {
    let (seconds, fraction) = (value.div_euclid(per_second), value.rem_euclid(per_second));
    write!(out, "{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60)?;
    if fraction != 0 {
        let nanoseconds = fraction * (1_000_000_000 / per_second);
        let digits = format!("{nanoseconds:09}");
        write!(out, ".{}", digits.trim_end_matches('0'))?;
    }
    Ok(())
}

fn timestamp(out: &mut String, value: i64, per_second: i64, zone: bool) -> std::fmt::Result {
    let day = 86_400 * per_second;
    date(out, value.div_euclid(day))?;
    out.write_char('T')?;
    time(out, value.rem_euclid(day), per_second)?;
    if zone { out.write_char('Z') } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_times_and_floats() {
        let text = |write: &dyn Fn(&mut String) -> std::fmt::Result| {
            let mut out = String::new();
            write(&mut out).expect("string");
            out
        };
        for (days, expected) in [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (19_874, "2024-05-31"),
            (19_782, "2024-02-29"),
            (-719_528, "0000-01-01"),
            (-719_529, "-0001-12-31"),
            (2_932_896, "9999-12-31"),
        ] {
            assert_eq!(text(&|out| date(out, days)), expected);
        }
        assert_eq!(text(&|out| timestamp(out, -1, 1_000, true)), "1969-12-31T23:59:59.999Z");
        assert_eq!(text(&|out| timestamp(out, 1_717_156_800_000_001, 1_000_000, false)), "2024-05-31T12:00:00.000001");
        assert_eq!(text(&|out| time(out, 3_661, 1)), "01:01:01");
        for (value, expected) in
            [(37.0, "37"), (0.1, "0.1"), (1e300, "1e300"), (-2.5e-9, "-2.5e-9"), (0.0, "0"), (f64::NAN, "NaN")]
        {
            assert_eq!(text(&|out| float(out, value)), expected);
        }
    }
}
