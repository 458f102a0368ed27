//! Records as the passes read them, in one of two representations: a parsed block of CSV, or an Arrow batch.
//!
//! Guarantee: a pass gives the same result for either representation; only this file distinguishes them. Cost: one
//! branch per column of a batch, or per run of cells that are copied together.

use std::{ops::Range, path::Path, sync::Arc};

use arrow_array::{Array, ArrayRef, RecordBatch, StringArray};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};

use crate::{
    arrow::{encode::ColumnEncoder, hash::hash_each, text},
    csv::{content, convert::Conversion, parse::FieldOffsets, write::CellWriter},
    error::EngineError,
    hashed_rows::{CellScratch, RowHash, hash_text},
};

/// Batch of records of a source.
#[derive(Debug, Clone, Copy)]
pub(crate) enum InputRecords<'a> {
    /// Parsed block of CSV. Cells still have their quotes.
    Csv { bytes: &'a [u8], fields: &'a FieldOffsets, quote: u8 },
    /// Arrow batch. `batch_columns[c]` is the index in the batch of column `c` of the source; `path` is for errors.
    Arrow { batch: &'a RecordBatch, batch_columns: &'a [usize], path: &'a Path },
}

/// Records of CSV that are encoded at a time, so that their codes stay in the first-level cache.
const CHUNK: usize = 256;

impl<'a> InputRecords<'a> {
    /// Number of records.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Csv { fields, .. } => fields.num_records(),
            Self::Arrow { batch, .. } => batch.num_rows(),
        }
    }

    /// Number of records to encode at a time. Arrow batches are encoded whole, because dictionary arrays are faster so.
    pub(crate) fn chunk(&self) -> usize {
        match self {
            Self::Csv { .. } => CHUNK,
            Self::Arrow { batch, .. } => batch.num_rows().max(1),
        }
    }

    /// Encodes the cells of a column: writes the code that `look_up` returns for the text of each cell in `range` to
    /// every `stride`-th element of `codes`. Returns `Ok(false)` if `look_up` returns `None` for a text.
    #[inline]
    pub(crate) fn encode(
        &self,
        column: usize,
        range: Range<usize>,
        encoder: &mut ColumnEncoder,
        (codes, stride): (&mut [u32], usize),
        look_up: &mut impl FnMut(&[u8]) -> Option<u32>,
    ) -> Result<bool, EngineError> {
        match *self {
            Self::Csv { bytes, fields, quote } => {
                let mut code_of =
                    |record, scratch: &mut Vec<u8>| look_up(content(fields.raw(bytes, record, column), quote, scratch));
                Ok(fill(codes, stride, range, |record| code_of(record, &mut encoder.scratch)).is_some())
            }
            Self::Arrow { batch, batch_columns, path } => {
                let array = batch.column(batch_columns[column]);
                let known = if range.len() == array.len() {
                    encoder.encode(array, codes, stride, look_up)
                } else {
                    encoder.encode(&array.slice(range.start, range.len()), codes, stride, look_up)
                };
                known.map_err(EngineError::parquet(path))
            }
        }
    }

    /// Writes the hash of the text of each cell in `range` of a column.
    pub(crate) fn hash(
        &self,
        column: usize,
        range: Range<usize>,
        scratch: &mut CellScratch,
        hashes: &mut [RowHash],
    ) -> Result<(), EngineError> {
        match *self {
            Self::Csv { bytes, fields, quote } => {
                for (hash, record) in hashes.iter_mut().zip(range) {
                    *hash = hash_text(content(fields.raw(bytes, record, column), quote, &mut scratch.unquoted));
                }
                Ok(())
            }
            Self::Arrow { batch, batch_columns, path } => {
                let array = batch.column(batch_columns[column]).slice(range.start, range.len());
                hash_each(&array, &mut scratch.text, hashes).map_err(EngineError::parquet(path))
            }
        }
    }

    /// Prepares the cells of the columns at `copied` to be written as CSV.
    /// Cells of CSV keep their bytes if there is no `conversion`.
    pub(crate) fn csv_cells<'c>(
        &self,
        copied: &[usize],
        conversion: Option<&'c Conversion>,
    ) -> Result<CsvCells<'c>, EngineError>
    where
        'a: 'c,
    {
        let mut arrays = Vec::new();
        if let Self::Arrow { batch, batch_columns, path } = self {
            arrays.extend(batch.columns().iter().cloned());
            for &column in copied {
                let index = batch_columns[column];
                arrays[index] = self.array(column)?;
                if text::has_nul(&arrays[index]) {
                    let column = batch.schema().field(index).name().clone();
                    return Err(EngineError::NulInText { path: path.to_path_buf(), column });
                }
            }
        }
        Ok(CsvCells { records: *self, arrays, conversion, scratch: String::new(), unquoted: Vec::new() })
    }

    /// Values of a column as a plain array: of the column's type (Arrow), or text (CSV).
    pub(crate) fn array(&self, column: usize) -> Result<ArrayRef, EngineError> {
        match *self {
            Self::Arrow { batch, batch_columns, path } => {
                text::flatten(batch.column(batch_columns[column])).map_err(EngineError::parquet(path))
            }
            Self::Csv { bytes, fields, quote } => {
                let mut values = Vec::new();
                let mut scratch = Vec::new();
                let mut offsets: Vec<i32> = Vec::with_capacity(fields.num_records() + 1);
                offsets.push(0);
                for record in 0..fields.num_records() {
                    values.extend_from_slice(content(fields.raw(bytes, record, column), quote, &mut scratch));
                    offsets.push(values.len() as i32);
                }
                let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
                let texts = StringArray::try_new(offsets, Buffer::from_vec(values), None);
                Ok(Arc::new(texts.map_err(|error| EngineError::bad_rewrite(error.to_string()))?))
            }
        }
    }
}

/// Fills every `step`-th element of `codes`; `None` if a code is missing. The separate loop for a step of 1 is faster.
#[inline]
fn fill(codes: &mut [u32], step: usize, range: Range<usize>, mut code: impl FnMut(usize) -> Option<u32>) -> Option<()> {
    if step == 1 {
        for (cell, record) in codes.iter_mut().zip(range) {
            *cell = code(record)?;
        }
    } else {
        for (cell, record) in codes.iter_mut().step_by(step).zip(range) {
            *cell = code(record)?;
        }
    }
    Some(())
}

/// Writes cells of a batch as CSV.
#[derive(Debug)]
pub(crate) struct CsvCells<'a> {
    records: InputRecords<'a>,
    /// Columns of an Arrow batch; copied columns are plain arrays, not dictionaries.
    arrays: Vec<ArrayRef>,
    /// Changes of cells; `None` if cells of CSV are of the dialect of the release and are copied.
    conversion: Option<&'a Conversion>,
    scratch: String,
    unquoted: Vec<u8>,
}

impl CsvCells<'_> {
    /// Bytes of a cell that keeps the quotes that it has in the input; `None` if its bytes follow from its value.
    #[inline]
    pub(crate) fn quoted(&self, record: usize, column: usize) -> Option<&[u8]> {
        match self.records {
            InputRecords::Csv { bytes, fields, quote } if self.conversion.is_none() => {
                Some(fields.raw(bytes, record, column)).filter(|raw| raw.first() == Some(&quote))
            }
            _ => None,
        }
    }

    /// Appends the cells of a record from column `from` to column `to`, both included. Cells of CSV keep their bytes,
    /// but for quotes that are added if necessary.
    #[inline]
    pub(crate) fn append(&mut self, out: &mut Vec<u8>, record: usize, from: usize, to: usize, writer: CellWriter) {
        match self.records {
            InputRecords::Csv { bytes, fields, quote } => {
                if let Some(conversion) = self.conversion {
                    for column in from..=to {
                        if column > from {
                            out.push(writer.dialect.delimiter);
                        }
                        let text = content(fields.raw(bytes, record, column), quote, &mut self.unquoted);
                        // Blocks are UTF-8, as parsing has checked.
                        let text = String::from_utf8_lossy(text);
                        writer.cell(out, conversion.text(column, &text).as_bytes());
                    }
                    return;
                }
                if !fields.may_have_odd_cells() && !writer.single_column {
                    out.extend_from_slice(&bytes[fields.span(record, from).0..fields.span(record, to).1]);
                    return;
                }
                for column in from..=to {
                    if column > from {
                        out.push(writer.dialect.delimiter);
                    }
                    writer.copy(out, fields.raw(bytes, record, column));
                }
            }
            InputRecords::Arrow { batch_columns, .. } => {
                for (column, &index) in (from..).zip(&batch_columns[from..=to]) {
                    if column > from {
                        out.push(writer.dialect.delimiter);
                    }
                    self.scratch.clear();
                    text::write(&self.arrays[index], record, &mut self.scratch);
                    match self.conversion {
                        Some(conversion) => writer.cell(out, conversion.text(column, &self.scratch).as_bytes()),
                        None => writer.cell(out, self.scratch.as_bytes()),
                    }
                }
            }
        }
    }
}
