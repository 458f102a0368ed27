//! The messages of an Arrow IPC file or stream, one after another.
//!
//! Guarantee: a message that claims more bytes than the file has, or that unpacks to very much, is an error before its
//! bytes are allocated. All record batches that the footer of a file lists are returned, in its order; a file that stores
//! them in another order is refused.
//!
//! How: a file is a stream between a mark and a footer:
//!
//! ```text
//! file     "ARROW1" 0 0 │ schema │ dictionaries and record batches │ end │ footer, its length │ "ARROW1"
//! stream                │ schema │ dictionaries and record batches │ end
//! message  -1 │ length │ description (flatbuffer) │ body (buffers, each compressed or not)
//! ```
//!
//! Reference: <https://arrow.apache.org/docs/format/Columnar.html>. Cost: one read of the file; a message is in memory.

use std::{
    collections::HashMap,
    io::{Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::{Buffer, MutableBuffer};
use arrow_ipc::{
    Message, MessageHeader, RecordBatch as BatchMessage, convert::try_fb_to_schema, reader, root_as_footer,
    root_as_message,
};
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};

use crate::{
    bytes::{
        file::{FileReader, InputFile},
        packing::{HARMLESS_BYTES, MAX_RATIO, PackingFault},
    },
    error::EngineError,
    parquet::guard::decode_as,
};

/// Name of the format in messages.
const ARROW: &str = "Arrow";
/// Mark at the start and the end of a file.
const MAGIC: &[u8] = b"ARROW1";
/// Mark of the first version of Feather, which is another format.
const FEATHER_1: &[u8] = b"FEA1";
/// Bytes before the first message of a file: the mark, padded.
const FILE_HEAD: u64 = 8;
/// Length of the footer and the mark, at the end of a file.
const FILE_TAIL: u64 = 10;
/// Records without any buffer that a batch may have. A column of nulls needs no bytes.
const BARE_RECORDS: u64 = 1 << 16;

/// Reads the record batches of one file.
pub(crate) struct Batches {
    path: PathBuf,
    file: FileReader,
    /// Offset of the next message.
    at: u64,
    /// Offset after the last message: that of the footer, or the length of a stream.
    end: u64,
    /// Offsets of the record batches that the footer lists; `None` for a stream.
    listed: Option<Vec<u64>>,
    /// Record batches read so far.
    read: usize,
    schema: SchemaRef,
    dictionaries: HashMap<i64, ArrayRef>,
}

impl Batches {
    /// Reads the schema. Columns have no metadata.
    pub(crate) fn open(input: &InputFile) -> Result<Self, EngineError> {
        let path = &input.path;
        let mut file = input.open()?;
        let mut head = Vec::new();
        (&mut file).take(FILE_HEAD).read_to_end(&mut head).map_err(EngineError::io(path, "read"))?;
        if head.is_empty() {
            return Err(EngineError::Empty { path: path.clone() });
        }
        if head.starts_with(FEATHER_1) {
            let message = "it is Feather of version 1, which other formats replaced in 2020: write it again as version 2, \
                           for example with `df.to_feather(..)` of a current pandas";
            return Err(EngineError::Parquet { path: path.clone(), message: message.to_owned() });
        }
        let is_file = head.starts_with(MAGIC);
        let (at, end, listed) = if is_file {
            let (end, listed) = footer(path, &mut file, input.length)?;
            (FILE_HEAD, end, Some(listed))
        } else {
            (0, input.length, None)
        };
        let schema = Schema::empty().into();
        let dictionaries = HashMap::new();
        let mut batches = Self { path: path.clone(), file, at, end, listed, read: 0, schema, dictionaries };
        batches.schema = batches.read_schema()?.into();
        Ok(batches)
    }

    /// Names and types of the columns.
    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Bytes of the file that were read.
    pub(crate) fn bytes_read(&self) -> u64 {
        self.at
    }

    /// The next record batch, with the columns of a projection; `None` after the last.
    pub(crate) fn next(&mut self, projection: &[usize]) -> Result<Option<RecordBatch>, EngineError> {
        loop {
            let offset = self.at;
            let Some((description, body)) = self.next_message()? else {
                let complete = self.listed.as_ref().is_none_or(|listed| listed.len() == self.read);
                return if complete {
                    Ok(None)
                } else {
                    Err(self.damaged("it has fewer record batches than its footer lists"))
                };
            };
            let message = self.parse(&description)?;
            let version = message.version();
            match message.header_type() {
                MessageHeader::RecordBatch => {
                    if self.listed.as_ref().is_some_and(|listed| listed.get(self.read) != Some(&offset)) {
                        return Err(self.damaged("its record batches are not in the order of its footer"));
                    }
                    self.read += 1;
                    let batch =
                        message.header_as_record_batch().ok_or_else(|| self.damaged("a message has no content"))?;
                    self.check_sizes(&batch, &body)?;
                    let (schema, dictionaries) = (SchemaRef::clone(&self.schema), &self.dictionaries);
                    let batch = decode_as(ARROW, &self.path, || {
                        reader::read_record_batch(&body, batch, schema, dictionaries, Some(projection), &version)
                    })?;
                    return Ok(Some(batch));
                }
                MessageHeader::DictionaryBatch => {
                    let dictionary = message.header_as_dictionary_batch();
                    let dictionary = dictionary.ok_or_else(|| self.damaged("a message has no content"))?;
                    let values = dictionary.data().ok_or_else(|| self.damaged("a dictionary has no values"))?;
                    self.check_sizes(&values, &body)?;
                    let (schema, mut dictionaries) =
                        (SchemaRef::clone(&self.schema), std::mem::take(&mut self.dictionaries));
                    decode_as(ARROW, &self.path, || {
                        reader::read_dictionary(&body, dictionary, &schema, &mut dictionaries, &version)
                    })?;
                    self.dictionaries = dictionaries;
                }
                MessageHeader::Schema => return Err(self.damaged("it has a second schema")),
                _ => {}
            }
        }
    }

    fn read_schema(&mut self) -> Result<Schema, EngineError> {
        let Some((description, _)) = self.next_message()? else { return Err(self.damaged("it has no schema")) };
        let message = self.parse(&description)?;
        let schema = message.header_as_schema().ok_or_else(|| self.damaged("it does not begin with a schema"))?;
        if !schema.endianness().equals_to_target_endianness() {
            return Err(self.damaged("its numbers are in another byte order than those of this machine"));
        }
        let schema = decode_as(ARROW, &self.path, || try_fb_to_schema(schema))?;
        // The decoder needs the fields as they are: their types have the ids of the dictionaries.
        Ok(Schema::new(schema.fields().iter().map(|field| Field::clone(field)).collect::<Vec<_>>()))
    }

    fn parse<'d>(&self, description: &'d [u8]) -> Result<Message<'d>, EngineError> {
        root_as_message(description).map_err(|_| self.damaged("a message cannot be read"))
    }

    /// Description and body of the next message; `None` at the end.
    fn next_message(&mut self) -> Result<Option<(Vec<u8>, Buffer)>, EngineError> {
        if self.at == self.end {
            return Ok(None);
        }
        let mut length = self.number()?;
        if length == u32::MAX {
            length = self.number()?;
        }
        if length == 0 {
            return Ok(None);
        }
        let description = self.bytes(u64::from(length))?.to_vec();
        let body = self.parse(&description)?.bodyLength();
        let body = u64::try_from(body).map_err(|_| self.damaged("a message has a negative length"))?;
        Ok(Some((description, self.bytes(body)?)))
    }

    fn number(&mut self) -> Result<u32, EngineError> {
        let bytes = self.bytes(4)?;
        Ok(bytes.iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte)))
    }

    fn bytes(&mut self, length: u64) -> Result<Buffer, EngineError> {
        if length > self.end - self.at {
            return Err(self.damaged("it ends inside a message: it is cut off, or not an Arrow file"));
        }
        let mut bytes = MutableBuffer::from_len_zeroed(length as usize);
        self.file.seek(SeekFrom::Start(self.at)).map_err(EngineError::io(&self.path, "read"))?;
        self.file.read_exact(&mut bytes).map_err(EngineError::io(&self.path, "read"))?;
        self.at += length;
        Ok(bytes.into())
    }

    /// Refuses batches whose buffers unpack to very much, and more records than the buffers can hold.
    fn check_sizes(&self, batch: &BatchMessage<'_>, body: &Buffer) -> Result<(), EngineError> {
        let mut bytes = body.len() as u64;
        if batch.compression().is_some() {
            for buffer in batch.buffers().iter().flatten() {
                let (Ok(offset), Ok(length)) = (usize::try_from(buffer.offset()), usize::try_from(buffer.length()))
                else {
                    return Err(self.damaged("a buffer has a negative length"));
                };
                if length == 0 {
                    continue;
                }
                let prefix = offset.checked_add(8).and_then(|end| body.get(offset..end));
                let Some(prefix) = prefix.and_then(|prefix| <[u8; 8]>::try_from(prefix).ok()) else {
                    return Err(self.damaged("a buffer is outside its message"));
                };
                // -1 is a buffer that is not compressed.
                bytes = bytes.saturating_add(i64::from_le_bytes(prefix).max(0) as u64);
            }
            if bytes > HARMLESS_BYTES && bytes / (body.len() as u64).max(1) > MAX_RATIO {
                return Err(EngineError::Packed { path: self.path.clone(), fault: PackingFault::Bomb });
            }
        }
        match u64::try_from(batch.length()) {
            Ok(records) if records <= BARE_RECORDS.max(bytes.saturating_mul(8)) => Ok(()),
            _ => Err(self.damaged("a record batch claims more records than it has bytes for")),
        }
    }

    fn damaged(&self, detail: &str) -> EngineError {
        EngineError::damaged_as(ARROW, &self.path, detail)
    }
}

/// Reads the footer of a file: its offset, and the offsets of the record batches.
fn footer(path: &Path, file: &mut FileReader, length: u64) -> Result<(u64, Vec<u64>), EngineError> {
    let damaged = |detail: &str| EngineError::damaged_as(ARROW, path, detail);
    let cut_off = || damaged("it has no footer: it is cut off, or was not closed by the program that wrote it");
    let read = |file: &mut FileReader, from: u64, bytes: u64| {
        let mut buffer = vec![0; bytes as usize];
        file.seek(SeekFrom::Start(from)).map_err(EngineError::io(path, "read"))?;
        file.read_exact(&mut buffer).map_err(EngineError::io(path, "read"))?;
        Ok::<_, EngineError>(buffer)
    };
    let tail_at = length.checked_sub(FILE_TAIL).filter(|at| *at >= FILE_HEAD).ok_or_else(cut_off)?;
    let tail = read(file, tail_at, FILE_TAIL)?;
    if !tail.ends_with(MAGIC) {
        return Err(cut_off());
    }
    let bytes = u64::from(u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]));
    let end =
        tail_at.checked_sub(bytes).filter(|at| *at >= FILE_HEAD).ok_or_else(|| damaged("its footer is too long"))?;
    let footer = read(file, end, bytes)?;
    let footer = root_as_footer(&footer).map_err(|_| damaged("its footer cannot be read"))?;
    let blocks = footer.recordBatches().into_iter().flatten();
    let offsets = blocks.map(|block| u64::try_from(block.offset())).collect::<Result<_, _>>();
    Ok((end, offsets.map_err(|_| damaged("its footer has a negative offset"))?))
}

/// An error of the decoder, for conversions of its batches.
pub(crate) fn failed(path: &Path) -> impl FnOnce(ArrowError) -> EngineError {
    EngineError::parquet(path)
}
