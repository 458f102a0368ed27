//! Checks the page headers of a column chunk before its pages are read.
//!
//! Guarantee: the sizes that the headers of a checked chunk claim are possible, so that memory allocated for a page is
//! bounded by the bytes of the file: a compressed page lies inside its chunk, its uncompressed size is one that the
//! codec can reach, a dictionary has no more values than bytes, and data pages have no more values than their chunk.
//! The decoder would allocate what a damaged header says.
//!
//! How: the headers are Thrift structs in the compact protocol; each is followed by the bytes of its page. Only the
//! fields that are checked are kept.
//!
//! Cost: one short read per page.

use std::{
    fs::File,
    io::{BufReader, Read, Seek, SeekFrom},
};

use parquet::{basic::Compression, file::metadata::ColumnChunkMetaData};

/// Maximum nesting of structs in a header; the format has 3.
const MAX_DEPTH: usize = 8;
/// Bytes read at a time. Headers have some 20 to 200 bytes.
const BUFFER_BYTES: usize = 512;

/// Fields of a page header.
#[derive(Debug, Default, PartialEq, Eq)]
struct PageHeader {
    page_type: i64,
    uncompressed: i64,
    compressed: i64,
    /// Values of a dictionary or data page; the largest number if there are several headers of either.
    values: i64,
}

/// `page_type` of a dictionary page.
const DICTIONARY_PAGE: i64 = 2;
/// `page_type` of an index page, which has no values.
const INDEX_PAGE: i64 = 1;

/// Whether all page headers of a column chunk are readable and their sizes possible. The chunk lies inside the file.
pub(crate) fn are_possible(file: &File, chunk: &ColumnChunkMetaData) -> bool {
    let (start, length) = chunk.byte_range();
    let mut reader = BufReader::with_capacity(BUFFER_BYTES, file);
    let (mut offset, end) = (start, start + length);
    let mut values_left = chunk.num_values();
    // Readers stop after the last value, so that bytes after it do not matter.
    while values_left > 0 {
        if reader.seek(SeekFrom::Start(offset)).is_err() {
            return false;
        }
        let mut input = ThriftReader { bytes: (&mut reader).take(end - offset) };
        let Some(header) = input.page_header() else { return false };
        offset = end - input.bytes.limit();
        let max_bytes = max_uncompressed(chunk.compression(), &header);
        // The decoder does not use the claimed size of a page that is not compressed, so it may be anything.
        let is_possible = header.uncompressed <= max_bytes || chunk.compression() == Compression::UNCOMPRESSED;
        let fits = header.compressed as u64 <= end - offset && is_possible;
        let max_values = header.uncompressed.min(max_bytes);
        let possible_values = if header.page_type == DICTIONARY_PAGE { max_values } else { values_left };
        if !fits || header.values > possible_values {
            return false;
        }
        offset += header.compressed as u64;
        if header.page_type != DICTIONARY_PAGE && header.page_type != INDEX_PAGE {
            values_left -= header.values;
        }
    }
    true
}

/// Maximum bytes that a page can have after decompression, by the format of its codec.
fn max_uncompressed(codec: Compression, header: &PageHeader) -> i64 {
    /// For short pages, whose ratio is that of their frame.
    const SLACK: i64 = 1 << 10;
    let ratio = match codec {
        Compression::UNCOMPRESSED => return header.compressed,
        // A copy of up to 64 bytes takes 3 bytes.
        Compression::SNAPPY => 22,
        // A byte extends a match by 255 bytes.
        Compression::LZ4 | Compression::LZ4_RAW => 256,
        // A block of up to 128 KiB takes 4 bytes in Zstandard; others are below.
        _ => 1 << 15,
    };
    header.compressed.saturating_mul(ratio).saturating_add(SLACK)
}

/// Reads Thrift's compact protocol. Methods return `None` at the end of the chunk and for malformed input.
struct ThriftReader<R> {
    bytes: std::io::Take<R>,
}

impl<R: Read> ThriftReader<R> {
    fn page_header(&mut self) -> Option<PageHeader> {
        let mut header = PageHeader { values: -1, ..PageHeader::default() };
        let mut id = 0;
        while let Some(kind) = self.field(&mut id)? {
            match (id, kind) {
                (1, 5) => header.page_type = self.zigzag()?,
                (2, 5) => header.uncompressed = self.zigzag()?,
                (3, 5) => header.compressed = self.zigzag()?,
                // Headers of a data page, a dictionary page and a data page of version 2.
                (5 | 7 | 8, 12) => {
                    let mut inner = 0;
                    while let Some(kind) = self.field(&mut inner)? {
                        match (inner, kind) {
                            // A damaged page may have headers of several kinds, and the decoder chooses one.
                            (1, 5) => header.values = header.values.max(self.zigzag()?),
                            _ => self.skip(kind, 1)?,
                        }
                    }
                }
                _ => self.skip(kind, 0)?,
            }
        }
        let has_values = header.values >= 0 || header.page_type == INDEX_PAGE;
        (has_values && header.uncompressed >= 0 && header.compressed >= 0).then_some(header)
    }

    /// Reads the start of the next field: sets its number and returns its type; `Some(None)` at the end of the struct.
    fn field(&mut self, id: &mut i64) -> Option<Option<u8>> {
        let byte = self.byte()?;
        if byte == 0 {
            return Some(None);
        }
        *id = match byte >> 4 {
            0 => self.zigzag()?,
            difference => *id + i64::from(difference),
        };
        Some(Some(byte & 0x0F))
    }

    fn byte(&mut self) -> Option<u8> {
        let mut byte = [0];
        self.bytes.read_exact(&mut byte).ok()?;
        Some(byte[0])
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    fn zigzag(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    fn skip_bytes(&mut self, count: u64) -> Option<()> {
        let skipped = std::io::copy(&mut self.bytes.by_ref().take(count), &mut std::io::sink()).ok()?;
        (skipped == count).then_some(())
    }

    /// Skips a value of a type. Elements of a collection are skipped one by one, each of at least a byte.
    fn skip(&mut self, kind: u8, depth: usize) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        match kind {
            // Booleans of a field are part of its type.
            1 | 2 => Some(()),
            3 => self.skip_bytes(1),
            4..=6 => self.varint().map(|_| ()),
            7 => self.skip_bytes(8),
            8 => {
                let length = self.varint()?;
                self.skip_bytes(length)
            }
            9 | 10 => {
                let byte = self.byte()?;
                let count = if byte >> 4 == 15 { self.varint()? } else { u64::from(byte >> 4) };
                // Booleans of a list take a byte each.
                let kind = if byte & 0x0F <= 2 { 3 } else { byte & 0x0F };
                (0..count).try_for_each(|_| self.skip(kind, depth + 1))
            }
            12 => {
                let mut id = 0;
                while let Some(kind) = self.field(&mut id)? {
                    self.skip(kind, depth + 1)?;
                }
                Some(())
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Option<PageHeader> {
        ThriftReader { bytes: bytes.take(bytes.len() as u64) }.page_header()
    }

    #[test]
    fn headers_of_all_kinds_of_pages() {
        // Type 0, 1,000 bytes, 100 bytes, then a data page header: 50 values, an encoding, statistics with a binary.
        let data =
            [0x15, 0, 0x15, 0xD0, 0x0F, 0x15, 0xC8, 0x01, 0x2C, 0x15, 0x64, 0x15, 0, 0x3C, 0x18, 2, 9, 9, 0, 0, 0];
        let expected = PageHeader { page_type: 0, uncompressed: 1_000, compressed: 100, values: 50 };
        assert_eq!(read(&data), Some(expected));
        for length in 0..data.len() {
            assert_eq!(read(&data[..length]), None);
        }
        // A dictionary page: 3 values; a list of booleans, and a field number that is not a difference.
        let dictionary = [0x15, 4, 0x15, 8, 0x15, 8, 0x4C, 0x15, 6, 0, 0x19, 0x21, 1, 2, 0x05, 0xC8, 0x01, 0, 0];
        let expected = PageHeader { page_type: 2, uncompressed: 4, compressed: 4, values: 3 };
        assert_eq!(read(&dictionary), Some(expected));
        // A dictionary page with two headers: the larger number counts, whatever their order.
        for [first, second] in [[6, 100], [100, 6]] {
            let two = [0x15, 4, 0x15, 8, 0x15, 8, 0x4C, 0x15, first, 0, 0x1C, 0x15, second, 0, 0];
            assert_eq!(read(&two).map(|header| header.values), Some(50));
        }
        // A negative size; structs nested too deep.
        assert_eq!(read(&[0x15, 0, 0x15, 1, 0x15, 8, 0x2C, 0x15, 2, 0, 0]), None);
        assert_eq!(read(&[0x1C; 100]), None);
    }

    /// Whatever an uncompressed page claims, it has no more bytes than it takes in the file.
    #[test]
    fn a_page_that_is_not_compressed_does_not_grow() {
        let header = PageHeader { page_type: 2, uncompressed: 2_000_000_000, compressed: 8, values: 2_000_000_000 };
        assert_eq!(max_uncompressed(Compression::UNCOMPRESSED, &header), 8);
        assert_eq!(max_uncompressed(Compression::SNAPPY, &header), 8 * 22 + 1024);
    }
}
