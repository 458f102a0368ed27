//! The contract of an input format: pieces of records, handed out in input order to several threads.
//!
//! Guarantee: every pass over a [`Scan`] sees every record once, in the same pieces for the same [`ScanRequest`]. Of several
//! malformed records the earliest is reported, with its number, whatever the number of threads.
//!
//! Structure: [`Scan::open_readers`] makes one [`PieceReader`] for each thread. [`PieceReader::take`] is short and hands out the next piece;
//! [`PieceReader::read`] does the expensive part in parallel and passes the piece on as [`InputRecords`]. [`scan`] runs a step of a
//! pass over all pieces. Cost: dynamic dispatch happens for each batch of records (about a megabyte), never for each cell.

use std::{
    fmt::Debug,
    sync::{
        Mutex, PoisonError,
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

/// A table that can be read more than once.
pub(crate) trait Scan: Debug + Send + Sync {
    /// The names of the columns.
    fn columns(&self) -> &[String];

    /// The types of the columns; `None` if all of them are text without nulls.
    fn schema(&self) -> Option<&SchemaRef> {
        None
    }

    /// How the records are written as CSV; `None` leaves it to the target.
    fn csv_options(&self) -> Option<CsvOptions> {
        None
    }

    /// Sum of the sizes that readers report for all batches, in a unit of the format's choice.
    fn size(&self) -> u64;

    /// Estimate of the bytes that `columns` of the columns take as text.
    fn text_bytes(&self, columns: usize) -> u64;

    /// Makes the readers, one for each thread of the options. Text in coded columns comes as text or as dictionaries
    /// with keys of 32 bits and values of type `Utf8`.
    fn open_readers<'a>(&'a self, request: &ScanRequest<'_>) -> Result<Vec<Box<dyn PieceReader + 'a>>, EngineError>;
}

/// One thread's way to the pieces of a scan; the readers of one [`Scan::open_readers`] share them out.
pub(crate) trait PieceReader: Send {
    /// Takes the next piece and returns its number, counted from 0 without gaps in input order; `None` after the last.
    fn take(&mut self) -> Result<Option<usize>, ordered_pool::PieceFailure<EngineError>>;

    /// Reads the piece taken last and calls `on_batch` with its records and their size, batch by batch. The error of a
    /// malformed record counts records from the beginning of the piece.
    fn read(&mut self, on_batch: &mut OnBatch<'_>) -> Result<(), EngineError>;

    /// The number of the first piece of the file that the piece taken last is from.
    fn first_of_file(&self) -> usize {
        0
    }
}

/// Handles one batch of records.
pub(crate) type OnBatch<'a> = dyn FnMut(InputRecords<'_>, u64) -> Result<(), EngineError> + 'a;

/// The columns that a pass reads, and how.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScanRequest<'a> {
    /// Columns whose values become codes: every value has a text.
    pub(crate) encoded: &'a [usize],
    /// Columns that are copied.
    pub(crate) copied: &'a [usize],
    pub(crate) mode: PieceMode,
    pub(crate) options: &'a EngineOptions,
}

/// How records are divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PieceMode {
    /// As suits the format; a piece may come in several batches.
    Any,
    /// Each piece comes as one batch.
    Whole,
    /// Only those with this many first records, each as one batch, for one thread; a fault behind them is none.
    First(usize),
}

/// Some records on their way through a pass.
pub(crate) struct PieceBatch<'a> {
    /// The number of its piece.
    pub(crate) number: usize,
    /// Records of the piece before the batch.
    pub(crate) start: usize,
    pub(crate) records: InputRecords<'a>,
    /// The share of the input that is done with this batch, in 0..=1.
    pub(crate) done: f64,
}

impl PieceBatch<'_> {
    /// The position of the first record, to be made a number by [`RecordNumbers`].
    pub(crate) fn position(&self) -> u64 {
        (self.number as u64) << 32 | self.start as u64
    }
}

/// The pieces that were read, which turn positions into record numbers.
#[derive(Debug)]
pub(crate) struct RecordNumbers {
    /// Records before each piece, and at the end all of them.
    records_before: Vec<u64>,
}

impl RecordNumbers {
    /// All records.
    pub(crate) fn records(&self) -> u64 {
        self.records_before.last().copied().unwrap_or(0)
    }

    /// The number (from 1) of the record at a position: piece in the high half, record in the low.
    pub(crate) fn number(&self, position: u64) -> u64 {
        self.records_before[(position >> 32) as usize] + u64::from(position as u32) + 1
    }
}

/// Runs `step` over all batches, with one state for each thread; the states come back in order.
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
    // The first piece of its file and the records of each piece.
    let pieces: Mutex<Vec<(usize, u64)>> = Mutex::new(Vec::new());
    let records_read = || lock(&pieces).iter().map(|(_, records)| *records as usize).sum::<usize>();
    let sample_complete = || matches!(request.mode, PieceMode::First(records) if records <= records_read());
    let workers: Vec<_> = source.open_readers(request)?.into_iter().zip(states).collect();
    let take =
        |(reader, _): &mut (Box<dyn PieceReader + '_>, S)| if sample_complete() { Ok(None) } else { reader.take() };
    let work = |(reader, state): &mut (Box<dyn PieceReader + '_>, S), number: usize| {
        let mut start = 0;
        let result = reader.read(&mut |records, size| {
            if observer.stop().is_some() {
                return Err(EngineError::Cancelled);
            }
            let done = done.fetch_add(size, Ordering::Relaxed) + size;
            step(state, PieceBatch { number, start, records, done: done as f64 / total as f64 })?;
            start += records.len();
            observer.progress(done, total);
            Ok(())
        });
        let mut pieces = lock(&pieces);
        if pieces.len() <= number {
            pieces.resize(number + 1, (0, 0));
        }
        pieces[number] = (reader.first_of_file(), start as u64);
        result
    };
    let result = ordered_pool::run(workers, observer, sequencers, take, work);
    let pieces = pieces.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut records_before = vec![0; pieces.len() + 1];
    for (number, (_, records)) in pieces.iter().enumerate() {
        records_before[number + 1] = records_before[number] + records;
    }
    match result {
        Ok(workers) => Ok((workers.into_iter().map(|(_, state)| state).collect(), RecordNumbers { records_before })),
        Err((number, mut error)) => {
            // All pieces before this one have been read, so the records before it are known by now.
            if let (EngineError::Record { record, .. }, Some((first_of_file, _))) = (&mut error, pieces.get(number)) {
                *record += records_before[number] - records_before[*first_of_file];
            }
            Err(error)
        }
    }
}
