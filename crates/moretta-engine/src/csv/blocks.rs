//! Cuts the bytes of CSV files into blocks of whole records.
//!
//! Guarantee: the cuts depend on the files and the block size only, not on threads. A block begins and ends outside
//! quotes, with two exceptions: the last block of a file with an unclosed quote, and a block that ends within a record
//! of more than [`MAX_RECORD_BYTES`]. In tables of several columns, only the last block of a file ends with blank
//! lines. Therefore a block can be parsed without the others, and the first malformed record of the input is in the
//! lowest-numbered block with a malformed record.
//!
//! How: a block ends after the last line break that has an even number of quotes before it; the bytes after it are
//! carried over to the next block. A block without such a line break grows until it has one, up to
//! [`MAX_RECORD_BYTES`].
//!
//! ```text
//! bytes read       Ada,36⏎ "Alan, M.",41⏎ "Grace B⏎
//! quotes before          0              2         3
//! block            ├────────────────────┤ carried over
//! ```
//!
//! Cost: one read and one count of quotes per block, under a lock, while other threads parse.

use std::{
    fmt,
    io::{self, Read},
};

use crate::{bytes::text::TextFile, error::EngineError};

/// Maximum length of a record: 64 MiB. A longer one most likely has an unclosed quote and extends to the end of
/// the file.
pub(crate) const MAX_RECORD_BYTES: usize = 64 << 20;

/// CSV file whose first record, after the header, begins at byte `data_offset` of its UTF-8.
#[derive(Debug, Clone)]
pub(crate) struct DataFile {
    pub(crate) text: TextFile,
    pub(crate) data_offset: u64,
}

/// Block of whole records of one file.
#[derive(Debug, Default)]
pub(crate) struct Block {
    buffer: Vec<u8>,
    /// Bytes of `buffer` that belong to the block.
    length: usize,
    /// Index of the file.
    pub(crate) file: usize,
    /// Number of the first block of its file.
    pub(crate) first_of_file: usize,
    /// Offset of the block in the UTF-8 of its file, in bytes.
    pub(crate) offset: u64,
    /// Whether the block, or the bytes read with it but carried over to the next block, contain a quote.
    pub(crate) has_quotes: bool,
    /// Whether the block ends its file.
    pub(crate) ends_file: bool,
    /// Whether the block was cut inside a record, which is longer than [`MAX_RECORD_BYTES`].
    pub(crate) too_long: bool,
}

impl Block {
    /// Bytes of the records, line breaks included.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer[..self.length]
    }
}

/// Reads files one by one and cuts them into numbered blocks.
#[derive(Debug)]
pub(crate) struct BlockCutter {
    files: Vec<DataFile>,
    quote: u8,
    block_size: usize,
    /// Whether blank lines before a cut are carried over to the next block, because they are ignored only at the end of
    /// a file. Not in a table of one column, where a blank line is a record.
    carry_blank: bool,
    open: Option<OpenFile>,
    next_file: usize,
    next_block: usize,
    /// Bytes of all blocks so far.
    cut_bytes: u64,
}

/// File that is being cut.
struct OpenFile {
    text: Box<dyn Read + Send>,
    /// Bytes already read that lie after the last cut; the next block begins with them.
    carry: Vec<u8>,
    /// Offset of `carry` in the UTF-8 of the file, in bytes.
    offset: u64,
    first_block: usize,
}

impl fmt::Debug for OpenFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenFile").field("offset", &self.offset).finish_non_exhaustive()
    }
}

impl BlockCutter {
    /// Cuts files of `width` columns into blocks of about `block_size` bytes.
    pub(crate) fn new(files: Vec<DataFile>, quote: u8, block_size: usize, width: usize) -> Self {
        let carry_blank = width > 1;
        let block_size = block_size.max(1);
        Self { files, quote, block_size, carry_blank, open: None, next_file: 0, next_block: 0, cut_bytes: 0 }
    }

    /// Bytes of all blocks so far, as UTF-8.
    pub(crate) fn cut_bytes(&self) -> u64 {
        self.cut_bytes
    }

    /// Number of the next block.
    pub(crate) fn next_block(&self) -> usize {
        self.next_block
    }

    /// Fills `block` with the next block and returns its number; `None` after the last block.
    pub(crate) fn next(&mut self, block: &mut Block) -> Result<Option<usize>, EngineError> {
        loop {
            let Some(mut open) = self.next_open_file()? else { return Ok(None) };
            let path = &self.files[self.next_file - 1].text.file.path;
            let Filled { cut, filled, at_end } = fill(&mut open, block, self.block_size, self.quote, self.carry_blank)
                .map_err(EngineError::reading(path))?;
            block.file = self.next_file - 1;
            block.first_of_file = open.first_block;
            block.offset = open.offset;
            block.length = cut;
            block.ends_file = at_end;
            open.offset += cut as u64;
            self.cut_bytes += cut as u64;
            open.carry.extend_from_slice(&block.buffer[cut..filled]);
            if !at_end && !block.too_long {
                self.open = Some(open);
            }
            if cut > 0 {
                self.next_block += 1;
                return Ok(Some(self.next_block - 1));
            }
        }
    }

    /// The file that is being cut, or the next one, opened; `None` after the last file.
    fn next_open_file(&mut self) -> Result<Option<OpenFile>, EngineError> {
        if let Some(open) = self.open.take() {
            return Ok(Some(open));
        }
        let Some(DataFile { text, data_offset }) = self.files.get(self.next_file) else { return Ok(None) };
        let text = text.read_from(*data_offset)?;
        self.next_file += 1;
        Ok(Some(OpenFile { text, carry: Vec::new(), offset: *data_offset, first_block: self.next_block }))
    }
}

/// State of a block's buffer after reading.
struct Filled {
    /// Length of the block; the bytes from here to `filled` belong to the next block.
    cut: usize,
    /// Number of bytes in the buffer.
    filled: usize,
    /// Whether the file has ended.
    at_end: bool,
}

/// Fills the block's buffer to at least `size` bytes and until it has a cut, or the file ends, or a record is too long.
fn fill(open: &mut OpenFile, block: &mut Block, size: usize, quote: u8, carry_blank: bool) -> io::Result<Filled> {
    let mut filled = open.carry.len();
    let mut target = size.max(filled);
    grow_to(&mut block.buffer, target);
    block.buffer[..filled].copy_from_slice(&open.carry);
    open.carry.clear();
    block.too_long = false;
    loop {
        let at_end = loop {
            if filled == target {
                break false;
            }
            match open.text.read(&mut block.buffer[filled..target]) {
                Ok(0) => break true,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        };
        let bytes = &block.buffer[..filled];
        let quotes = memchr::memchr_iter(quote, bytes).count();
        block.has_quotes = quotes > 0;
        if at_end {
            return Ok(Filled { cut: filled, filled, at_end });
        }
        if let Some(cut) = last_cut(bytes, quote, quotes, carry_blank) {
            return Ok(Filled { cut, filled, at_end });
        }
        if target >= MAX_RECORD_BYTES {
            block.too_long = true;
            return Ok(Filled { cut: filled, filled, at_end });
        }
        target = (target * 2).min(MAX_RECORD_BYTES);
        grow_to(&mut block.buffer, target);
    }
}

/// Grows a buffer to `length`. Buffers never shrink, so that only new bytes have to be set to zero.
fn grow_to(buffer: &mut Vec<u8>, length: usize) {
    if buffer.len() < length {
        buffer.resize(length, 0);
    }
}

/// Returns the offset after the last line break outside quotes or, if `carry_blank`, the offset of the blank lines that
/// end there. `None` if there is no such line break, or nothing but blank lines before it. `quotes` is the number of
/// quotes in `bytes`.
fn last_cut(bytes: &[u8], quote: u8, quotes: usize, carry_blank: bool) -> Option<usize> {
    // Whether the number of quotes before `end` is odd.
    let mut odd = quotes % 2 == 1;
    let mut end = bytes.len();
    while let Some(line_break) = memchr::memrchr(b'\n', &bytes[..end]) {
        if quotes > 0 {
            odd ^= memchr::memchr_iter(quote, &bytes[line_break..end]).count() % 2 == 1;
        }
        if !odd {
            let cut = if carry_blank { without_blank_lines(bytes, line_break + 1) } else { line_break + 1 };
            return Some(cut).filter(|&cut| cut > 0);
        }
        end = line_break;
    }
    None
}

/// Moves a cut, which is at the start of a line, before all blank lines that precede it.
fn without_blank_lines(bytes: &[u8], mut cut: usize) -> usize {
    while cut > 0 {
        let mut line = cut - 1;
        if line > 0 && bytes[line - 1] == b'\r' {
            line -= 1;
        }
        if line > 0 && bytes[line - 1] != b'\n' {
            break;
        }
        cut = line;
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::{file::InputFile, packing::Packing};

    fn blocks(text: &[u8], size: usize, width: usize) -> Vec<Vec<u8>> {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("a.csv");
        std::fs::write(&path, text).expect("write");
        let file = InputFile::new(&path, Packing::None, None).expect("file");
        let file = DataFile { text: TextFile::open(&file, None).expect("text"), data_offset: 0 };
        let mut cutter = BlockCutter::new(vec![file], b'"', size, width);
        let (mut block, mut all) = (Block::default(), Vec::new());
        while let Some(number) = cutter.next(&mut block).expect("read") {
            assert_eq!(number, all.len());
            all.push(block.bytes().to_vec());
        }
        assert_eq!(all.concat(), text);
        all
    }

    #[test]
    fn cuts_are_outside_quotes() {
        let text = b"aa,bb\n\"c\nc\",\"\"\"\n\"\r\nd,e\n";
        for size in 1..40 {
            for block in blocks(text, size, 2) {
                assert_eq!(block.iter().filter(|&&byte| byte == b'"').count() % 2, 0);
                assert!(block.ends_with(b"\n"));
            }
        }
        assert_eq!(blocks(text, 3, 2).len(), 2);
    }

    #[test]
    fn blank_lines_are_carried_over() {
        for size in 1..20 {
            let all = blocks(b"a,b\n\n\r\n\nc,d\n\n\n", size, 2);
            for block in &all[..all.len() - 1] {
                assert!(block.ends_with(b"b\n") || block.ends_with(b"d\n"), "{block:?}");
            }
        }
        assert_eq!(blocks(b"a\n\n\nb\n", 2, 1).len(), 3);
    }

    #[test]
    fn from_an_unclosed_quote_on_the_rest_of_the_file_is_one_block() {
        let all = blocks(b"a,b\nc,\"d\ne,f\n", 4, 2);
        assert_eq!(all, [b"a,b\n".to_vec(), b"c,\"d\ne,f\n".to_vec()]);
    }
}
