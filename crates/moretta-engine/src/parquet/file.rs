//! An open Parquet file, and its division into ranges of records.
//!
//! Guarantee: the ranges cover all records once, in order. Cost: a range that begins inside a row group skips the pages
//! before it (by the page index, if the file has one).

use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::Arc,
};

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::concat::concat_batches;
use parquet::{
    arrow::{
        ProjectionMask,
        arrow_reader::{
            ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
            RowSelection, RowSelector,
        },
    },
    file::metadata::PageIndexPolicy,
};

use crate::{error::EngineError, source::column_difference};

/// A Parquet file whose footer has been read.
#[derive(Debug)]
pub(crate) struct ParquetFile {
    pub(crate) path: PathBuf,
    metadata: ArrowReaderMetadata,
}

/// Range of records of one row group.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RecordRange {
    /// Index of the file.
    pub(crate) file: usize,
    row_group: usize,
    /// Records of the row group before the range.
    skip: usize,
    pub(crate) records: usize,
}

/// Selection of the columns to read, and their types.
#[derive(Debug)]
pub(crate) struct Projection {
    metadata: ArrowReaderMetadata,
    mask: ProjectionMask,
}

impl ParquetFile {
    /// Reads the footer of a file.
    pub(crate) fn open(path: &Path) -> Result<Self, EngineError> {
        let file = File::open(path).map_err(EngineError::io(path, "open"))?;
        if file.metadata().map_err(EngineError::io(path, "read"))?.len() == 0 {
            return Err(EngineError::Empty { path: path.to_path_buf() });
        }
        let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Optional);
        let metadata = ArrowReaderMetadata::load(&file, options).map_err(EngineError::parquet(path))?;
        Ok(Self { path: path.to_path_buf(), metadata })
    }

    /// Names and types of the columns.
    pub(crate) fn schema(&self) -> &SchemaRef {
        self.metadata.schema()
    }

    /// Number of records of each row group.
    fn row_group_sizes(&self) -> impl Iterator<Item = usize> {
        self.metadata.metadata().row_groups().iter().map(|group| group.num_rows().max(0) as usize)
    }

    /// Total bytes of all columns before compression.
    pub(crate) fn plain_bytes(&self) -> u64 {
        self.metadata.metadata().row_groups().iter().map(|group| group.total_byte_size().max(0) as u64).sum()
    }

    /// Selects the columns at `columns`. String columns that are also in `encoded` are read as dictionary arrays.
    pub(crate) fn project(&self, columns: &[usize], encoded: &[usize]) -> Result<Projection, EngineError> {
        let fields = self.schema().fields().iter().enumerate().map(|(index, field)| {
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
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let options = ArrowReaderOptions::new().with_schema(schema);
        let metadata = ArrowReaderMetadata::try_new(Arc::clone(self.metadata.metadata()), options)
            .map_err(EngineError::parquet(&self.path))?;
        let mask = ProjectionMask::roots(metadata.parquet_schema(), columns.iter().copied());
        Ok(Projection { metadata, mask })
    }

    /// Reads the records of a range in batches of at most `batch` records.
    pub(crate) fn read(
        &self,
        projection: &Projection,
        range: RecordRange,
        batch: usize,
    ) -> Result<ParquetRecordBatchReader, EngineError> {
        let file = File::open(&self.path).map_err(EngineError::io(&self.path, "open"))?;
        let mut builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, projection.metadata.clone())
            .with_projection(projection.mask.clone())
            .with_row_groups(vec![range.row_group])
            .with_batch_size(batch.max(1));
        let total = self.row_group_sizes().nth(range.row_group).unwrap_or(0);
        if range.skip > 0 || range.records < total {
            let selection = vec![RowSelector::skip(range.skip), RowSelector::select(range.records)];
            builder = builder.with_row_selection(RowSelection::from(selection));
        }
        builder.build().map_err(EngineError::parquet(&self.path))
    }

    /// Reads all records of a range as one batch.
    pub(crate) fn read_whole(&self, projection: &Projection, range: RecordRange) -> Result<RecordBatch, EngineError> {
        let reader = self.read(projection, range, range.records)?;
        let schema = reader.schema();
        let mut batches = reader.collect::<Result<Vec<_>, _>>().map_err(EngineError::parquet(&self.path))?;
        let batch = match batches.len() {
            1 => batches.swap_remove(0),
            _ => concat_batches(&schema, &batches).map_err(EngineError::parquet(&self.path))?,
        };
        if batch.num_rows() != range.records {
            return Err(EngineError::changed(format!("{} has fewer records", self.path.display())));
        }
        Ok(batch)
    }
}

/// Returns the names of the columns; an error unless all files have the same names and types.
pub(crate) fn same_columns(files: &[ParquetFile]) -> Result<Vec<String>, EngineError> {
    let names = |file: &ParquetFile| -> Vec<_> { file.schema().fields().iter().map(|f| f.name().clone()).collect() };
    let first = &files[0];
    let columns = names(first);
    let mut seen = std::collections::HashSet::new();
    if let Some(name) = columns.iter().find(|name| !seen.insert(name.as_str())) {
        return Err(EngineError::DuplicateColumn { path: first.path.clone(), name: name.clone() });
    }
    for file in &files[1..] {
        let types = || {
            let mut pairs = first.schema().fields().iter().zip(file.schema().fields());
            let (a, b) = pairs.find(|(a, b)| a.data_type() != b.data_type())?;
            Some(format!("column `{}` is of type {}, not {}", a.name(), b.data_type(), a.data_type()))
        };
        if let Some(detail) = column_difference(&columns, &names(file)).or_else(types) {
            return Err(EngineError::HeaderDiffers { path: file.path.clone(), first: first.path.clone(), detail });
        }
    }
    Ok(columns)
}

/// Divides files into ranges of at most `max_records` records each, and at most `u32::MAX`, so that 32 bits can index
/// them.
pub(crate) fn record_ranges(files: &[ParquetFile], max_records: usize) -> Vec<RecordRange> {
    let max_records = max_records.clamp(1, u32::MAX as usize);
    let mut ranges = Vec::new();
    for (file, parquet) in files.iter().enumerate() {
        for (row_group, total) in parquet.row_group_sizes().enumerate() {
            let parts = total.div_ceil(max_records);
            for part in 0..parts {
                let start = total * part / parts;
                let end = total * (part + 1) / parts;
                ranges.push(RecordRange { file, row_group, skip: start, records: end - start });
            }
        }
    }
    ranges
}
