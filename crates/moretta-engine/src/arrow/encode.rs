//! Encodes the values of an Arrow array by their text.
//!
//! Guarantee: the code of a value is the one `look_up` returns for its text; a null has the empty text. `look_up` is
//! called once per distinct value of a dictionary array, and once per distinct value of a column of numbers or dates.
//!
//! How: for dictionary arrays, a map from their keys to codes, kept while batches have the same dictionary; for
//! primitive values, a [`Dictionary`] of their bytes.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, PrimitiveArray,
    cast::AsArray,
    downcast_primitive_array,
    types::{ArrowPrimitiveType, Int32Type},
};
use arrow_buffer::ToByteSlice;
use arrow_schema::{ArrowError, DataType};

use super::text;
use crate::dictionary::Dictionary;

/// Returns the code of a text; `None` if it has none.
type LookUp<'a> = &'a mut dyn FnMut(&[u8]) -> Option<u32>;

/// Marks a key whose code has not been looked up yet.
const UNKNOWN: u32 = u32::MAX;

/// Encodes one column and caches the codes of its values.
#[derive(Debug, Default)]
pub(crate) struct ColumnEncoder {
    /// Values of the last dictionary array.
    dictionary: Option<ArrayRef>,
    /// Code of each key of `dictionary`, or [`UNKNOWN`].
    code_by_key: Vec<u32>,
    /// Bytes of the distinct primitive values.
    primitives: Dictionary,
    /// Code of each value of `primitives`.
    code_by_primitive: Vec<u32>,
    /// Scratch space for texts of values.
    text: String,
    /// Scratch space for unquoted cells of CSV.
    pub(crate) scratch: Vec<u8>,
}

impl ColumnEncoder {
    /// Writes the code of each value to every `stride`-th element of `codes`. Returns `Ok(false)` if `look_up` returns
    /// `None` for a value.
    pub(crate) fn encode(
        &mut self,
        array: &ArrayRef,
        codes: &mut [u32],
        stride: usize,
        look_up: LookUp<'_>,
    ) -> Result<bool, ArrowError> {
        let known = match array.data_type() {
            DataType::Dictionary(key, value) if **key == DataType::Int32 && **value == DataType::Utf8 => {
                self.encode_keys(array, codes, stride, look_up)
            }
            DataType::Dictionary(..) => {
                let flat = text::flatten(array)?;
                return self.encode(&flat, codes, stride, look_up);
            }
            _ => {
                let array: &dyn Array = array;
                downcast_primitive_array! {
                    array => self.encode_primitive(array, codes, stride, look_up),
                    _ => self.encode_texts(array, codes, stride, look_up),
                }
            }
        };
        Ok(known.is_some())
    }

    fn encode_keys(&mut self, array: &ArrayRef, codes: &mut [u32], stride: usize, look_up: LookUp<'_>) -> Option<()> {
        let array = array.as_dictionary::<Int32Type>();
        let values = array.values();
        if !self.dictionary.as_ref().is_some_and(|known| Arc::ptr_eq(known, values)) {
            self.code_by_key.clear();
            self.code_by_key.resize(values.len(), UNKNOWN);
            self.dictionary = Some(Arc::clone(values));
        }
        let texts = values.as_string::<i32>();
        let keys = array.keys();
        let code_of = |key: usize, code_by_key: &mut Vec<u32>, look_up: LookUp<'_>| {
            let known = code_by_key[key];
            if known != UNKNOWN {
                return Some(known);
            }
            let text = if texts.is_null(key) { "" } else { texts.value(key) };
            let code = look_up(text.as_bytes())?;
            code_by_key[key] = code;
            Some(code)
        };
        if keys.null_count() == 0 {
            for (cell, &key) in codes.iter_mut().step_by(stride).zip(keys.values()) {
                *cell = code_of(key as usize, &mut self.code_by_key, look_up)?;
            }
            return Some(());
        }
        let mut null = None;
        for (record, key) in keys.iter().enumerate() {
            codes[record * stride] = match (key, null) {
                (Some(key), _) => code_of(key as usize, &mut self.code_by_key, look_up)?,
                (None, Some(code)) => code,
                (None, None) => *null.insert(look_up(b"")?),
            };
        }
        Some(())
    }

    fn encode_primitive<T: ArrowPrimitiveType>(
        &mut self,
        array: &PrimitiveArray<T>,
        codes: &mut [u32],
        stride: usize,
        look_up: LookUp<'_>,
    ) -> Option<()> {
        let mut null = None;
        for record in 0..array.len() {
            codes[record * stride] = if array.is_null(record) {
                match null {
                    Some(code) => code,
                    None => *null.insert(look_up(b"")?),
                }
            } else {
                let primitive = self.primitives.encode(array.value(record).to_byte_slice()) as usize;
                if primitive == self.code_by_primitive.len() {
                    self.text.clear();
                    text::write(array, record, &mut self.text);
                    self.code_by_primitive.push(look_up(self.text.as_bytes())?);
                }
                self.code_by_primitive[primitive]
            };
        }
        Some(())
    }

    fn encode_texts(&mut self, array: &dyn Array, codes: &mut [u32], stride: usize, look_up: LookUp<'_>) -> Option<()> {
        for record in 0..array.len() {
            self.text.clear();
            text::write(array, record, &mut self.text);
            codes[record * stride] = look_up(self.text.as_bytes())?;
        }
        Some(())
    }
}
