//! Columns of text in the types that passes expect: plain text, or dictionaries with keys of 32 bits.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, DictionaryArray, Int32Array, StringArray, cast::AsArray, types::Int32Type};
use arrow_schema::{ArrowError, DataType};

/// A column that is read as text or as a dictionary of text; other columns stay as they are.
pub(crate) fn plain(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    match array.data_type() {
        DataType::LargeUtf8 | DataType::Utf8View => texts(array),
        DataType::Dictionary(key, value) if value.is_string() => {
            if **key == DataType::Int32 && **value == DataType::Utf8 {
                return Ok(Arc::clone(array));
            }
            let dictionary = array.as_any_dictionary();
            let values = texts(dictionary.values())?;
            let nulls = dictionary.keys().nulls().cloned();
            let keys = if values.is_empty() { vec![0; array.len()] } else { dictionary.normalized_keys() };
            let keys =
                keys.into_iter().map(|key| i32::try_from(key).map_err(|_| ArrowError::DictionaryKeyOverflowError));
            let keys = Int32Array::try_new(keys.collect::<Result<Vec<i32>, _>>()?.into(), nulls)?;
            Ok(Arc::new(DictionaryArray::<Int32Type>::try_new(keys, values)?))
        }
        _ => Ok(Arc::clone(array)),
    }
}

/// Plain text with offsets of 32 bits.
fn texts(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let bytes: usize = match array.data_type() {
        DataType::LargeUtf8 => array.as_string::<i64>().iter().flatten().map(str::len).sum(),
        DataType::Utf8View => array.as_string_view().iter().flatten().map(str::len).sum(),
        _ => 0,
    };
    if i32::try_from(bytes).is_err() {
        return Err(ArrowError::OffsetOverflowError(bytes));
    }
    Ok(match array.data_type() {
        DataType::LargeUtf8 => Arc::new(array.as_string::<i64>().iter().collect::<StringArray>()),
        DataType::Utf8View => Arc::new(array.as_string_view().iter().collect::<StringArray>()),
        _ => Arc::clone(array),
    })
}

#[cfg(test)]
mod tests {
    use arrow_array::{LargeStringArray, StringViewArray, types::UInt8Type};

    use super::*;
    use crate::arrow::text;

    #[test]
    fn every_kind_of_text_has_its_texts() {
        let expected = [Some("a"), None, Some(""), Some("a")];
        let small: DictionaryArray<UInt8Type> = expected.into_iter().collect();
        let large = DictionaryArray::<Int32Type>::try_new(
            Int32Array::from(vec![Some(0), None, Some(1), Some(0)]),
            Arc::new(LargeStringArray::from(vec!["a", ""])),
        );
        let arrays: [ArrayRef; 4] = [
            Arc::new(LargeStringArray::from(expected.to_vec())),
            Arc::new(StringViewArray::from(expected.to_vec())),
            Arc::new(small),
            Arc::new(large.expect("dictionary")),
        ];
        for array in arrays {
            let read = plain(&array).expect("plain");
            let flat = text::flatten(&read).expect("flat");
            assert_eq!(flat.as_string::<i32>().iter().collect::<Vec<_>>(), expected, "{:?}", array.data_type());
        }
        let nulls: DictionaryArray<UInt8Type> = [None::<&str>, None].into_iter().collect();
        assert_eq!(plain(&(Arc::new(nulls) as ArrayRef)).expect("plain").null_count(), 2);
    }
}
