//! Parquet files as a [`Scan`]: pieces are ranges of records of one row group.
//!
//! Guarantee: copied columns keep their types and nulls. Encoded strings are read as dictionary arrays, so that each
//! distinct value is looked up once per dictionary and not once per record. Cost: decoding of the requested columns.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use arrow_schema::SchemaRef;

use super::{
    file::{ParquetFile, Projection, same_columns},
    ranges::RecordRanges,
};
use crate::{
    bytes::file::InputFile,
    csv::CsvOptions,
    error::EngineError,
    ordered_pool::PieceFailure,
    records::InputRecords,
    scan::{OnBatch, PieceMode, PieceReader, Scan, ScanRequest},
};

/// Records per batch of a piece that may have several batches. Not tuned.
const BATCH_RECORDS: usize = 16 << 10;
/// Minimum records of such a piece, unless its row group has fewer: opening a piece has a cost. Not tuned.
const MIN_PIECE_RECORDS: usize = 1 << 16;

/// Parquet files with the same columns.
#[derive(Debug)]
pub(crate) struct ParquetScan {
    columns: Vec<String>,
    files: Vec<ParquetFile>,
    records: u64,
}

impl ParquetScan {
    /// Reads the footers of all files, whose columns must be equal.
    pub(crate) fn open(files: &[InputFile], options: &CsvOptions) -> Result<Box<dyn Scan>, EngineError> {
        let open = |file: &InputFile| ParquetFile::open(file, options.release);
        let files = files.iter().map(open).collect::<Result<Vec<_>, _>>()?;
        let rows = files.iter().flat_map(ParquetFile::row_groups).map(|(records, _)| records as u64);
        let records = rows.fold(0, u64::saturating_add);
        let schemas: Vec<_> = files.iter().map(|file| (&*file.path, &*file.schema)).collect();
        Ok(Box::new(Self { columns: same_columns(&schemas)?, files, records }))
    }
}

impl Scan for ParquetScan {
    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn schema(&self) -> Option<&SchemaRef> {
        Some(&self.files[0].schema)
    }

    fn size(&self) -> u64 {
        self.records
    }

    fn text_bytes(&self, columns: usize) -> u64 {
        // Dictionaries make Parquet smaller than the same table as text: assume at least 12 bytes per cell.
        let plain = self.files.iter().flat_map(ParquetFile::row_groups).map(|(_, bytes)| bytes);
        let plain = plain.fold(0, u64::saturating_add);
        plain.max(self.records.saturating_mul(12 * columns as u64))
    }

    fn open_readers<'a>(&'a self, request: &ScanRequest<'_>) -> Result<Vec<Box<dyn PieceReader + 'a>>, EngineError> {
        let options = request.options;
        let max_records = match request.mode {
            // Large row groups are divided, so that every thread gets a part even if there are few.
            PieceMode::Any => (self.records as usize).div_ceil(options.threads).max(MIN_PIECE_RECORDS),
            PieceMode::Whole => options.piece_records,
            PieceMode::First(records) => records,
        };
        let mut read = [request.copied, request.encoded].concat();
        read.sort_unstable();
        read.dedup();
        let project = |file: &ParquetFile| file.project(&read, request.encoded);
        let shared = Arc::new(SharedScan {
            files: &self.files,
            ranges: RecordRanges::new(&self.files, max_records),
            projections: self.files.iter().map(project).collect::<Result<_, _>>()?,
            // The columns of a batch are in file order, whatever the order of the request.
            batch_columns: (0..self.columns.len())
                .map(|column| read.partition_point(|other| *other < column))
                .collect(),
            whole: request.mode != PieceMode::Any,
            next: AtomicUsize::new(0),
        });
        let reader = |_| Box::new(RangeReader { shared: Arc::clone(&shared), range: 0 }) as Box<dyn PieceReader>;
        Ok((0..options.threads).map(reader).collect())
    }
}

/// State shared by the readers of all threads.
struct SharedScan<'a> {
    files: &'a [ParquetFile],
    ranges: RecordRanges,
    projections: Vec<Projection>,
    /// Index in a batch of each column of the source.
    batch_columns: Vec<usize>,
    /// Whether each piece is read as one batch.
    whole: bool,
    /// Index of the next range to hand out.
    next: AtomicUsize,
}

/// Reader of one thread.
struct RangeReader<'a> {
    shared: Arc<SharedScan<'a>>,
    range: usize,
}

impl PieceReader for RangeReader<'_> {
    fn take(&mut self) -> Result<Option<usize>, PieceFailure<EngineError>> {
        self.range = self.shared.next.fetch_add(1, Ordering::Relaxed);
        Ok(self.shared.ranges.get(self.range).map(|_| self.range))
    }

    fn read(&mut self, on_batch: &mut OnBatch<'_>) -> Result<(), EngineError> {
        let SharedScan { files, ranges, projections, batch_columns, whole, .. } = &*self.shared;
        let Some(range) = ranges.get(self.range) else { return Ok(()) };
        let file = &files[range.file];
        let projection = &projections[range.file];
        let mut pass_on = |batch| {
            let records = InputRecords::Arrow { batch: &batch, batch_columns, path: &file.path };
            on_batch(records, records.len() as u64)
        };
        if *whole {
            return pass_on(file.read_whole(projection, range)?);
        }
        for batch in file.read(projection, range, BATCH_RECORDS)? {
            pass_on(batch?)?;
        }
        Ok(())
    }
}
