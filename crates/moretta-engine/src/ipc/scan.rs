//! Arrow IPC files as a [`Scan`]: pieces are slices of record batches.
//!
//! Guarantee: columns keep their types and nulls; encoded text is plain text or a dictionary of it. Cost: one thread reads
//! and decodes record batches, which is little work unless they are compressed; the others encode the slices.

use std::{
    path::Path,
    sync::{Arc, Mutex},
};

use arrow_array::RecordBatch;
use arrow_schema::{Field, Schema, SchemaRef};

use super::{
    messages::{Batches, failed},
    strings,
};
use crate::{
    bytes::file::InputFile,
    csv::CsvOptions,
    error::EngineError,
    ordered_pool::{PieceFailure, lock},
    parquet::{file::same_columns, guard::decode_as},
    records::InputRecords,
    scan::{OnBatch, PieceMode, PieceReader, Scan, ScanRequest},
};

/// Estimated ratio of a table as text to its Arrow file, which may be compressed; affects the number of buckets and
/// estimates of memory only.
const TEXT_RATIO: u64 = 3;

/// Arrow files with the same columns.
#[derive(Debug)]
pub(crate) struct ArrowScan {
    columns: Vec<String>,
    schema: SchemaRef,
    files: Vec<InputFile>,
}

impl ArrowScan {
    /// Reads the schemas of all files, whose columns must be equal.
    pub(crate) fn open(files: &[InputFile], _: &CsvOptions) -> Result<Box<dyn Scan>, EngineError> {
        let schemas = files
            .iter()
            .map(|file| Ok(without_metadata(Batches::open(file)?.schema())))
            .collect::<Result<Vec<_>, _>>()?;
        let pairs: Vec<(&Path, &Schema)> =
            files.iter().map(|file| &*file.path).zip(schemas.iter().map(|schema| &**schema)).collect();
        let columns = same_columns(&pairs)?;
        Ok(Box::new(Self { columns, schema: Arc::clone(&schemas[0]), files: files.to_vec() }))
    }
}

/// The columns without metadata of fields and schema.
pub(crate) fn without_metadata(schema: &Schema) -> SchemaRef {
    let field = |field: &Arc<Field>| Field::new(field.name(), field.data_type().clone(), field.is_nullable());
    Arc::new(Schema::new(schema.fields().iter().map(field).collect::<Vec<_>>()))
}

impl Scan for ArrowScan {
    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn schema(&self) -> Option<&SchemaRef> {
        Some(&self.schema)
    }

    fn size(&self) -> u64 {
        self.files.iter().map(|file| file.length).sum()
    }

    fn text_bytes(&self, _columns: usize) -> u64 {
        self.size().saturating_mul(TEXT_RATIO)
    }

    fn open_readers<'a>(&'a self, request: &ScanRequest<'_>) -> Result<Vec<Box<dyn PieceReader + 'a>>, EngineError> {
        let max_records = match request.mode {
            PieceMode::First(records) => records.min(request.options.piece_records),
            PieceMode::Any | PieceMode::Whole => request.options.piece_records,
        };
        let mut read = [request.copied, request.encoded].concat();
        read.sort_unstable();
        read.dedup();
        let batch_columns: Arc<[usize]> =
            (0..self.columns.len()).map(|column| read.partition_point(|other| *other < column)).collect();
        let texts = request.encoded.iter().map(|&column| batch_columns[column]).collect();
        let slices = Slices {
            files: &self.files,
            read,
            texts,
            max_records: max_records.max(1),
            next_file: 0,
            open: None,
            batch: None,
            next_piece: 0,
            first_of_file: 0,
        };
        let slices = Arc::new(Mutex::new(slices));
        let reader = |_| {
            let (slices, batch_columns) = (Arc::clone(&slices), Arc::clone(&batch_columns));
            Box::new(SliceReader { slices, batch_columns, slice: None }) as Box<dyn PieceReader>
        };
        Ok((0..request.options.threads).map(reader).collect())
    }
}

/// Reads files one by one and cuts their record batches into numbered slices.
struct Slices<'a> {
    files: &'a [InputFile],
    /// Columns to read, ascending.
    read: Vec<usize>,
    /// Columns of a batch that are encoded.
    texts: Vec<usize>,
    max_records: usize,
    next_file: usize,
    open: Option<Batches>,
    /// Batch that is being cut: its first record that is left, and the bytes it took in the file.
    batch: Option<(RecordBatch, usize, u64)>,
    next_piece: usize,
    first_of_file: usize,
}

/// Slice of a record batch.
struct Slice<'a> {
    path: &'a Path,
    batch: RecordBatch,
    bytes: u64,
    first_of_file: usize,
}

impl<'a> Slices<'a> {
    fn next(&mut self) -> Result<Option<(usize, Slice<'a>)>, EngineError> {
        loop {
            if let Some((batch, start, bytes)) = self.batch.take()
                && start < batch.num_rows()
            {
                let records = self.max_records.min(batch.num_rows() - start);
                let slice = batch.slice(start, records);
                self.batch = Some((batch, start + records, 0));
                self.next_piece += 1;
                let (path, first_of_file) = (&*self.files[self.next_file - 1].path, self.first_of_file);
                return Ok(Some((self.next_piece - 1, Slice { path, batch: slice, bytes, first_of_file })));
            }
            let Some(open) = &mut self.open else {
                let Some(file) = self.files.get(self.next_file) else { return Ok(None) };
                self.open = Some(Batches::open(file)?);
                self.next_file += 1;
                self.first_of_file = self.next_piece;
                continue;
            };
            let before = open.bytes_read();
            match open.next(&self.read)? {
                None => self.open = None,
                Some(batch) => {
                    let bytes = open.bytes_read() - before;
                    let path = &self.files[self.next_file - 1].path;
                    self.batch = Some((plain_texts(path, batch, &self.texts)?, 0, bytes));
                }
            }
        }
    }
}

/// Replaces the encoded columns of text by those that passes expect.
pub(crate) fn plain_texts(path: &Path, batch: RecordBatch, texts: &[usize]) -> Result<RecordBatch, EngineError> {
    let mut columns = batch.columns().to_vec();
    for &column in texts {
        columns[column] = decode_as("Arrow", path, || strings::plain(&columns[column]))?;
    }
    let fields: Vec<Field> = (batch.schema().fields().iter().zip(&columns))
        .map(|(field, column)| Field::new(field.name(), column.data_type().clone(), true))
        .collect();
    let options = arrow_array::RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options).map_err(failed(path))
}

/// Reader of one thread; all readers of a scan share the slices.
struct SliceReader<'a> {
    slices: Arc<Mutex<Slices<'a>>>,
    /// Index in a batch of each column of the source.
    batch_columns: Arc<[usize]>,
    slice: Option<Slice<'a>>,
}

impl PieceReader for SliceReader<'_> {
    fn take(&mut self) -> Result<Option<usize>, PieceFailure<EngineError>> {
        let mut slices = lock(&self.slices);
        let number = slices.next_piece;
        let next = slices.next().map_err(|error| (number, error))?;
        Ok(next.map(|(number, slice)| {
            self.slice = Some(slice);
            number
        }))
    }

    fn read(&mut self, on_batch: &mut OnBatch<'_>) -> Result<(), EngineError> {
        let Some(Slice { path, batch, bytes, .. }) = &self.slice else { return Ok(()) };
        on_batch(InputRecords::Arrow { batch, batch_columns: &self.batch_columns, path }, *bytes)
    }

    fn first_of_file(&self) -> usize {
        self.slice.as_ref().map_or(0, |slice| slice.first_of_file)
    }
}
