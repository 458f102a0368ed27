//! The messages of an Arrow IPC file or stream, one after another.
//!
//! Guarantee: a message that claims more bytes than the file has, or that unpacks to very much, is an error before its
//! bytes are allocated. All record batches that the footer of a file lists are returned, in its order,
//! and the messages together are at most as long as the file.
//!
//! How: a stream is read from its start, a file from its footer, which has the schema and lists the other messages:
//!
//! ```text
//! file     "ARROW1" .. │ schema │ dictionaries, record batches │ end │ footer, its length │ "ARROW1"
//! stream               │ schema │ dictionaries, record batches │ end
//! message  -1 │ length │ description (flatbuffer) │ body (buffers, each compressed or not)
//! ```
//!
//! Reference: <https://arrow.apache.org/docs/format/Columnar.html>. Cost: one read of the file; a message is in memory.

use std::{
    collections::HashMap,
    io::{Read, Seek, SeekFrom},
    path::{Path, PathBuf},
    sync::Arc,
};

use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::{Buffer, MutableBuffer};
use arrow_ipc::{
    Message, MessageHeader, RecordBatch as BatchMessage, convert::try_fb_to_schema, reader, root_as_footer,
    root_as_message,
};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema, SchemaRef};

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
    /// Offset of the next bytes.
    at: u64,
    /// Offset after the last message: that of the footer, or the length of a stream.
    end: u64,
    /// Offsets of the messages that the footer lists and that were not read yet; `None` for a stream.
    listed: Option<std::vec::IntoIter<u64>>,
    /// Bytes read from messages.
    bytes_read: u64,
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
        let (path, end, schema) = (path.clone(), input.length, SchemaRef::new(Schema::empty()));
        let mut batches =
            Self { path, file, at: 0, end, listed: None, bytes_read: 0, schema, dictionaries: HashMap::new() };
        if head.starts_with(MAGIC) {
            batches.read_footer()?;
        } else {
            batches.schema = batches.read_schema()?;
        }
        Ok(batches)
    }

    /// Names and types of the columns.
    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Bytes of the file that were read.
    pub(crate) fn bytes_read(&self) -> u64 {
        self.bytes_read
    }

    /// The next record batch, with the columns of a projection; `None` after the last.
    pub(crate) fn next(&mut self, projection: &[usize]) -> Result<Option<RecordBatch>, EngineError> {
        loop {
            let Some((description, body)) = self.next_message()? else { return Ok(None) };
            let message = self.parse(&description)?;
            let version = message.version();
            match message.header_type() {
                MessageHeader::RecordBatch => {
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

    fn read_schema(&mut self) -> Result<SchemaRef, EngineError> {
        let Some((description, _)) = self.next_message()? else { return Err(self.damaged("it has no schema")) };
        let message = self.parse(&description)?;
        let schema = message.header_as_schema().ok_or_else(|| self.damaged("it does not begin with a schema"))?;
        self.decode_schema(schema)
    }

    fn decode_schema(&self, schema: arrow_ipc::Schema<'_>) -> Result<SchemaRef, EngineError> {
        if !schema.endianness().equals_to_target_endianness() {
            return Err(self.damaged("its numbers are in another byte order than those of this machine"));
        }
        let schema = decode_as(ARROW, &self.path, || try_fb_to_schema(schema))?;
        Ok(Arc::new(Schema::new(schema.fields().iter().map(without_metadata).collect::<Vec<_>>())))
    }

    /// Reads the schema and the offsets of all messages from the footer of a file.
    fn read_footer(&mut self) -> Result<(), EngineError> {
        let no_footer = "it has no footer: it is cut off, or was not closed by the program that wrote it";
        let tail_at = self.end.checked_sub(FILE_TAIL).filter(|at| *at >= FILE_HEAD);
        let tail_at = tail_at.ok_or_else(|| self.damaged(no_footer))?;
        self.at = tail_at;
        let tail = self.bytes(FILE_TAIL)?;
        if !tail.ends_with(MAGIC) {
            return Err(self.damaged(no_footer));
        }
        let length = u64::from(u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]));
        let end = tail_at.checked_sub(length).filter(|at| *at >= FILE_HEAD);
        let end = end.ok_or_else(|| self.damaged("its footer is too long"))?;
        self.at = end;
        let footer = self.bytes(length)?.to_vec();
        let footer = root_as_footer(&footer).map_err(|_| self.damaged("its footer cannot be read"))?;
        let schema = footer.schema().ok_or_else(|| self.damaged("its footer has no schema"))?;
        self.schema = self.decode_schema(schema)?;
        // Dictionaries may be extended in a file, but not replaced, so that all can be read first.
        let blocks = footer.dictionaries().into_iter().flatten().chain(footer.recordBatches().into_iter().flatten());
        let offsets = blocks.map(|block| u64::try_from(block.offset()).ok().filter(|offset| *offset < end));
        let offsets: Option<Vec<u64>> = offsets.collect();
        let offsets = offsets.ok_or_else(|| self.damaged("its footer lists a message outside the file"))?;
        // A small file could stand for a table of any size if its messages could be read again and again.
        let mut distinct = offsets.clone();
        distinct.sort_unstable();
        if distinct.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(self.damaged("its footer lists a message twice"));
        }
        (self.listed, self.end, self.bytes_read) = (Some(offsets.into_iter()), end, 0);
        Ok(())
    }

    fn parse<'d>(&self, description: &'d [u8]) -> Result<Message<'d>, EngineError> {
        root_as_message(description).map_err(|_| self.damaged("a message cannot be read"))
    }

    /// Description and body of the next message; `None` at the end.
    fn next_message(&mut self) -> Result<Option<(Vec<u8>, Buffer)>, EngineError> {
        match &mut self.listed {
            None if self.at == self.end => return Ok(None),
            None => {}
            Some(listed) => match listed.next() {
                Some(offset) => self.at = offset,
                None => return Ok(None),
            },
        }
        let mut length = self.number()?;
        if length == u32::MAX {
            length = self.number()?;
        }
        if length == 0 {
            return if self.listed.is_none() {
                Ok(None)
            } else {
                Err(self.damaged("its footer lists an empty message"))
            };
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
        self.bytes_read += length;
        if self.bytes_read > self.end {
            return Err(self.damaged("its footer lists messages that overlap"));
        }
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

/// A field without metadata at any depth, which a release must not have. It keeps the id of its dictionary.
fn without_metadata(field: &FieldRef) -> FieldRef {
    use DataType::*;
    let data_type = match field.data_type() {
        List(item) => List(without_metadata(item)),
        LargeList(item) => LargeList(without_metadata(item)),
        ListView(item) => ListView(without_metadata(item)),
        LargeListView(item) => LargeListView(without_metadata(item)),
        FixedSizeList(item, length) => FixedSizeList(without_metadata(item), *length),
        Map(item, sorted) => Map(without_metadata(item), *sorted),
        Struct(fields) => Struct(fields.iter().map(without_metadata).collect()),
        other => other.clone(),
    };
    Arc::new(Field::clone(field).with_data_type(data_type).with_metadata(HashMap::new()))
}

/// An error of the decoder, for conversions of its batches.
pub(crate) fn failed(path: &Path) -> impl FnOnce(ArrowError) -> EngineError {
    EngineError::parquet(path)
}
