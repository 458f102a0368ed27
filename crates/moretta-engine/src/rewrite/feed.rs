//! The source's pieces, decided, on several threads.
//!
//! Guarantee: `step` sees every record once, with what was decided about it and how many records came before its piece;
//! what is decided does not depend on which thread decides. Only numbering equal records happens in order.

use super::Job;
use super::plan::{Decisions, Plan};
use crate::crew::{self, Fails, Turn};
use crate::csv::content;
use crate::csv::parse::Fields;
use crate::csv::scan::{Piece, scan};
use crate::error::EngineError;
use crate::parquet::code::{ColumnCoder, Slot};
use crate::parquet::group::{check_types, places};
use crate::parquet::open::{ParquetFile, units};
use crate::source::Data;
use arrow_array::RecordBatch;
use moretta_core::observer::Observer;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// The records of a piece.
#[derive(Clone, Copy)]
pub(crate) enum Records<'a> {
    /// A parsed block.
    Csv { bytes: &'a [u8], fields: &'a Fields },
    /// A batch, and where the source's columns are in it.
    Parquet { batch: &'a RecordBatch, places: &'a [usize] },
}

/// A piece about which everything is decided.
pub(crate) struct Decided<'a> {
    pub(crate) number: usize,
    /// Records before the piece.
    pub(crate) base: u64,
    pub(crate) count: usize,
    pub(crate) records: Records<'a>,
    pub(crate) decisions: &'a Decisions,
}

struct Worker<S> {
    decisions: Decisions,
    scratch: Vec<u8>,
    coders: Vec<ColumnCoder>,
    inner: S,
}

/// Runs all pieces through the plan and `step`; the states come back, with the number of records.
pub(crate) fn feed<S: Send>(
    job: &Job<'_>,
    states: Vec<S>,
    observer: &dyn Observer,
    turns: &[&dyn Fails],
    step: impl Fn(&mut S, Decided<'_>) -> Result<(), EngineError> + Sync,
) -> Result<(Vec<S>, u64), EngineError> {
    let turn = Turn::new(0u64);
    let turns: Vec<&dyn Fails> = turns.iter().copied().chain([&turn as &dyn Fails]).collect();
    let workers: Vec<Worker<S>> = states
        .into_iter()
        .map(|inner| Worker {
            decisions: Decisions::default(),
            scratch: Vec::new(),
            coders: job.plan.key.iter().map(|_| ColumnCoder::default()).collect(),
            inner,
        })
        .collect();
    let workers = match &job.source.data {
        Data::Csv { files, dialect } => {
            let input = job.source.csv_input(files, *dialect, job.settings.block_size);
            let (workers, _) = scan(&input, workers, observer, &turns, |worker: &mut Worker<S>, piece: Piece<'_>| {
                let (bytes, fields) = (piece.block.bytes(), piece.fields);
                let count = fields.records();
                code_csv(&job.plan, worker, bytes, fields, dialect.quote)?;
                let base = decide(&job.plan, &mut worker.decisions, piece.number, count, &turn)?;
                let records = Records::Csv { bytes, fields };
                let decisions = &worker.decisions;
                step(&mut worker.inner, Decided { number: piece.number, base, count, records, decisions })
            })?;
            workers
        }
        Data::Parquet(files) => feed_parquet(job, files, workers, observer, &turns, &turn, step)?,
    };
    let records = turn.into_inner();
    if records == 0 {
        return Err(EngineError::changed("there are no records any more"));
    }
    Ok((workers.into_iter().map(|worker| worker.inner).collect(), records))
}

/// Looks up, takes the turn, draws; how many records came before.
fn decide(
    plan: &Plan,
    decisions: &mut Decisions,
    number: usize,
    count: usize,
    turn: &Turn<u64>,
) -> Result<u64, EngineError> {
    plan.look_up(decisions, count)?;
    let base = turn.take(number, |records| {
        plan.ordinals(decisions);
        *records += count as u64;
        Ok(*records - count as u64)
    })?;
    plan.draw(decisions)?;
    Ok(base)
}

fn code_csv<S>(
    plan: &Plan,
    worker: &mut Worker<S>,
    bytes: &[u8],
    fields: &Fields,
    quote: u8,
) -> Result<(), EngineError> {
    let (width, count) = (plan.key.len(), fields.records());
    let codes = plan.prepare(&mut worker.decisions, count);
    for (at, (column, dictionary)) in plan.key.iter().enumerate() {
        for record in 0..count {
            let cell = content(fields.raw(bytes, record, *column), quote, &mut worker.scratch);
            codes[record * width + at] = dictionary.find(cell).ok_or_else(new_value)?;
        }
    }
    Ok(())
}

fn new_value() -> EngineError {
    EngineError::changed("a value is new")
}

fn feed_parquet<S: Send>(
    job: &Job<'_>,
    files: &[ParquetFile],
    workers: Vec<Worker<S>>,
    observer: &dyn Observer,
    turns: &[&dyn Fails],
    turn: &Turn<u64>,
    step: impl Fn(&mut S, Decided<'_>) -> Result<(), EngineError> + Sync,
) -> Result<Vec<Worker<S>>, EngineError> {
    use super::plan::OutColumn;
    let plan = &job.plan;
    let coded: Vec<usize> = plan.key.iter().map(|(column, _)| *column).collect();
    check_types(&files[0], &coded)?;
    let copied = plan.columns.iter().filter_map(|column| match column {
        OutColumn::Copy(column) => Some(*column),
        OutColumn::Label(_) => None,
    });
    let read: Vec<usize> = copied.chain(coded.iter().copied()).collect();
    let all: Vec<usize> = (0..job.source.columns.len()).collect();
    let places = places(&all, &read);
    let projected = files.iter().map(|file| file.project(&read, &coded)).collect::<Result<Vec<_>, _>>()?;
    let units = units(files, job.settings.unit_records);
    let total: u64 = units.iter().map(|unit| unit.rows as u64).sum();
    let (next, done) = (AtomicUsize::new(0), AtomicU64::new(0));
    let take = |_: &mut Worker<S>| {
        let number = next.fetch_add(1, Ordering::Relaxed);
        Ok((number < units.len()).then_some(number))
    };
    let work = |worker: &mut Worker<S>, number: usize| {
        let unit = units[number];
        let file = &files[unit.file];
        let batch = file.read_whole(&projected[unit.file], unit)?;
        let count = batch.num_rows();
        let codes = plan.prepare(&mut worker.decisions, count);
        for (at, (column, dictionary)) in plan.key.iter().enumerate() {
            let slot = Slot { codes, stride: plan.key.len(), at };
            let known = worker.coders[at]
                .code(batch.column(places[*column]), slot, &mut |text| dictionary.find(text))
                .map_err(EngineError::parquet(&file.path))?;
            if !known {
                return Err(new_value());
            }
        }
        let base = decide(plan, &mut worker.decisions, number, count, turn)?;
        let records = Records::Parquet { batch: &batch, places: &places };
        step(&mut worker.inner, Decided { number, base, count, records, decisions: &worker.decisions })?;
        observer.progress(done.fetch_add(count as u64, Ordering::Relaxed) + count as u64, total);
        Ok(())
    };
    crew::run(workers, observer, turns, take, work).map_err(|(_, error)| error)
}
