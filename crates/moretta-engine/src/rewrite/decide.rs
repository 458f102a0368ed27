//! Runs the pieces of the source through the [`Plan`](super::plan::Plan) on several threads.
//!
//! Guarantee: `step` gets every record once, with its decisions and the number of records before its piece. Decisions
//! do not depend on the threads; only the numbering of records of split rows happens in input order.

use moretta_core::observer::Observer;

use super::{Job, plan::Decisions};
use crate::{
    arrow::encode::ColumnEncoder,
    error::EngineError,
    ordered_pool::{FailureListener, Sequencer},
    records::InputRecords,
    scan::{PieceBatch, PieceMode, ScanRequest, scan},
};

/// Piece of the source with the labels of its records decided.
pub(crate) struct DecidedPiece<'a> {
    pub(crate) number: usize,
    /// Number of records of the source before this piece.
    pub(crate) records_before: u64,
    pub(crate) records: InputRecords<'a>,
    pub(crate) decisions: &'a Decisions,
}

/// State of one thread.
struct Worker<S> {
    decisions: Decisions,
    encoders: Vec<ColumnEncoder>,
    inner: S,
}

/// Decides all pieces and calls `step` on each, with one state per thread. Returns the states and the number of
/// records.
pub(crate) fn for_each_piece<S: Send>(
    job: &Job<'_>,
    states: Vec<S>,
    observer: &dyn Observer,
    sequencers: &[&dyn FailureListener],
    step: impl Fn(&mut S, DecidedPiece<'_>) -> Result<(), EngineError> + Sync,
) -> Result<(Vec<S>, u64), EngineError> {
    let plan = &job.plan;
    let width = plan.key.len();
    let encoded: Vec<usize> = plan.key.iter().map(|(column, _)| *column).collect();
    job.source.check_has_text(&encoded)?;
    let request = ScanRequest { encoded: &encoded, copied: &job.copied, mode: PieceMode::Whole, options: job.options };
    let record_count = Sequencer::new(0);
    let sequencers: Vec<&dyn FailureListener> =
        sequencers.iter().copied().chain([&record_count as &dyn FailureListener]).collect();
    let encoders = || (0..width).map(|_| ColumnEncoder::default()).collect();
    let worker = |inner| Worker { decisions: Decisions::default(), encoders: encoders(), inner };
    let workers = states.into_iter().map(worker).collect();
    let work = |worker: &mut Worker<S>, batch: PieceBatch<'_>| {
        let Worker { decisions, encoders, inner } = worker;
        let PieceBatch { number, records, .. } = batch;
        let count = records.len();
        let codes = plan.reserve_codes(decisions, count);
        for (key_index, ((column, dictionary), encoder)) in plan.key.iter().zip(encoders).enumerate() {
            let cells = codes.get_mut(key_index..).unwrap_or_default();
            if !records.encode(*column, 0..count, encoder, (cells, width), &mut |text| dictionary.find(text))? {
                return Err(EngineError::changed("a value is new"));
            }
        }
        plan.look_up_rows(decisions, count)?;
        let records_before = record_count.in_order(number, |records| {
            plan.number_split_records(decisions);
            *records += count as u64;
            Ok(*records - count as u64)
        })?;
        plan.assign_groups(decisions)?;
        step(inner, DecidedPiece { number, records_before, records, decisions })
    };
    let (workers, numbers) = scan(job.source.scan(), &request, workers, observer, &sequencers, work)?;
    if numbers.records() == 0 {
        return Err(EngineError::changed("there are no records any more"));
    }
    Ok((workers.into_iter().map(|worker| worker.inner).collect(), numbers.records()))
}
