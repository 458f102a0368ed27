//! Texts in other encodings than UTF-8, as UTF-8 and back.
//!
//! Guarantee: a byte or unit that the encoding does not have becomes the byte 0xFF, which is never part of UTF-8, so that the
//! parser of the format finds it in its record ([`first_fault`] then finds it in the file). Every other text is that of the
//! file, and [`encode`] writes it back as the same bytes.
//!
//! Windows-1252 has no characters for five bytes (0x81, 0x8D, 0x8F, 0x90, 0x9D). The standard of the web reads them as
//! control characters; here they are faults, as in Python and iconv, because they show that the text has another encoding.
//!
//! Cost: ASCII is copied in runs; other bytes take a look into a table.

use std::io::{self, Read};

use encoding_rs::{CoderResult, DecoderResult};
use moretta_core::encoding::Encoding;

/// Replaces what cannot be decoded.
const INVALID: u8 = 0xFF;
/// Bytes of a file that are decoded at a time; not tuned.
const PART_BYTES: usize = 64 << 10;

/// How the bytes of a file are decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextEncoding {
    Utf8,
    Windows1252,
    Latin1,
    Utf16Le,
    Utf16Be,
}

impl TextEncoding {
    /// Name of the encoding in messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "UTF-8",
            Self::Windows1252 => "Windows-1252",
            Self::Latin1 => "Latin-1",
            Self::Utf16Le | Self::Utf16Be => "UTF-16",
        }
    }

    /// The encoding that a byte order mark at the start of a file shows.
    pub(crate) fn of_mark(head: &[u8]) -> Option<Self> {
        match head {
            [0xEF, 0xBB, 0xBF, ..] => Some(Self::Utf8),
            [0xFF, 0xFE, ..] => Some(Self::Utf16Le),
            [0xFE, 0xFF, ..] => Some(Self::Utf16Be),
            _ => None,
        }
    }

    /// The UTF-16 that the first bytes of a text without a byte order mark show: Latin letters, digits and delimiters have
    /// a zero byte there, and no other text has any.
    pub(crate) fn of_zero_bytes(head: &[u8]) -> Option<Self> {
        let zeros = |start: usize| head.iter().skip(start).step_by(2).filter(|byte| **byte == 0).count();
        let (even, odd) = (zeros(0), zeros(1));
        let units = head.len() / 2;
        if odd > even && odd * 2 >= units && odd >= 2 {
            Some(Self::Utf16Le)
        } else if even > odd && even * 2 >= units && even >= 2 {
            Some(Self::Utf16Be)
        } else {
            None
        }
    }

    /// Reader of the UTF-8 of a text in this encoding.
    pub(crate) fn decode(self, bytes: Box<dyn Read + Send>) -> Box<dyn Read + Send> {
        match Decoder::new(self) {
            None => bytes,
            Some(decoder) => {
                Box::new(DecodingReader { bytes, decoder, read: Vec::new(), text: Vec::new(), at: 0, ended: false })
            }
        }
    }
}

/// Decodes a text part by part.
enum Decoder {
    /// The characters of the bytes from 0x80 on, as UTF-8; `None` for bytes without character.
    SingleByte(Box<[Option<char>; 128]>),
    Utf16(encoding_rs::Decoder),
}

impl Decoder {
    /// `None` for UTF-8.
    fn new(encoding: TextEncoding) -> Option<Self> {
        match encoding {
            TextEncoding::Utf8 => None,
            TextEncoding::Windows1252 => Some(Self::SingleByte(Box::new(upper_half(true)))),
            TextEncoding::Latin1 => Some(Self::SingleByte(Box::new(upper_half(false)))),
            TextEncoding::Utf16Le => Some(Self::Utf16(encoding_rs::UTF_16LE.new_decoder_without_bom_handling())),
            TextEncoding::Utf16Be => Some(Self::Utf16(encoding_rs::UTF_16BE.new_decoder_without_bom_handling())),
        }
    }

    /// Appends the UTF-8 of the next bytes. Returns the offset in these bytes of the first fault, and how many bytes it has;
    /// the offset is negative if the fault began in earlier bytes.
    fn decode(&mut self, bytes: &[u8], last: bool, text: &mut Vec<u8>) -> Option<(i64, usize)> {
        match self {
            Self::SingleByte(characters) => decode_single_bytes(characters, bytes, text),
            Self::Utf16(decoder) => decode_utf16(decoder, bytes, last, text),
        }
    }
}

/// Characters of the bytes from 0x80 on.
fn upper_half(windows: bool) -> [Option<char>; 128] {
    std::array::from_fn(|index| {
        let byte = 0x80 + index as u8;
        if !windows {
            return Some(char::from(byte));
        }
        let bytes = [byte];
        let (text, _) = encoding_rs::WINDOWS_1252.decode_without_bom_handling(&bytes);
        // The standard of the web has control characters where Windows-1252 has no character.
        text.chars().next().filter(|&character| u32::from(character) >= 0xA0)
    })
}

fn decode_single_bytes(characters: &[Option<char>; 128], bytes: &[u8], text: &mut Vec<u8>) -> Option<(i64, usize)> {
    let (mut at, mut fault) = (0, None);
    while at < bytes.len() {
        let ascii = encoding_rs::Encoding::ascii_valid_up_to(&bytes[at..]);
        text.extend_from_slice(&bytes[at..at + ascii]);
        at += ascii;
        while let Some(byte) = bytes.get(at).filter(|byte| !byte.is_ascii()) {
            match characters[usize::from(byte - 0x80)] {
                Some(character) => text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
                None => {
                    fault = fault.or(Some((at as i64, 1)));
                    text.push(INVALID);
                }
            }
            at += 1;
        }
    }
    fault
}

fn decode_utf16(
    decoder: &mut encoding_rs::Decoder,
    bytes: &[u8],
    last: bool,
    text: &mut Vec<u8>,
) -> Option<(i64, usize)> {
    let (mut at, mut fault) = (0, None);
    loop {
        let start = text.len();
        // Three bytes of UTF-8 for a unit of two, and what the decoder kept from earlier bytes.
        text.resize(start + (bytes.len() - at) * 2 + 16, 0);
        let (result, read, written) =
            decoder.decode_to_utf8_without_replacement(&bytes[at..], &mut text[start..], last);
        text.truncate(start + written);
        at += read;
        match result {
            DecoderResult::InputEmpty => return fault,
            DecoderResult::OutputFull => {}
            DecoderResult::Malformed(length, after) => {
                let begin = at as i64 - i64::from(length) - i64::from(after);
                fault = fault.or(Some((begin, usize::from(length))));
                text.push(INVALID);
            }
        }
    }
}

/// Reads the UTF-8 of a text.
struct DecodingReader {
    bytes: Box<dyn Read + Send>,
    decoder: Decoder,
    read: Vec<u8>,
    /// Decoded text, and how much of it was returned.
    text: Vec<u8>,
    at: usize,
    ended: bool,
}

impl Read for DecodingReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at == self.text.len() {
            if self.ended {
                return Ok(0);
            }
            self.read.resize(PART_BYTES, 0);
            let read = self.bytes.read(&mut self.read)?;
            self.ended = read == 0;
            self.text.clear();
            self.at = 0;
            self.decoder.decode(&self.read[..read], self.ended, &mut self.text);
        }
        let length = buffer.len().min(self.text.len() - self.at);
        buffer[..length].copy_from_slice(&self.text[self.at..self.at + length]);
        self.at += length;
        Ok(length)
    }
}

/// First bytes of a text that its encoding does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadBytes {
    /// Name of the encoding.
    pub encoding: &'static str,
    /// The bytes, and their offset in the (unpacked) file from 0; `None` if they are not found again.
    pub found: Option<(Vec<u8>, u64)>,
}

/// Finds the first bytes of a text that its encoding does not have. The text is read from the start.
pub(crate) fn first_fault(encoding: TextEncoding, mut bytes: Box<dyn Read + Send>) -> BadBytes {
    let name = encoding.name();
    let mut decoder = Decoder::new(encoding);
    let (mut part, mut text, mut before) = (vec![0; PART_BYTES], Vec::new(), 0u64);
    // The last bytes of the part before, in which a fault may begin.
    let mut tail: Vec<u8> = Vec::new();
    loop {
        let kept = tail.len();
        let Ok(read) = bytes.read(&mut part) else { return BadBytes { encoding: name, found: None } };
        tail.extend_from_slice(&part[..read]);
        text.clear();
        let fault = match &mut decoder {
            Some(decoder) => {
                decoder.decode(&part[..read], read == 0, &mut text).map(|(at, length)| (at + kept as i64, length))
            }
            None => std::str::from_utf8(&tail).err().and_then(|error| {
                // An incomplete character at the end of a part may be complete in the next one.
                let length = error.error_len().or((read == 0).then(|| tail.len() - error.valid_up_to()))?;
                Some((error.valid_up_to() as i64, length))
            }),
        };
        if let Some((at, length)) = fault {
            let at = usize::try_from(at).unwrap_or(0).min(tail.len());
            let found = tail[at..(at + length).min(tail.len())].to_vec();
            return BadBytes { encoding: name, found: Some((found, before - kept as u64 + at as u64)) };
        }
        if read == 0 {
            return BadBytes { encoding: name, found: None };
        }
        before += read as u64;
        let keep = match &decoder {
            Some(_) => tail.len() - tail.len().min(8),
            None => std::str::from_utf8(&tail).map_or_else(|error| error.valid_up_to(), |_| tail.len()),
        };
        tail.drain(..keep);
    }
}

/// Appends the bytes of a text in an encoding; the first character that it does not have is an error. A byte order mark is
/// not written.
pub(crate) fn encode(encoding: Encoding, text: &str, out: &mut Vec<u8>) -> Result<(), char> {
    match encoding {
        Encoding::Utf8 | Encoding::Utf8Bom => out.extend_from_slice(text.as_bytes()),
        Encoding::Utf16 | Encoding::Utf16Le => text.encode_utf16().for_each(|unit| out.extend(unit.to_le_bytes())),
        Encoding::Utf16Be => text.encode_utf16().for_each(|unit| out.extend(unit.to_be_bytes())),
        Encoding::Latin1 => {
            for character in text.chars() {
                out.push(u8::try_from(u32::from(character)).map_err(|_| character)?);
            }
        }
        Encoding::Windows1252 if text.is_ascii() => out.extend_from_slice(text.as_bytes()),
        Encoding::Windows1252 => {
            for character in text.chars() {
                out.push(windows_1252(character).ok_or(character)?);
            }
        }
    }
    Ok(())
}

/// The byte of a character in Windows-1252.
fn windows_1252(character: char) -> Option<u8> {
    match u32::from(character) {
        code @ (0..=0x7F | 0xA0..=0xFF) => Some(code as u8),
        // The encoder would write these control characters, which are no characters of Windows-1252.
        0x80..=0x9F => None,
        _ => {
            let mut encoder = encoding_rs::WINDOWS_1252.new_encoder();
            // Room for the reference that the encoder writes in place of a character.
            let mut byte = [0; 16];
            let (result, _, written, replaced) =
                encoder.encode_from_utf8(character.encode_utf8(&mut [0; 4]), &mut byte, true);
            (result == CoderResult::InputEmpty && written == 1 && !replaced).then_some(byte[0])
        }
    }
}

/// The byte order mark that a file in an encoding begins with.
pub(crate) fn mark(encoding: Encoding) -> &'static [u8] {
    match encoding {
        Encoding::Utf8Bom => b"\xEF\xBB\xBF",
        Encoding::Utf16 => b"\xFF\xFE",
        _ => b"",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decoded(encoding: TextEncoding, bytes: &[u8], step: usize) -> Vec<u8> {
        /// Returns a few bytes at a time.
        struct Slow(Vec<u8>, usize, usize);
        impl Read for Slow {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let length = self.2.min(self.0.len() - self.1).min(buffer.len());
                buffer[..length].copy_from_slice(&self.0[self.1..self.1 + length]);
                self.1 += length;
                Ok(length)
            }
        }
        let mut text = Vec::new();
        encoding.decode(Box::new(Slow(bytes.to_vec(), 0, step))).read_to_end(&mut text).expect("read");
        text
    }

    const PAIRS: [(Encoding, TextEncoding); 5] = [
        (Encoding::Utf8, TextEncoding::Utf8),
        (Encoding::Windows1252, TextEncoding::Windows1252),
        (Encoding::Latin1, TextEncoding::Latin1),
        (Encoding::Utf16Le, TextEncoding::Utf16Le),
        (Encoding::Utf16Be, TextEncoding::Utf16Be),
    ];

    #[test]
    fn known_bytes() {
        let text = "Müller €5";
        let bytes = |encoding| {
            let mut out = Vec::new();
            encode(encoding, text, &mut out).map(|()| out)
        };
        assert_eq!(bytes(Encoding::Windows1252).expect("encoded"), b"M\xFCller \x805");
        assert_eq!(bytes(Encoding::Latin1), Err('€'));
        assert_eq!(&bytes(Encoding::Utf16).expect("encoded")[..4], b"M\0\xFC\0");
        assert_eq!(&bytes(Encoding::Utf16Be).expect("encoded")[..4], b"\0M\0\xFC");
        assert_eq!(encode(Encoding::Windows1252, "Łódź", &mut Vec::new()), Err('Ł'));
        assert_eq!(encode(Encoding::Windows1252, "\u{81}", &mut Vec::new()), Err('\u{81}'));
        assert_eq!(decoded(TextEncoding::Windows1252, b"\x80\x81\xFC", 9), b"\xE2\x82\xAC\xFF\xC3\xBC");
    }

    #[test]
    fn faults_are_found_in_the_file() {
        let fault = |encoding, bytes: &[u8]| first_fault(encoding, Box::new(io::Cursor::new(bytes.to_vec()))).found;
        assert_eq!(fault(TextEncoding::Utf8, b"ab\xE4c"), Some((vec![0xE4], 2)));
        assert_eq!(fault(TextEncoding::Utf8, "aä€".as_bytes()), None);
        assert_eq!(fault(TextEncoding::Utf8, b"ab\xC3"), Some((vec![0xC3], 2)));
        assert_eq!(fault(TextEncoding::Windows1252, b"ab\x9Dc"), Some((vec![0x9D], 2)));
        assert_eq!(fault(TextEncoding::Latin1, b"ab\x9Dc"), None);
        assert_eq!(fault(TextEncoding::Utf16Le, b"a\0\x00\xD8b\0"), Some((vec![0x00, 0xD8], 2)));
        assert_eq!(fault(TextEncoding::Utf16Le, b"a\0b"), Some((vec![b'b'], 2)));
        // Behind the first part, at and around its end.
        for length in PART_BYTES - 3..PART_BYTES + 3 {
            let length = length & !1;
            let text = [vec![b'a'; length], b"\xE4x".to_vec()].concat();
            assert_eq!(fault(TextEncoding::Utf8, &text), Some((vec![0xE4], length as u64)));
            let text = [b"a\0".repeat(length / 2), b"\0\xD8a\0".to_vec()].concat();
            assert_eq!(fault(TextEncoding::Utf16Le, &text), Some((vec![0, 0xD8], length as u64)));
        }
    }

    #[test]
    fn utf16_is_seen_by_its_zero_bytes() {
        let (mut little, mut big) = (Vec::new(), Vec::new());
        encode(Encoding::Utf16Le, "name;ålder\n", &mut little).expect("encoded");
        encode(Encoding::Utf16Be, "name;ålder\n", &mut big).expect("encoded");
        assert_eq!(TextEncoding::of_zero_bytes(&little), Some(TextEncoding::Utf16Le));
        assert_eq!(TextEncoding::of_zero_bytes(&big), Some(TextEncoding::Utf16Be));
        assert_eq!(TextEncoding::of_zero_bytes(b"name;age\n"), None);
        assert_eq!(TextEncoding::of_zero_bytes(b"na\0me;age\n"), None);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(text in "[a-cÀ-ÿ€Łž\u{10348}\n]{0,40}", step in 1usize..9) {
            for (written, read) in PAIRS {
                let mut bytes = Vec::new();
                if encode(written, &text, &mut bytes).is_ok() {
                    prop_assert_eq!(&decoded(read, &bytes, step), &text.clone().into_bytes());
                }
            }
        }

        #[test]
        fn readable_bytes_are_written_back(bytes in prop::collection::vec(any::<u8>(), 0..60), step in 1usize..9) {
            for (written, read) in PAIRS {
                let text = decoded(read, &bytes, step);
                match String::from_utf8(text) {
                    Ok(text) => {
                        let mut again = Vec::new();
                        encode(written, &text, &mut again).expect("encoded");
                        prop_assert_eq!(&again, &bytes);
                    }
                    Err(_) => {
                        let fault = first_fault(read, Box::new(io::Cursor::new(bytes.clone()))).found.expect("found");
                        prop_assert!(bytes[fault.1 as usize..].starts_with(&fault.0));
                    }
                }
            }
        }
    }
}
