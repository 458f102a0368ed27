//! Writes the released records as CSV.
//!
//! Guarantee: a cell copied from CSV keeps its bytes, including quotes; cells, labels and texts are quoted if necessary
//! ([`crate::csv::write`]); lines end in LF; no line is blank. Shuffled records are sorted by their random keys, and by
//! their bytes if keys are equal, which is very rare.
//!
//! How: threads render their pieces to bytes. In input order, a [`Sequencer`] gives each piece its offset in the file,
//! and the threads write at the same time. A shuffle scatters the records to buckets by the high bits of their keys
//! ([`Spill`]), compact: the labels as numbers, because texts of intervals and sets take several times more. Then each
//! bucket is read, sorted, rendered and written at its offset, which is the total size of the buckets before it.
//!
//! ```text
//! compact   key (8 bytes) | number of each label, or of the group (4 bytes) | bytes of the cells (4 bytes) | cells
//! cells     flu,1200 NUL Rome          adjacent columns as in the input; NUL in place of the labels between them
//! rendered  [20, 29],flu,1200,*,Rome
//! ```
//!
//! Cost: a shuffle writes the compact records once and reads them once more; memory for one bucket per thread.

use moretta_core::{counts::RecordOrder, observer::Observer};

use super::{
    Job, PhaseObserver,
    csv_sink::{self, EncodedRecords, Position, encode_checked, encoded_header, write_piece},
    decide::{DecidedPiece, for_each_piece},
    plan::OutColumn,
    random::SortKeys,
    spill::{Spill, SpillWriter},
};
use crate::{
    error::EngineError,
    ordered_pool::{self, Sequencer},
    records::CsvCells,
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
    /// Numbers of labels in a compact record: one per run, or that of the group.
    compact_labels: usize,
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
        let compact_labels = if by_group { runs.len().min(1) } else { runs.len() };
        let (bytes, ends, starts) = (Vec::new(), vec![0], Vec::new());
        let mut renderer = Self { job, segments, bytes, ends, starts, stride: 1, compact_labels };
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
        encoded.replace((piece, 0), self.job, out, ends)
    }

    /// Source columns of the segments of cells.
    fn cell_segments(&self) -> impl Iterator<Item = (usize, usize)> {
        self.segments.iter().filter_map(|segment| match *segment {
            Segment::Cells { from, to } => Some((from, to)),
            Segment::Labels { .. } => None,
        })
    }

    /// Appends a compact record without its key, and returns the length of the rendered record.
    fn compact(&self, out: &mut Vec<u8>, piece: &DecidedPiece<'_>, record: usize, cells: &mut CsvCells<'_>) -> usize {
        let Job { plan, writer, .. } = self.job;
        // A delimiter or line break behind each segment.
        let mut rendered = self.segments.len();
        for segment in &self.segments {
            let Segment::Labels { run, column } = *segment else { continue };
            let label = plan.label_index(piece.decisions, record, column);
            rendered += self.label(run, label).len();
            if run < self.compact_labels {
                out.extend_from_slice(&(label as u32).to_le_bytes());
            }
        }
        let start = out.len();
        out.extend_from_slice(&[0; LENGTH_BYTES]);
        for (index, (from, to)) in self.cell_segments().enumerate() {
            if index > 0 {
                out.push(0);
                rendered -= 1;
            }
            cells.append(out, record, from, to, *writer);
        }
        let length = out.len() - start - LENGTH_BYTES;
        out[start..start + LENGTH_BYTES].copy_from_slice(&(length as u32).to_le_bytes());
        rendered + length
    }

    /// Bytes of the compact record without its key that begins at `start`.
    #[inline]
    fn compact_at<'b>(&self, bytes: &'b [u8], start: usize) -> &'b [u8] {
        let cells = start + LABEL_BYTES * self.compact_labels + LENGTH_BYTES;
        &bytes[start..cells + read_u32(&bytes[cells - LENGTH_BYTES..]) as usize]
    }

    /// Renders a compact record without its key.
    fn expand(&self, out: &mut Vec<u8>, compact: &[u8]) {
        let (labels, cells) = compact.split_at(LABEL_BYTES * self.compact_labels);
        let mut cells = &cells[LENGTH_BYTES..];
        let mut more = self.cell_segments().count();
        for (index, segment) in self.segments.iter().enumerate() {
            if index > 0 {
                out.push(self.job.writer.dialect.delimiter);
            }
            match *segment {
                Segment::Labels { run, .. } => {
                    let label = read_u32(&labels[LABEL_BYTES * run.min(self.compact_labels - 1)..]);
                    out.extend_from_slice(self.label(run, label as usize));
                }
                Segment::Cells { .. } => {
                    more -= 1;
                    let end = if more == 0 { None } else { memchr::memchr(0, cells) };
                    out.extend_from_slice(&cells[..end.unwrap_or(cells.len())]);
                    cells = end.map_or(&[], |end| &cells[end + 1..]);
                }
            }
        }
        out.push(b'\n');
    }

    /// Renders a compact record without its key in the encoding of the release.
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

const KEY_BYTES: usize = 8;
const LABEL_BYTES: usize = 4;
/// Bytes of the length of the cells.
const LENGTH_BYTES: usize = 4;

/// The number at the start of some bytes.
#[inline]
fn read_u32(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(bytes[..4].try_into().unwrap_or_default())
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
    let spill = job.spill();
    let buckets = spill.num_buckets();
    // A thread's buffers take about 8 MiB together; puts of 4 kiB at least, for few writes. Not tuned.
    let buffer_limit = ((8 << 20) / buckets).clamp(4 << 10, 256 << 10);
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
    /// Bytes per write.
    const CHUNK_BYTES: usize = 1 << 20;
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
            for &(_, start) in order.iter() {
                renderer.expand_encoded(out, renderer.compact_at(bytes, start), text)?;
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
