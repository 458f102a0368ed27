//! Writes the released records as CSV.
//!
//! Guarantee: a cell copied from CSV keeps its bytes, including quotes; cells, labels and texts are quoted if necessary
//! ([`crate::csv::write`]); lines end in LF; no line is blank. Shuffled records are sorted by their random keys, and by
//! their bytes if keys are equal, which is very rare.
//!
//! How: threads render their pieces to bytes. In input order, a [`Sequencer`] gives each piece its offset in the file,
//! and the threads write at the same time. A shuffle scatters the records to buckets by the high bits of their keys
//! ([`Spill`]), in a compact form ([`super::compact`]). Then each bucket is read, sorted, rendered and written at its
//! offset, which is the total size of the buckets before it. Buckets are so small that sorting and rendering one stays
//! in the second-level cache.
//!
//! ```text
//! bucket    key (8 bytes) | compact record | key | compact record | ...
//! ```
//!
//! Cost: a shuffle writes the compact records once and reads them once more; memory for one bucket per thread.

use moretta_core::{counts::RecordOrder, observer::Observer};

use super::{
    Job, PhaseObserver,
    compact::KnownColumn,
    csv_sink::{self, EncodedRecords, Position, encode_checked, encoded_header, write_piece},
    decide::{DecidedPiece, for_each_piece},
    plan::OutColumn,
    random::SortKeys,
    spill::{Spill, SpillWriter},
};
use crate::{
    error::EngineError,
    ordered_pool::{self, Sequencer},
};

/// Adjacent columns of the output that are written together.
#[derive(Debug, Clone, Copy)]
pub(super) enum Segment {
    /// Source columns `from..=to`, adjacent there too, so that their bytes are copied at once.
    Cells { from: usize, to: usize },
    /// The label of a rewritten column, or, if labels depend on the group, those of several columns, rendered as one
    /// text. `run` is the number of the segment among the label segments; `column` is its first rewritten column.
    Labels { run: usize, column: usize },
    /// The known column of this index, of a shuffled record.
    Known(usize),
}

/// Renders records to bytes. All labels are rendered in advance.
pub(super) struct Renderer<'a> {
    pub(super) job: &'a Job<'a>,
    pub(super) segments: Vec<Segment>,
    pub(super) known: Vec<KnownColumn>,
    /// Rendered labels, one after another. Label `l` of run `r` is entry `l * stride + starts[r]`.
    bytes: Vec<u8>,
    /// Entry `e` is `bytes[ends[e]..ends[e + 1]]`.
    ends: Vec<usize>,
    starts: Vec<usize>,
    stride: usize,
    /// Run and first column of the labels that a compact record has: one per run, or that of the group.
    pub(super) compact_labels: Vec<(usize, usize)>,
    /// Bytes of the numbers of a compact record.
    pub(super) numbers_bytes: usize,
}

impl<'a> Renderer<'a> {
    fn new(job: &'a Job<'a>) -> Self {
        let plan = &job.plan;
        let (mut segments, mut known): (Vec<Segment>, Vec<KnownColumn>) = (Vec::new(), Vec::new());
        let by_group = plan.by_group();
        // Rewritten columns of each run.
        let mut runs: Vec<Vec<usize>> = Vec::new();
        for &column in &plan.columns {
            if let (OutColumn::Copy(column), RecordOrder::Shuffled) = (column, job.order)
                && let Some(column) = KnownColumn::new(plan, column, job.writer, &job.conversion)
            {
                segments.push(Segment::Known(known.len()));
                known.push(column);
                continue;
            }
            match (segments.last_mut(), column) {
                (Some(Segment::Cells { to, .. }), OutColumn::Copy(column)) if *to + 1 == column => *to = column,
                (_, OutColumn::Copy(column)) => segments.push(Segment::Cells { from: column, to: column }),
                (Some(Segment::Labels { run, .. }), OutColumn::Label(label)) if by_group => runs[*run].push(label),
                (_, OutColumn::Label(label)) => {
                    segments.push(Segment::Labels { run: runs.len(), column: label });
                    runs.push(vec![label]);
                }
            }
        }
        let mut compact_labels: Vec<(usize, usize)> = runs.iter().map(|run| run[0]).enumerate().collect();
        compact_labels.truncate(if by_group { 1 } else { runs.len() });
        let numbers_bytes = Self::numbers_bytes(compact_labels.len(), &known);
        let (bytes, ends, starts) = (Vec::new(), vec![0], Vec::new());
        let mut renderer = Self { job, segments, known, bytes, ends, starts, stride: 1, compact_labels, numbers_bytes };
        if by_group {
            renderer.stride = runs.len().max(1);
            renderer.starts = (0..runs.len()).collect();
            for group in 0..runs.first().map_or(0, |run| plan.num_labels(run[0])) {
                runs.iter().for_each(|run| renderer.add_label(run, group));
            }
        } else {
            for run in &runs {
                renderer.starts.push(renderer.ends.len() - 1);
                (0..plan.num_labels(run[0])).for_each(|label| renderer.add_label(run, label));
            }
        }
        renderer
    }

    /// Renders one label of the columns of a run.
    fn add_label(&mut self, run: &[usize], label: usize) {
        let Job { plan, writer, .. } = self.job;
        for (index, &column) in run.iter().enumerate() {
            if index > 0 {
                self.bytes.push(writer.dialect.delimiter);
            }
            writer.label(&mut self.bytes, plan.label(column, label));
        }
        self.ends.push(self.bytes.len());
    }

    #[inline]
    pub(super) fn label(&self, run: usize, label: usize) -> &[u8] {
        let entry = label * self.stride + self.starts[run];
        &self.bytes[self.ends[entry]..self.ends[entry + 1]]
    }

    /// Bytes of a label of a run or, if labels depend on the group, of the labels of all runs.
    #[inline]
    pub(super) fn labels_length(&self, run: usize, label: usize) -> usize {
        let entry = label * self.stride + self.starts[run];
        self.ends[entry + self.stride] - self.ends[entry]
    }

    /// Offset of the labels of [`Renderer::labels_length`].
    #[inline]
    pub(super) fn labels_start(&self, run: usize, label: usize) -> usize {
        self.ends[label * self.stride + self.starts[run]]
    }

    /// Byte of the rendered labels; 0 behind the last one.
    #[inline]
    pub(super) fn label_byte(&self, offset: usize) -> u8 {
        self.bytes.get(offset).copied().unwrap_or(0)
    }

    /// Renders all records of a piece.
    fn render(&self, piece: &DecidedPiece<'_>, rendered: &mut Rendered) -> Result<(), EngineError> {
        let Job { plan, writer, .. } = self.job;
        let Rendered { out, ends, encoded } = rendered;
        out.clear();
        ends.clear();
        let mut cells =
            piece.records.csv_cells(&self.job.copied, (!self.job.copies_bytes).then_some(&self.job.conversion))?;
        for record in 0..piece.records.len() {
            for (index, segment) in self.segments.iter().enumerate() {
                if index > 0 {
                    out.push(writer.dialect.delimiter);
                }
                match *segment {
                    Segment::Labels { run, column } => {
                        out.extend_from_slice(self.label(run, plan.label_index(piece.decisions, record, column)));
                    }
                    Segment::Cells { from, to } => cells.append(out, record, from, to, *writer),
                    Segment::Known(_) => {}
                }
            }
            out.push(b'\n');
            ends.push(out.len());
        }
        encoded.replace((piece, 0), self.job, out, ends)
    }

    /// Renders a compact record in the encoding of the release.
    fn expand_encoded(&self, out: &mut Vec<u8>, compact: &[u8], text: &mut Vec<u8>) -> Result<(), EngineError> {
        if self.job.encoding.is_utf8() {
            self.expand(out, compact);
            return Ok(());
        }
        text.clear();
        self.expand(text, compact);
        encode_checked(self.job, text, out)
    }

    /// Bytes of a compact record in the encoding of the release; an error if the encoding does not have a character of it.
    fn encoded_length(
        &self,
        compact: &[u8],
        piece: &DecidedPiece<'_>,
        record: usize,
        rendered: &mut Rendered,
    ) -> Result<u64, EngineError> {
        let Rendered { out, encoded, .. } = rendered;
        out.clear();
        self.expand(out, compact);
        let mut ends = [out.len()];
        encoded.replace((piece, record), self.job, out, &mut ends)?;
        Ok(ends[0] as u64)
    }

    /// Finds the records of a bucket and sorts them by key, then by their rendered bytes. `order` has the key and the
    /// start of each compact record.
    fn sort(&self, bytes: &[u8], order: &mut Vec<(u64, usize)>) {
        order.clear();
        let mut start = 0;
        while let Some(key) = bytes.get(start..start + KEY_BYTES) {
            order.push((u64::from_le_bytes(key.try_into().unwrap_or_default()), start + KEY_BYTES));
            start += KEY_BYTES + self.compact_at(bytes, start + KEY_BYTES).len();
        }
        let rendered = |start| {
            let mut out = Vec::new();
            self.expand(&mut out, self.compact_at(bytes, start));
            out
        };
        order.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| rendered(a.1).cmp(&rendered(b.1))));
    }
}

/// Writes all records and returns their number.
pub(crate) fn write(job: &Job<'_>, observer: &dyn Observer) -> Result<u64, EngineError> {
    job.source.check_has_text(&job.copied)?;
    job.plan.check_labels_without_nul(job.source)?;
    let names = job.plan.names.iter().map(String::as_str);
    let header = if job.header { job.writer.header(names) } else { Vec::new() };
    csv_sink::check_labels(job, observer)?;
    let position = Position::after_header(job, &encoded_header(job, &header)?)?;
    let renderer = Renderer::new(job);
    match job.order {
        RecordOrder::Input => write_in_order(&renderer, position, observer),
        RecordOrder::Shuffled => write_shuffled(&renderer, position, observer),
    }
}

/// Rendered records of a piece.
#[derive(Default)]
struct Rendered {
    out: Vec<u8>,
    /// End of each record in `out`.
    ends: Vec<usize>,
    encoded: EncodedRecords,
}

fn write_in_order(renderer: &Renderer<'_>, position: Position, observer: &dyn Observer) -> Result<u64, EngineError> {
    let job = renderer.job;
    let position = Sequencer::new(position);
    let states = (0..job.options.threads).map(|_| Rendered::default()).collect();
    let (_, records) = for_each_piece(job, states, observer, &[&position], |state: &mut Rendered, piece| {
        renderer.render(&piece, state)?;
        write_piece(job, &position, piece.number, &state.out)
    })?;
    position.into_inner().finish(job)?;
    Ok(records)
}

/// Buckets of CSV are this part of those of other formats: 2 MiB, of which compact records take a fifth.
const BUCKET_SHARE: u64 = 8;
/// Bytes of a sort key in a bucket.
const KEY_BYTES: usize = 8;

/// State of one thread that scatters records to buckets.
struct ScatterState<'a> {
    rendered: Rendered,
    keys: SortKeys,
    spill: SpillWriter<'a>,
    /// Records of each bucket that are not in the spill yet.
    buffers: Vec<Vec<u8>>,
    /// Bytes of each bucket when its records are rendered.
    sizes: Vec<u64>,
}

fn write_shuffled(renderer: &Renderer<'_>, position: Position, observer: &dyn Observer) -> Result<u64, EngineError> {
    let job = renderer.job;
    let spill = job.spill(job.options.bucket_bytes / BUCKET_SHARE);
    let buckets = spill.num_buckets();
    // A thread's buffers take about 4 MiB together; puts of 4 kiB at least, for few writes. Not tuned.
    let buffer_limit = ((4 << 20) / buckets).clamp(4 << 10, 256 << 10);
    let states = (0..job.options.threads).map(|_| ScatterState {
        rendered: Rendered::default(),
        keys: SortKeys::new(job.seed, job.sort_key_stream),
        spill: spill.writer(),
        buffers: (0..buckets).map(|_| Vec::new()).collect(),
        sizes: vec![0; buckets],
    });
    let first = PhaseObserver { observer, phase: 0 };
    let (mut states, records) =
        for_each_piece(job, states.collect(), &first, &[], |state: &mut ScatterState, piece| {
            let ScatterState { rendered, keys, spill: writer, buffers, sizes } = state;
            let mut cells = piece.records.csv_cells(&job.copied, (!job.copies_bytes).then_some(&job.conversion))?;
            for (record, key) in (0..piece.records.len()).zip(keys.starting_at(piece.records_before)) {
                let bucket = spill.bucket_of(key);
                let buffer = &mut buffers[bucket];
                buffer.extend_from_slice(&key.to_le_bytes());
                let start = buffer.len();
                let length = renderer.compact(buffer, &piece, record, &mut cells);
                sizes[bucket] += match job.encoding.is_utf8() {
                    true => length as u64,
                    false => renderer.encoded_length(&buffer[start..], &piece, record, rendered)?,
                };
                if buffer.len() >= buffer_limit {
                    writer.put(bucket, buffer)?;
                    buffer.clear();
                }
            }
            Ok(())
        })?;
    let mut offsets = vec![position.offset(); buckets + 1];
    for bucket in 0..buckets {
        let size: u64 = states.iter().map(|state| state.sizes[bucket]).sum();
        offsets[bucket + 1] = offsets[bucket] + size;
        for ScatterState { spill: writer, buffers, .. } in &mut states {
            if !buffers[bucket].is_empty() {
                writer.put(bucket, &buffers[bucket])?;
            }
        }
    }
    drop(states);
    gather(renderer, &spill, (position, &offsets), &PhaseObserver { observer, phase: 1 })?;
    Ok(records)
}

/// State of one thread that sorts buckets.
#[derive(Default)]
struct GatherState {
    /// Compact records of the bucket.
    bytes: Vec<u8>,
    /// Sort key and start of each record in `bytes`.
    order: Vec<(u64, usize)>,
    out: Vec<u8>,
    /// A record that is not encoded yet.
    text: Vec<u8>,
}

/// Sorts the buckets and writes bucket `b` at offset `offsets[b]`, or compresses the buckets in order.
fn gather(
    renderer: &Renderer<'_>,
    spill: &Spill,
    (position, offsets): (Position, &[u64]),
    observer: &dyn Observer,
) -> Result<(), EngineError> {
    /// Bytes per write: they stay in the second-level cache until they are written.
    const CHUNK_BYTES: usize = 256 << 10;
    /// Records whose labels are loaded into the cache together: enough for cache misses to overlap. Not tuned.
    const BATCH_RECORDS: usize = 64;
    let job = renderer.job;
    let is_packed = position.is_packed();
    let position = Sequencer::new(position);
    let work = |state: &mut GatherState, bucket: usize| {
        let GatherState { bytes, order, out, text } = state;
        bytes.clear();
        spill.take_all(bucket, bytes)?;
        renderer.sort(bytes, order);
        // Renders the bucket in chunks.
        let mut write = |write_chunk: &mut dyn FnMut(&[u8]) -> Result<(), EngineError>| {
            out.clear();
            for batch in order.chunks(BATCH_RECORDS) {
                renderer.prefetch(bytes, batch.iter().map(|&(_, start)| start));
                for &(_, start) in batch {
                    renderer.expand_encoded(out, renderer.compact_at(bytes, start), text)?;
                }
                if out.len() >= CHUNK_BYTES {
                    write_chunk(out)?;
                    out.clear();
                }
            }
            write_chunk(out)
        };
        if is_packed {
            position.in_order(bucket, |position| write(&mut |chunk| position.pack(job, chunk)))?;
        } else {
            let mut offset = offsets[bucket];
            write(&mut |chunk| {
                offset += chunk.len() as u64;
                job.write_at(chunk, offset - chunk.len() as u64)
            })?;
        }
        observer.progress(bucket as u64 + 1, spill.num_buckets() as u64);
        Ok(())
    };
    let states = (0..job.options.threads.min(spill.num_buckets())).map(|_| GatherState::default()).collect();
    ordered_pool::run(states, observer, &[&position], ordered_pool::take_numbers_below(spill.num_buckets()), work)
        .map_err(|(_, error)| error)?;
    position.into_inner().finish(job)
}
