//! Writes the released records as Parquet or Arrow IPC.
//!
//! Guarantee: rewritten columns are text without nulls; columns copied from Parquet keep their type and nulls (a
//! dictionary becomes the type of its values, and see [`portable`]); columns copied from CSV are text. No metadata of
//! the input is written: statistics and page indexes are those of the released values. The bytes of the file depend on
//! the records and their order only, because batches are regrouped to one size before they are encoded. Arrow is written
//! without compression, which some of its readers lack. Shuffled
//! records are sorted by their random keys, then by their numbers.
//!
//! How: threads turn their pieces into Arrow batches; a [`Sequencer`] encodes them in input order, one at a time. A
//! shuffle goes through the buckets of [`Spill`] as for CSV; a bucket holds batches in Arrow's stream format with two
//! additional columns, sort key and record number.
//!
//! Cost: encoding is not parallel. A shuffle writes and reads every record once more; memory for one bucket per thread.

use std::{fs::File, io::BufWriter, sync::Arc};

use arrow_array::{ArrayRef, RecordBatch, StringArray, UInt32Array, UInt64Array, cast::AsArray, types::UInt64Type};
use arrow_ipc::{
    reader::StreamReader,
    writer::{FileWriter, StreamWriter},
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use arrow_select::{
    coalesce::BatchCoalescer,
    concat::concat_batches,
    take::{take, take_record_batch},
};
use moretta_core::{counts::RecordOrder, observer::Observer, text::shown};
use parquet::{
    arrow::ArrowWriter,
    basic::{Compression, ZstdLevel},
    errors::ParquetError,
    file::properties::WriterProperties,
};

use super::{
    Job, PhaseObserver,
    decide::{DecidedPiece, for_each_piece},
    plan::OutColumn,
    random::SortKeys,
    spill::{Spill, SpillWriter},
};
use crate::{
    arrow::portable,
    error::EngineError,
    formats::Format,
    ordered_pool::{self, Sequencer},
    table::{MemoryTable, TableSlot},
};

/// Records per encoded batch of Parquet. Not tuned; changes the bytes of the file.
const BATCH_RECORDS: usize = 8 << 10;
/// Records per batch of Arrow, which readers get as it is: the default of other writers.
const ARROW_BATCH_RECORDS: usize = 1 << 16;
/// Maximum records of a row group: the default of the Parquet library.
const GROUP_RECORDS: usize = 1 << 20;
/// A row group also ends once it has this many encoded bytes, which bounds the memory of the writer.
const GROUP_BYTES: usize = 64 << 20;

/// Bytes per bucket of a shuffle into memory, where the release itself takes the room that a writer of files has. A thread
/// has a bucket three times: encoded, decoded and sorted. Affects memory only.
const MEMORY_BUCKET_BYTES: u64 = 4 << 20;

/// Estimated bytes of the writer: a row group, and pages that are not encoded yet.
pub(crate) const WRITER_BYTES: u64 = 3 * GROUP_BYTES as u64 / 2;

/// Encoder of a format.
enum Encoder {
    Parquet(Box<ArrowWriter<File>>),
    ArrowFile(FileWriter<BufWriter<File>>),
    ArrowStream(StreamWriter<BufWriter<File>>),
    /// Schema and batches of a release in memory, and their place.
    Memory(SchemaRef, Vec<RecordBatch>, TableSlot),
}

impl Encoder {
    fn new(job: &Job<'_>, format: Format, schema: &SchemaRef) -> Result<Self, EngineError> {
        let path = job.pending.path();
        if job.pending.is_in_memory() {
            return Ok(Self::Memory(Arc::clone(schema), Vec::new(), job.pending.staged().clone()));
        }
        let file = job.pending.file().try_clone().map_err(EngineError::io(path, "write"))?;
        Ok(match format {
            Format::ArrowFile => {
                Self::ArrowFile(FileWriter::try_new_buffered(file, schema).map_err(EngineError::parquet(path))?)
            }
            Format::ArrowStream => {
                Self::ArrowStream(StreamWriter::try_new_buffered(file, schema).map_err(EngineError::parquet(path))?)
            }
            Format::Parquet | Format::Csv => Self::Parquet(Box::new(parquet_writer(job, file, schema)?)),
        })
    }

    fn write(&mut self, batch: &RecordBatch) -> Result<(), ParquetError> {
        match self {
            Self::Parquet(writer) => {
                writer.write(batch)?;
                if writer.in_progress_size() >= GROUP_BYTES {
                    writer.flush()?;
                }
            }
            Self::ArrowFile(writer) => writer.write(batch)?,
            Self::ArrowStream(writer) => writer.write(batch)?,
            Self::Memory(_, batches, _) => batches.push(batch.clone()),
        }
        Ok(())
    }

    fn finish(self) -> Result<(), ParquetError> {
        match self {
            Self::Parquet(writer) => drop(writer.close()?),
            Self::ArrowFile(mut writer) => {
                writer.finish()?;
                writer.flush()?;
            }
            Self::ArrowStream(mut writer) => {
                writer.finish()?;
                writer.flush()?;
            }
            Self::Memory(schema, batches, staged) => {
                let table = MemoryTable::new("the release", &schema, batches);
                staged.put(table.map_err(|error| ParquetError::External(Box::new(error)))?);
            }
        }
        Ok(())
    }
}

fn parquet_writer(job: &Job<'_>, file: File, schema: &SchemaRef) -> Result<ArrowWriter<File>, EngineError> {
    let path = job.pending.path();
    let level = ZstdLevel::try_new(1).map_err(EngineError::parquet(path))?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(level))
        .set_max_row_group_row_count(Some(GROUP_RECORDS))
        .set_created_by(concat!("moretta ", env!("CARGO_PKG_VERSION")).to_string())
        .build();
    ArrowWriter::try_new(file, Arc::clone(schema), Some(properties)).map_err(EngineError::parquet(path))
}

/// Regroups batches to one size and encodes them.
struct EncodingWriter {
    coalescer: BatchCoalescer,
    encoder: Encoder,
}

impl EncodingWriter {
    fn new(job: &Job<'_>, format: Format, schema: SchemaRef) -> Result<Self, EngineError> {
        let encoder = Encoder::new(job, format, &schema)?;
        let records = if format == Format::Parquet { BATCH_RECORDS } else { ARROW_BATCH_RECORDS };
        Ok(Self { coalescer: BatchCoalescer::new(schema, records), encoder })
    }

    fn push(&mut self, batch: RecordBatch) -> Result<(), ParquetError> {
        self.coalescer.push_batch(batch)?;
        self.encode()
    }

    fn encode(&mut self) -> Result<(), ParquetError> {
        while let Some(batch) = self.coalescer.next_completed_batch() {
            self.encoder.write(&batch)?;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<(), ParquetError> {
        self.coalescer.finish_buffered_batch()?;
        self.encode()?;
        self.encoder.finish()
    }
}

/// Builds the output batch of a piece.
struct BatchBuilder<'a> {
    job: &'a Job<'a>,
    /// Columns of the output.
    schema: SchemaRef,
    /// Labels of each rewritten column.
    labels: Vec<ArrayRef>,
}

impl<'a> BatchBuilder<'a> {
    fn new(job: &'a Job<'a>) -> Result<Self, EngineError> {
        for (column, name) in job.plan.columns.iter().zip(&job.plan.names) {
            let (OutColumn::Copy(column), Some(schema)) = (column, job.source.scan().schema()) else { continue };
            if let Some(part) = portable::unportable_part(schema.field(*column).data_type()) {
                let message = format!(
                    "column `{}` has {part} inside a nested type, which most readers take for numbers; convert it, or \
                     give the column the role `identifier`",
                    shown(name)
                );
                return Err(EngineError::Parquet { path: job.source.first_path(), message });
            }
        }
        let field = |(column, name): (&OutColumn, &String)| match (column, job.source.scan().schema()) {
            (OutColumn::Copy(column), Some(schema)) => {
                let field = schema.field(*column);
                let values = match field.data_type() {
                    DataType::Dictionary(_, values) => values,
                    other => other,
                };
                // Strings of a key column are read as dictionaries of `Utf8`, whatever their string type in the file.
                let encoded = job.plan.key.iter().any(|(key, _)| key == column) && values.is_string();
                let data_type = if encoded { DataType::Utf8 } else { portable::portable_type(values) };
                Field::new(name, data_type, field.is_nullable())
            }
            _ => Field::new(name, DataType::Utf8, false),
        };
        let fields: Vec<Field> = job.plan.columns.iter().zip(&job.plan.names).map(field).collect();
        let labels = job.plan.labels().map(|labels| Arc::new(StringArray::from_iter_values(labels)) as ArrayRef);
        let labels = labels.collect();
        Ok(BatchBuilder { job, schema: Arc::new(Schema::new(fields)), labels })
    }

    /// The numbers of a text column in the notation of the release.
    fn converted(&self, column: usize, array: ArrayRef) -> ArrayRef {
        let conversion = &self.job.conversion;
        match conversion.notations.get(column) {
            Some(Some(_)) if *array.data_type() == DataType::Utf8 => {
                let texts = array.as_string::<i32>().iter().map(|text| Some(conversion.number(column, text?)));
                Arc::new(texts.collect::<StringArray>())
            }
            _ => array,
        }
    }

    fn build(&self, piece: &DecidedPiece<'_>) -> Result<RecordBatch, EngineError> {
        let failed = || EngineError::parquet::<ArrowError>(self.job.pending.path());
        let columns = self.job.plan.columns.iter().map(|column| match *column {
            OutColumn::Copy(column) => {
                let name = &self.job.source.columns()[column];
                let array = self.converted(column, piece.records.array(column)?);
                portable::to_portable(&array).map_err(|error| EngineError::Parquet {
                    path: self.job.source.first_path(),
                    message: format!("column `{name}`: {error}"),
                })
            }
            OutColumn::Label(label) => {
                let label_of = |record| self.job.plan.label_index(piece.decisions, record, label) as u32;
                let indices = UInt32Array::from_iter_values((0..piece.records.len()).map(label_of));
                take(&self.labels[label], &indices, None).map_err(failed())
            }
        });
        RecordBatch::try_new(Arc::clone(&self.schema), columns.collect::<Result<_, _>>()?).map_err(failed())
    }
}

/// Writes all records as Parquet and returns their number.
pub(crate) fn write(job: &Job<'_>, observer: &dyn Observer) -> Result<u64, EngineError> {
    write_as(Format::Parquet, job, observer)
}

/// Writes all records as an Arrow file and returns their number.
pub(crate) fn write_arrow_file(job: &Job<'_>, observer: &dyn Observer) -> Result<u64, EngineError> {
    write_as(Format::ArrowFile, job, observer)
}

/// Writes all records as an Arrow stream and returns their number.
pub(crate) fn write_arrow_stream(job: &Job<'_>, observer: &dyn Observer) -> Result<u64, EngineError> {
    write_as(Format::ArrowStream, job, observer)
}

fn write_as(format: Format, job: &Job<'_>, observer: &dyn Observer) -> Result<u64, EngineError> {
    let batch_builder = BatchBuilder::new(job)?;
    let writer = Sequencer::new(EncodingWriter::new(job, format, Arc::clone(&batch_builder.schema))?);
    let path = job.pending.path();
    let states = vec![(); job.options.threads];
    let records = match job.order {
        RecordOrder::Input => {
            let (_, records) = for_each_piece(job, states, observer, &[&writer], |(), piece| {
                let batch = batch_builder.build(&piece)?;
                writer.in_order(piece.number, |writer| writer.push(batch).map_err(EngineError::parquet(path)))
            })?;
            records
        }
        RecordOrder::Shuffled => {
            let in_memory = job.pending.is_in_memory();
            let bucket_bytes = if in_memory { MEMORY_BUCKET_BYTES } else { job.options.bucket_bytes };
            let spill = job.spill(bucket_bytes.min(job.options.bucket_bytes));
            let first = PhaseObserver { observer, phase: 0 };
            let shuffle = ParquetShuffle::new(job, &batch_builder);
            let state = || (SortKeys::new(job.seed, job.sort_key_stream), spill.writer());
            let states = (0..job.options.threads).map(|_| state()).collect();
            let (_, records) = for_each_piece(job, states, &first, &[], |(keys, writer), piece| {
                let batch = batch_builder.build(&piece)?;
                let keys: Vec<u64> = keys.starting_at(piece.records_before).take(piece.records.len()).collect();
                shuffle.scatter(&batch, keys, piece.records_before, (&spill, writer))
            })?;
            shuffle.gather(&spill, &writer, &PhaseObserver { observer, phase: 1 })?;
            records
        }
    };
    writer.into_inner().finish().map_err(EngineError::parquet(path))?;
    Ok(records)
}

/// Sorts batches by random keys by way of buckets.
struct ParquetShuffle<'a> {
    job: &'a Job<'a>,
    /// Columns of the output, then sort key and record number.
    keyed_schema: SchemaRef,
    output_schema: SchemaRef,
}

impl<'a> ParquetShuffle<'a> {
    fn new(job: &'a Job<'a>, batch_builder: &BatchBuilder<'_>) -> Self {
        let mut fields: Vec<Arc<Field>> = batch_builder.schema.fields().iter().cloned().collect();
        fields.push(Arc::new(Field::new("", DataType::UInt64, false)));
        fields.push(Arc::new(Field::new("", DataType::UInt64, false)));
        Self { job, keyed_schema: Arc::new(Schema::new(fields)), output_schema: Arc::clone(&batch_builder.schema) }
    }

    /// Puts the records of a batch into their buckets; `first` is the number of the first one.
    fn scatter(
        &self,
        batch: &RecordBatch,
        keys: Vec<u64>,
        first: u64,
        (spill, writer): (&Spill, &mut SpillWriter<'_>),
    ) -> Result<(), EngineError> {
        let failed = EngineError::parquet::<ArrowError>(self.job.pending.path());
        let mut order: Vec<u32> = (0..keys.len() as u32).collect();
        order.sort_by_key(|&record| spill.bucket_of(keys[record as usize]));
        let buckets: Vec<usize> = order.iter().map(|&record| spill.bucket_of(keys[record as usize])).collect();
        let sorted = || {
            let mut columns = batch.columns().to_vec();
            let numbers = UInt64Array::from_iter_values(first..first + keys.len() as u64);
            columns.push(Arc::new(UInt64Array::from(keys)));
            columns.push(Arc::new(numbers));
            let all = RecordBatch::try_new(Arc::clone(&self.keyed_schema), columns)?;
            take_record_batch(&all, &UInt32Array::from(order))
        };
        let all = sorted().map_err(failed)?;
        let mut start = 0;
        for run in buckets.chunk_by(|a, b| a == b) {
            let encode = || {
                let mut stream = StreamWriter::try_new(Vec::new(), &self.keyed_schema)?;
                stream.write(&all.slice(start, run.len()))?;
                stream.into_inner()
            };
            let bytes = encode().map_err(EngineError::parquet(self.job.pending.path()))?;
            writer.put(run[0], &bytes)?;
            start += run.len();
        }
        Ok(())
    }

    /// Sorts the buckets and writes them in order.
    fn gather(
        &self,
        spill: &Spill,
        writer: &Sequencer<EncodingWriter>,
        observer: &dyn Observer,
    ) -> Result<(), EngineError> {
        let path = self.job.pending.path();
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
            writer.in_order(bucket, |writer| writer.push(sorted).map_err(EngineError::parquet(path)))?;
            observer.progress(bucket as u64 + 1, spill.num_buckets() as u64);
            Ok(())
        };
        let states = vec![(); self.job.options.threads.min(spill.num_buckets())];
        ordered_pool::run(states, observer, &[writer], ordered_pool::take_numbers_below(spill.num_buckets()), work)
            .map_err(|(_, error)| error)?;
        Ok(())
    }

    /// Sorts all records of a bucket and drops their keys and numbers.
    fn sort(&self, batches: Vec<RecordBatch>) -> Result<RecordBatch, ArrowError> {
        let all = concat_batches(&self.keyed_schema, &batches)?;
        drop(batches);
        let width = self.output_schema.fields().len();
        let keys = all.column(width).as_primitive::<UInt64Type>();
        let numbers = all.column(width + 1).as_primitive::<UInt64Type>();
        let mut order: Vec<u32> = (0..all.num_rows() as u32).collect();
        order.sort_unstable_by_key(|&record| (keys.value(record as usize), numbers.value(record as usize)));
        let indices = UInt32Array::from(order);
        let columns = all.columns()[..width].iter().map(|column| take(column, &indices, None));
        RecordBatch::try_new(Arc::clone(&self.output_schema), columns.collect::<Result<_, _>>()?)
    }
}
