//! CSV: headers, blocks of whole records, the fields of a block, and how a cell is written.
//!
//! The dialect is RFC 4180 with any one-byte delimiter and quote, LF or CRLF line ends, UTF-8. Two things are stricter
//! than elsewhere, because blocks are divided by the parity of quotes: a quote may stand only where a quoted field begins
//! or ends (or doubled inside one), and every quote has to be closed.

pub(crate) mod blocks;
pub(crate) mod header;
pub(crate) mod parse;
pub(crate) mod scan;
pub(crate) mod write;

/// How a CSV file is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CsvOptions {
    /// What separates fields; `None` takes from comma, semicolon, tab and bar the one the header has most of.
    pub delimiter: Option<u8>,
    /// What encloses a field that contains delimiters, quotes or line breaks.
    pub quote: u8,
}

impl Default for CsvOptions {
    fn default() -> Self {
        Self { delimiter: None, quote: b'"' }
    }
}

/// The two bytes that make a CSV file's dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dialect {
    pub(crate) delimiter: u8,
    pub(crate) quote: u8,
}

/// The content of a cell: without the quotes around it, doubled quotes made single (in `scratch` if there are any).
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
    fn quotes_around_and_inside_go() {
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
