//! Second pass: reads every record again and writes it with labels in place of cells, in input order or shuffled.
//!
//! Guarantee: as many records are written as were read. The file depends on the input, the rewrite and its seed only.
//! No file is left unless every value and row of the input is known to the rewrite, every row has as many records as
//! the rewrite says, and no input file changed meanwhile.
//!
//! How:
//!
//! ```text
//!                     plan.rs: labels of each record         csv_out.rs, parquet_out.rs
//! source ── pieces ──▶ decide.rs ── input order ───────────▶ write each piece at its offset ───────────▶ file
//!           threads            └─── shuffled: sort keys ───▶ scatter to buckets ─▶ sort bucket, write ─▶ file
//!                                   of random.rs             spill.rs
//! ```
//!
//! [`plan`] checks the rewrite and finds the label of each record; [`decide`] runs the pieces of the source through the
//! plan on several threads; [`csv_out`] and [`parquet_out`] write. A shuffle sorts the records by random keys
//! ([`random`]) in buckets that are kept in memory or in a temporary file ([`spill`]).
//!
//! Cost: one read of the input and one write of the output; a shuffle writes and reads the output once more.

mod compact;
pub(crate) mod csv_out;
mod csv_sink;
mod decide;
pub(crate) mod parquet_out;
mod plan;
pub(crate) mod random;
mod spill;

use std::sync::atomic::{AtomicU64, Ordering};

use moretta_core::{
    counts::{RecordOrder, RenotatedColumn, Rewrite},
    encoding::Encoding,
    notation::Notation,
    observer::{Observer, Stop},
    seed::Seed,
};

use crate::{
    bytes::packing::Packing,
    csv::{
        Dialect,
        convert::{Conversion, NotationChange},
        write::CellWriter,
    },
    error::EngineError,
    local::EngineOptions,
    source::Source,
    staged::StagedFile,
    target::{BackgroundSync, Pending, Target, write_at},
};
use plan::{OutColumn, Plan};
use spill::Spill;

/// Writes all records of a job and returns their number.
pub(crate) type WriteFn = fn(&Job<'_>, &dyn Observer) -> Result<u64, EngineError>;

/// Everything a writer needs.
pub(crate) struct Job<'a> {
    source: &'a Source,
    options: &'a EngineOptions,
    plan: Plan<'a>,
    /// Indices of the source columns that are copied.
    copied: Vec<usize>,
    order: RecordOrder,
    seed: Seed,
    /// Stream of the sort keys of shuffled records.
    sort_key_stream: u64,
    /// Writes cells as CSV.
    writer: CellWriter,
    /// Whether the first line of a CSV release names the columns.
    header: bool,
    /// Changes of copied cells.
    conversion: Conversion,
    /// Whether cells of a CSV source keep their bytes in a CSV release: nothing changes, and the delimiter is the same.
    copies_bytes: bool,
    /// Encoding of a CSV release.
    encoding: Encoding,
    packing: Packing,
    pending: Pending,
    sync: BackgroundSync,
    /// Bytes written by [`Job::write_at`].
    written: AtomicU64,
}

/// Bytes written after which the file is flushed, so that the disk works meanwhile. Not tuned.
const FLUSH_BYTES: u64 = 64 << 20;

impl Job<'_> {
    /// Empty buckets for a shuffle of the expected output, of which each has about `bucket_bytes`.
    fn spill(&self, bucket_bytes: u64) -> Spill {
        let expected = self.source.scan().text_bytes(self.plan.columns.len());
        Spill::new(self.pending.folder(), expected, bucket_bytes, self.options.shuffle_memory)
    }

    /// Writes bytes at a byte offset of the pending file. Threads may call it at the same time.
    fn write_at(&self, bytes: &[u8], offset: u64) -> Result<(), EngineError> {
        write_at(self.pending.file(), bytes, offset).map_err(EngineError::io(self.pending.path(), "write"))?;
        let written = self.written.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        if written / FLUSH_BYTES != (written + bytes.len() as u64) / FLUSH_BYTES {
            self.sync.flush();
        }
        Ok(())
    }
}

/// Observer of one of the two phases of a shuffle, which count equally in its progress.
pub(crate) struct PhaseObserver<'a> {
    observer: &'a dyn Observer,
    /// 0 or 1.
    phase: u64,
}

/// Units of progress per phase; affects only the resolution of the display.
const PHASE_UNITS: u64 = 1_000_000;

impl Observer for PhaseObserver<'_> {
    fn progress(&self, done: u64, total: u64) {
        let units = (u128::from(done) * u128::from(PHASE_UNITS) / u128::from(total.max(1))) as u64;
        self.observer.progress(self.phase * PHASE_UNITS + units, 2 * PHASE_UNITS);
    }

    fn stop(&self) -> Option<Stop> {
        self.observer.stop()
    }
}

/// Changes of the copied columns of a source. Typed numbers are in plain notation.
fn conversion(source: &Source, rewrite: &Rewrite, guard: bool) -> Result<Conversion, EngineError> {
    let mut notations = Vec::new();
    for RenotatedColumn { name, from, to, missing } in &rewrite.renotated {
        let column = source.column_index(name)?;
        let from = if source.is_typed(column) { Notation::PLAIN } else { *from };
        if from != *to {
            notations.resize(source.columns().len(), None);
            notations[column] = Some(NotationChange { from, to: *to, missing: missing.clone() });
        }
    }
    Ok(Conversion { notations, guard })
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
    if source.scan().csv_options().is_none() && target.kind.tabs {
        csv.delimiter = Some(b'\t');
    }
    let source_delimiter = csv.delimiter;
    csv.delimiter = target.csv.delimiter.or(csv.delimiter);
    let header = target.csv.header.unwrap_or(csv.names.is_none());
    csv.names = (!header).then(|| vec![plan.names.clone()]);
    csv.encoding = target.csv.encoding.or(csv.encoding);
    csv.guard_formulas = target.csv.guard_formulas;
    // The file is read back as other programs read it.
    csv.release = true;
    let dialect = Dialect { delimiter: csv.delimiter.unwrap_or(b','), quote: csv.quote };
    let writer = CellWriter { dialect, single_column: plan.columns.len() == 1, guard: csv.guard_formulas };
    let conversion = conversion(source, rewrite, csv.guard_formulas)?;
    let copies_bytes = conversion.is_none() && csv.delimiter == source_delimiter;
    let pending = target.create_pending()?;
    let copied_column = |column: &OutColumn| match *column {
        OutColumn::Copy(index) => Some(index),
        OutColumn::Label(_) => None,
    };
    let copied = plan.columns.iter().filter_map(copied_column).collect();
    let sort_key_stream = if rewrite.order == RecordOrder::Shuffled { random::sort_key_stream(rewrite) } else { 0 };
    let (order, seed) = (rewrite.order, rewrite.seed);
    let sync = pending.sync_in_background()?;
    let job = Job {
        source,
        options,
        plan,
        copied,
        order,
        seed,
        sort_key_stream,
        writer,
        header,
        conversion,
        copies_bytes,
        encoding: csv.encoding.unwrap_or(Encoding::Utf8),
        packing: target.kind.packing,
        pending,
        sync,
        written: AtomicU64::new(0),
    };
    let records = (target.kind.format.entry().write)(&job, observer).map_err(|error| source.reason(error))?;
    job.plan.check_all_read()?;
    source.check_unchanged()?;
    if observer.stop().is_some() {
        return Err(EngineError::Cancelled);
    }
    let Job { pending, sync, .. } = job;
    let bytes = pending.file().metadata().map_err(EngineError::io(pending.path(), "read"))?.len();
    Ok(StagedFile { records, bytes, csv, options: options.clone(), pending, sync: sync.complete() })
}
