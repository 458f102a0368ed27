//! A Parquet file, and the pieces of it that threads take.
//!
//! Guarantee: the pieces cover all records once, in order.
//!
//! Cost: a piece that begins inside a row group skips the pages before it (by the page index where the file has one).

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

/// An open Parquet file.
#[derive(Debug)]
pub(crate) struct ParquetFile {
    pub(crate) path: PathBuf,
    metadata: ArrowReaderMetadata,
}

/// Some records of one row group.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RecordRange {
    pub(crate) file: usize,
    row_group: usize,
    skip: usize,
    pub(crate) rows: usize,
}

/// Which columns are read, and how.
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

    /// The columns with their types.
    pub(crate) fn schema(&self) -> &SchemaRef {
        self.metadata.schema()
    }

    /// Records of each row group.
    fn row_group_sizes(&self) -> impl Iterator<Item = usize> {
        self.metadata.metadata().row_groups().iter().map(|group| group.num_rows().max(0) as usize)
    }

    /// Bytes of all columns before compression.
    pub(crate) fn plain_bytes(&self) -> u64 {
        self.metadata.metadata().row_groups().iter().map(|group| group.total_byte_size().max(0) as u64).sum()
    }

    /// To read the columns at `columns`, those of them in `encoded` as dictionaries if they are strings.
    pub(crate) fn project(&self, columns: &[usize], encoded: &[usize]) -> Result<Projection, EngineError> {
        let fields = self.schema().fields().iter().enumerate().map(|(at, field)| {
            let string = matches!(field.data_type(), DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
                || matches!(field.data_type(), DataType::Dictionary(_, value)
                    if matches!(**value, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View));
            if string && encoded.contains(&at) {
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

    /// Batches of a range's records.
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
        let all = self.row_group_sizes().nth(range.row_group).unwrap_or(0);
        if range.skip > 0 || range.rows < all {
            let selection = vec![RowSelector::skip(range.skip), RowSelector::select(range.rows)];
            builder = builder.with_row_selection(RowSelection::from(selection));
        }
        builder.build().map_err(EngineError::parquet(&self.path))
    }

    /// All records of a range in one batch.
    pub(crate) fn read_whole(&self, projection: &Projection, range: RecordRange) -> Result<RecordBatch, EngineError> {
        let reader = self.read(projection, range, range.rows)?;
        let schema = reader.schema();
        let mut batches = reader.collect::<Result<Vec<_>, _>>().map_err(EngineError::parquet(&self.path))?;
        let batch = match batches.len() {
            1 => batches.swap_remove(0),
            _ => concat_batches(&schema, &batches).map_err(EngineError::parquet(&self.path))?,
        };
        if batch.num_rows() != range.rows {
            return Err(EngineError::changed(format!("{} has fewer records", self.path.display())));
        }
        Ok(batch)
    }
}

/// The names of the columns, which have to be the same, of the same types, in all files.
pub(crate) fn same_columns(files: &[ParquetFile]) -> Result<Vec<String>, EngineError> {
    let names =
        |file: &ParquetFile| file.schema().fields().iter().map(|field| field.name().clone()).collect::<Vec<_>>();
    let first = &files[0];
    let columns = names(first);
    let mut seen = std::collections::HashSet::new();
    if let Some(name) = columns.iter().find(|name| !seen.insert(name.as_str())) {
        return Err(EngineError::DuplicateColumn { path: first.path.clone(), name: name.clone() });
    }
    for file in &files[1..] {
        let types = || {
            let pairs = first.schema().fields().iter().zip(file.schema().fields());
            pairs
                .filter(|(a, b)| a.data_type() != b.data_type())
                .map(|(a, b)| format!("column `{}` is of type {}, not {}", a.name(), b.data_type(), a.data_type()))
                .next()
        };
        if let Some(detail) = column_difference(&columns, &names(file)).or_else(types) {
            return Err(EngineError::HeaderDiffers { path: file.path.clone(), first: first.path.clone(), detail });
        }
    }
    Ok(columns)
}

/// The pieces of some files, none of more than `max_records` records (or more than 32 bits can count).
pub(crate) fn record_ranges(files: &[ParquetFile], max_records: usize) -> Vec<RecordRange> {
    let max_records = max_records.clamp(1, u32::MAX as usize);
    let mut ranges = Vec::new();
    for (file, parquet) in files.iter().enumerate() {
        for (row_group, all) in parquet.row_group_sizes().enumerate() {
            let parts = all.div_ceil(max_records);
            for part in 0..parts {
                let (from, to) = (all * part / parts, all * (part + 1) / parts);
                ranges.push(RecordRange { file, row_group, skip: from, rows: to - from });
            }
        }
    }
    ranges
}
