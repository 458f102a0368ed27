//! Writes the released records as CSV.
//!
//! Guarantee: a cell copied from CSV keeps its bytes, including quotes; cells, labels and texts are quoted if necessary
//! ([`crate::csv::write`]); lines end in LF; no line is blank. Shuffled records are sorted by their random keys, and by
//! their bytes if keys are equal, which is very rare.
//!
//! How: threads render their pieces to bytes. In input order, a [`Sequencer`] gives each piece its offset in the file,
//! and the threads write at the same time. A shuffle scatters the rendered records to buckets by the high bits of their
//! keys ([`Spill`]); then each bucket is read, sorted and written at its offset, which is the total size of the buckets
//! before it.
//!
//! Cost: a shuffle writes every byte twice and reads it once more; memory for one bucket per thread.

use moretta_core::{counts::RecordOrder, observer::Observer};

use super::{
    Job, PhaseObserver,
    csv_sink::{self, EncodedRecords, Position, encoded_header, write_piece},
    decide::{DecidedPiece, for_each_piece},
    plan::OutColumn,
    random::SortKeys,
    spill::Spill,
};
use crate::{
    error::EngineError,
    ordered_pool::{self, Sequencer},
};

/// Adjacent columns of the output that are written together.
#[derive(Debug, Clone, Copy)]
enum Segment {
    /// Source columns `from..=to`, adjacent there too, so that their bytes are copied at once.
    Cells { from: usize, to: usize },
    /// The label of a rewritten column, or, if labels depend on the group, those of several columns, rendered as one
    /// text. `run` is the number of the segment among the label segments; `column` is its first rewritten column.
    Labels { run: usize, column: usize },
}

/// Renders records to bytes. All labels are rendered in advance.
struct Renderer<'a> {
    job: &'a Job<'a>,
    segments: Vec<Segment>,
    /// Rendered labels, one after another. Label `l` of run `r` is entry `l * stride + starts[r]`.
    bytes: Vec<u8>,
    /// Entry `e` is `bytes[ends[e]..ends[e + 1]]`.
    ends: Vec<usize>,
    starts: Vec<usize>,
    stride: usize,
}

impl<'a> Renderer<'a> {
    fn new(job: &'a Job<'a>) -> Self {
        let plan = &job.plan;
        let mut segments: Vec<Segment> = Vec::new();
        let by_group = plan.by_group();
        // Rewritten columns of each run.
        let mut runs: Vec<Vec<usize>> = Vec::new();
        for &column in &plan.columns {
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
        let mut renderer = Self { job, segments, bytes: Vec::new(), ends: vec![0], starts: Vec::new(), stride: 1 };
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
    fn label(&self, run: usize, label: usize) -> &[u8] {
        let entry = label * self.stride + self.starts[run];
        &self.bytes[self.ends[entry]..self.ends[entry + 1]]
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
                }
            }
            out.push(b'\n');
            ends.push(out.len());
        }
        encoded.replace(piece, self.job, out, ends)
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

/// State of one thread that scatters records to buckets.
struct ScatterState {
    rendered: Rendered,
    keys: SortKeys,
    /// Records of each bucket that are not in the spill yet.
    buffers: Vec<Vec<u8>>,
    /// Rendered bytes of each bucket, without record headers.
    sizes: Vec<u64>,
}

/// In a bucket, a record is its sort key (8 bytes), its length (4 bytes) and its bytes.
const RECORD_HEADER_BYTES: usize = 12;

fn write_shuffled(renderer: &Renderer<'_>, position: Position, observer: &dyn Observer) -> Result<u64, EngineError> {
    let job = renderer.job;
    let spill = job.spill();
    let buckets = spill.num_buckets();
    // A thread's buffers take about 8 MiB together; puts of 4 kiB at least, for few writes. Not tuned.
    let buffer_limit = ((8 << 20) / buckets).clamp(4 << 10, 256 << 10);
    let states = (0..job.options.threads).map(|_| ScatterState {
        rendered: Rendered::default(),
        keys: SortKeys::new(job.seed, job.sort_key_stream),
        buffers: (0..buckets).map(|_| Vec::new()).collect(),
        sizes: vec![0; buckets],
    });
    let first = PhaseObserver { observer, phase: 0 };
    let (states, records) = for_each_piece(job, states.collect(), &first, &[], |state: &mut ScatterState, piece| {
        let ScatterState { rendered, keys, buffers, sizes } = state;
        renderer.render(&piece, rendered)?;
        let mut start = 0;
        for (&end, key) in rendered.ends.iter().zip(keys.starting_at(piece.records_before)) {
            let record = &rendered.out[start..end];
            start = end;
            let bucket = spill.bucket_of(key);
            let buffer = &mut buffers[bucket];
            buffer.extend_from_slice(&key.to_le_bytes());
            buffer.extend_from_slice(&(record.len() as u32).to_le_bytes());
            buffer.extend_from_slice(record);
            sizes[bucket] += record.len() as u64;
            if buffer.len() >= buffer_limit {
                spill.put(bucket, buffer)?;
                buffer.clear();
            }
        }
        Ok(())
    })?;
    let mut offsets = vec![position.offset(); buckets + 1];
    for bucket in 0..buckets {
        let size: u64 = states.iter().map(|state| state.sizes[bucket]).sum();
        offsets[bucket + 1] = offsets[bucket] + size;
        for state in &states {
            if !state.buffers[bucket].is_empty() {
                spill.put(bucket, &state.buffers[bucket])?;
            }
        }
    }
    drop(states);
    gather(job, &spill, (position, &offsets), &PhaseObserver { observer, phase: 1 })?;
    Ok(records)
}

/// State of one thread that sorts buckets.
#[derive(Default)]
struct GatherState {
    /// Records of the bucket, with their headers.
    bytes: Vec<u8>,
    /// Sort key and offset in `bytes` of each record.
    order: Vec<(u64, usize)>,
    out: Vec<u8>,
}

/// Sorts the buckets and writes bucket `b` at offset `offsets[b]`, or packs the buckets in order.
fn gather(
    job: &Job<'_>,
    spill: &Spill,
    (position, offsets): (Position, &[u64]),
    observer: &dyn Observer,
) -> Result<(), EngineError> {
    /// Bytes per write.
    const CHUNK_BYTES: usize = 1 << 20;
    let is_packed = position.is_packed();
    let position = Sequencer::new(position);
    let work = |state: &mut GatherState, bucket: usize| {
        let GatherState { bytes, order, out } = state;
        bytes.clear();
        spill.take(bucket, |put| {
            bytes.extend_from_slice(put);
            Ok(())
        })?;
        sort_records(bytes, order);
        if is_packed {
            position.in_order(bucket, |position| {
                order.iter().try_for_each(|&(_, start)| position.pack(job, record_at(bytes, start)))
            })?;
            observer.progress(bucket as u64 + 1, spill.num_buckets() as u64);
            return Ok(());
        }
        let mut offset = offsets[bucket];
        out.clear();
        for &(_, start) in order.iter() {
            out.extend_from_slice(record_at(bytes, start));
            if out.len() >= CHUNK_BYTES {
                job.write_at(out, offset)?;
                offset += out.len() as u64;
                out.clear();
            }
        }
        job.write_at(out, offset)?;
        observer.progress(bucket as u64 + 1, spill.num_buckets() as u64);
        Ok(())
    };
    let states = (0..job.options.threads.min(spill.num_buckets())).map(|_| GatherState::default()).collect();
    ordered_pool::run(states, observer, &[&position], ordered_pool::take_numbers_below(spill.num_buckets()), work)
        .map_err(|(_, error)| error)?;
    position.into_inner().finish(job)
}

/// Finds the records of a bucket and sorts them by key, then by their bytes.
fn sort_records(bytes: &[u8], order: &mut Vec<(u64, usize)>) {
    order.clear();
    let mut start = 0;
    while let Some(header) = bytes.get(start..start + RECORD_HEADER_BYTES) {
        let key = u64::from_le_bytes(header[..8].try_into().unwrap_or_default());
        order.push((key, start));
        start += RECORD_HEADER_BYTES + record_at(bytes, start).len();
    }
    order.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| record_at(bytes, a.1).cmp(record_at(bytes, b.1))));
}

/// Bytes of the record whose header begins at `start`.
#[inline]
fn record_at(bytes: &[u8], start: usize) -> &[u8] {
    let length = u32::from_le_bytes(bytes[start + 8..start + RECORD_HEADER_BYTES].try_into().unwrap_or_default());
    &bytes[start + RECORD_HEADER_BYTES..start + RECORD_HEADER_BYTES + length as usize]
}
