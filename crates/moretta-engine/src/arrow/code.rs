//! The codes of an array's values.
//!
//! Guarantee: a value's code is the one `look_up` gives its text (a null's is that of the empty text), and `look_up` is
//! asked about a value once for each dictionary that brings it, or once ever for a value that is not text.
//!
//! Structure: for dictionaries a map from their keys to codes, kept as long as batches bring the same dictionary; for
//! numbers, dates and the like a [`Dictionary`] over the bytes of the value.

use super::text;
use crate::dictionary::Dictionary;
use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Int32Type};
use arrow_array::{Array, ArrayRef, PrimitiveArray, downcast_primitive_array};
use arrow_buffer::ToByteSlice;
use arrow_schema::{ArrowError, DataType};
use std::sync::Arc;

/// A value without a code yet.
const UNKNOWN: u32 = u32::MAX;

/// Remembers the codes of one column's values.
#[derive(Debug, Default)]
pub(crate) struct ColumnCoder {
    dictionary: Option<ArrayRef>,
    by_key: Vec<u32>,
    natives: Dictionary,
    by_native: Vec<u32>,
    text: String,
    /// For cells of CSV that lose their quotes.
    pub(crate) scratch: Vec<u8>,
}

impl ColumnCoder {
    /// Codes all values of an array into every `stride`-th of `codes`. `Ok(false)`: `look_up` did not know one of them.
    pub(crate) fn code(
        &mut self,
        array: &ArrayRef,
        codes: &mut [u32],
        stride: usize,
        look_up: &mut dyn FnMut(&[u8]) -> Option<u32>,
    ) -> Result<bool, ArrowError> {
        let known = match array.data_type() {
            DataType::Dictionary(key, value) if **key == DataType::Int32 && **value == DataType::Utf8 => {
                self.code_dictionary(array, codes, stride, look_up)
            }
            DataType::Dictionary(..) => {
                let flat = text::flatten(array)?;
                return self.code(&flat, codes, stride, look_up);
            }
            _ => {
                let array: &dyn Array = array;
                downcast_primitive_array! {
                    array => self.code_primitive(array, codes, stride, look_up),
                    _ => self.code_texts(array, codes, stride, look_up),
                }
            }
        };
        Ok(known.is_some())
    }

    fn code_dictionary(
        &mut self,
        array: &ArrayRef,
        codes: &mut [u32],
        stride: usize,
        look_up: &mut dyn FnMut(&[u8]) -> Option<u32>,
    ) -> Option<()> {
        let array = array.as_dictionary::<Int32Type>();
        let values = array.values();
        if !self.dictionary.as_ref().is_some_and(|known| Arc::ptr_eq(known, values)) {
            self.by_key.clear();
            self.by_key.resize(values.len(), UNKNOWN);
            self.dictionary = Some(Arc::clone(values));
        }
        let texts = values.as_string::<i32>();
        let keys = array.keys();
        let code_of = |key: usize, by_key: &mut Vec<u32>, look_up: &mut dyn FnMut(&[u8]) -> Option<u32>| {
            let known = by_key[key];
            if known != UNKNOWN {
                return Some(known);
            }
            let text = if texts.is_null(key) { "" } else { texts.value(key) };
            let code = look_up(text.as_bytes())?;
            by_key[key] = code;
            Some(code)
        };
        if keys.null_count() == 0 {
            for (cell, &key) in codes.iter_mut().step_by(stride).zip(keys.values()) {
                *cell = code_of(key as usize, &mut self.by_key, look_up)?;
            }
            return Some(());
        }
        let mut null = None;
        for (record, key) in keys.iter().enumerate() {
            codes[record * stride] = match (key, null) {
                (Some(key), _) => code_of(key as usize, &mut self.by_key, look_up)?,
                (None, Some(code)) => code,
                (None, None) => *null.insert(look_up(b"")?),
            };
        }
        Some(())
    }

    fn code_primitive<T: ArrowPrimitiveType>(
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
                let native = self.natives.code(array.value(record).to_byte_slice()) as usize;
                if native == self.by_native.len() {
                    self.text.clear();
                    text::write(array, record, &mut self.text);
                    self.by_native.push(look_up(self.text.as_bytes())?);
                }
                self.by_native[native]
            };
        }
        Some(())
    }

    fn code_texts(
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
