//! Interface of an input format: hands out the records in pieces, in input order, to several threads.
//!
//! Guarantee: every pass over a [`Scan`] reads every record once, in the same pieces for the same [`ScanRequest`]. If
//! several records are malformed, the first one in the input is reported with its number, whatever the number of
//! threads.
//!
//! How: [`Scan::open_readers`] makes one [`PieceReader`] per thread. [`PieceReader::take`] is short and takes the next
//! piece; [`PieceReader::read`] does the expensive part in parallel and passes the piece on in batches of
//! [`InputRecords`]. [`scan`] runs one step of a pass on all batches.
//!
//! A record is identified by its *position* (piece number, index in the piece) while threads run, because the number of
//! records in earlier pieces is not known yet. [`RecordNumbers`] converts positions to record numbers afterwards:
//!
//! ```text
//! piece               0             1             2
//! records             3             2             4
//! records before      0             3             5             9 in total
//!                     position (1, 1) is record 3 + 1 + 1 = 5, counted from 1
//! ```
//!
//! Cost: dynamic dispatch per batch of records (a quarter of a megabyte), never per cell.

use std::{
    fmt::Debug,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use arrow_schema::SchemaRef;
use moretta_core::observer::Observer;

use crate::{
    csv::CsvOptions,
    error::EngineError,
    local::EngineOptions,
    ordered_pool::{self, FailureListener, lock},
    records::InputRecords,
};

/// One or more files of one format, to be read as one table. Can be read more than once.
pub(crate) trait Scan: Debug + Send + Sync {
    /// Names of the columns, in file order.
    fn columns(&self) -> &[String];

    /// Types of the columns; `None` if all are text without nulls.
    fn schema(&self) -> Option<&SchemaRef> {
        None
    }

    /// Dialect of the files if they are CSV, which a CSV release keeps; `None` otherwise.
    fn csv_options(&self) -> Option<CsvOptions> {
        None
    }

    /// Numbers (from 1) of the columns that had the name of an earlier one and were numbered.
    fn renamed(&self) -> &[usize] {
        &[]
    }

    /// Whether the files are most likely UTF-8, although another encoding is declared.
    fn looks_like_utf8(&self) -> bool {
        false
    }

    /// Sum of the sizes that readers report for all batches, in bytes or records as the format chooses. May be estimated.
    fn size(&self) -> u64;

    /// Estimated bytes of the records as text if `columns` columns are written.
    fn text_bytes(&self, columns: usize) -> u64;

    /// Makes one reader per thread of the options. Text in encoded columns is read as text or as dictionary arrays with
    /// `Int32` keys and `Utf8` values.
    fn open_readers<'a>(&'a self, request: &ScanRequest<'_>) -> Result<Vec<Box<dyn PieceReader + 'a>>, EngineError>;
}

/// Reads pieces of a scan for one thread. Each piece goes to one of the readers of a [`Scan::open_readers`].
pub(crate) trait PieceReader: Send {
    /// Takes the next piece and returns its number, from 0 without gaps in input order; `None` after the last piece.
    fn take(&mut self) -> Result<Option<usize>, ordered_pool::PieceFailure<EngineError>>;

    /// Reads the piece taken last and calls `on_batch` with its records and their size, batch by batch. The record
    /// number in the error of a malformed record is relative to the piece.
    fn read(&mut self, on_batch: &mut OnBatch<'_>) -> Result<(), EngineError>;

    /// Number of the first piece of the file that the piece taken last belongs to.
    fn first_of_file(&self) -> usize {
        0
    }
}

/// Callback for one batch: its records and their size, in the unit of [`Scan::size`].
pub(crate) type OnBatch<'a> = dyn FnMut(InputRecords<'_>, u64) -> Result<(), EngineError> + 'a;

/// Columns that a pass reads, and how.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScanRequest<'a> {
    /// Columns that are dictionary-encoded. Their types have a text form.
    pub(crate) encoded: &'a [usize],
    /// Columns that are copied to the output.
    pub(crate) copied: &'a [usize],
    pub(crate) mode: PieceMode,
    pub(crate) options: &'a EngineOptions,
}

/// Division of the input into pieces and batches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PieceMode {
    /// The format decides; a piece may have several batches.
    Any,
    /// Each piece is one batch.
    Whole,
    /// Only the pieces that hold the first `n` records, each as one batch, for one thread. Malformed records after the
    /// first `n` are ignored.
    First(usize),
}

/// Batch of records of a piece.
pub(crate) struct PieceBatch<'a> {
    /// Number of the piece.
    pub(crate) number: usize,
    /// Number of records of the piece before this batch.
    pub(crate) start: usize,
    pub(crate) records: InputRecords<'a>,
    /// Fraction of the input that is read including this batch, in 0..=1.
    pub(crate) done: f64,
}

impl PieceBatch<'_> {
    /// Position of the first record: piece number in the high 32 bits, index in the piece in the low 32 bits.
    pub(crate) fn position(&self) -> u64 {
        (self.number as u64) << 32 | self.start as u64
    }
}

/// Number of records of each piece, to convert positions to record numbers.
#[derive(Debug)]
pub(crate) struct RecordNumbers {
    /// Number of records before each piece; the last element is the total.
    records_before: Vec<u64>,
}

impl RecordNumbers {
    /// Total number of records.
    pub(crate) fn records(&self) -> u64 {
        self.records_before.last().copied().unwrap_or(0)
    }

    /// Number (from 1) of the record at a position (see [`PieceBatch::position`]).
    pub(crate) fn number(&self, position: u64) -> u64 {
        self.records_before[(position >> 32) as usize] + u64::from(position as u32) + 1
    }
}

/// Pieces read so far.
#[derive(Debug, Default)]
struct PieceLog {
    /// For each piece, the number of the first piece of its file and the number of its records.
    pieces: Mutex<Vec<(usize, u64)>>,
}

impl PieceLog {
    fn add(&self, number: usize, first_of_file: usize, records: usize) {
        let mut pieces = lock(&self.pieces);
        if pieces.len() <= number {
            pieces.resize(number + 1, (0, 0));
        }
        pieces[number] = (first_of_file, records as u64);
    }

    fn records(&self) -> u64 {
        lock(&self.pieces).iter().map(|(_, records)| records).sum()
    }

    fn record_numbers(&self) -> RecordNumbers {
        let mut records_before = vec![0];
        for (number, (_, records)) in lock(&self.pieces).iter().enumerate() {
            records_before.push(records_before[number] + records);
        }
        RecordNumbers { records_before }
    }

    /// Changes the record number of an error of piece `number` from relative to the piece to relative to the file. All
    /// pieces before this one have been read, so their records are known.
    fn number_in_file(&self, number: usize, mut error: EngineError) -> EngineError {
        let first_of_file = lock(&self.pieces).get(number).map(|(first_of_file, _)| *first_of_file);
        if let (EngineError::Record { record, .. }, Some(first_of_file)) = (&mut error, first_of_file) {
            let records_before = self.record_numbers().records_before;
            *record += records_before[number] - records_before[first_of_file];
        }
        error
    }
}

/// Runs `step` on all batches, with one state per thread, and returns the states in order.
pub(crate) fn scan<S: Send>(
    source: &dyn Scan,
    request: &ScanRequest<'_>,
    states: Vec<S>,
    observer: &dyn Observer,
    sequencers: &[&dyn FailureListener],
    step: impl Fn(&mut S, PieceBatch<'_>) -> Result<(), EngineError> + Sync,
) -> Result<(Vec<S>, RecordNumbers), EngineError> {
    let total = source.size().max(1);
    let done = AtomicU64::new(0);
    let log = PieceLog::default();
    let sample_complete = || matches!(request.mode, PieceMode::First(records) if records as u64 <= log.records());
    let workers: Vec<_> = source.open_readers(request)?.into_iter().zip(states).collect();
    let take = |(reader, _): &mut (Box<dyn PieceReader + '_>, S)| {
        if sample_complete() { Ok(None) } else { reader.take() }
    };
    let work = |(reader, state): &mut (Box<dyn PieceReader + '_>, S), number: usize| {
        let mut start = 0;
        let result = reader.read(&mut |records, size| {
            if observer.stop().is_some() {
                return Err(EngineError::Cancelled);
            }
            // The total may be estimated.
            let done = (done.fetch_add(size, Ordering::Relaxed) + size).min(total);
            step(state, PieceBatch { number, start, records, done: done as f64 / total as f64 })?;
            start += records.len();
            observer.progress(done, total);
            Ok(())
        });
        log.add(number, reader.first_of_file(), start);
        result
    };
    let workers = ordered_pool::run(workers, observer, sequencers, take, work)
        .map_err(|(number, error)| log.number_in_file(number, error))?;
    Ok((workers.into_iter().map(|(_, state)| state).collect(), log.record_numbers()))
}
