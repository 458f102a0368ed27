//! CSV: headers, blocks of whole records, the fields of a block, and writing of cells.
//!
//! The dialect is RFC 4180 with any one-byte delimiter and quote, LF or CRLF line ends. Here a
//! file is UTF-8; [`crate::bytes`] unpacks and decodes other files. It is stricter than
//! other readers in three ways: a quote may occur only at the start or end of a quoted field (or doubled inside one)
//! and every quote must be closed, because blocks are cut by counting quotes; and a NUL byte is refused, because some
//! readers end a text there.
//!
//! Readers disagree about a CR outside quotes that no LF follows, and about blank lines in a table of one column. In an
//! original both are part of the table, and they are quoted in the release ([`write`]); in a release they are refused
//! ([`CsvOptions::release`]), because other readers would find other records than those that were checked.

use moretta_core::encoding::Encoding;

pub(crate) mod blocks;
pub(crate) mod convert;
pub(crate) mod header;
mod marks;
pub(crate) mod parse;
pub(crate) mod scan;
pub(crate) mod write;

/// Options to read a CSV file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CsvOptions {
    /// Byte between fields. `None`: the most frequent of comma, semicolon, tab and vertical bar in the header.
    pub delimiter: Option<u8>,
    /// Byte around a field that contains delimiters, quotes or line breaks.
    pub quote: u8,
    /// Encoding of the files. `None`: UTF-8, or what the byte order mark of a file says.
    pub encoding: Option<Encoding>,
    /// `None` if the first line of each file names the columns. Otherwise the files have no header: the list with as many
    /// names as there are columns names them; without a list they are called `c1`, `c2`, ..
    pub names: Option<Vec<Vec<String>>>,
    /// Whether an apostrophe before a formula is removed, as [`CsvRelease::guard_formulas`] adds it.
    pub guard_formulas: bool,
    /// Whether the file, of any format, is a release, which is read as other programs would read it: text that they may
    /// read as other records is refused, and columns of Parquet have the types of the Parquet schema.
    pub release: bool,
    /// Maximum bytes of the process, which limits the buffers for compressed files of any format; `None` for no limit.
    pub memory: Option<u64>,
}

impl Default for CsvOptions {
    fn default() -> Self {
        Self {
            delimiter: None,
            quote: b'"',
            encoding: None,
            names: None,
            guard_formulas: false,
            release: false,
            memory: None,
        }
    }
}

/// Dialect of a CSV release, where it is not that of the source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CsvRelease {
    /// Byte between fields; by default that of the source, or a comma.
    pub delimiter: Option<u8>,
    /// Encoding; by default that of the source, or UTF-8.
    pub encoding: Option<Encoding>,
    /// Whether the first line names the columns; by default as in the source.
    pub header: Option<bool>,
    /// Whether texts that a spreadsheet would compute as formulas get an apostrophe before them.
    pub guard_formulas: bool,
}

/// Delimiter and quote of a CSV file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dialect {
    pub(crate) delimiter: u8,
    pub(crate) quote: u8,
}

/// Text of a cell: without the quotes around it, and with doubled quotes made single (in `scratch` if there are any).
#[inline]
pub(crate) fn content<'a>(raw: &'a [u8], quote: u8, scratch: &'a mut Vec<u8>) -> &'a [u8] {
    if raw.first() != Some(&quote) { raw } else { unquote(raw, quote, scratch) }
}

#[cold]
fn unquote<'a>(raw: &'a [u8], quote: u8, scratch: &'a mut Vec<u8>) -> &'a [u8] {
    let inner = raw.get(1..raw.len() - 1).unwrap_or_default();
    if memchr::memchr(quote, inner).is_none() {
        return inner;
    }
    scratch.clear();
    let mut rest = inner;
    while let Some(at) = memchr::memchr(quote, rest) {
        scratch.extend_from_slice(&rest[..=at]);
        rest = rest.get(at + 2..).unwrap_or_default();
    }
    scratch.extend_from_slice(rest);
    scratch
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_around_and_inside_are_removed() {
        let mut scratch = Vec::new();
        for (raw, text) in [
            ("", ""),
            ("a", "a"),
            ("\"\"", ""),
            ("\"a\"", "a"),
            ("\"a\"\"b\"", "a\"b"),
            ("\"\"\"\"", "\""),
            ("\"\"\"a\"", "\"a"),
        ] {
            assert_eq!(content(raw.as_bytes(), b'"', &mut scratch), text.as_bytes(), "{raw}");
        }
    }
}
