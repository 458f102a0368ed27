//! Compressed files: gzip (RFC 1952) of one or several members, and Zstandard (RFC 8878) of one or several frames.
//!
//! Guarantee: a read returns the bytes that were packed or an error that says what is wrong: a file that ends early or is
//! damaged, bytes after the packed data, and a file that unpacks to more than [`MAX_RATIO`] times its size, which is most
//! likely made to exhaust a machine. A written file depends on the bytes only, not on the parts in which they were written.
//!
//! How: [`Packing::unpack`] wraps a reader in a decoder and [`GuardedReader`]; [`Packer`] collects parts of
//! [`PART_BYTES`] for an encoder. Cost: of the decoder, on one thread; a window of a Zstandard frame, which `memory` limits.

use std::{
    fs::File,
    io::{self, BufReader, Read, Write},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use flate2::{Compression, bufread::MultiGzDecoder, write::GzEncoder};

/// How the bytes of a file are packed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Packing {
    /// Not at all.
    #[default]
    None,
    /// gzip: extension `.gz`.
    Gzip,
    /// Zstandard: extension `.zst`.
    Zstd,
}

/// Kind of packed file.
#[derive(Debug)]
pub struct PackingEntry {
    /// Compression of such files.
    pub packing: Packing,
    /// Name of the compression.
    pub name: &'static str,
    /// Extension after that of the format, without dot.
    pub extension: &'static str,
    /// First bytes of such a file.
    pub(crate) magic: &'static [u8],
}

/// All kinds of packed files.
pub static PACKINGS: [PackingEntry; 2] = [
    PackingEntry { packing: Packing::Gzip, name: "gzip", extension: "gz", magic: b"\x1f\x8b" },
    PackingEntry { packing: Packing::Zstd, name: "Zstandard", extension: "zst", magic: b"\x28\xb5\x2f\xfd" },
];

/// Maximum ratio of unpacked to packed bytes. gzip reaches 1032, and tables of few distinct rows about 100.
pub(crate) const MAX_RATIO: u64 = 200;
/// Unpacked bytes up to which the ratio is not checked: that much harms no machine, and small files may have a high ratio.
pub(crate) const HARMLESS_BYTES: u64 = 64 << 20;
/// Base-2 logarithm of the largest window of a Zstandard frame: that of `zstd --long`, 128 MiB.
const MAX_WINDOW_LOG: u32 = 27;
/// Base-2 logarithm of the window that every reader has to support (RFC 8878, section 3.1.1.1.2), 8 MiB.
const MIN_WINDOW_LOG: u32 = 23;
/// Bytes that an encoder gets at a time.
const PART_BYTES: usize = 1 << 20;
/// Bytes read from a packed file at a time; not tuned.
const READ_BYTES: usize = 256 << 10;
/// Levels of compression: the defaults of `gzip` and `zstd`.
const GZIP_LEVEL: u32 = 6;
const ZSTD_LEVEL: i32 = 3;

/// Reason that a packed file cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PackingFault {
    /// The file ends before the packed data, or a few other bytes follow it.
    #[error("the {kind} data ends early: the file is cut off, or has other bytes at its end; copy or make it again")]
    CutOff {
        /// Name of the compression.
        kind: &'static str,
    },
    /// The packed data is damaged.
    #[error("damaged {kind} data after {unpacked} unpacked bytes ({detail}): copy or make the file again")]
    Damaged {
        /// Name of the compression.
        kind: &'static str,
        /// Bytes that were unpacked before.
        unpacked: u64,
        /// Message of the decoder.
        detail: String,
    },
    /// The file unpacks to very much.
    #[error(
        "it unpacks to more than {MAX_RATIO} times its size, as files do that are made to exhaust a machine: if it is \
         yours, unpack it with another program first"
    )]
    Bomb,
    /// A frame needs a larger window than allowed.
    #[error(
        "its Zstandard frames need a window of more than {} MiB: {}",
        limit >> 20,
        if *by_memory { "raise --memory, or compress the file without --long" } else { "compress the file without --long" }
    )]
    Window {
        /// Maximum bytes of a window.
        limit: u64,
        /// Whether the memory limit of the process is the reason.
        by_memory: bool,
    },
}

impl Packing {
    /// The entry of this kind; `None` if files are not packed.
    pub fn entry(self) -> Option<&'static PackingEntry> {
        PACKINGS.iter().find(|entry| entry.packing == self)
    }

    /// The kind of a file by its first bytes.
    pub(crate) fn of_magic(head: &[u8]) -> Self {
        PACKINGS.iter().find(|entry| head.starts_with(entry.magic)).map_or(Self::None, |entry| entry.packing)
    }

    /// Reader of the unpacked bytes. `memory` is the limit of the process.
    pub(crate) fn unpack(
        self,
        file: impl Read + Send + 'static,
        memory: Option<u64>,
    ) -> io::Result<Box<dyn Read + Send>> {
        let Some(entry) = self.entry() else { return Ok(Box::new(file)) };
        let packed_bytes = Arc::new(AtomicU64::new(0));
        let counted = CountingReader { inner: file, bytes: Arc::clone(&packed_bytes) };
        let mut packed = BufReader::with_capacity(READ_BYTES, counted);
        let window_log = window_log(memory);
        // An empty file has no member; the decoders take it for one that is cut off.
        let is_empty = io::BufRead::fill_buf(&mut packed)?.is_empty();
        let inner: Box<dyn Read + Send> = match self {
            _ if is_empty => Box::new(io::empty()),
            Self::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::with_buffer(packed)?;
                decoder.window_log_max(window_log)?;
                Box::new(decoder)
            }
            _ => Box::new(MultiGzDecoder::new(packed)),
        };
        Ok(Box::new(GuardedReader { inner, kind: entry.name, packed_bytes, unpacked: 0, window_log }))
    }
}

/// Base-2 logarithm of the largest window, which may take an eighth of the memory.
fn window_log(memory: Option<u64>) -> u32 {
    memory.map_or(MAX_WINDOW_LOG, |limit| (limit / 8).max(1).ilog2().clamp(MIN_WINDOW_LOG, MAX_WINDOW_LOG))
}

/// Counts the bytes that are read.
struct CountingReader<R> {
    inner: R,
    bytes: Arc<AtomicU64>,
}

impl<R: Read> Read for CountingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.bytes.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// Gives the errors of a decoder their reasons, and stops it if it unpacks too much.
struct GuardedReader {
    inner: Box<dyn Read + Send>,
    kind: &'static str,
    packed_bytes: Arc<AtomicU64>,
    unpacked: u64,
    window_log: u32,
}

impl GuardedReader {
    fn fault(&self, error: &io::Error) -> PackingFault {
        let detail = error.to_string();
        if error.kind() == io::ErrorKind::UnexpectedEof {
            return PackingFault::CutOff { kind: self.kind };
        }
        if detail.contains("requires too much memory") {
            let by_memory = self.window_log < MAX_WINDOW_LOG;
            return PackingFault::Window { limit: 1 << self.window_log, by_memory };
        }
        PackingFault::Damaged { kind: self.kind, unpacked: self.unpacked, detail }
    }
}

impl Read for GuardedReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = match self.inner.read(buffer) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Err(error),
            // An error of the system, not of the decoder.
            Err(error) if error.raw_os_error().is_some() => return Err(error),
            Err(error) => return Err(io::Error::other(self.fault(&error))),
        };
        self.unpacked += read as u64;
        let packed = self.packed_bytes.load(Ordering::Relaxed).max(1);
        if self.unpacked > HARMLESS_BYTES && self.unpacked / packed > MAX_RATIO {
            return Err(io::Error::other(PackingFault::Bomb));
        }
        Ok(read)
    }
}

/// Packs bytes into a file.
pub(crate) struct Packer {
    encoder: Encoder,
    /// Bytes that the encoder does not have yet.
    part: Vec<u8>,
    bytes: u64,
}

enum Encoder {
    Gzip(GzEncoder<File>),
    Zstd(zstd::stream::write::Encoder<'static, File>),
}

impl Packer {
    /// A packer that writes to the current position of a file; `None` if files are not packed.
    pub(crate) fn new(packing: Packing, file: File) -> io::Result<Option<Self>> {
        let encoder = match packing {
            Packing::None => return Ok(None),
            // Without a name and a time, so that equal releases are equal files.
            Packing::Gzip => Encoder::Gzip(GzEncoder::new(file, Compression::new(GZIP_LEVEL))),
            Packing::Zstd => {
                let mut encoder = zstd::stream::write::Encoder::new(file, ZSTD_LEVEL)?;
                encoder.include_checksum(true)?;
                Encoder::Zstd(encoder)
            }
        };
        Ok(Some(Self { encoder, part: Vec::with_capacity(PART_BYTES), bytes: 0 }))
    }

    /// Adds bytes. The encoder gets parts of one size, because its output may depend on them.
    pub(crate) fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        self.bytes += bytes.len() as u64;
        while self.part.len() + bytes.len() >= PART_BYTES {
            let (head, rest) = bytes.split_at(PART_BYTES - self.part.len());
            self.part.extend_from_slice(head);
            self.flush_part()?;
            bytes = rest;
        }
        self.part.extend_from_slice(bytes);
        Ok(())
    }

    fn flush_part(&mut self) -> io::Result<()> {
        match &mut self.encoder {
            Encoder::Gzip(encoder) => encoder.write_all(&self.part)?,
            Encoder::Zstd(encoder) => encoder.write_all(&self.part)?,
        }
        self.part.clear();
        Ok(())
    }

    /// Ends the file and returns whether it may be read: whether it unpacks to at most [`MAX_RATIO`] times its size.
    pub(crate) fn finish(mut self) -> io::Result<bool> {
        self.flush_part()?;
        let file = match self.encoder {
            Encoder::Gzip(encoder) => encoder.finish()?,
            Encoder::Zstd(encoder) => encoder.finish()?,
        };
        let packed = file.metadata()?.len().max(1);
        Ok(self.bytes <= HARMLESS_BYTES || self.bytes / packed <= MAX_RATIO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(packing: Packing, parts: &[&[u8]]) -> Vec<u8> {
        let file = tempfile::NamedTempFile::new().expect("file");
        let mut packer = Packer::new(packing, file.reopen().expect("file")).expect("packer").expect("packed");
        parts.iter().for_each(|part| packer.write(part).expect("written"));
        assert!(packer.finish().expect("finished"));
        std::fs::read(file.path()).expect("read")
    }

    fn unpacked(packing: Packing, bytes: &[u8]) -> Result<Vec<u8>, String> {
        let mut all = Vec::new();
        let mut reader = packing.unpack(io::Cursor::new(bytes.to_vec()), None).expect("reader");
        reader.read_to_end(&mut all).map(|_| all).map_err(|error| error.to_string())
    }

    #[test]
    fn parts_and_members_are_read_back() {
        let text: Vec<u8> =
            (0..3_000_000u32).flat_map(|number| number.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
        for packing in [Packing::Gzip, Packing::Zstd] {
            let whole = packed(packing, &[&text]);
            let parts: Vec<&[u8]> = text.chunks(77_777).collect();
            assert_eq!(whole, packed(packing, &parts));
            assert_eq!(unpacked(packing, &whole).expect("read"), text);
            assert_eq!(Packing::of_magic(&whole), packing);
            let two = [packed(packing, &[b"a,b\n"]), packed(packing, &[b"", b"1,2\n"])].concat();
            assert_eq!(unpacked(packing, &two).expect("read"), b"a,b\n1,2\n");
            assert_eq!(unpacked(packing, b"").expect("read"), b"");
        }
    }

    #[test]
    fn damage_is_named() {
        let text: Vec<u8> = (0..50_000u32).flat_map(|number| format!("{number},x\n").into_bytes()).collect();
        for packing in [Packing::Gzip, Packing::Zstd] {
            let whole = packed(packing, &[&text]);
            for length in [whole.len() - 1, whole.len() / 2, 5] {
                let error = unpacked(packing, &whole[..length]).expect_err("error");
                assert!(error.contains("data ends early: the file is cut off"), "{length}: {error}");
            }
            let error = unpacked(packing, &[&whole[..], b"<html>"].concat()).expect_err("error");
            assert!(error.contains("damaged") || error.contains("other bytes at its end"), "{error}");
            let error = unpacked(packing, &[&whole[..], b"<html></html>"].concat()).expect_err("error");
            assert!(error.contains("damaged") && error.contains(&format!("after {}", text.len())), "{error}");
            let mut wrong = whole.clone();
            let at = wrong.len() - 6;
            wrong[at] ^= 1;
            assert!(unpacked(packing, &wrong).expect_err("error").contains("damaged"));
            let error = unpacked(packing, b"a,b\n1,2\n3,4\n5,6\n7,8\n").expect_err("error");
            assert!(error.contains("damaged"), "{error}");
        }
    }

    #[test]
    fn bombs_are_refused_early() {
        for packing in [Packing::Gzip, Packing::Zstd] {
            let file = tempfile::NamedTempFile::new().expect("file");
            let mut packer = Packer::new(packing, file.reopen().expect("file")).expect("packer").expect("packed");
            let zeros = vec![b'0'; 1 << 20];
            (0..80).for_each(|_| packer.write(&zeros).expect("written"));
            assert!(!packer.finish().expect("finished"));
            let mut reader = packing.unpack(file.reopen().expect("file"), None).expect("reader");
            let mut bytes = 0;
            let error = loop {
                match reader.read(&mut vec![0; 1 << 20]) {
                    Ok(0) => panic!("no error"),
                    Ok(read) => bytes += read as u64,
                    Err(error) => break error.to_string(),
                }
            };
            assert!(error.contains("more than 200 times its size"), "{error}");
            assert!((HARMLESS_BYTES - (1 << 20)..=HARMLESS_BYTES).contains(&bytes), "{bytes}");
        }
    }

    #[test]
    fn windows_are_limited_by_memory() {
        assert_eq!([None, Some(1 << 40), Some(512 << 20), Some(100_000_000)].map(window_log), [27, 27, 26, 23]);
        let mut long = zstd::stream::write::Encoder::new(Vec::new(), 3).expect("encoder");
        long.long_distance_matching(true).expect("long");
        long.window_log(26).expect("window");
        long.write_all(&vec![b'x'; 1 << 20]).expect("written");
        let bytes = long.finish().expect("finished");
        let read = |memory| {
            let mut reader = Packing::Zstd.unpack(io::Cursor::new(bytes.clone()), memory).expect("reader");
            reader.read_to_end(&mut Vec::new()).map_err(|error| error.to_string())
        };
        assert_eq!(read(None), Ok(1 << 20));
        let error = read(Some(100_000_000)).expect_err("error");
        assert_eq!(
            error,
            "its Zstandard frames need a window of more than 8 MiB: raise --memory, or compress the file without --long"
        );
    }
}
