//! The codes of an array's values.
//!
//! Guarantee: a value's code is the one `look_up` gives its text (a null's is that of the empty text), and `look_up` is
//! asked about a value once for each dictionary that brings it, or once ever for a value that is not text.
//!
//! Structure: for dictionaries a map from their keys to codes, kept as long as batches bring the same dictionary; for
//! numbers, dates and the like a [`Dictionary`] over the bytes of the value.

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

/// A value without a code yet.
const UNKNOWN: u32 = u32::MAX;

/// Remembers the codes of one column's values.
#[derive(Debug, Default)]
pub(crate) struct ColumnEncoder {
    dictionary: Option<ArrayRef>,
    code_by_key: Vec<u32>,
    primitives: Dictionary,
    code_by_primitive: Vec<u32>,
    text: String,
    /// For cells of CSV that lose their quotes.
    pub(crate) scratch: Vec<u8>,
}

impl ColumnEncoder {
    /// Codes all values of an array into every `stride`-th of `codes`. `Ok(false)`: `look_up` did not know one of them.
    pub(crate) fn encode(
        &mut self,
        array: &ArrayRef,
        codes: &mut [u32],
        stride: usize,
        look_up: &mut dyn FnMut(&[u8]) -> Option<u32>,
    ) -> Result<bool, ArrowError> {
        let known = match array.data_type() {
            DataType::Dictionary(key, value) if **key == DataType::Int32 && **value == DataType::Utf8 => {
                self.encode_dictionary(array, codes, stride, look_up)
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

    fn encode_dictionary(
        &mut self,
        array: &ArrayRef,
        codes: &mut [u32],
        stride: usize,
        look_up: &mut dyn FnMut(&[u8]) -> Option<u32>,
    ) -> Option<()> {
        let array = array.as_dictionary::<Int32Type>();
        let values = array.values();
        if !self.dictionary.as_ref().is_some_and(|known| Arc::ptr_eq(known, values)) {
            self.code_by_key.clear();
            self.code_by_key.resize(values.len(), UNKNOWN);
            self.dictionary = Some(Arc::clone(values));
        }
        let texts = values.as_string::<i32>();
        let keys = array.keys();
        let code_of = |key: usize, code_by_key: &mut Vec<u32>, look_up: &mut dyn FnMut(&[u8]) -> Option<u32>| {
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
        look_up: &mut dyn FnMut(&[u8]) -> Option<u32>,
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

    fn encode_texts(
        &mut self,
        array: &dyn Array,
        codes: &mut [u32],
        stride: usize,
        look_up: &mut dyn FnMut(&[u8]) -> Option<u32>,
    ) -> Option<()> {
        for record in 0..array.len() {
            self.text.clear();
            text::write(array, record, &mut self.text);
            codes[record * stride] = look_up(self.text.as_bytes())?;
        }
        Some(())
    }
}
