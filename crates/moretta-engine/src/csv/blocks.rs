//! The bytes of one or more files, cut into blocks of whole records.
//!
//! Guarantee: where the cuts are depends on the files and the block size, never on who asks or when; a block begins and
//! ends outside quotes, and never ends in blank lines unless it ends its file. So the fault of the earliest record is
//! always found in the block with the lowest number, and everything before it has been read right.
//!
//! Structure: the last line break of what was read that has an even number of quotes before it ends the block; the rest
//! is carried over. A block that holds no whole record grows until it does, up to [`MAX_RECORD_BYTES`]. Cost: one read and one
//! count of quotes, under a lock, while the other threads parse.

use std::{fs::File, io::Read, path::PathBuf};

use crate::error::EngineError;

/// No record is longer than this; one that seems to be has an unclosed quote.
pub(crate) const MAX_RECORD_BYTES: usize = 64 << 20;

/// A file to be read from `data_offset` on.
#[derive(Debug, Clone)]
pub(crate) struct DataFile {
    pub(crate) path: PathBuf,
    pub(crate) data_offset: u64,
}

/// Some whole records of one file.
#[derive(Debug, Default)]
pub(crate) struct Block {
    buffer: Vec<u8>,
    length: usize,
    /// The file it is from.
    pub(crate) file: usize,
    /// The number of that file's first block.
    pub(crate) first_of_file: usize,
    /// Where in the file it begins.
    pub(crate) offset: u64,
    /// Whether there is a quote in it.
    pub(crate) has_quotes: bool,
    /// Whether it ends its file.
    pub(crate) ends_file: bool,
    /// Whether it was cut because no end of a record was found in [`MAX_RECORD_BYTES`] bytes.
    pub(crate) too_long: bool,
}

impl Block {
    /// The records.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer[..self.length]
    }
}

/// Hands out blocks in order.
#[derive(Debug)]
pub(crate) struct BlockCutter {
    files: Vec<DataFile>,
    quote: u8,
    block_size: usize,
    /// Whether blank lines at the end of a file are no records.
    skip_blank: bool,
    open: Option<OpenFile>,
    next_file: usize,
    next_block: usize,
}

#[derive(Debug)]
struct OpenFile {
    file: File,
    carry: Vec<u8>,
    offset: u64,
    first_block: usize,
}

impl BlockCutter {
    /// BlockCutter of about `block_size` bytes of these files.
    pub(crate) fn new(files: Vec<DataFile>, quote: u8, block_size: usize, width: usize) -> Self {
        let skip_blank = width > 1;
        Self { files, quote, block_size: block_size.max(1), skip_blank, open: None, next_file: 0, next_block: 0 }
    }

    /// The number the next block will have.
    pub(crate) fn next_block(&self) -> usize {
        self.next_block
    }

    /// Fills `block` with the next block; its number, or `None` after the last.
    pub(crate) fn next(&mut self, block: &mut Block) -> Result<Option<usize>, EngineError> {
        loop {
            let Some(mut open) = self.next_open_file()? else {
                return Ok(None);
            };
            let path = &self.files[self.next_file - 1].path;
            let (end, filled, at_end) = fill(&mut open, block, self.block_size, self.quote, self.skip_blank)
                .map_err(EngineError::io(path, "read"))?;
            block.file = self.next_file - 1;
            block.first_of_file = open.first_block;
            block.offset = open.offset;
            block.length = end;
            block.ends_file = at_end;
            open.offset += end as u64;
            open.carry.extend_from_slice(&block.buffer[end..filled]);
            if !at_end && !block.too_long {
                self.open = Some(open);
            }
            if end > 0 {
                self.next_block += 1;
                return Ok(Some(self.next_block - 1));
            }
        }
    }

    fn next_open_file(&mut self) -> Result<Option<OpenFile>, EngineError> {
        use std::io::Seek;
        if let Some(open) = self.open.take() {
            return Ok(Some(open));
        }
        let Some(DataFile { path, data_offset }) = self.files.get(self.next_file) else {
            return Ok(None);
        };
        let mut file = File::open(path).map_err(EngineError::io(path, "open"))?;
        file.seek(std::io::SeekFrom::Start(*data_offset)).map_err(EngineError::io(path, "read"))?;
        self.next_file += 1;
        Ok(Some(OpenFile { file, carry: Vec::new(), offset: *data_offset, first_block: self.next_block }))
    }
}

/// Fills the block's buffer until a whole record is in it: where to cut, how much is filled, whether the file ended.
fn fill(
    open: &mut OpenFile,
    block: &mut Block,
    size: usize,
    quote: u8,
    skip_blank: bool,
) -> std::io::Result<(usize, usize, bool)> {
    let mut filled = open.carry.len();
    let mut target = size.max(filled);
    reserve(&mut block.buffer, target);
    block.buffer[..filled].copy_from_slice(&open.carry);
    open.carry.clear();
    block.too_long = false;
    loop {
        let at_end = loop {
            if filled == target {
                break false;
            }
            match open.file.read(&mut block.buffer[filled..target]) {
                Ok(0) => break true,
                Ok(read) => filled += read,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        };
        let bytes = &block.buffer[..filled];
        let quotes = memchr::memchr_iter(quote, bytes).count();
        block.has_quotes = quotes > 0;
        if at_end {
            return Ok((filled, filled, true));
        }
        if let Some(end) = cut(bytes, quote, quotes, skip_blank) {
            return Ok((end, filled, false));
        }
        if target >= MAX_RECORD_BYTES {
            block.too_long = true;
            return Ok((filled, filled, false));
        }
        target = (target * 2).min(MAX_RECORD_BYTES);
        reserve(&mut block.buffer, target);
    }
}

/// Buffers are never cut back, so that only a buffer that grows has to be cleared.
fn reserve(buffer: &mut Vec<u8>, length: usize) {
    if buffer.len() < length {
        buffer.resize(length, 0);
    }
}

/// The position after the last line break outside quotes, without the blank lines before it.
fn cut(bytes: &[u8], quote: u8, quotes: usize, skip_blank: bool) -> Option<usize> {
    let mut odd = quotes % 2 == 1;
    let mut end = bytes.len();
    while let Some(at) = memchr::memrchr(b'\n', &bytes[..end]) {
        if quotes > 0 {
            odd ^= memchr::memchr_iter(quote, &bytes[at..end]).count() % 2 == 1;
        }
        if !odd {
            let cut = if skip_blank { without_blank_lines(bytes, at + 1) } else { at + 1 };
            return Some(cut).filter(|&cut| cut > 0);
        }
        end = at;
    }
    None
}

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

    fn blocks(text: &[u8], size: usize, width: usize) -> Vec<Vec<u8>> {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("a.csv");
        std::fs::write(&path, text).expect("write");
        let mut blocks = BlockCutter::new(vec![DataFile { path, data_offset: 0 }], b'"', size, width);
        let (mut block, mut all) = (Block::default(), Vec::new());
        while let Some(number) = blocks.next(&mut block).expect("read") {
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
    fn blank_lines_are_held_back() {
        for size in 1..20 {
            let all = blocks(b"a,b\n\n\r\n\nc,d\n\n\n", size, 2);
            for block in &all[..all.len() - 1] {
                assert!(block.ends_with(b"b\n") || block.ends_with(b"d\n"), "{block:?}");
            }
        }
        assert_eq!(blocks(b"a\n\n\nb\n", 2, 1).len(), 3);
    }

    #[test]
    fn a_quote_that_is_never_closed_ends_in_a_last_block() {
        let all = blocks(b"a,b\nc,\"d\ne,f\n", 4, 2);
        assert_eq!(all, [b"a,b\n".to_vec(), b"c,\"d\ne,f\n".to_vec()]);
    }
}
