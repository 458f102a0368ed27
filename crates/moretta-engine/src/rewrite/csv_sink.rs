//! The file that rendered records of CSV go to: their encoding, and their packing.
//!
//! Guarantee: a text that the encoding does not have is an error that names its column, before any file is published. The
//! bytes of the file do not depend on threads. Cost: nothing for plain UTF-8; threads encode in parallel and write a file
//! that is not packed at the same time. One thread at a time packs.

use moretta_core::{encoding::Encoding, observer::Observer};

use super::{Job, decide::DecidedPiece, plan::OutColumn};
use crate::{
    bytes::{
        encoding::{encode, mark},
        packing::{MAX_RATIO, Packer},
    },
    csv::content,
    error::EngineError,
    ordered_pool::Sequencer,
    records::InputRecords,
};

/// Where the next bytes of a file go.
pub(crate) struct Position {
    /// Bytes written before, or reserved by pieces that write them.
    offset: u64,
    /// Packs the bytes of the pieces in their order.
    packer: Option<Packer>,
}

impl Position {
    /// Begins a file with a header.
    pub(crate) fn after_header(job: &Job<'_>, header: &[u8]) -> Result<Self, EngineError> {
        let path = job.pending.path();
        let file = job.pending.file().try_clone().map_err(EngineError::io(path, "write"))?;
        let mut packer = Packer::new(job.packing, file).map_err(EngineError::io(path, "write"))?;
        match &mut packer {
            Some(packer) => packer.write(header).map_err(EngineError::io(path, "write"))?,
            None => job.write_at(header, 0)?,
        }
        Ok(Self { offset: header.len() as u64, packer })
    }

    /// Whether pieces must be written in order by one thread.
    pub(crate) fn is_packed(&self) -> bool {
        self.packer.is_some()
    }

    /// Bytes written before.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Packs the next bytes.
    pub(crate) fn pack(&mut self, job: &Job<'_>, bytes: &[u8]) -> Result<(), EngineError> {
        self.packer
            .as_mut()
            .map_or(Ok(()), |packer| packer.write(bytes))
            .map_err(EngineError::io(job.pending.path(), "write"))
    }

    /// Ends the file.
    pub(crate) fn finish(self, job: &Job<'_>) -> Result<(), EngineError> {
        let Some(packer) = self.packer else { return Ok(()) };
        match packer.finish().map_err(EngineError::io(job.pending.path(), "write"))? {
            true => Ok(()),
            false => Err(EngineError::Target {
                path: job.pending.target().to_owned(),
                reason: format!(
                    "it would unpack to more than {MAX_RATIO} times its size, which careful readers refuse; name it .csv"
                ),
            }),
        }
    }
}

/// Writes the bytes of a piece at its place.
pub(crate) fn write_piece(
    job: &Job<'_>,
    position: &Sequencer<Position>,
    number: usize,
    bytes: &[u8],
) -> Result<(), EngineError> {
    let offset = position.in_order(number, |position| {
        position.pack(job, bytes)?;
        position.offset += bytes.len() as u64;
        Ok((!position.is_packed()).then_some(position.offset - bytes.len() as u64))
    })?;
    offset.map_or(Ok(()), |offset| job.write_at(bytes, offset))
}

/// Records in UTF-8 that become bytes of the encoding.
#[derive(Debug, Default)]
pub(crate) struct EncodedRecords {
    bytes: Vec<u8>,
}

impl EncodedRecords {
    /// Replaces records, which end at `ends`, by their bytes in the encoding of the job. The first one is record `first`
    /// of the piece.
    pub(crate) fn replace(
        &mut self,
        (piece, first): (&DecidedPiece<'_>, usize),
        job: &Job<'_>,
        out: &mut Vec<u8>,
        ends: &mut [usize],
    ) -> Result<(), EngineError> {
        if job.encoding.is_utf8() {
            return Ok(());
        }
        self.bytes.clear();
        let mut start = 0;
        for (record, end) in ends.iter_mut().enumerate() {
            // Cells are UTF-8, as reading has checked, and so are labels.
            let text =
                std::str::from_utf8(&out[start..*end]).map_err(|error| EngineError::bad_rewrite(error.to_string()))?;
            if let Err(character) = encode(job.encoding, text, &mut self.bytes) {
                return Err(culprit(job, piece, first + record, character));
            }
            start = *end;
            *end = self.bytes.len();
        }
        std::mem::swap(out, &mut self.bytes);
        Ok(())
    }
}

/// The error of a copied cell that the encoding does not have. Labels were checked before.
fn culprit(job: &Job<'_>, piece: &DecidedPiece<'_>, record: usize, character: char) -> EngineError {
    let mut scratch = Vec::new();
    let has_it = |column: &usize, scratch: &mut Vec<u8>| match piece.records {
        InputRecords::Csv { bytes, fields, quote } => {
            String::from_utf8_lossy(content(fields.raw(bytes, record, *column), quote, scratch)).contains(character)
        }
        InputRecords::Arrow { .. } => {
            let mut text = String::new();
            if let Ok(array) = piece.records.array(*column) {
                crate::arrow::text::write(&array, record, &mut text);
            }
            text.contains(character)
        }
    };
    let column = job.copied.iter().find(|column| has_it(column, &mut scratch)).copied().unwrap_or_default();
    EngineError::NotEncodable {
        column: job.source.columns()[column].clone(),
        label: None,
        record: Some(piece.records_before + record as u64 + 1),
        character,
        encoding: job.encoding.name(),
    }
}

/// Returns an error if the encoding does not have a label or the name of a column.
pub(crate) fn check_labels(job: &Job<'_>, observer: &dyn Observer) -> Result<(), EngineError> {
    if job.encoding.is_utf8() || matches!(job.encoding, Encoding::Utf16 | Encoding::Utf16Le | Encoding::Utf16Be) {
        return Ok(());
    }
    let mut bytes = Vec::new();
    let mut check = |column: &str, text: &str, is_label: bool| {
        bytes.clear();
        encode(job.encoding, text, &mut bytes).map_err(|character| EngineError::NotEncodable {
            column: column.to_owned(),
            label: is_label.then(|| text.to_owned()),
            record: None,
            character,
            encoding: job.encoding.name(),
        })
    };
    for (column, name) in job.plan.columns.iter().zip(&job.plan.names) {
        if observer.stop().is_some() {
            return Err(EngineError::Cancelled);
        }
        check(name, name, false)?;
        if let OutColumn::Label(index) = *column {
            (0..job.plan.num_labels(index)).try_for_each(|label| check(name, job.plan.label(index, label), true))?;
        }
    }
    Ok(())
}

/// The header of a file in the encoding of the job, with its byte order mark.
pub(crate) fn encoded_header(job: &Job<'_>, header: &[u8]) -> Result<Vec<u8>, EngineError> {
    let mut bytes = mark(job.encoding).to_vec();
    encode_checked(job, header, &mut bytes)?;
    Ok(bytes)
}

/// Appends a text that the encoding of the job has, as was checked.
pub(crate) fn encode_checked(job: &Job<'_>, text: &[u8], out: &mut Vec<u8>) -> Result<(), EngineError> {
    let text = std::str::from_utf8(text).map_err(|error| EngineError::bad_rewrite(error.to_string()))?;
    encode(job.encoding, text, out).map_err(|_| EngineError::bad_rewrite("a text was not checked"))
}
