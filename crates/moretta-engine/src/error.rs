//! Errors of both passes: typed, and rendered to text in this file only.
//!
//! Guarantee: a message names the file, and the record and line if known; it says what was found and what is expected;
//! it never shows the content of a cell. If several records are malformed, the first one in the input is reported,
//! whatever the number of threads (see [`crate::csv::blocks`]).

use std::{
    fmt, io,
    path::{Path, PathBuf},
};

use moretta_core::{
    engine::{EngineFault, FaultKind, FaultLocation},
    text::{at_record, count, counted, one_line, shown},
};

use crate::{
    bytes::{encoding::BadBytes, packing::PackingFault, text::TextFault},
    formats::extensions,
};

/// Error that ended a pass. No output file is left behind.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// A file operation failed.
    #[error("cannot {action} {}: {source}", file(path))]
    Io {
        /// File or folder of the operation.
        path: PathBuf,
        /// Operation as a verb: "open", "read", "write", ...
        action: &'static str,
        /// Error of the operating system.
        source: io::Error,
    },
    /// A compressed file cannot be unpacked.
    #[error("{}: {fault}", file(path))]
    Packed {
        /// Input file.
        path: PathBuf,
        /// Reason.
        fault: PackingFault,
    },
    /// A file cannot be read as text.
    #[error("{}: {fault}", file(path))]
    Text {
        /// Input file.
        path: PathBuf,
        /// Reason.
        fault: TextFault,
    },
    /// A text of the release has a character that its encoding does not have.
    #[error(
        "column `{}`{}: {} has the character U+{:04X}, which {encoding} does not have: set `encoding = \"utf-8\"` in [release]",
        shown(column),
        at_record(*record),
        match label { Some(label) => format!("the label `{}`", shown(label)), None => "a text".to_owned() },
        u32::from(*character)
    )]
    NotEncodable {
        /// Name of the column.
        column: String,
        /// Label at fault; `None` if a cell of the input is.
        label: Option<String>,
        /// Number of the record of the input, from 1; `None` for labels and names of columns.
        record: Option<u64>,
        /// First character that the encoding does not have.
        character: char,
        /// Name of the encoding.
        encoding: &'static str,
    },
    /// No data file matches the path, folder or pattern.
    #[error(
        "{}: no data file found: give a {} file, a folder of such files, or a pattern such as part-*.csv",
        one_line(pattern),
        extensions()
    )]
    NoInput {
        /// Path, folder or pattern as the user gave it.
        pattern: String,
    },
    /// The file extension is not one of a known format.
    #[error("{}: the name should end in {}", file(path), extensions())]
    UnknownFormat {
        /// Input or output file.
        path: PathBuf,
    },
    /// The files of one source differ in format.
    #[error(
        "{}: all files of one input should have one format, and the first, {}, has another",
        file(path),
        file(first)
    )]
    MixedFormats {
        /// The file that differs.
        path: PathBuf,
        /// The first file.
        first: PathBuf,
    },
    /// The files of one source differ in their columns.
    #[error("{}: its columns differ from those of {}: {detail}", file(path), file(first))]
    HeaderDiffers {
        /// The file that differs.
        path: PathBuf,
        /// The first file.
        first: PathBuf,
        /// First difference, such as "column 2 has another name". It has no names: without a header, the first line of
        /// a file is a record.
        detail: String,
    },
    /// The file has no content, not even a header.
    #[error("{} is empty: it should begin with a header that names the columns", file(path))]
    Empty {
        /// Input file.
        path: PathBuf,
    },
    /// The source has a header and no records.
    #[error("{} has a header but no records", file(path))]
    NoRecords {
        /// First file of the source.
        path: PathBuf,
    },
    /// Two columns have the same name, which is not shown: without a header, the first line is a record.
    #[error(
        "{}: columns {first} and {second} have the same name: every column needs a name of its own, in a header",
        file(path)
    )]
    DuplicateColumn {
        /// Input file.
        path: PathBuf,
        /// Number of the first of the two columns, from 1.
        first: usize,
        /// Number of the second.
        second: usize,
    },
    /// The columns of a file without a header have another number than their names.
    #[error(
        "{}: {} in [input], and the first record has {}",
        file(path),
        counted(*names as u64, "`names`", "`names`"),
        counted(*fields as u64, "field", "fields")
    )]
    Names {
        /// Input file.
        path: PathBuf,
        /// Number of names.
        names: usize,
        /// Number of fields of the first record.
        fields: usize,
    },
    /// The header is malformed.
    #[error("{}: the header cannot be read: {fault}", file(path))]
    Header {
        /// Input file.
        path: PathBuf,
        /// Reason that the header cannot be read.
        fault: Fault,
    },
    /// A requested column does not exist. The names that exist are not shown: without a header they are a record.
    #[error(
        "{}: there is no column `{}`; {}", one_line(source_name), shown(name),
        match near {
            Some(near) => format!("did you mean `{}`?", shown(near)),
            None => "check its name and that the file has a header".to_owned(),
        }
    )]
    UnknownColumn {
        /// Path or pattern of the source.
        source_name: String,
        /// Requested name.
        name: String,
        /// Column whose name differs in case only.
        near: Option<String>,
    },
    /// Values of a requested column have no text form, such as lists.
    #[error(
        "{}: column `{}` is of type {data_type}, which has no plain text form: drop it, or convert it to text or a number first",
        file(path),
        shown(column)
    )]
    UnsupportedType {
        /// First file of the source.
        path: PathBuf,
        /// Name of the column.
        column: String,
        /// Arrow name of the column's type.
        data_type: String,
    },
    /// A text has a NUL byte and cannot be written as CSV, because some readers would end it there.
    #[error(
        "{}: column `{}` has a text with a NUL byte, which a CSV release cannot hold: remove it, or write the release as .parquet",
        file(path),
        shown(column)
    )]
    NulInText {
        /// Input file.
        path: PathBuf,
        /// Name of the column.
        column: String,
    },
    /// A record is malformed.
    #[error("{}, record {record}{}: {fault}", file(path), at_line(line))]
    Record {
        /// Input file.
        path: PathBuf,
        /// Number of the record in this file, from 1, header not counted.
        record: u64,
        /// Line on which the record begins, from 1, header counted; `None` if unknown.
        line: Option<u64>,
        /// Reason that the record cannot be read.
        fault: Fault,
    },
    /// The Parquet library reported an error.
    #[error("{}: {message}", file(path))]
    Parquet {
        /// Input or output file.
        path: PathBuf,
        /// Message of the library.
        message: String,
    },
    /// A Parquet or Arrow file contradicts itself or cannot be decoded.
    #[error("{}: damaged {format} file: {detail}", file(path))]
    Damaged {
        /// Name of the format.
        format: &'static str,
        /// Input file.
        path: PathBuf,
        /// Contradiction that was found.
        detail: String,
    },
    /// Records that are read together have more text in one column than an Arrow array can hold.
    #[error("{}: {} have more than 2 GiB of text in one column: write the file with row groups of fewer records", file(path), counted(*records as u64, "record", "records"))]
    TooMuchText {
        /// Input file.
        path: PathBuf,
        /// Number of records that are read together.
        records: usize,
    },
    /// The distinct values and rows need more memory than allowed.
    #[error(transparent)]
    OutOfMemory(Box<OutOfMemory>),
    /// The observer requested to stop.
    #[error("cancelled")]
    Cancelled,
    /// The second pass read other records than the first.
    #[error("the input changed between the two passes ({detail}): run again on a copy that no program changes")]
    InputChanged {
        /// Difference that was noticed.
        detail: String,
    },
    /// The rewrite contradicts itself or the source: an error of the caller, not of the data.
    #[error("the rewrite does not fit: {detail}")]
    BadRewrite {
        /// Contradiction that was found.
        detail: String,
    },
    /// A table is not the result of a `GROUP BY`.
    #[error("{}: these are no counts: {reason}", file(path))]
    BadCounts {
        /// Name of the table.
        path: PathBuf,
        /// Reason.
        reason: &'static str,
    },
    /// A release in SQL would need numbers in another notation.
    #[error(
        "{}: the numbers of column `{}` have a decimal mark or separator of thousands, which SQL does not change: \
             remove `decimal` from [release], or convert them first",
        file(path),
        shown(column)
    )]
    NoNotation {
        /// Name of the table.
        path: PathBuf,
        /// Name of the column.
        column: String,
    },
    /// The target exists and must not be replaced.
    #[error("{} exists already: give --overwrite to replace it", file(path))]
    TargetExists {
        /// Path of the target.
        path: PathBuf,
    },
    /// The target cannot be created in its folder.
    #[error("cannot write {}: {reason}", file(path))]
    Target {
        /// Path of the target.
        path: PathBuf,
        /// Reason, such as a missing folder.
        reason: String,
    },
}

/// Reason that a record of a CSV file is malformed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The number of fields differs from the header.
    #[error("{found} {} where the header has {expected}", if *found == 1 { "field" } else { "fields" })]
    Fields {
        /// Number of fields of the record.
        found: usize,
        /// Number of fields of the header.
        expected: usize,
    },
    /// More fields than the header has, and some could be the two halves of a number with a decimal comma.
    #[error(
        "{found} fields where the header has {expected}: if its numbers have a decimal comma, the delimiter must be another \
         character, such as `;`, or the numbers must be quoted"
    )]
    DecimalCommas {
        /// Number of fields of the record.
        found: usize,
        /// Number of fields of the header.
        expected: usize,
    },
    /// A line that begins with `#` and is no record.
    #[error("a line that begins with `#`, like a comment: remove comment lines, or quote the field")]
    Comment,
    /// An empty line between records.
    #[error("a blank line where {expected} {} should be", if *expected == 1 { "field" } else { "fields" })]
    BlankLine {
        /// Number of fields of the header.
        expected: usize,
    },
    /// A quote inside a field that does not begin with one.
    #[error(
        "a quote inside field {field}, which does not begin with one: quote the whole field and double the quote inside it"
    )]
    StrayQuote {
        /// Number of the field, from 1.
        field: usize,
    },
    /// Text between the closing quote and the end of the field.
    #[error("text after the closing quote of field {field}: a quote inside a quoted field has to be doubled")]
    AfterQuote {
        /// Number of the field, from 1.
        field: usize,
    },
    /// A quote that is opened and never closed.
    #[error("the quote that opens field {field} is never closed")]
    UnclosedQuote {
        /// Number of the field, from 1.
        field: usize,
    },
    /// The record is longer than the limit, most likely because of an unclosed quote.
    #[error("longer than {} MB: most likely a quote is opened here and never closed", limit >> 20)]
    TooLong {
        /// Maximum length of a record in bytes.
        limit: usize,
    },
    /// The first line is longer than the limit.
    #[error(
        "the first line is longer than {} MB, so it is probably not a list of column names: the file should begin \
         with a header, and lines should end in LF or CRLF",
        limit >> 20
    )]
    HeaderTooLong {
        /// Maximum length of a header in bytes.
        limit: usize,
    },
    /// A CR outside quotes that is not part of a line end. Some readers begin a new record there.
    #[error(
        "a carriage return (CR) in field {field} outside quotes, where some readers begin a new record: quote the \
         field; lines should end in LF or CRLF"
    )]
    BareCr {
        /// Number of the field, from 1.
        field: usize,
    },
    /// A record of a release that begins with `#` outside quotes. Some readers skip it as a comment.
    #[error("a record that begins with `#` outside quotes, which some readers skip as a comment: quote the field")]
    CommentLine,
    /// A NUL byte. Some readers end a text there.
    #[error("a NUL byte, which is no text: save the file as UTF-8 and remove NUL bytes")]
    Nul,
    /// Bytes that are not UTF-8; a reader that knows the file replaces it by [`Fault::Encoding`].
    #[error("not valid UTF-8: save the file as UTF-8")]
    NotUtf8,
    /// Bytes that the encoding of the file does not have.
    #[error("{}", bad_bytes(.0))]
    Encoding(BadBytes),
}

/// State of the first pass when it exceeded its memory limit, with an estimate of the memory it needs.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error(
    "the distinct rows do not fit into {}: the limit was reached after {:.0} % of the input; to count all of it takes \
     about {}; `{}` has at least {} distinct values",
    bytes(*limit, " "), read * 100.0, bytes(*needed, " "), shown(column), count(*distinct_values)
)]
pub struct OutOfMemory {
    /// Memory limit of the process in bytes.
    pub limit: u64,
    /// Fraction of the input that was read, in 0..=1.
    pub read: f64,
    /// Upper bound of the distinct rows read so far: the sum over all threads.
    pub distinct_rows: u64,
    /// Memory limit that suffices to count the whole input, estimated from the bytes in use and `read`.
    pub needed: u64,
    /// Name of the column with the most distinct values.
    pub column: String,
    /// Lower bound of that column's distinct values so far: those of one thread.
    pub distinct_values: u64,
}

impl EngineError {
    /// The file that the message names; `None` if it names none.
    pub(crate) fn path(&self) -> Option<&Path> {
        use EngineError::*;
        match self {
            Io { path, .. }
            | Packed { path, .. }
            | Text { path, .. }
            | UnknownFormat { path }
            | MixedFormats { path, .. }
            | HeaderDiffers { path, .. }
            | Empty { path }
            | NoRecords { path }
            | DuplicateColumn { path, .. }
            | Names { path, .. }
            | Header { path, .. }
            | UnsupportedType { path, .. }
            | NulInText { path, .. }
            | Record { path, .. }
            | Parquet { path, .. }
            | Damaged { path, .. }
            | TooMuchText { path, .. }
            | BadCounts { path, .. }
            | NoNotation { path, .. }
            | TargetExists { path }
            | Target { path, .. } => Some(path),
            NoInput { .. }
            | NotEncodable { .. }
            | UnknownColumn { .. }
            | OutOfMemory(_)
            | Cancelled
            | InputChanged { .. }
            | BadRewrite { .. } => None,
        }
    }

    /// Returns a function that wraps an I/O error, for `map_err`.
    pub(crate) fn io(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Io { path, action, source }
    }

    /// Returns a function that wraps an error of reading a file that may be packed, for `map_err`.
    pub(crate) fn reading(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| match source.get_ref().and_then(|inner| inner.downcast_ref::<PackingFault>()) {
            Some(fault) => Self::Packed { path, fault: fault.clone() },
            None => Self::Io { path, action: "read", source },
        }
    }

    /// Returns a function that wraps an error of the Parquet library, for `map_err`.
    pub(crate) fn parquet<E: fmt::Display>(path: &Path) -> impl FnOnce(E) -> Self {
        let path = path.to_path_buf();
        move |error| Self::Parquet { path, message: error.to_string() }
    }

    pub(crate) fn damaged(path: &Path, detail: impl Into<String>) -> Self {
        Self::damaged_as("Parquet", path, detail)
    }

    pub(crate) fn damaged_as(format: &'static str, path: &Path, detail: impl Into<String>) -> Self {
        Self::Damaged { format, path: path.to_path_buf(), detail: detail.into() }
    }

    pub(crate) fn changed(detail: impl Into<String>) -> Self {
        Self::InputChanged { detail: detail.into() }
    }

    pub(crate) fn bad_rewrite(detail: impl Into<String>) -> Self {
        Self::BadRewrite { detail: detail.into() }
    }
}

/// Message about bytes that are not of the encoding.
fn bad_bytes(bad: &BadBytes) -> String {
    let encoding = bad.encoding;
    let advice = if encoding == "UTF-8" {
        "if the file has another encoding, set it in [input], for example encoding = \"windows-1252\"; otherwise save it as \
         UTF-8"
    } else {
        "correct `encoding` in [input]"
    };
    match &bad.found {
        None => format!("not {encoding}: {advice}"),
        Some((bytes, offset)) => {
            let hex: Vec<String> = bytes.iter().map(|byte| format!("0x{byte:02X}")).collect();
            format!("byte {} of the file ({}) is not {encoding}: {advice}", count(offset + 1), hex.join(" "))
        }
    }
}

impl From<EngineError> for EngineFault {
    fn from(error: EngineError) -> Self {
        if matches!(error, EngineError::Cancelled) {
            return Self::Cancelled;
        }
        let file = error.path().map(|path| FaultLocation::file(path.display().to_string()));
        let place = file.map(|file| match &error {
            EngineError::Record { record, line, .. } => FaultLocation { record: Some(*record), line: *line, ..file },
            EngineError::UnsupportedType { column, .. } | EngineError::NulInText { column, .. } => {
                FaultLocation { column: Some(column.clone()), ..file }
            }
            _ => file,
        });
        let kind = match error {
            EngineError::NoInput { .. }
            | EngineError::UnknownFormat { .. }
            | EngineError::NoNotation { .. }
            | EngineError::Target { .. }
            | EngineError::TargetExists { .. } => FaultKind::Usage,
            EngineError::BadRewrite { .. } => FaultKind::Internal,
            _ => FaultKind::Source,
        };
        Self::Failed { kind, place, error: Box::new(error) }
    }
}

/// A file name on one line.
fn file(path: &Path) -> String {
    one_line(&path.display().to_string())
}

fn at_line(line: &Option<u64>) -> String {
    line.map(|line| format!(" (line {line})")).unwrap_or_default()
}

/// Formats a number of bytes in kB, MB or GB, rounded up, with `gap` before the unit.
fn bytes(bytes: u64, gap: &str) -> String {
    match bytes {
        0..1_000_000 => format!("{}{gap}kB", bytes.div_ceil(1_000)),
        1_000_000..1_000_000_000 => format!("{}{gap}MB", bytes.div_ceil(1_000_000)),
        _ => format!("{:.1}{gap}GB", (bytes as f64 / 1e8).ceil() / 10.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_say_where_and_what_would_be_right() {
        let error = EngineError::Record {
            path: "people.csv".into(),
            record: 17,
            line: Some(18),
            fault: Fault::Fields { found: 8, expected: 9 },
        };
        assert_eq!(error.to_string(), "people.csv, record 17 (line 18): 8 fields where the header has 9");
        let error = OutOfMemory {
            limit: 400_000_000,
            read: 0.371,
            distinct_rows: 3_000_001,
            needed: 1_080_000_000,
            column: "postcode".into(),
            distinct_values: 812_334,
        };
        assert_eq!(
            error.to_string(),
            "the distinct rows do not fit into 400 MB: the limit was reached after 37 % of the input; to count all of \
             it takes about 1.1 GB; `postcode` has at least 812,334 distinct values"
        );
    }
}
