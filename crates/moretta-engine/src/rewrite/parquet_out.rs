//! Records leave as Parquet.
//!
//! Guarantee: rewritten columns are text without nulls; columns copied from Parquet keep their type and nulls (a dictionary
//! becomes the type of its values), columns copied from CSV are text. The file's bytes depend on the records and their
//! order alone: batches are cut anew to one size before they are encoded. A shuffle sorts by the key the seed gives each
//! record, then by its number.
//!
//! Structure: pieces become batches on all threads; encoding happens in order, by one at a time. A shuffle goes by way of
//! [`Spill`] as CSV does, with batches in Arrow's stream format and two columns more: key and number.

use super::feed::{Decided, Records, feed};
use super::plan::OutColumn;
use super::random::SortKeys;
use super::spill::Spill;
use super::{Job, Part};
use crate::crew::{self, Turn};
use crate::csv::content;
use crate::error::EngineError;
use crate::parquet::text;
use crate::source::Data;
use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{ArrayRef, RecordBatch, StringArray, UInt32Array, UInt64Array};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use arrow_select::coalesce::BatchCoalescer;
use arrow_select::concat::concat_batches;
use arrow_select::take::{take, take_record_batch};
use moretta_core::counts::RecordOrder;
use moretta_core::observer::Observer;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Records that are encoded at a time.
const BATCH: usize = 8 << 10;
/// A row group ends after so many records, or so many encoded bytes.
const GROUP_RECORDS: usize = 1 << 20;
const GROUP_BYTES: usize = 64 << 20;

/// Encodes batches cut to one size.
struct Writer {
    coalescer: BatchCoalescer,
    writer: ArrowWriter<File>,
}

impl Writer {
    fn new(job: &Job<'_>, schema: SchemaRef) -> Result<Writer, EngineError> {
        let path = job.pending.path();
        let file = job.pending.file().try_clone().map_err(EngineError::io(path, "write"))?;
        let level = ZstdLevel::try_new(1).map_err(EngineError::parquet(path))?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(level))
            .set_max_row_group_row_count(Some(GROUP_RECORDS))
            .set_created_by(concat!("moretta ", env!("CARGO_PKG_VERSION")).to_string())
            .build();
        let writer =
            ArrowWriter::try_new(file, Arc::clone(&schema), Some(properties)).map_err(EngineError::parquet(path))?;
        Ok(Writer { coalescer: BatchCoalescer::new(schema, BATCH), writer })
    }

    fn push(&mut self, batch: RecordBatch) -> Result<(), parquet::errors::ParquetError> {
        self.coalescer.push_batch(batch)?;
        self.encode()
    }

    fn encode(&mut self) -> Result<(), parquet::errors::ParquetError> {
        while let Some(batch) = self.coalescer.next_completed_batch() {
            self.writer.write(&batch)?;
            if self.writer.in_progress_size() >= GROUP_BYTES {
                self.writer.flush()?;
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<(), parquet::errors::ParquetError> {
        self.coalescer.finish_buffered_batch()?;
        self.encode()?;
        self.writer.close()?;
        Ok(())
    }
}

/// Makes batches of decided pieces.
struct Batches<'a> {
    job: &'a Job<'a>,
    schema: SchemaRef,
    labels: Vec<ArrayRef>,
}

impl<'a> Batches<'a> {
    fn new(job: &'a Job<'a>) -> Batches<'a> {
        let field = |(column, name): (&OutColumn, &String)| match (column, &job.source.data) {
            (OutColumn::Copy(column), Data::Parquet(files)) => {
                let field = files[0].schema().field(*column).clone();
                match field.data_type().clone() {
                    DataType::Dictionary(_, value) => field.with_data_type(*value),
                    // A column of the key is read as a dictionary of plain text.
                    DataType::LargeUtf8 | DataType::Utf8View if job.plan.key.iter().any(|(key, _)| key == column) => {
                        field.with_data_type(DataType::Utf8)
                    }
                    _ => field,
                }
            }
            _ => Field::new(name, DataType::Utf8, false),
        };
        let fields: Vec<Field> = job.plan.columns.iter().zip(&job.plan.names).map(field).collect();
        let labels = job
            .plan
            .labels
            .iter()
            .map(|labels| Arc::new(StringArray::from_iter_values(labels.iter().map(|label| &**label))) as ArrayRef);
        Batches { job, schema: Arc::new(Schema::new(fields)), labels: labels.collect() }
    }

    fn make(&self, piece: &Decided<'_>) -> Result<RecordBatch, ArrowError> {
        let columns = self.job.plan.columns.iter().map(|column| match *column {
            OutColumn::Label(label) => {
                let indices = (0..piece.count).map(|record| self.job.plan.label(piece.decisions, record, label) as u32);
                take(&self.labels[label], &UInt32Array::from_iter_values(indices), None)
            }
            OutColumn::Copy(column) => match piece.records {
                Records::Parquet { batch, places } => text::flatten(batch.column(places[column])),
                Records::Csv { .. } => self.texts(piece, column),
            },
        });
        RecordBatch::try_new(Arc::clone(&self.schema), columns.collect::<Result<_, _>>()?)
    }

    fn texts(&self, piece: &Decided<'_>, column: usize) -> Result<ArrayRef, ArrowError> {
        let Records::Csv { bytes, fields } = piece.records else {
            return Err(ArrowError::InvalidArgumentError("no text".to_string()));
        };
        let (mut values, mut scratch) = (Vec::new(), Vec::new());
        let mut offsets: Vec<i32> = Vec::with_capacity(piece.count + 1);
        offsets.push(0);
        for record in 0..piece.count {
            values.extend_from_slice(content(fields.raw(bytes, record, column), self.job.dialect.quote, &mut scratch));
            offsets.push(values.len() as i32);
        }
        let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
        Ok(Arc::new(StringArray::try_new(offsets, Buffer::from_vec(values), None)?))
    }
}

/// Writes all records; how many.
pub(crate) fn write(job: &Job<'_>, observer: &dyn Observer) -> Result<u64, EngineError> {
    let batches = Batches::new(job);
    let writer = Turn::new(Writer::new(job, Arc::clone(&batches.schema))?);
    let path = job.pending.path();
    let states = vec![(); job.settings.threads];
    let records = match job.order {
        RecordOrder::Input => {
            let (_, records) = feed(job, states, observer, &[&writer], |(), piece| {
                let batch = batches.make(&piece).map_err(EngineError::parquet(path))?;
                writer.take(piece.number, |writer| writer.push(batch).map_err(EngineError::parquet(path)))
            })?;
            records
        }
        RecordOrder::Shuffled => {
            let (spill, first) = (job.spill(), Part { observer, part: 0, parts: 2 });
            let scattered = Scattered::new(job, &batches);
            let states = (0..job.settings.threads).map(|_| SortKeys::new(job.seed)).collect();
            let (_, records) = feed(job, states, &first, &[], |keys: &mut SortKeys, piece| {
                let batch = batches.make(&piece).map_err(EngineError::parquet(path))?;
                let keys: Vec<u64> = keys.from(piece.base).take(piece.count).collect();
                scattered.scatter(&batch, keys, piece.base, &spill)
            })?;
            scattered.gather(&spill, &writer, &Part { observer, part: 1, parts: 2 })?;
            records
        }
    };
    writer.into_inner().finish().map_err(EngineError::parquet(path))?;
    Ok(records)
}

/// Batches on their way into another order.
struct Scattered<'a> {
    job: &'a Job<'a>,
    /// The output's columns, then key and number.
    schema: SchemaRef,
    plain: SchemaRef,
}

impl<'a> Scattered<'a> {
    fn new(job: &'a Job<'a>, batches: &Batches<'_>) -> Self {
        let mut fields: Vec<Arc<Field>> = batches.schema.fields().iter().cloned().collect();
        fields.push(Arc::new(Field::new("", DataType::UInt64, false)));
        fields.push(Arc::new(Field::new("", DataType::UInt64, false)));
        Self { job, schema: Arc::new(Schema::new(fields)), plain: Arc::clone(&batches.schema) }
    }

    fn scatter(&self, batch: &RecordBatch, keys: Vec<u64>, base: u64, spill: &Spill) -> Result<(), EngineError> {
        let failed = EngineError::parquet::<ArrowError>(self.job.pending.path());
        let mut order: Vec<u32> = (0..keys.len() as u32).collect();
        order.sort_by_key(|&record| spill.bucket(keys[record as usize]));
        let buckets: Vec<usize> = order.iter().map(|&record| spill.bucket(keys[record as usize])).collect();
        let sorted = || {
            let mut columns = batch.columns().to_vec();
            let numbers = UInt64Array::from_iter_values(base..base + keys.len() as u64);
            columns.push(Arc::new(UInt64Array::from(keys)));
            columns.push(Arc::new(numbers));
            let all = RecordBatch::try_new(Arc::clone(&self.schema), columns)?;
            take_record_batch(&all, &UInt32Array::from(order))
        };
        let all = sorted().map_err(failed)?;
        let mut from = 0;
        for run in buckets.chunk_by(|a, b| a == b) {
            let encode = || {
                let mut stream = StreamWriter::try_new(Vec::new(), &self.schema)?;
                stream.write(&all.slice(from, run.len()))?;
                stream.into_inner()
            };
            let bytes = encode().map_err(EngineError::parquet(self.job.pending.path()))?;
            spill.put(run[0], &bytes)?;
            from += run.len();
        }
        Ok(())
    }

    fn gather(&self, spill: &Spill, writer: &Turn<Writer>, observer: &dyn Observer) -> Result<(), EngineError> {
        let path = self.job.pending.path();
        let next = AtomicUsize::new(0);
        let take = |(): &mut ()| {
            let bucket = next.fetch_add(1, Ordering::Relaxed);
            Ok((bucket < spill.buckets()).then_some(bucket))
        };
        let work = |(): &mut (), bucket: usize| {
            let mut batches = Vec::new();
            spill.take(bucket, |bytes| {
                let mut read = || {
                    for batch in StreamReader::try_new(bytes, None)? {
                        batches.push(batch?);
                    }
                    Ok(())
                };
                read().map_err(EngineError::parquet::<ArrowError>(path))
            })?;
            let sorted = self.sort(batches).map_err(EngineError::parquet(path))?;
            writer.take(bucket, |writer| writer.push(sorted).map_err(EngineError::parquet(path)))?;
            observer.progress(bucket as u64 + 1, spill.buckets() as u64);
            Ok(())
        };
        let states = vec![(); self.job.settings.threads.min(spill.buckets())];
        crew::run(states, observer, &[writer], take, work).map_err(|(_, error)| error)?;
        Ok(())
    }

    fn sort(&self, batches: Vec<RecordBatch>) -> Result<RecordBatch, ArrowError> {
        let all = concat_batches(&self.schema, &batches)?;
        drop(batches);
        let width = self.plain.fields().len();
        let (keys, numbers) =
            (all.column(width).as_primitive::<UInt64Type>(), all.column(width + 1).as_primitive::<UInt64Type>());
        let mut order: Vec<u32> = (0..all.num_rows() as u32).collect();
        order.sort_unstable_by_key(|&at| (keys.value(at as usize), numbers.value(at as usize)));
        let indices = UInt32Array::from(order);
        let columns = all.columns()[..width].iter().map(|column| take(column, &indices, None));
        RecordBatch::try_new(Arc::clone(&self.plain), columns.collect::<Result<_, _>>()?)
    }
}
