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
            Arc::new(convert::<Date64Type, Date32Type>(
                array,
                |value| days(value)?.try_into().ok(),
                "a time of day, or a year out of range",
            )?)
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

/// The first type inside a nested type that only readers of the embedded Arrow schema know; `None` if there is none.
/// Nested arrays are not converted, so that such a column cannot be released.
pub(crate) fn unportable_part(data_type: &DataType) -> Option<&DataType> {
    match data_type {
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::FixedSizeList(field, _)
        | DataType::Map(field, _) => unportable(field.data_type()),
        DataType::Struct(fields) => fields.iter().find_map(|field| unportable(field.data_type())),
        _ => None,
    }
}

/// A type that is to be converted, or the first such part of it.
fn unportable(data_type: &DataType) -> Option<&DataType> {
    if portable_type(data_type) == *data_type { unportable_part(data_type) } else { Some(data_type) }
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
    use arrow_schema::Field;

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
    fn parts_of_nested_types_are_found() {
        let list = |part: DataType| DataType::List(Arc::new(Field::new("item", part, true)));
        let fields = |part: DataType| {
            DataType::Struct(vec![Field::new("a", DataType::Int32, true), Field::new("b", part, true)].into())
        };
        assert_eq!(unportable_part(&list(DataType::Date64)), Some(&DataType::Date64));
        assert_eq!(unportable_part(&fields(list(DataType::Date64))), Some(&DataType::Date64));
        assert_eq!(
            unportable_part(&list(fields(DataType::Time32(TimeUnit::Second)))),
            Some(&DataType::Time32(TimeUnit::Second))
        );
        for portable in [list(DataType::Date32), fields(DataType::Utf8), DataType::Utf8, DataType::Date64] {
            assert_eq!(unportable_part(&portable), None, "{portable}");
        }
    }

    #[test]
    fn a_date_with_a_time_of_day_is_refused() {
        for value in [1, -1, 86_400_001, i64::MAX - i64::MAX % 86_400_000] {
            let dates: ArrayRef = Arc::new(Date64Array::from(vec![Some(0), Some(value)]));
            assert!(to_portable(&dates).expect_err("error").to_string().contains("of type Date64 has a time of day"));
        }
    }
}
