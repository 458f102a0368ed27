//! Header of a CSV file: column names, delimiter, and the byte at which the records begin.
//!
//! Guarantee: a returned header is text without NUL bytes, has no name twice and no CR outside quotes. A name that
//! occurs again gets a number: `x`, `x_2`. Without a header the columns are called `c1`, `c2`, .. or as requested. The delimiter is
//! the requested one, or the most frequent in the header. Cost: reads the header only, at most [`MAX_HEADER_BYTES`].

use std::{
    collections::{HashMap, HashSet},
    io::Read,
    path::Path,
};

use super::{CsvOptions, Dialect, content, parse::FieldOffsets};
use crate::{
    bytes::text::TextFile,
    error::{EngineError, Fault},
};

/// Parsed header of a file.
#[derive(Debug)]
pub(crate) struct Header {
    pub(crate) columns: Vec<String>,
    /// Numbers (from 1) of the columns that had the name of an earlier one.
    pub(crate) renamed: Vec<usize>,
    pub(crate) dialect: Dialect,
    /// Byte of the UTF-8 of the file at which the first record begins.
    pub(crate) data_offset: u64,
}

/// Delimiters that can be detected, in order of preference.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];
/// Byte order mark of UTF-8, which is skipped.
const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Maximum length of a header: 4 MiB, for 100,000 columns with names of 40 bytes. A longer first line is most likely
/// not a header, or the lines of the file do not end in LF.
const MAX_HEADER_BYTES: usize = 4 << 20;

/// Reads the header of a file.
pub(crate) fn read(text: &TextFile, options: &CsvOptions) -> Result<Header, EngineError> {
    let path = &text.file.path;
    let fault = |fault| match options.names {
        None => EngineError::Header { path: path.to_path_buf(), fault },
        Some(_) => EngineError::Record { path: path.to_path_buf(), record: 1, line: Some(1), fault },
    };
    let mut file = text.read_from(0)?;
    let mut bytes = Vec::new();
    let mut step = 64 << 10;
    let (start, end) = loop {
        let read = (&mut file).take(step).read_to_end(&mut bytes).map_err(EngineError::reading(path))?;
        let start = if bytes.starts_with(BOM) { BOM.len() } else { 0 };
        if let Some(end) = record_end(&bytes[start..], options.quote) {
            break (start, start + end);
        }
        if (read as u64) < step || bytes.len() > MAX_HEADER_BYTES {
            break (start, bytes.len());
        }
        step *= 2;
    };
    if end - start > MAX_HEADER_BYTES {
        return Err(fault(Fault::HeaderTooLong { limit: MAX_HEADER_BYTES }));
    }
    if bytes[start..].iter().all(u8::is_ascii_whitespace) {
        return Err(EngineError::Empty { path: path.to_path_buf() });
    }
    let line = &bytes[start..end];
    let data_offset = if options.names.is_none() { end } else { start } as u64;
    if std::str::from_utf8(line).is_err() {
        return Err(fault(Fault::Encoding(text.bad_bytes())));
    }
    if line.contains(&0) {
        return Err(fault(Fault::Nul));
    }
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let delimiter = options.delimiter.unwrap_or_else(|| guess_delimiter(line, options.quote));
    let dialect = Dialect { delimiter, quote: options.quote };
    if options.release && line.trim_ascii().is_empty() {
        return Err(fault(Fault::BlankLine { expected: 1 }));
    }
    let mut columns = split(line, dialect).map_err(fault)?;
    if is_comment(line, columns.len(), &bytes[end..]) {
        return Err(fault(Fault::Comment));
    }
    let renamed = match &options.names {
        None => number_repeated(&mut columns),
        Some(lists) => {
            columns = given_names(path, columns.len(), lists)?;
            Vec::new()
        }
    };
    Ok(Header { columns, renamed, dialect, data_offset })
}

/// Names of the columns of a file without a header.
fn given_names(path: &Path, width: usize, lists: &[Vec<String>]) -> Result<Vec<String>, EngineError> {
    match lists.first() {
        None => Ok((1..=width).map(|number| format!("c{number}")).collect()),
        Some(first) => lists.iter().find(|names| names.len() == width).cloned().ok_or_else(|| EngineError::Names {
            path: path.to_path_buf(),
            names: first.len(),
            fields: width,
        }),
    }
}

/// Numbers the names that occur again, skipping names that exist. Returns the numbers (from 1) of their columns.
fn number_repeated(columns: &mut [String]) -> Vec<usize> {
    let mut seen = HashSet::new();
    let repeated: Vec<usize> = (0..columns.len()).filter(|&column| !seen.insert(columns[column].clone())).collect();
    // By name, the first number that may be free.
    let mut next: HashMap<String, usize> = HashMap::new();
    for &column in &repeated {
        let name = columns[column].clone();
        let from = next.get(&name).copied().unwrap_or(2);
        let number = (from..).find(|number| !seen.contains(&format!("{name}_{number}"))).unwrap_or(from);
        columns[column] = format!("{name}_{number}");
        next.insert(name, number + 1);
        seen.insert(columns[column].clone());
    }
    repeated.into_iter().map(|column| column + 1).collect()
}

/// Whether a first line of `width` fields is a comment: it begins with `#` and a blank, or has no delimiter while the
/// line after it has one.
fn is_comment(line: &[u8], width: usize, rest: &[u8]) -> bool {
    let Some(text) = line.strip_prefix(b"#") else { return false };
    let second = rest.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let has_delimiter = second.iter().any(|byte| DELIMITERS.contains(byte));
    text.first().is_some_and(|byte| byte.is_ascii_whitespace()) || width == 1 && has_delimiter
}

/// Offset after the first line break outside quotes; `None` if there is none.
fn record_end(bytes: &[u8], quote: u8) -> Option<usize> {
    let mut quoted = false;
    for at in memchr::memchr2_iter(b'\n', quote, bytes) {
        if bytes[at] == quote {
            quoted = !quoted;
        } else if !quoted {
            return Some(at + 1);
        }
    }
    None
}

/// The most frequent delimiter of a header, quoted fields ignored; comma if it has no delimiter.
fn guess_delimiter(line: &[u8], quote: u8) -> u8 {
    let mut counts = [0usize; DELIMITERS.len()];
    let mut quoted = false;
    for &byte in line {
        if byte == quote {
            quoted = !quoted;
        } else if let Some(index) = DELIMITERS.iter().position(|&delimiter| delimiter == byte && !quoted) {
            counts[index] += 1;
        }
    }
    let max_count = counts.iter().copied().max().unwrap_or(0);
    let index = counts.iter().position(|&count| count == max_count).unwrap_or(0);
    DELIMITERS[index]
}

/// Cells of a header, which must be UTF-8.
fn split(line: &[u8], dialect: Dialect) -> Result<Vec<String>, Fault> {
    let mut parsed = FieldOffsets::default();
    parsed.parse_any_width(line, dialect).map_err(|located| located.fault)?;
    let bare_cr = |&column: &usize| {
        let raw = parsed.raw(line, 0, column);
        raw.first() != Some(&dialect.quote) && raw.contains(&b'\r')
    };
    // The parser takes a CR at the end for a part of the line end, which was removed already.
    let at_end = line.ends_with(b"\r").then(|| parsed.width().saturating_sub(1));
    if let Some(column) = (0..parsed.width()).find(bare_cr).or(at_end) {
        return Err(Fault::BareCr { field: column + 1 });
    }
    let mut scratch = Vec::new();
    let cells = (0..parsed.width()).map(|column| {
        let cell = content(parsed.raw(line, 0, column), dialect.quote, &mut scratch);
        String::from_utf8_lossy(cell).into_owned()
    });
    Ok(cells.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::{file::InputFile, packing::Packing};

    fn header(text: &[u8], delimiter: Option<u8>) -> Result<Header, EngineError> {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("a.csv");
        std::fs::write(&path, text).expect("write");
        read(&text_of(&path)?, &CsvOptions { delimiter, ..CsvOptions::default() })
    }

    fn text_of(path: &Path) -> Result<TextFile, EngineError> {
        TextFile::open(&InputFile::new(path, Packing::None, None)?, None)
    }

    #[test]
    fn names_delimiter_and_offset() {
        let found = header(b"\xEF\xBB\xBFa;\"b,c,d;\"\"e\"\"\";f\r\n1;2;3\n", None).expect("header");
        assert_eq!(found.columns, ["a", "b,c,d;\"e\"", "f"]);
        assert_eq!(found.dialect.delimiter, b';');
        assert_eq!(found.data_offset, 22);
        assert_eq!(header(b"a\n1\n", None).expect("header").dialect.delimiter, b',');
        assert_eq!(header(b"a|b,c|d", None).expect("header").columns, ["a", "b,c", "d"]);
        assert_eq!(header(b"a|b,c", Some(b',')).expect("header").columns, ["a|b", "c"]);
    }

    #[test]
    fn faults_are_named() {
        let message = |text: &[u8]| header(text, None).map(|_| ()).expect_err("error").to_string();
        assert!(message(b"").ends_with("a.csv is empty: it should begin with a header that names the columns"));
        assert!(message(b"\n\n").contains("is empty"));
        assert!(message(b"a,\xFF\n").contains("(0xFF) is not UTF-8"));
        assert!(message(b"a,\"b\n1,2").contains("the quote that opens field 2 is never closed"));
        assert!(message(b"a,b\"c\"\n").contains("a quote inside field 2"));
        assert!(message(b"a,\0\n").contains("a NUL byte"));
        // Lines that end in CR only.
        assert!(message(b"a,b\r1,2\r").contains("a carriage return (CR) in field 2 outside quotes"));
        assert!(message(b"a,b\r\r\n1,2\r\r\n").contains("a carriage return (CR) in field 2 outside quotes"));
        assert_eq!(header(b"a,\"b\rc\"\r\n", None).expect("header").columns, ["a", "b\rc"]);
    }

    #[test]
    fn repeated_names_get_numbers() {
        let found = header(b"x,x_2,x,y,x,,\n1,2,3,4,5,6,7\n", None).expect("header");
        assert_eq!(found.columns, ["x", "x_2", "x_3", "y", "x_4", "", "_2"]);
        assert_eq!(found.renamed, [3, 5, 7]);
        // Numbering each name from 2 again would take hours.
        let many = header("x,".repeat(200_000).as_bytes(), None).expect("header");
        assert_eq!((many.columns[199_999].as_str(), many.renamed.len()), ("x_200000", 199_999));
    }

    #[test]
    fn without_a_header_columns_are_numbered_or_named() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("a.csv");
        std::fs::write(&path, b"\xEF\xBB\xBFOtto;29;Otto\nAda;36;x\n").expect("write");
        let read = |names: &[&[&str]]| {
            let list = |names: &&[&str]| names.iter().map(|name| (*name).to_owned()).collect();
            let names = Some(names.iter().map(list).collect());
            super::read(&text_of(&path)?, &CsvOptions { names, ..CsvOptions::default() })
        };
        let found = read(&[]).expect("header");
        assert_eq!((found.columns, found.data_offset), (["c1", "c2", "c3"].map(str::to_owned).to_vec(), 3));
        assert_eq!(read(&[&["a", "b"], &["a", "b", "c"]]).expect("header").columns, ["a", "b", "c"]);
        let message = read(&[&["a", "b"]]).expect_err("error").to_string();
        assert!(message.ends_with("a.csv: 2 `names` in [input], and the first record has 3 fields"), "{message}");
        std::fs::write(&path, b"a,\xFF\n").expect("write");
        let message = read(&[]).expect_err("error").to_string();
        assert!(message.contains("a.csv, record 1 (line 1): byte 3 of the file (0xFF) is not UTF-8"), "{message}");
    }

    #[test]
    fn comments_are_not_names() {
        for text in ["# made by hand\na,b\n1,2\n", "#made\na;b\n", "# a,b\n1,2\n"] {
            let message = header(text.as_bytes(), None).expect_err("error").to_string();
            assert!(message.contains("a line that begins with `#`, like a comment"), "{message}");
        }
        for text in ["#id,name\n1,2\n", "#\n1\n", "\"# a\",b\n1,2\n"] {
            assert!(header(text.as_bytes(), None).is_ok(), "{text}");
        }
    }

    #[test]
    fn a_long_first_line_is_not_read_whole() {
        let text = |bytes: usize| [vec![b'a'; bytes], b"\n1\n".to_vec()].concat();
        for bytes in [MAX_HEADER_BYTES, MAX_HEADER_BYTES + 100, 3 * MAX_HEADER_BYTES] {
            let error = header(&text(bytes), None).expect_err("error").to_string();
            assert!(error.contains("the first line is longer than 4 MB"), "{error}");
        }
        assert_eq!(header(&text(MAX_HEADER_BYTES - 1), None).expect("header").columns[0].len(), MAX_HEADER_BYTES - 1);
    }
}
