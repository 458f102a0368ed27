//! Writes cells and headers as CSV.
//!
//! Guarantee: a written cell reads back as the same text. A cell with a delimiter, quote, CR or LF is quoted and its
//! quotes are doubled (RFC 4180); any other is written unchanged.

use super::Dialect;

/// Appends a text as a cell, quoted if necessary.
pub(crate) fn cell(out: &mut Vec<u8>, text: &[u8], dialect: Dialect) {
    let Dialect { delimiter, quote } = dialect;
    if !text.iter().any(|&byte| byte == delimiter || byte == quote || byte == b'\r' || byte == b'\n') {
        out.extend_from_slice(text);
        return;
    }
    quoted(out, text, quote);
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

/// Returns the header line.
pub(crate) fn header<'a>(names: impl Iterator<Item = &'a str>, dialect: Dialect) -> Vec<u8> {
    let mut out = Vec::new();
    for (index, name) in names.enumerate() {
        if index > 0 {
            out.push(dialect.delimiter);
        }
        // An unquoted delimiter of another dialect in a name could mislead readers that detect the delimiter.
        if name.contains([',', ';', '\t', '|']) {
            quoted(&mut out, name.as_bytes(), dialect.quote);
        } else {
            cell(&mut out, name.as_bytes(), dialect);
        }
    }
    if out.is_empty() {
        out.extend_from_slice(&[dialect.quote, dialect.quote]);
    }
    out.push(b'\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_where_they_are_needed() {
        let dialect = Dialect { delimiter: b',', quote: b'"' };
        for (text, written) in
            [("a b", "a b"), ("[24, 32]", "\"[24, 32]\""), ("a\"b", "\"a\"\"b\""), ("a\nb", "\"a\nb\""), ("", "")]
        {
            let mut out = Vec::new();
            cell(&mut out, text.as_bytes(), dialect);
            assert_eq!(out, written.as_bytes());
        }
        assert_eq!(header(["a", "b,c", "d;e"].into_iter(), dialect), b"a,\"b,c\",\"d;e\"\n");
    }
}
