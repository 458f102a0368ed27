//! Converts arrays to types that a Parquet file has of its own, so that every reader finds the same values.
//!
//! Guarantee: the text of a value stays the same. Without the conversion, dates in milliseconds and times in seconds
//! would be integers for all readers but those that know the Arrow schema embedded in the file.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, PrimitiveArray, cast::AsArray, types::*};
use arrow_schema::{ArrowError, DataType, TimeUnit};

const MILLISECONDS_PER_DAY: i64 = 86_400_000;

/// Type that an array of a type is converted to.
pub(crate) fn portable_type(data_type: &DataType) -> DataType {
    match data_type {
        DataType::Date64 => DataType::Date32,
        DataType::Time32(TimeUnit::Second) => DataType::Time32(TimeUnit::Millisecond),
        DataType::Timestamp(TimeUnit::Second, zone) => DataType::Timestamp(TimeUnit::Millisecond, zone.clone()),
        other => other.clone(),
    }
}

/// Converts an array to its [`portable_type`]. An error if a value is a date with a time of day, or out of range.
pub(crate) fn to_portable(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let thousand = |value: i64| value.checked_mul(1_000);
    Ok(match array.data_type() {
        DataType::Date64 => {
            let days = |value: i64| (value % MILLISECONDS_PER_DAY == 0).then_some(value / MILLISECONDS_PER_DAY);
            Arc::new(convert::<Date64Type, Date32Type>(array, |value| days(value)?.try_into().ok(), "a time of day")?)
        }
        DataType::Time32(TimeUnit::Second) => Arc::new(convert::<Time32SecondType, Time32MillisecondType>(
            array,
            |value| value.checked_mul(1_000),
            "a time that is not of a day",
        )?),
        DataType::Timestamp(TimeUnit::Second, zone) => {
            let converted =
                convert::<TimestampSecondType, TimestampMillisecondType>(array, thousand, "a year after 292 million")?;
            Arc::new(converted.with_timezone_opt(zone.clone()))
        }
        _ => ArrayRef::clone(array),
    })
}

/// Converts each value; `fault` says what a value has if it cannot be converted.
fn convert<From: ArrowPrimitiveType, To: ArrowPrimitiveType>(
    array: &ArrayRef,
    convert: impl Fn(From::Native) -> Option<To::Native>,
    fault: &str,
) -> Result<PrimitiveArray<To>, ArrowError> {
    let failed = || ArrowError::CastError(format!("a value of type {} has {fault}", array.data_type()));
    array.as_primitive::<From>().try_unary(|value| convert(value).ok_or_else(failed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{Date32Array, Date64Array, Time32SecondArray, TimestampSecondArray};

    use crate::arrow::text;

    #[test]
    fn texts_stay_the_same() {
        let written = |array: &ArrayRef, row: usize| {
            let mut out = String::new();
            text::write(array, row, &mut out);
            out
        };
        let dates: ArrayRef =
            Arc::new(Date64Array::from(vec![Some(0), None, Some(-86_400_000), Some(1_717_113_600_000)]));
        let times: ArrayRef = Arc::new(Time32SecondArray::from(vec![Some(0), None, Some(86_399), Some(3_661)]));
        let stamps = TimestampSecondArray::from(vec![Some(0), None, Some(-1), Some(1_717_156_800)]);
        let zoned: ArrayRef = Arc::new(stamps.clone().with_timezone("+02:00"));
        for array in [dates, times, Arc::new(stamps) as ArrayRef, zoned] {
            let converted = to_portable(&array).expect("converted");
            assert_eq!(converted.data_type(), &portable_type(array.data_type()));
            assert_ne!(converted.data_type(), array.data_type());
            for row in 0..array.len() {
                assert_eq!(written(&converted, row), written(&array, row));
                assert_eq!(converted.is_null(row), array.is_null(row));
            }
        }
        let same: ArrayRef = Arc::new(Date32Array::from(vec![1]));
        assert_eq!(&to_portable(&same).expect("same"), &same);
    }

    #[test]
    fn a_date_with_a_time_of_day_is_refused() {
        for value in [1, -1, 86_400_001, i64::MAX - i64::MAX % 86_400_000] {
            let dates: ArrayRef = Arc::new(Date64Array::from(vec![Some(0), Some(value)]));
            assert!(to_portable(&dates).expect_err("error").to_string().contains("of type Date64 has a time of day"));
        }
    }
}
