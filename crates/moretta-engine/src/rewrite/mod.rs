//! The second pass: every record leaves, rewritten, in the order that was asked for.
//!
//! Guarantee: as many records leave as came; the file depends on the input, the rewrite and its seed alone; unless all is
//! well (every value and row known, every row's records met, no file written to meanwhile) there is no file.
//!
//! Structure: [`plan`] checks the rewrite and decides about records, [`feed`] runs the source's pieces through it on
//! several threads, [`csv_out`] and [`parquet_out`] write what comes, in order or shuffled by way of [`spill`];
//! [`random`] is what the seed decides.

pub(crate) mod csv_out;
mod decide;
pub(crate) mod parquet_out;
mod plan;
mod random;
mod spill;

use moretta_core::{
    counts::{RecordOrder, Rewrite},
    observer::{Observer, Stop},
};

use crate::{
    csv::{CsvOptions, Dialect},
    error::EngineError,
    local::EngineOptions,
    source::Source,
    staged::StagedFile,
    target::{Pending, Target},
};
use plan::{OutColumn, Plan};
use spill::Spill;

/// Writes all records of a job and returns how many.
pub(crate) type WriteFn = fn(&Job<'_>, &dyn Observer) -> Result<u64, EngineError>;

/// The input of a writer.
pub(crate) struct Job<'a> {
    source: &'a Source,
    options: &'a EngineOptions,
    plan: Plan,
    /// Source columns that are copied.
    copied: Vec<usize>,
    order: RecordOrder,
    seed: u64,
    dialect: Dialect,
    pending: Pending,
    target: &'a Target,
}

impl Job<'_> {
    /// Buckets for a shuffle.
    fn spill(&self) -> Spill {
        let expected = self.source.scan().text_bytes(self.plan.columns.len());
        Spill::new(self.target.folder(), expected, self.options.bucket_bytes, self.options.shuffle_memory)
    }
}

/// A part of the work, of several that count alike.
pub(crate) struct PhaseObserver<'a> {
    observer: &'a dyn Observer,
    phase: u64,
    phases: u64,
}

const PHASE_UNITS: u64 = 1_000_000;

impl Observer for PhaseObserver<'_> {
    fn progress(&self, done: u64, total: u64) {
        let share = (u128::from(done) * u128::from(PHASE_UNITS) / u128::from(total.max(1))) as u64;
        self.observer.progress(self.phase * PHASE_UNITS + share, self.phases * PHASE_UNITS);
    }

    fn stop(&self) -> Option<Stop> {
        self.observer.stop()
    }
}

/// Rewrites a source to a temporary file beside the target.
pub(crate) fn run(
    source: &Source,
    options: &EngineOptions,
    rewrite: &Rewrite,
    target: &Target,
    observer: &dyn Observer,
) -> Result<StagedFile, EngineError> {
    source.check_unchanged()?;
    let plan = Plan::new(rewrite, source)?;
    let mut csv = source.csv_options();
    if source.scan().csv_options().is_none() && target.path.extension().is_some_and(|extension| extension == "tsv") {
        csv.delimiter = Some(b'\t');
    }
    let CsvOptions { delimiter, quote } = csv;
    let dialect = Dialect { delimiter: delimiter.unwrap_or(b','), quote };
    let pending = target.create_pending()?;
    let copied_column = |column: &OutColumn| if let OutColumn::Copy(at) = column { Some(*at) } else { None };
    let copied = plan.columns.iter().filter_map(copied_column).collect();
    let job = Job { source, options, plan, copied, order: rewrite.order, seed: rewrite.seed, dialect, pending, target };
    let records = (target.format.entry().write)(&job, observer)?;
    job.plan.check_all_read()?;
    source.check_unchanged()?;
    if observer.stop().is_some() {
        return Err(EngineError::Cancelled);
    }
    job.pending.sync()?;
    let Job { pending, .. } = job;
    let bytes = pending.file().metadata().map_err(EngineError::io(pending.path(), "read"))?.len();
    Ok(StagedFile { records, bytes, csv, options: options.clone(), pending })
}
