//! An open Parquet file.
//!
//! Guarantee: the footer of an open file is possible: column chunks lie inside the file, and columns without lists have
//! as many values as their row group has records. A file that contradicts itself later is an error, too: panics of the
//! decoder are caught ([`guard`](super::guard)), page sizes are checked ([`pages`](super::pages)), and a range has as
//! many records as the footer says.
//!
//! Cost: a range that begins inside a row group reads the headers of the pages before it.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
};

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::concat::concat_batches;
use parquet::{
    arrow::{
        FieldLevels, ProjectionMask,
        arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, RowSelection, RowSelector},
        parquet_to_arrow_field_levels,
    },
    errors::ParquetError,
    file::metadata::{ColumnChunkMetaData, PageIndexPolicy, ParquetMetaData, RowGroupMetaData},
};

use super::{
    guard::{INDEX_OVERFLOW, decode},
    pages::CheckedRowGroup,
    ranges::RecordRange,
    types,
};
use crate::{
    bytes::file::InputFile,
    error::EngineError,
    source::{column_difference, repeated_columns},
};

/// Maximum records that the decoder makes room for at once; a range with more is put together from several batches.
const MAX_BATCH_RECORDS: usize = 1 << 16;

/// A Parquet file whose footer has been read.
#[derive(Debug)]
pub(crate) struct ParquetFile {
    pub(crate) path: PathBuf,
    input: InputFile,
    metadata: Arc<ParquetMetaData>,
    /// Names and types of the columns.
    pub(crate) schema: SchemaRef,
    /// For each row group and column chunk, whether its page headers were checked.
    checked: Vec<Vec<AtomicBool>>,
}

/// Selection of the columns to read, and their types.
#[derive(Debug)]
pub(crate) struct Projection {
    levels: FieldLevels,
}

impl ParquetFile {
    /// Reads the footer of a file. An embedded Arrow schema is ignored if the file is a release, so that its columns are
    /// those that every reader finds.
    pub(crate) fn open(input: &InputFile, release: bool) -> Result<Self, EngineError> {
        let (path, file) = (&*input.path, input.reopen()?);
        let bytes = file.metadata().map_err(EngineError::io(path, "read"))?.len();
        if bytes == 0 {
            return Err(EngineError::Empty { path: path.to_path_buf() });
        }
        let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Skip);
        let (metadata, schema) = decode(path, || {
            let physical = ArrowReaderMetadata::load(&file, options.with_skip_arrow_metadata(true))?;
            let metadata = Arc::clone(physical.metadata());
            let embedded = if release {
                physical.clone()
            } else {
                ArrowReaderMetadata::try_new(Arc::clone(&metadata), ArrowReaderOptions::new())?
            };
            Ok::<_, ParquetError>((metadata, types::columns(embedded.schema(), physical.schema())))
        })?;
        let row_groups = metadata.row_groups();
        if !row_groups.iter().all(|group| is_possible(group, bytes)) {
            return Err(EngineError::damaged(path, "its footer contradicts itself or the size of the file"));
        }
        let checked = row_groups.iter().map(|group| group.columns().iter().map(|_| AtomicBool::new(false)).collect());
        let checked = checked.collect();
        Ok(Self { path: path.to_path_buf(), input: input.clone(), metadata, schema: Arc::new(schema), checked })
    }

    /// Number of records of each row group, and their bytes before compression and encoding, as far as known.
    pub(crate) fn row_groups(&self) -> impl Iterator<Item = (usize, u64)> {
        let chunk_bytes = |chunk: &ColumnChunkMetaData| {
            let bytes = chunk.uncompressed_size().max(chunk.unencoded_byte_array_data_bytes().unwrap_or(0));
            bytes.max(0) as u64
        };
        self.metadata.row_groups().iter().map(move |group| {
            let bytes = group.columns().iter().map(chunk_bytes).fold(0, u64::saturating_add);
            (group.num_rows().max(0) as usize, bytes)
        })
    }

    /// Selects the columns at `columns`. String columns that are also in `encoded` are read as dictionary arrays.
    pub(crate) fn project(&self, columns: &[usize], encoded: &[usize]) -> Result<Projection, EngineError> {
        let fields = self.schema.fields().iter().enumerate().map(|(index, field)| {
            let string = match field.data_type() {
                DataType::Dictionary(_, value) => value.is_string(),
                other => other.is_string(),
            };
            if string && encoded.contains(&index) {
                let dictionary = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
                Arc::new(Field::clone(field).with_data_type(dictionary))
            } else {
                Arc::clone(field)
            }
        });
        let fields = fields.collect();
        let schema = self.metadata.file_metadata().schema_descr();
        let mask = ProjectionMask::roots(schema, columns.iter().copied());
        let levels = decode(&self.path, || parquet_to_arrow_field_levels(schema, mask, Some(&fields)))?;
        Ok(Projection { levels })
    }

    /// Reads the records of a range in batches of at most `batch` records.
    pub(crate) fn read(
        &self,
        projection: &Projection,
        range: RecordRange,
        batch: usize,
    ) -> Result<RangeBatches<'_>, EngineError> {
        let file = Arc::new(self.input.reopen()?);
        let metadata = &*self.metadata;
        let RecordRange { row_group, skip, records, .. } = range;
        let checked = &self.checked[row_group];
        let pages = CheckedRowGroup { file, metadata, row_group, checked };
        let whole = skip == 0 && records as i64 == metadata.row_group(row_group).num_rows();
        let selection =
            (!whole).then(|| RowSelection::from(vec![RowSelector::skip(skip), RowSelector::select(records)]));
        let batch = batch.clamp(1, MAX_BATCH_RECORDS);
        let reader = decode(&self.path, || {
            ParquetRecordBatchReader::try_new_with_row_groups(&projection.levels, &pages, batch, selection)
        })?;
        Ok(RangeBatches { file: self, reader, records, left: records })
    }

    /// Reads all records of a range as one batch.
    pub(crate) fn read_whole(&self, projection: &Projection, range: RecordRange) -> Result<RecordBatch, EngineError> {
        let reader = self.read(projection, range, range.records)?;
        let schema = reader.reader.schema();
        let mut batches = reader.collect::<Result<Vec<_>, _>>()?;
        match batches.len() {
            1 => Ok(batches.swap_remove(0)),
            _ => decode(&self.path, || concat_batches(&schema, &batches))
                .map_err(|error| self.too_much_text(error, range.records)),
        }
    }

    /// The reason of an error of the decoder if it is that an array cannot hold all texts.
    fn too_much_text(&self, error: EngineError, records: usize) -> EngineError {
        match &error {
            EngineError::Parquet { message, .. } if is_offset_overflow(message) => {
                EngineError::TooMuchText { path: self.path.clone(), records }
            }
            _ => error,
        }
    }
}

/// Whether an error of the decoder says that the offsets of an array of texts overflow. (An integer that overflows is
/// damage.)
fn is_offset_overflow(message: &str) -> bool {
    let message = message.to_lowercase();
    message.contains(INDEX_OVERFLOW) || message.contains("offset overflow")
}

/// Whether the claims of a footer about a row group are possible in a file of `bytes` bytes.
fn is_possible(group: &RowGroupMetaData, bytes: u64) -> bool {
    let inside_file = |chunk: &ColumnChunkMetaData| {
        let start = chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset());
        let end = start.checked_add(chunk.compressed_size());
        start >= 0 && chunk.compressed_size() >= 0 && end.is_some_and(|end| end as u64 <= bytes)
    };
    let possible_values = |chunk: &ColumnChunkMetaData| match chunk.column_descr().max_rep_level() {
        0 => chunk.num_values() == group.num_rows(),
        // A record has at least one value or null.
        _ => chunk.num_values() >= group.num_rows(),
    };
    group.num_rows() >= 0 && group.columns().iter().all(|chunk| inside_file(chunk) && possible_values(chunk))
}

/// Batches of a range. After the last, an error if the range has fewer records than the footer says.
pub(crate) struct RangeBatches<'a> {
    file: &'a ParquetFile,
    reader: ParquetRecordBatchReader,
    records: usize,
    left: usize,
}

impl Iterator for RangeBatches<'_> {
    type Item = Result<RecordBatch, EngineError>;

    fn next(&mut self) -> Option<Self::Item> {
        let path = &self.file.path;
        let batch = decode(path, || self.reader.next().transpose())
            .map_err(|error| self.file.too_much_text(error, self.records));
        match batch {
            Ok(Some(batch)) if batch.num_rows() <= self.left => {
                self.left -= batch.num_rows();
                Some(Ok(batch))
            }
            Ok(None) if self.left == 0 => None,
            Ok(_) => {
                self.left = 0;
                Some(Err(EngineError::damaged(path, "a row group has another number of records than its footer says")))
            }
            Err(error) => Some(Err(error)),
        }
    }
}

/// Returns the names of the columns; an error unless all files have the same names and types.
pub(crate) fn same_columns(files: &[(&Path, &Schema)]) -> Result<Vec<String>, EngineError> {
    let names = |schema: &Schema| -> Vec<_> { schema.fields().iter().map(|f| f.name().clone()).collect() };
    let (first, first_schema) = files[0];
    let columns = names(first_schema);
    if let Some((one, two)) = repeated_columns(&columns) {
        return Err(EngineError::DuplicateColumn { path: first.to_path_buf(), first: one, second: two });
    }
    for (path, schema) in &files[1..] {
        let types = || {
            let mut pairs = (1..).zip(first_schema.fields().iter().zip(schema.fields()));
            let (number, (a, b)) = pairs.find(|(_, (a, b))| a.data_type() != b.data_type())?;
            Some(format!("column {number} is of type {}, not {}", b.data_type(), a.data_type()))
        };
        if let Some(detail) = column_difference(&columns, &names(schema)).or_else(types) {
            return Err(EngineError::HeaderDiffers { path: path.to_path_buf(), first: first.to_path_buf(), detail });
        }
    }
    Ok(columns)
}
