//! Parquet files as a [`Scan`]: pieces are ranges of records of one row group.
//!
//! Guarantee: types and nulls of columns that are copied stay; strings that are coded come as dictionaries, so that a
//! value is looked at once for each batch and not once for each record. Cost: decoding of the columns that are asked for.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use arrow_schema::SchemaRef;

use super::file::{ParquetFile, Projection, RecordRange, record_ranges, same_columns};
use crate::{
    csv::CsvOptions,
    error::EngineError,
    ordered_pool::PieceFailure,
    records::InputRecords,
    scan::{OnBatch, PieceMode, PieceReader, Scan, ScanRequest},
    source::InputFile,
};

/// Records of a batch of a piece that need not come whole.
const BATCH_RECORDS: usize = 16 << 10;
/// Such a piece has at least this many records if its row group has.
const MIN_PIECE_RECORDS: usize = 1 << 16;

/// Parquet files with the same columns.
#[derive(Debug)]
pub(crate) struct ParquetScan {
    columns: Vec<String>,
    files: Vec<ParquetFile>,
    records: u64,
}

impl ParquetScan {
    /// Reads the footers.
    pub(crate) fn open(files: &[InputFile], _: &CsvOptions) -> Result<Box<dyn Scan>, EngineError> {
        let files = files.iter().map(|file| ParquetFile::open(&file.path)).collect::<Result<Vec<_>, _>>()?;
        let records = record_ranges(&files, usize::MAX).iter().map(|range| range.rows as u64).sum();
        Ok(Box::new(Self { columns: same_columns(&files)?, files, records }))
    }
}

impl Scan for ParquetScan {
    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn schema(&self) -> Option<&SchemaRef> {
        Some(self.files[0].schema())
    }

    fn size(&self) -> u64 {
        self.records
    }

    fn text_bytes(&self, columns: usize) -> u64 {
        // Dictionaries make Parquet smaller than the text it stands for.
        let plain: u64 = self.files.iter().map(ParquetFile::plain_bytes).sum();
        plain.max(self.records.saturating_mul(12 * columns as u64))
    }

    fn open_readers<'a>(&'a self, request: &ScanRequest<'_>) -> Result<Vec<Box<dyn PieceReader + 'a>>, EngineError> {
        let options = request.options;
        let max_records = match request.mode {
            // Few large row groups are divided, so that all threads have something to do.
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
            ranges: record_ranges(&self.files, max_records),
            projections: self.files.iter().map(project).collect::<Result<_, _>>()?,
            // Columns come in file order whatever order they are asked for.
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

/// State shared by all readers.
struct SharedScan<'a> {
    files: &'a [ParquetFile],
    ranges: Vec<RecordRange>,
    projections: Vec<Projection>,
    /// Where each column of the source is in a batch.
    batch_columns: Vec<usize>,
    whole: bool,
    next: AtomicUsize,
}

struct RangeReader<'a> {
    shared: Arc<SharedScan<'a>>,
    range: usize,
}

impl PieceReader for RangeReader<'_> {
    fn take(&mut self) -> Result<Option<usize>, PieceFailure<EngineError>> {
        self.range = self.shared.next.fetch_add(1, Ordering::Relaxed);
        Ok(Some(self.range).filter(|&range| range < self.shared.ranges.len()))
    }

    fn read(&mut self, on_batch: &mut OnBatch<'_>) -> Result<(), EngineError> {
        let SharedScan { files, ranges, projections, batch_columns, whole, .. } = &*self.shared;
        let range = ranges[self.range];
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
            pass_on(batch.map_err(EngineError::parquet(&file.path))?)?;
        }
        Ok(())
    }
}
