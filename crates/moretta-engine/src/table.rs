//! Tables in memory as sources and targets: the records of a data frame, and a release that is handed over as one.
//!
//! Guarantee: a table has the counts and the release of an Arrow file with the same batches. A release is handed over when
//! it has been read back, never before ([`TableSlot`]).
//!
//! How: [`MemoryScan`] cuts the batches into slices, which threads take in order. Text columns of a slice are converted to
//! the types that passes expect when it is read; dictionaries once, so that all slices share their values. Cost: no copy
//! of the records, but for text that is encoded and dictionaries.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, cast::AsArray};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};

use crate::{
    error::EngineError,
    ipc::{
        scan::{plain_texts, without_metadata},
        strings,
    },
    ordered_pool::{PieceFailure, lock},
    parquet::file::same_columns,
    records::InputRecords,
    scan::{OnBatch, PieceMode, PieceReader, Scan, ScanRequest},
};

/// Estimated bytes of a cell that is not text; affects the number of buckets and estimates of memory only.
const CELL_BYTES: u64 = 12;

/// Records in memory, with a name for messages. Clones share the records.
#[derive(Debug, Clone)]
pub struct MemoryTable {
    name: Arc<str>,
    columns: Arc<[String]>,
    schema: SchemaRef,
    batches: Arc<[RecordBatch]>,
}

impl MemoryTable {
    /// A table of batches with these columns; an error if two columns have the same name.
    pub fn new(name: &str, schema: &Schema, batches: Vec<RecordBatch>) -> Result<Self, EngineError> {
        let path = Path::new(name);
        let columns = same_columns(&[(path, schema)])?;
        let batches = batches.iter().map(without_small_dictionaries).collect::<Result<Vec<_>, _>>();
        let batches = batches.map_err(EngineError::parquet(path))?;
        let schema = match batches.first() {
            Some(batch) => batch.schema(),
            None => Arc::new(schema.clone()),
        };
        let schema = without_metadata(&schema);
        Ok(Self { name: name.into(), columns: columns.into(), schema, batches: batches.into() })
    }

    /// Name of the table in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The same table with another name.
    pub fn renamed(&self, name: &str) -> Self {
        Self { name: name.into(), ..self.clone() }
    }

    /// Types of the columns.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The records, in order.
    pub fn batches(&self) -> &[RecordBatch] {
        &self.batches
    }

    /// Number of records.
    pub fn records(&self) -> u64 {
        self.batches.iter().map(|batch| batch.num_rows() as u64).sum()
    }
}

/// Converts the dictionaries of text of a batch to the type that passes expect. Every column may have nulls.
fn without_small_dictionaries(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let convert = |array: &ArrayRef| match array.data_type() {
        DataType::Dictionary(_, values) if values.is_string() => strings::plain(array),
        _ => Ok(Arc::clone(array)),
    };
    let columns = batch.columns().iter().map(convert).collect::<Result<Vec<_>, _>>()?;
    let names = batch.schema_ref().fields().iter().map(|field| field.name().clone());
    let fields: Vec<Field> =
        names.zip(&columns).map(|(name, column)| Field::new(name, column.data_type().clone(), true)).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options)
}

/// Place for a release in memory. It is empty until the release has been read back and published.
#[derive(Debug, Clone, Default)]
pub struct TableSlot(Arc<Mutex<Option<MemoryTable>>>);

impl TableSlot {
    /// Takes the table out of the slot; `None` if nothing was published.
    pub fn take(&self) -> Option<MemoryTable> {
        lock(&self.0).take()
    }

    /// The table in the slot; `None` if nothing was published.
    pub fn get(&self) -> Option<MemoryTable> {
        lock(&self.0).clone()
    }

    pub(crate) fn put(&self, table: MemoryTable) {
        *lock(&self.0) = Some(table);
    }
}

impl PartialEq for TableSlot {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for TableSlot {}

/// A table in memory as a [`Scan`].
#[derive(Debug)]
pub(crate) struct MemoryScan {
    table: MemoryTable,
    path: PathBuf,
    text_bytes: u64,
}

impl MemoryScan {
    pub(crate) fn new(table: MemoryTable) -> Self {
        let text_bytes = table.batches.iter().flat_map(RecordBatch::columns).map(estimated_bytes).sum();
        Self { path: PathBuf::from(table.name()), table, text_bytes }
    }
}

/// Estimated bytes of a column as text.
fn estimated_bytes(array: &ArrayRef) -> u64 {
    let texts = match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().value_offsets().last().map_or(0, |end| *end as u64),
        DataType::LargeUtf8 => array.as_string::<i64>().value_offsets().last().map_or(0, |end| *end as u64),
        DataType::Utf8View => array.as_string_view().lengths().map(u64::from).sum(),
        _ => 0,
    };
    texts.max(CELL_BYTES * array.len() as u64)
}

impl Scan for MemoryScan {
    fn columns(&self) -> &[String] {
        &self.table.columns
    }

    fn schema(&self) -> Option<&SchemaRef> {
        Some(&self.table.schema)
    }

    fn size(&self) -> u64 {
        self.table.records()
    }

    fn text_bytes(&self, _columns: usize) -> u64 {
        self.text_bytes
    }

    fn open_readers<'a>(&'a self, request: &ScanRequest<'_>) -> Result<Vec<Box<dyn PieceReader + 'a>>, EngineError> {
        let piece_records = request.options.piece_records.max(1);
        let max_records = match request.mode {
            PieceMode::First(records) => records.clamp(1, piece_records),
            PieceMode::Any | PieceMode::Whole => piece_records,
        };
        let mut read = [request.copied, request.encoded].concat();
        read.sort_unstable();
        read.dedup();
        let batch_columns: Vec<usize> =
            (0..self.columns().len()).map(|column| read.partition_point(|other| *other < column)).collect();
        let texts = request.encoded.iter().map(|&column| batch_columns[column]).collect();
        let of_batch = |(index, batch): (usize, &RecordBatch)| {
            let records = batch.num_rows();
            let starts = (0..records).step_by(max_records);
            starts.map(move |start| (index, start, max_records.min(records - start))).collect::<Vec<_>>()
        };
        let slices = self.table.batches.iter().enumerate().flat_map(of_batch).collect();
        let next = AtomicUsize::new(0);
        let shared = Arc::new(SharedScan { scan: self, slices, read, texts, batch_columns, next });
        let reader = |_| Box::new(MemoryReader { shared: Arc::clone(&shared), slice: 0 }) as Box<dyn PieceReader>;
        Ok((0..request.options.threads).map(reader).collect())
    }
}

/// State shared by the readers of all threads.
struct SharedScan<'a> {
    scan: &'a MemoryScan,
    /// Batch, first record and number of records of each slice.
    slices: Vec<(usize, usize, usize)>,
    /// Columns to read, ascending.
    read: Vec<usize>,
    /// Columns of a slice that are encoded.
    texts: Vec<usize>,
    /// Index in a slice of each column of the table.
    batch_columns: Vec<usize>,
    /// Index of the next slice to hand out.
    next: AtomicUsize,
}

/// Reader of one thread.
struct MemoryReader<'a> {
    shared: Arc<SharedScan<'a>>,
    slice: usize,
}

impl PieceReader for MemoryReader<'_> {
    fn take(&mut self) -> Result<Option<usize>, PieceFailure<EngineError>> {
        self.slice = self.shared.next.fetch_add(1, Ordering::Relaxed);
        Ok((self.slice < self.shared.slices.len()).then_some(self.slice))
    }

    fn read(&mut self, on_batch: &mut OnBatch<'_>) -> Result<(), EngineError> {
        let SharedScan { scan, slices, read, texts, batch_columns, .. } = &*self.shared;
        let Some(&(batch, start, records)) = slices.get(self.slice) else { return Ok(()) };
        let slice = scan.table.batches[batch].project(read).map_err(EngineError::parquet(&scan.path))?;
        let batch = plain_texts(&scan.path, slice.slice(start, records), texts)?;
        on_batch(InputRecords::Arrow { batch: &batch, batch_columns, path: &scan.path }, records as u64)
    }
}
