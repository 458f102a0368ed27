//! Hashes the values of an Arrow array by their text.
//!
//! Guarantee: a value of a type with a text form has the hash of its text, so that a table has the same hashes as CSV
//! and as Parquet. Nested values (lists, structs, maps) have no text form; their hash depends on all their parts, each
//! with its length.

use arrow_array::{Array, ArrayRef, cast::AsArray, downcast_primitive_array};
use arrow_buffer::ToByteSlice;
use arrow_schema::{ArrowError, DataType};

use super::text;
use crate::hashed_rows::{RowHash, hash_text};

/// Writes the hash of each value. `scratch` is for texts.
pub(crate) fn hash_each(array: &ArrayRef, scratch: &mut String, hashes: &mut [RowHash]) -> Result<(), ArrowError> {
    let mut hash = |array: &dyn Array, row: usize| {
        scratch.clear();
        write_value(array, row, scratch)?;
        Ok::<RowHash, ArrowError>(hash_text(scratch.as_bytes()))
    };
    let Some(dictionary) = array.as_any_dictionary_opt().filter(|dictionary| !dictionary.values().is_empty()) else {
        return hashes.iter_mut().enumerate().try_for_each(|(row, cell)| {
            *cell = hash(array, row)?;
            Ok(())
        });
    };
    // Each value of a dictionary is hashed once.
    let (values, null) = (dictionary.values(), hash_text(b""));
    let mut by_key: Vec<Option<RowHash>> = vec![None; values.len()];
    for ((row, cell), key) in hashes.iter_mut().enumerate().zip(dictionary.normalized_keys()) {
        *cell = match (dictionary.keys().is_null(row), by_key[key]) {
            (true, _) => null,
            (false, Some(known)) => known,
            (false, None) => *by_key[key].insert(hash(values, key)?),
        };
    }
    Ok(())
}

/// Appends the text of a value, or of the parts of a nested value.
fn write_value(array: &dyn Array, row: usize, out: &mut String) -> Result<(), ArrowError> {
    use DataType::*;
    let each =
        |values: &dyn Array, out: &mut String| (0..values.len()).try_for_each(|row| write_part(values, row, out));
    if array.is_null(row) {
        return Ok(());
    }
    match array.data_type() {
        List(_) => each(&array.as_list::<i32>().value(row), out),
        LargeList(_) => each(&array.as_list::<i64>().value(row), out),
        ListView(_) => each(&array.as_list_view::<i32>().value(row), out),
        LargeListView(_) => each(&array.as_list_view::<i64>().value(row), out),
        FixedSizeList(..) => each(&array.as_fixed_size_list().value(row), out),
        Map(..) => each(&array.as_map().value(row), out),
        Struct(_) => array.as_struct().columns().iter().try_for_each(|column| write_part(column, row, out)),
        Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            write_value(dictionary.values(), dictionary.normalized_keys()[row], out)
        }
        Binary => write_bytes(array.as_binary::<i32>().value(row), out),
        LargeBinary => write_bytes(array.as_binary::<i64>().value(row), out),
        BinaryView => write_bytes(array.as_binary_view().value(row), out),
        FixedSizeBinary(_) => write_bytes(array.as_fixed_size_binary().value(row), out),
        data_type if text::has_text(data_type) => {
            text::write(array, row, out);
            Ok(())
        }
        _ => downcast_primitive_array! {
            array => write_bytes(array.value(row).to_byte_slice(), out),
            other => Err(ArrowError::NotYetImplemented(format!("values of type {other} cannot be counted"))),
        },
    }
}

/// Appends a part of a nested value: a mark if it is null, otherwise its length and its text.
fn write_part(array: &dyn Array, row: usize, out: &mut String) -> Result<(), ArrowError> {
    if array.is_null(row) {
        out.push('-');
        return Ok(());
    }
    let mut part = String::new();
    write_value(array, row, &mut part)?;
    out.push_str(&format!("{}:{part}", part.len()));
    Ok(())
}

/// Appends a character for each byte.
fn write_bytes(bytes: &[u8], out: &mut String) -> Result<(), ArrowError> {
    out.extend(bytes.iter().map(|&byte| char::from(byte)));
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::{collections::HashSet, sync::Arc};

    use arrow_array::{
        DictionaryArray, Float64Array, ListArray, StringArray, StructArray,
        types::{Int32Type, Int64Type},
    };
    use arrow_schema::Field;

    use super::*;

    fn hashes(array: ArrayRef) -> Vec<RowHash> {
        let mut hashes = vec![[0, 0]; array.len()];
        hash_each(&array, &mut String::new(), &mut hashes).expect("hashed");
        hashes
    }

    #[test]
    fn a_value_has_the_hash_of_its_text() {
        let texts = [Some("x"), None, Some(""), Some("37"), Some("x")];
        let expected: Vec<RowHash> = texts.iter().map(|text| hash_text(text.unwrap_or("").as_bytes())).collect();
        assert_eq!(hashes(Arc::new(StringArray::from(texts.to_vec()))), expected);
        let dictionary: DictionaryArray<Int32Type> = texts.into_iter().collect();
        assert_eq!(hashes(Arc::new(dictionary)), expected);
        let none: DictionaryArray<Int32Type> = [None::<&str>, None].into_iter().collect();
        assert_eq!(hashes(Arc::new(none)), [expected[1]; 2]);
        assert_eq!(hashes(Arc::new(Float64Array::from(vec![37.0])))[0], expected[3]);
    }

    #[test]
    fn lists_and_structs_are_distinguished_by_all_their_parts() {
        let lists =
            [vec![], vec![Some(1)], vec![Some(1), Some(2)], vec![Some(12)], vec![Some(1), None], vec![None, Some(1)]];
        let list = |lists: &[Vec<Option<i64>>]| {
            hashes(Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>(lists.iter().cloned().map(Some))))
        };
        let found = list(&lists);
        assert_eq!(found.iter().collect::<HashSet<_>>().len(), lists.len());
        assert_eq!(found, list(&lists), "the same values have the same hashes");
        let field = |name: &str| Arc::new(Field::new(name, DataType::Utf8, true));
        let column = |texts: &[&str]| Arc::new(StringArray::from(texts.to_vec())) as ArrayRef;
        let parts = vec![(field("a"), column(&["x", "", "x"])), (field("b"), column(&["", "x", "x"]))];
        assert_eq!(hashes(Arc::new(StructArray::from(parts))).iter().collect::<HashSet<_>>().len(), 3);
    }
}
