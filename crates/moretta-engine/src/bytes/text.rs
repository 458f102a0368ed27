//! Text files: their encoding, found from the first bytes if it is not declared, and their text as UTF-8.

use std::io::{self, Read, Seek, SeekFrom};

use moretta_core::encoding::Encoding;

use super::{
    encoding::{BadBytes, TextEncoding, first_fault},
    file::InputFile,
    packing::Packing,
};
use crate::error::EngineError;

/// Bytes from which the encoding is found; a header of a few columns is enough.
const HEAD_BYTES: usize = 1 << 10;

/// First bytes of files that are no text and not packed as their name says.
const OTHER_FILES: [(&[u8], &str); 5] = [
    (b"PAR1", "a Parquet file: name it .parquet"),
    (b"ARROW1", "an Arrow file: name it .arrow"),
    (b"PK\x03\x04", "an archive, such as a spreadsheet (.xlsx): save the table as CSV"),
    (b"\x1f\x8b", "a gzip file: name it .gz after the format, such as .csv.gz"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard file: name it .zst after the format, such as .csv.zst"),
];

/// Reason that a file cannot be read as text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TextFault {
    /// Its byte order mark contradicts the declared encoding.
    #[error(
        "it begins with the byte order mark of {found}, and `encoding` of the policy is \"{declared}\": correct it"
    )]
    OtherMark {
        /// Name of the encoding with the mark.
        found: &'static str,
        /// Name of the declared encoding.
        declared: &'static str,
    },
    /// UTF-16 without a byte order mark.
    #[error(
        "it looks like UTF-16 without a byte order mark: set `encoding = \"{name}\"` in [input] of the policy, or save the \
         file as UTF-8"
    )]
    NoMark {
        /// Name of the encoding in a policy.
        name: &'static str,
    },
    /// It has another format.
    #[error("it is {what}")]
    OtherFormat {
        /// The format, and what to do.
        what: &'static str,
    },
}

/// A text file whose encoding is known.
#[derive(Debug, Clone)]
pub(crate) struct TextFile {
    pub(crate) file: InputFile,
    pub(crate) encoding: TextEncoding,
}

impl TextFile {
    /// Finds the encoding of a file. A byte order mark is recognized without a declaration.
    pub(crate) fn open(file: &InputFile, declared: Option<Encoding>) -> Result<Self, EngineError> {
        let mut head = Vec::new();
        unpacked(file)?.take(HEAD_BYTES as u64).read_to_end(&mut head).map_err(EngineError::reading(&file.path))?;
        let fault = |fault| EngineError::Text { path: file.path.clone(), fault };
        if let Some((_, what)) = OTHER_FILES.iter().find(|(magic, _)| head.starts_with(magic)) {
            return Err(fault(TextFault::OtherFormat { what }));
        }
        let encoding = encoding_of(&head, declared).map_err(fault)?;
        Ok(Self { file: file.clone(), encoding })
    }

    /// Encoding of the file as a policy would declare it; `None` for UTF-8.
    pub(crate) fn declared(&self) -> Option<Encoding> {
        match self.encoding {
            TextEncoding::Utf8 => None,
            TextEncoding::Windows1252 => Some(Encoding::Windows1252),
            TextEncoding::Latin1 => Some(Encoding::Latin1),
            TextEncoding::Utf16Le | TextEncoding::Utf16Be => Some(Encoding::Utf16),
        }
    }

    /// Reader of the text as UTF-8 from byte `offset` of that on.
    pub(crate) fn read_from(&self, offset: u64) -> Result<Box<dyn Read + Send>, EngineError> {
        let path = &self.file.path;
        if self.file.packing == Packing::None && self.encoding == TextEncoding::Utf8 {
            let mut file = self.file.open()?;
            file.seek(SeekFrom::Start(offset)).map_err(EngineError::io(path, "read"))?;
            return Ok(Box::new(file));
        }
        let mut text = self.encoding.decode(unpacked(&self.file)?);
        io::copy(&mut (&mut text).take(offset), &mut io::sink()).map_err(EngineError::reading(path))?;
        Ok(text)
    }

    /// Whether a file that is declared as Windows-1252 or Latin-1 is most likely UTF-8: its first characters beyond ASCII
    /// are valid UTF-8, which such texts are by chance only if they are very short.
    pub(crate) fn looks_like_utf8(&self) -> Result<bool, EngineError> {
        /// Bytes that are read. Not tuned.
        const SAMPLE_BYTES: u64 = 1 << 20;
        if !matches!(self.encoding, TextEncoding::Windows1252 | TextEncoding::Latin1) {
            return Ok(false);
        }
        let mut bytes = Vec::new();
        let mut sample = unpacked(&self.file)?.take(SAMPLE_BYTES);
        sample.read_to_end(&mut bytes).map_err(EngineError::reading(&self.file.path))?;
        // The sample may end within a character.
        let is_utf8 = std::str::from_utf8(&bytes).map_or_else(|error| error.error_len().is_none(), |_| true);
        Ok(is_utf8 && !bytes.is_ascii())
    }

    /// The first bytes of the file that its encoding does not have.
    pub(crate) fn bad_bytes(&self) -> BadBytes {
        match unpacked(&self.file) {
            Ok(bytes) => first_fault(self.encoding, bytes),
            Err(_) => BadBytes { encoding: self.encoding.name(), found: None },
        }
    }
}

/// Reader of the unpacked bytes of a file.
fn unpacked(file: &InputFile) -> Result<Box<dyn Read + Send>, EngineError> {
    file.packing.unpack(file.open()?, file.memory).map_err(EngineError::reading(&file.path))
}

/// Encoding of a text with these first bytes.
fn encoding_of(head: &[u8], declared: Option<Encoding>) -> Result<TextEncoding, TextFault> {
    let (mark, zeros) = (TextEncoding::of_mark(head), || TextEncoding::of_zero_bytes(head));
    let expected = match declared {
        Some(Encoding::Windows1252) => TextEncoding::Windows1252,
        Some(Encoding::Latin1) => TextEncoding::Latin1,
        Some(Encoding::Utf16Le) => TextEncoding::Utf16Le,
        Some(Encoding::Utf16Be) => TextEncoding::Utf16Be,
        Some(Encoding::Utf16) => match mark {
            Some(found @ (TextEncoding::Utf16Le | TextEncoding::Utf16Be)) => found,
            _ => zeros().unwrap_or(TextEncoding::Utf16Le),
        },
        Some(Encoding::Utf8 | Encoding::Utf8Bom) => TextEncoding::Utf8,
        None => mark.unwrap_or(TextEncoding::Utf8),
    };
    match (mark, declared) {
        (Some(found), Some(declared)) if found != expected => {
            Err(TextFault::OtherMark { found: found.name(), declared: declared.name() })
        }
        (None, _) if expected == TextEncoding::Utf8 => match zeros() {
            Some(TextEncoding::Utf16Be) => Err(TextFault::NoMark { name: Encoding::Utf16Be.name() }),
            Some(_) => Err(TextFault::NoMark { name: Encoding::Utf16Le.name() }),
            None => Ok(expected),
        },
        _ => Ok(expected),
    }
}

/// Encoding of a whole text that is not declared, with the reason; `None` if it is UTF-8 or has a byte order mark of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoundEncoding {
    /// UTF-16 with a byte order mark.
    Marked,
    /// UTF-16 without a byte order mark, by its zero bytes.
    Unmarked(Encoding),
    /// Not UTF-8: all bytes are characters of Windows-1252.
    NotUtf8,
}

impl FoundEncoding {
    /// The encoding to declare.
    pub fn encoding(self) -> Encoding {
        match self {
            Self::Marked => Encoding::Utf16,
            Self::Unmarked(encoding) => encoding,
            Self::NotUtf8 => Encoding::Windows1252,
        }
    }
}

/// Finds the encoding of a file from its first `limit` bytes. Bytes that are no characters of Windows-1252 either are not
/// judged here: reading the file reports them.
pub(crate) fn find_encoding(file: &InputFile, limit: u64) -> Result<Option<FoundEncoding>, EngineError> {
    let mut bytes = unpacked(file)?.take(limit);
    let (mut all, mut part) = (Vec::new(), vec![0; 256 << 10]);
    let mut first = true;
    loop {
        let read = bytes.read(&mut part).map_err(EngineError::reading(&file.path))?;
        all.extend_from_slice(&part[..read]);
        if first && read > 0 {
            first = false;
            let head = &all[..all.len().min(HEAD_BYTES)];
            match (TextEncoding::of_mark(head), TextEncoding::of_zero_bytes(head)) {
                (Some(TextEncoding::Utf8), _) => return Ok(None),
                (Some(_), _) => return Ok(Some(FoundEncoding::Marked)),
                (None, Some(TextEncoding::Utf16Be)) => return Ok(Some(FoundEncoding::Unmarked(Encoding::Utf16Be))),
                (None, Some(_)) => return Ok(Some(FoundEncoding::Unmarked(Encoding::Utf16Le))),
                (None, None) => {}
            }
        }
        match std::str::from_utf8(&all) {
            Ok(_) => all.clear(),
            Err(error) if error.error_len().is_none() && read > 0 => drop(all.drain(..error.valid_up_to())),
            Err(_) => return Ok(Some(FoundEncoding::NotUtf8)),
        }
        if read == 0 {
            return Ok(None);
        }
    }
}

/// Decodes a whole small text file: by its byte order mark, as UTF-8 if it is, otherwise as `other`. An error has the
/// bytes at fault.
pub fn decode_text(bytes: Vec<u8>, other: Option<Encoding>) -> Result<String, BadBytes> {
    let utf16 = TextEncoding::of_zero_bytes(&bytes[..bytes.len().min(HEAD_BYTES)]);
    let encoding = match TextEncoding::of_mark(&bytes) {
        Some(mark) => mark,
        None if utf16.is_none() && std::str::from_utf8(&bytes).is_ok() => TextEncoding::Utf8,
        None => match (other, utf16) {
            (Some(Encoding::Windows1252), None) => TextEncoding::Windows1252,
            (Some(Encoding::Latin1), None) => TextEncoding::Latin1,
            (Some(Encoding::Utf16 | Encoding::Utf16Le | Encoding::Utf16Be), Some(found)) => found,
            _ => TextEncoding::Utf8,
        },
    };
    let mut text = Vec::new();
    let read = encoding.decode(Box::new(io::Cursor::new(bytes.clone()))).read_to_end(&mut text);
    match (read, String::from_utf8(text)) {
        (Ok(_), Ok(text)) => Ok(text),
        _ => Err(first_fault(encoding, Box::new(io::Cursor::new(bytes)))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_and_declarations() {
        use Encoding::*;
        for (head, declared, expected) in [
            (&b"a,b\n"[..], None, Ok(TextEncoding::Utf8)),
            (b"\xEF\xBB\xBFa", None, Ok(TextEncoding::Utf8)),
            (b"\xEF\xBB\xBFa", Some(Utf8), Ok(TextEncoding::Utf8)),
            (b"\xFF\xFEa\0", None, Ok(TextEncoding::Utf16Le)),
            (b"\xFE\xFF\0a", None, Ok(TextEncoding::Utf16Be)),
            (b"\xFE\xFF\0a", Some(Utf16), Ok(TextEncoding::Utf16Be)),
            (b"\0a\0,\0b", Some(Utf16), Ok(TextEncoding::Utf16Be)),
            (b"a\0,\0b\0", Some(Utf16), Ok(TextEncoding::Utf16Le)),
            (b"a\0,\0b\0", Some(Utf16Le), Ok(TextEncoding::Utf16Le)),
            (b"a\0,\0b\0", None, Err(TextFault::NoMark { name: "utf-16le" })),
            (b"\0a\0,\0b", Some(Utf8), Err(TextFault::NoMark { name: "utf-16be" })),
            (b"\xFF\xFEa\0", Some(Utf16Be), Err(TextFault::OtherMark { found: "UTF-16", declared: "utf-16be" })),
            (b"\xEF\xBB\xBFa", Some(Latin1), Err(TextFault::OtherMark { found: "UTF-8", declared: "latin-1" })),
            (b"\xE4", Some(Windows1252), Ok(TextEncoding::Windows1252)),
        ] {
            assert_eq!(encoding_of(head, declared), expected, "{head:?} {declared:?}");
        }
    }

    #[test]
    fn utf8_declared_as_single_bytes_is_noticed() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("t.csv");
        for (bytes, declared, expected) in [
            ("name\nJürgen\n".as_bytes(), Encoding::Windows1252, true),
            ("name\nJürgen\n".as_bytes(), Encoding::Latin1, true),
            (b"name\nJ\xFCrgen\n", Encoding::Latin1, false),
            (b"name\nMia\n", Encoding::Latin1, false),
            ("name\nJürgen\n".as_bytes(), Encoding::Utf8, false),
        ] {
            std::fs::write(&path, bytes).expect("write");
            let file = InputFile::new(&path, Packing::None, None).expect("file");
            let text = TextFile::open(&file, Some(declared)).expect("text");
            assert_eq!(text.looks_like_utf8().expect("read"), expected, "{bytes:?} {declared:?}");
        }
    }

    #[test]
    fn small_texts_are_decoded() {
        let decode = |bytes: &[u8], other| decode_text(bytes.to_vec(), other);
        assert_eq!(decode("ä".as_bytes(), Some(Encoding::Windows1252)).as_deref(), Ok("ä"));
        assert_eq!(decode(b"\xE4;*", Some(Encoding::Windows1252)).as_deref(), Ok("ä;*"));
        assert_eq!(decode(b"\xFF\xFE\xE4\0", None).as_deref(), Ok("\u{feff}ä"));
        assert_eq!(decode(b"a\0;\0*\0", Some(Encoding::Utf16)).as_deref(), Ok("a;*"));
        assert_eq!(decode(b"a;\xE4", None).expect_err("bad").found, Some((vec![0xE4], 2)));
    }
}
