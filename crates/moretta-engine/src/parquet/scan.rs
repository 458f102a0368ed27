//! Parquet files as a [`Scan`]: pieces are ranges of records of one row group.
//!
//! Guarantee: types and nulls of columns that are copied stay; strings that are coded come as dictionaries, so that a
//! value is looked at once for each batch and not once for each record. Cost: decoding of the columns that are asked for.

use super::open::{ParquetFile, Projected, Unit, same_columns, units};
use crate::csv::CsvOptions;
use crate::error::EngineError;
use crate::ordered_pool::PieceFailure;
use crate::records::InputRecords;
use crate::scan::{OnBatch, PieceMode, PieceReader, Scan, ScanRequest};
use crate::source::InputFile;
use arrow_schema::SchemaRef;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Records of a batch of a piece that need not come whole.
const BATCH: usize = 16 << 10;
/// Such a piece has at least this many records if its row group has.
const LEAST: usize = 1 << 16;

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
        let records = units(&files, usize::MAX).iter().map(|unit| unit.rows as u64).sum();
        Ok(Box::new(ParquetScan { columns: same_columns(&files)?, files, records }))
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
        let most = match request.mode {
            // Few large row groups are divided, so that all threads have something to do.
            PieceMode::Any => (self.records as usize).div_ceil(options.threads).max(LEAST),
            PieceMode::Whole => options.unit_records,
            PieceMode::First(records) => records,
        };
        let mut read = [request.copied, request.encoded].concat();
        read.sort_unstable();
        read.dedup();
        let project = |file: &ParquetFile| file.project(&read, request.encoded);
        let opened = Arc::new(Opened {
            files: &self.files,
            units: units(&self.files, most),
            projected: self.files.iter().map(project).collect::<Result<_, _>>()?,
            // Columns come in file order whatever order they are asked for.
            places: (0..self.columns.len()).map(|column| read.partition_point(|other| *other < column)).collect(),
            whole: request.mode != PieceMode::Any,
            next: AtomicUsize::new(0),
        });
        let reader = |_| Box::new(UnitReader { opened: Arc::clone(&opened), unit: 0 }) as Box<dyn PieceReader>;
        Ok((0..options.threads).map(reader).collect())
    }
}

/// State shared by all readers.
struct Opened<'a> {
    files: &'a [ParquetFile],
    units: Vec<Unit>,
    projected: Vec<Projected>,
    /// Where each column of the source is in a batch.
    places: Vec<usize>,
    whole: bool,
    next: AtomicUsize,
}

struct UnitReader<'a> {
    opened: Arc<Opened<'a>>,
    unit: usize,
}

impl PieceReader for UnitReader<'_> {
    fn take(&mut self) -> Result<Option<usize>, PieceFailure<EngineError>> {
        self.unit = self.opened.next.fetch_add(1, Ordering::Relaxed);
        Ok(Some(self.unit).filter(|&unit| unit < self.opened.units.len()))
    }

    fn read(&mut self, on_batch: &mut OnBatch<'_>) -> Result<(), EngineError> {
        let Opened { files, units, projected, places, whole, .. } = &*self.opened;
        let unit = units[self.unit];
        let (file, projected) = (&files[unit.file], &projected[unit.file]);
        let mut pass_on = |batch| {
            let records = InputRecords::Arrow { batch: &batch, places, path: &file.path };
            on_batch(records, records.len() as u64)
        };
        if *whole {
            return pass_on(file.read_whole(projected, unit)?);
        }
        for batch in file.read(projected, unit, BATCH)? {
            pass_on(batch.map_err(EngineError::parquet(&file.path))?)?;
        }
        Ok(())
    }
}
