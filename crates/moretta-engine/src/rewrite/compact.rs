//! Compact form of a shuffled record, and its rendering.
//!
//! Guarantee: a compact record renders to the bytes of the record. Texts that many records share are numbers: labels,
//! and copied cells of columns whose values are known from the first pass. A record takes a fifth of its bytes then, so
//! that more of a shuffle stays in memory.
//!
//! ```text
//! compact   label of each run, or group (4 bytes) | known cells (1 or 2 bytes each) | length of the cells | cells
//! length    1 byte, or 255 and 4 bytes
//! cells     1200 NUL Rome              adjacent columns as in the input; NUL in place of what is between them
//! rendered  [20, 29],flu,1200,*,Rome
//! ```
//!
//! A cell that has quotes in the input which its value does not need keeps them: its number says that it is among the
//! cells.

use std::hint::black_box;

use super::{
    Job,
    csv_out::{Renderer, Segment},
    decide::DecidedPiece,
    plan::Plan,
};
use crate::{
    csv::{convert::Conversion, write::CellWriter},
    records::CsvCells,
};

/// A copied column whose cells are numbers in compact records: the code of the value.
#[derive(Debug)]
pub(super) struct KnownColumn {
    /// Index in the source.
    column: usize,
    /// Index among the columns of the key.
    key: usize,
    /// Bytes of a number.
    width: usize,
    /// Number of a cell that is among the cells.
    unknown: usize,
    /// All values as cells, one after another. Value `v` is `bytes[ends[v]..ends[v + 1]]`.
    bytes: Vec<u8>,
    ends: Vec<u32>,
}

impl KnownColumn {
    /// `None` if the column is not encoded, or has too many values: their numbers would be as long as their texts.
    pub(super) fn new(plan: &Plan<'_>, column: usize, writer: CellWriter, conversion: &Conversion) -> Option<Self> {
        let key = plan.key.iter().position(|(encoded, _)| *encoded == column)?;
        let values = &plan.key[key].1;
        let (width, unknown) = match values.len() {
            0..=0xFF => (1, 0xFF),
            0x100..=0xFFFF => (2, 0xFFFF),
            _ => return None,
        };
        let (mut bytes, mut ends) = (Vec::new(), vec![0]);
        for code in 0..values.len() as u32 {
            // Values are UTF-8, as the first pass has checked.
            let text = String::from_utf8_lossy(values.value(code));
            writer.cell(&mut bytes, conversion.text(column, &text).as_bytes());
            ends.push(u32::try_from(bytes.len()).ok()?);
        }
        Some(Self { column, key, width, unknown, bytes, ends })
    }

    /// A value as a cell.
    #[inline]
    fn cell(&self, code: usize) -> &[u8] {
        &self.bytes[self.ends[code] as usize..self.ends[code + 1] as usize]
    }

    /// The number of the cell of a record.
    #[inline]
    fn number(&self, piece: &DecidedPiece<'_>, record: usize, key_width: usize, cells: &CsvCells<'_>) -> usize {
        let code = piece.decisions.codes[record * key_width + self.key] as usize;
        let has_other_bytes = cells.quoted(record, self.column).is_some_and(|raw| raw != self.cell(code));
        if has_other_bytes { self.unknown } else { code }
    }

    #[inline]
    fn read(&self, numbers: &[u8]) -> usize {
        if self.width == 1 {
            usize::from(numbers[0])
        } else {
            usize::from(u16::from_le_bytes([numbers[0], numbers[1]]))
        }
    }
}

const LABEL_BYTES: usize = 4;
/// Bytes that the processor loads into the cache at once. Affects speed only.
const CACHE_LINE: usize = 64;
/// In place of a length of one byte: 4 bytes with the length follow.
const LONG: u8 = u8::MAX;

/// The number at the start of some bytes.
#[inline]
fn read_u32(bytes: &[u8]) -> usize {
    u32::from_le_bytes(bytes[..4].try_into().unwrap_or_default()) as usize
}

impl Renderer<'_> {
    /// Bytes of the labels and known cells of a compact record.
    pub(super) fn numbers_bytes(compact_labels: usize, known: &[KnownColumn]) -> usize {
        LABEL_BYTES * compact_labels + known.iter().map(|known| known.width).sum::<usize>()
    }

    /// Appends a compact record, and returns the length of the rendered record.
    pub(super) fn compact(
        &self,
        out: &mut Vec<u8>,
        piece: &DecidedPiece<'_>,
        record: usize,
        cells: &mut CsvCells<'_>,
    ) -> usize {
        let Job { plan, writer, .. } = self.job;
        // A delimiter or line break behind each segment.
        let mut rendered = self.segments.len();
        for &(run, column) in &self.compact_labels {
            let label = plan.label_index(piece.decisions, record, column);
            out.extend_from_slice(&(label as u32).to_le_bytes());
            rendered += self.labels_length(run, label);
        }
        let key_width = plan.key.len();
        let mut all_known = true;
        for known in &self.known {
            let number = known.number(piece, record, key_width, cells);
            let [low, high] = (number as u16).to_le_bytes();
            out.push(low);
            if known.width == 2 {
                out.push(high);
            }
            match number == known.unknown {
                true => all_known = false,
                false => rendered += known.cell(number).len(),
            }
        }
        out.push(0);
        let start = out.len();
        let mut parts = 0;
        for segment in &self.segments {
            let (from, to) = match *segment {
                Segment::Cells { from, to } => (from, to),
                Segment::Known(index) if !all_known => {
                    let known = &self.known[index];
                    if known.number(piece, record, key_width, cells) != known.unknown {
                        continue;
                    }
                    (known.column, known.column)
                }
                Segment::Known(_) | Segment::Labels { .. } => continue,
            };
            if parts > 0 {
                out.push(0);
            }
            parts += 1;
            cells.append(out, record, from, to, *writer);
        }
        let length = out.len() - start;
        if length < usize::from(LONG) {
            out[start - 1] = length as u8;
        } else {
            out[start - 1] = LONG;
            out.splice(start..start, (length as u32).to_le_bytes());
        }
        rendered + length - parts.max(1) + 1
    }

    /// Bytes of the compact record that begins at `start`.
    #[inline]
    pub(super) fn compact_at<'b>(&self, bytes: &'b [u8], start: usize) -> &'b [u8] {
        let cells = start + self.numbers_bytes + 1;
        let end = match bytes[cells - 1] {
            LONG => cells + 4 + read_u32(&bytes[cells..]),
            length => cells + usize::from(length),
        };
        &bytes[start..end]
    }

    /// Loads the labels of compact records, which begin at `starts`, into the cache if they depend on the group: there
    /// are many of these. The loads do not depend on each other, so they overlap.
    #[inline]
    pub(super) fn prefetch(&self, bytes: &[u8], starts: impl Iterator<Item = usize> + Clone) {
        let Some(&(run, _)) = self.compact_labels.first().filter(|_| self.job.plan.by_group()) else { return };
        let labels = starts.map(|start| read_u32(&bytes[start..]));
        black_box(labels.clone().fold(0, |all, label| all ^ self.labels_start(run, label)));
        // The labels of a group rarely extend over more than three lines of the cache.
        let loaded = labels.fold(0, |all, label| {
            let (start, length) = (self.labels_start(run, label), self.labels_length(run, label).max(1));
            let offsets = [0, CACHE_LINE.min(length - 1), length - 1];
            offsets.iter().fold(all, |all, offset| all ^ self.label_byte(start + offset))
        });
        black_box(loaded);
    }

    /// Renders a compact record.
    pub(super) fn expand(&self, out: &mut Vec<u8>, compact: &[u8]) {
        let (labels, numbers) = compact.split_at(LABEL_BYTES * self.compact_labels.len());
        let cells = self.numbers_bytes + if compact[self.numbers_bytes] == LONG { 5 } else { 1 };
        let (mut numbers, mut cells) = (numbers, &compact[cells..]);
        for (index, segment) in self.segments.iter().enumerate() {
            if index > 0 {
                out.push(self.job.writer.dialect.delimiter);
            }
            match *segment {
                Segment::Labels { run, .. } => {
                    let label = read_u32(&labels[LABEL_BYTES * run.min(self.compact_labels.len() - 1)..]);
                    out.extend_from_slice(self.label(run, label));
                    continue;
                }
                Segment::Known(index) => {
                    let known = &self.known[index];
                    let number = known.read(numbers);
                    numbers = &numbers[known.width..];
                    if number != known.unknown {
                        out.extend_from_slice(known.cell(number));
                        continue;
                    }
                }
                Segment::Cells { .. } => {}
            }
            let end = memchr::memchr(0, cells);
            out.extend_from_slice(&cells[..end.unwrap_or(cells.len())]);
            cells = end.map_or(&[], |end| &cells[end + 1..]);
        }
        out.push(b'\n');
    }
}
