//! CSV files as a [`Scan`]: pieces are blocks of whole records.
//!
//! Guarantee: a piece that is passed on has no malformed record, unless only the first records are requested and the
//! malformed one is after them. Cost: see [`super::blocks`] and [`super::parse`]; the line number of a malformed record
//! is found by reading its file again.

use std::{
    io::Read,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use super::{
    CsvOptions, Dialect,
    blocks::{Block, BlockCutter, DataFile, MAX_RECORD_BYTES},
    header,
    parse::{BlockShape, FieldOffsets, LocatedFault},
};
use crate::{
    bytes::{encoding::TextEncoding, file::InputFile, packing::Packing, text::TextFile},
    error::{EngineError, Fault},
    ordered_pool::{PieceFailure, lock},
    records::InputRecords,
    scan::{OnBatch, PieceMode, PieceReader, Scan, ScanRequest},
    source::column_difference,
};

/// Maximum bytes of a block when only the first records are requested, so that little is read in vain. Not tuned.
const SAMPLE_BLOCK: usize = 1 << 18;

/// CSV files with the same header.
#[derive(Debug)]
pub(crate) struct CsvScan {
    columns: Vec<String>,
    /// Numbers (from 1) of the columns that had the name of an earlier one.
    renamed: Vec<usize>,
    files: Vec<DataFile>,
    dialect: Dialect,
    /// Options of the files, with the delimiter that was found.
    options: CsvOptions,
    /// Total size of the records as UTF-8, estimated for packed files until all have been read once.
    bytes: AtomicU64,
    looks_like_utf8: bool,
}

impl CsvScan {
    /// Reads the headers of all files, which must be equal. The delimiter of the first file applies to all.
    pub(crate) fn open(files: &[InputFile], options: &CsvOptions) -> Result<Box<dyn Scan>, EngineError> {
        let text = TextFile::open(&files[0], options.encoding)?;
        let looks_like_utf8 = text.looks_like_utf8()?;
        let encoding = options.encoding.or(text.declared());
        let first = header::read(&text, options)?;
        let options = CsvOptions { delimiter: Some(first.dialect.delimiter), ..options.clone() };
        let mut data = vec![DataFile { text, data_offset: first.data_offset }];
        for file in &files[1..] {
            let text = TextFile::open(file, options.encoding)?;
            let other = header::read(&text, &options)?;
            if let Some(detail) = column_difference(&first.columns, &other.columns) {
                let (path, first) = (file.path.clone(), files[0].path.clone());
                return Err(EngineError::HeaderDiffers { path, first, detail });
            }
            data.push(DataFile { text, data_offset: other.data_offset });
        }
        let options = CsvOptions { encoding, ..options };
        let bytes = data.iter().map(|file| text_bytes(&file.text)).sum();
        Ok(Box::new(Self {
            columns: first.columns,
            renamed: first.renamed,
            files: data,
            dialect: first.dialect,
            options,
            bytes: AtomicU64::new(bytes),
            looks_like_utf8,
        }))
    }
}

impl Scan for CsvScan {
    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn csv_options(&self) -> Option<CsvOptions> {
        Some(self.options.clone())
    }

    fn renamed(&self) -> &[usize] {
        &self.renamed
    }

    fn looks_like_utf8(&self) -> bool {
        self.looks_like_utf8
    }

    fn size(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    fn text_bytes(&self, _columns: usize) -> u64 {
        self.size()
    }

    fn open_readers<'a>(&'a self, request: &ScanRequest<'_>) -> Result<Vec<Box<dyn PieceReader + 'a>>, EngineError> {
        let block_size = request.options.block_size;
        let (block_size, records_left) = match request.mode {
            PieceMode::First(records) => (block_size.min(SAMPLE_BLOCK), Some(records)),
            PieceMode::Any | PieceMode::Whole => (block_size, None),
        };
        let blocks = BlockCutter::new(self.files.clone(), self.dialect.quote, block_size, self.columns.len());
        let blocks = Arc::new(Mutex::new(blocks));
        let reader = |_| {
            let blocks = Arc::clone(&blocks);
            Box::new(BlockReader {
                scan: self,
                blocks,
                block: Block::default(),
                fields: FieldOffsets::default(),
                records_left,
            }) as Box<dyn PieceReader>
        };
        Ok((0..request.options.threads).map(reader).collect())
    }
}

/// Reader of one thread; all readers of a scan share the block cutter.
struct BlockReader<'a> {
    scan: &'a CsvScan,
    blocks: Arc<Mutex<BlockCutter>>,
    block: Block,
    fields: FieldOffsets,
    /// Number of records still requested; `None` if all are.
    records_left: Option<usize>,
}

impl PieceReader for BlockReader<'_> {
    fn take(&mut self) -> Result<Option<usize>, PieceFailure<EngineError>> {
        let mut blocks = lock(&self.blocks);
        let number = blocks.next_block();
        let next = blocks.next(&mut self.block).map_err(|error| (number, error))?;
        if next.is_none() && self.records_left.is_none() {
            self.scan.bytes.store(blocks.cut_bytes(), Ordering::Relaxed);
        }
        Ok(next)
    }

    fn read(&mut self, on_batch: &mut OnBatch<'_>) -> Result<(), EngineError> {
        let BlockReader { scan, block, fields, records_left, .. } = self;
        let shape = BlockShape {
            width: scan.columns.len(),
            dialect: scan.dialect,
            has_quotes: block.has_quotes,
            ends_file: block.ends_file,
            too_long: block.too_long.then_some(MAX_RECORD_BYTES),
            release: scan.options.release,
        };
        let parsed = fields.parse(block.bytes(), shape);
        let sample_complete = records_left.is_some_and(|left| left <= fields.num_records());
        if let Err(LocatedFault { record, offset, fault }) = parsed
            && !sample_complete
        {
            let text = &scan.files[block.file].text;
            let line = if records_left.is_none() { line_at(text, block.offset + offset as u64) } else { None };
            let fault = if fault == Fault::NotUtf8 { Fault::Encoding(text.bad_bytes()) } else { fault };
            let path = text.file.path.clone();
            return Err(EngineError::Record { path, record: record as u64 + 1, line, fault });
        }
        *records_left = records_left.map(|left| left.saturating_sub(fields.num_records()));
        let records = InputRecords::Csv { bytes: block.bytes(), fields, quote: scan.dialect.quote };
        on_batch(records, block.bytes().len() as u64)
    }

    fn first_of_file(&self) -> usize {
        self.block.first_of_file
    }
}

/// Bytes of the text of a file, estimated unless it is plain UTF-8.
fn text_bytes(text: &TextFile) -> u64 {
    /// Usual ratio of compression of tables of people; affects the number of buckets and estimates of memory only.
    const RATIO: u64 = 8;
    let TextFile { file, encoding } = text;
    let bytes = if file.packing == Packing::None { file.length } else { file.length.saturating_mul(RATIO) };
    if matches!(encoding, TextEncoding::Utf16Le | TextEncoding::Utf16Be) { bytes / 2 } else { bytes }
}

/// Number of the line (from 1) that holds a byte of the text; `None` if the file cannot be read.
fn line_at(text: &TextFile, offset: u64) -> Option<u64> {
    let mut rest = text.read_from(0).ok()?.take(offset);
    let mut buffer = vec![0; 1 << 16];
    let mut lines = 1;
    loop {
        match rest.read(&mut buffer).ok()? {
            0 => return Some(lines),
            read => lines += memchr::memchr_iter(b'\n', &buffer[..read]).count() as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use moretta_core::observer::NoObserver;

    use crate::{CsvOptions, LocalEngine, Source};

    #[test]
    fn the_size_of_a_packed_file_is_known_once_it_was_read() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("t.csv.gz");
        let records = "1,2\n".repeat(20_000);
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        packer.write_all(format!("a,b\n{records}").as_bytes()).expect("pack");
        std::fs::write(&path, packer.finish().expect("pack")).expect("write");
        let source = Source::open(&path.to_string_lossy(), &CsvOptions::default()).expect("source");
        let engine = LocalEngine::new(source);
        engine.first_records(5).expect("sample");
        assert!(engine.source().scan().size() < 8_000, "estimated");
        engine.group_and_count(&["a".to_owned()], &NoObserver).expect("counts");
        assert_eq!(engine.source().scan().size(), records.len() as u64);
    }
}
