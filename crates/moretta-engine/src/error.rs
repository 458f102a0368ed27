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
    text::count,
};

use crate::formats::extensions;

/// Error that ended a pass. No output file is left behind.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// A file operation failed.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// File or folder of the operation.
        path: PathBuf,
        /// Operation as a verb: "open", "read", "write", ...
        action: &'static str,
        /// Error of the operating system.
        source: io::Error,
    },
    /// No data file matches the path, folder or pattern.
    #[error(
        "{pattern}: no data file found: give a {} file, a folder of such files, or a pattern such as part-*.csv",
        extensions()
    )]
    NoInput {
        /// Path, folder or pattern as the user gave it.
        pattern: String,
    },
    /// The file extension is not one of a known format.
    #[error("{}: the name should end in {}", path.display(), extensions())]
    UnknownFormat {
        /// Input or output file.
        path: PathBuf,
    },
    /// The files of one source differ in format.
    #[error("{}: all files of one input should have one format, and the first, {}, has another", path.display(), first.display())]
    MixedFormats {
        /// The file that differs.
        path: PathBuf,
        /// The first file.
        first: PathBuf,
    },
    /// The files of one source differ in their columns.
    #[error("{}: its columns differ from those of {}: {detail}", path.display(), first.display())]
    HeaderDiffers {
        /// The file that differs.
        path: PathBuf,
        /// The first file.
        first: PathBuf,
        /// First difference, such as "column 2 is `c`, not `b`".
        detail: String,
    },
    /// The file has no content, not even a header.
    #[error("{} is empty: it should begin with a header that names the columns", path.display())]
    Empty {
        /// Input file.
        path: PathBuf,
    },
    /// The source has a header and no records.
    #[error("{} has a header but no records", path.display())]
    NoRecords {
        /// First file of the source.
        path: PathBuf,
    },
    /// The header has two columns of the same name.
    #[error("{}: the header names `{name}` twice: every column needs a name of its own", path.display())]
    DuplicateColumn {
        /// Input file.
        path: PathBuf,
        /// Column name that occurs twice.
        name: String,
    },
    /// The header is malformed.
    #[error("{}: the header cannot be read: {fault}", path.display())]
    Header {
        /// Input file.
        path: PathBuf,
        /// Reason that the header cannot be read.
        fault: Fault,
    },
    /// A requested column does not exist.
    #[error("there is no column `{name}`; the columns are {}", list(known))]
    UnknownColumn {
        /// Requested name.
        name: String,
        /// Names of all columns of the source.
        known: Vec<String>,
    },
    /// Values of a requested column have no text form, such as lists.
    #[error("{}: column `{column}` is of type {data_type}, which has no plain text form: drop it, or convert it to text or a number first", path.display())]
    UnsupportedType {
        /// First file of the source.
        path: PathBuf,
        /// Name of the column.
        column: String,
        /// Arrow name of the column's type.
        data_type: String,
    },
    /// A record is malformed.
    #[error("{}, record {record}{}: {fault}", path.display(), at_line(line))]
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
    #[error("{}: {message}", path.display())]
    Parquet {
        /// Input or output file.
        path: PathBuf,
        /// Message of the library.
        message: String,
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
    /// The target exists and must not be replaced.
    #[error("{} exists already: give --overwrite to replace it", path.display())]
    TargetExists {
        /// Path of the target.
        path: PathBuf,
    },
    /// The target cannot be created in its folder.
    #[error("cannot write {}: {reason}", path.display())]
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
    /// An empty line between records.
    #[error("a blank line where {expected} fields should be")]
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
    /// Bytes that are not UTF-8.
    #[error("not valid UTF-8: save the file as UTF-8")]
    NotUtf8,
}

/// State of the first pass when it exceeded its memory limit, with an estimate of the memory it needs.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error(
    "the distinct rows do not fit into {}: {} of them after {:.0} % of the input; all of it would need about {}: \
     give --memory {}, or make a column coarser: `{column}` has {} distinct values",
    bytes(*budget, " "), count(*distinct_rows), read * 100.0, bytes(*needed, " "), bytes(needed / 10 * 11, ""),
    count(*distinct_values)
)]
pub struct OutOfMemory {
    /// Memory limit in bytes.
    pub budget: u64,
    /// Fraction of the input that was read, in 0..=1.
    pub read: f64,
    /// Lower bound of the distinct rows read so far: those of one thread.
    pub distinct_rows: u64,
    /// Estimated bytes for the whole input: the bytes in use divided by `read`.
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
            | UnknownFormat { path }
            | MixedFormats { path, .. }
            | HeaderDiffers { path, .. }
            | Empty { path }
            | NoRecords { path }
            | DuplicateColumn { path, .. }
            | Header { path, .. }
            | UnsupportedType { path, .. }
            | Record { path, .. }
            | Parquet { path, .. }
            | TargetExists { path }
            | Target { path, .. } => Some(path),
            NoInput { .. }
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

    /// Returns a function that wraps an error of the Parquet library, for `map_err`.
    pub(crate) fn parquet<E: fmt::Display>(path: &Path) -> impl FnOnce(E) -> Self {
        let path = path.to_path_buf();
        move |error| Self::Parquet { path, message: error.to_string() }
    }

    pub(crate) fn changed(detail: impl Into<String>) -> Self {
        Self::InputChanged { detail: detail.into() }
    }

    pub(crate) fn bad_rewrite(detail: impl Into<String>) -> Self {
        Self::BadRewrite { detail: detail.into() }
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
            EngineError::UnsupportedType { column, .. } => FaultLocation { column: Some(column.clone()), ..file },
            _ => file,
        });
        let kind = match error {
            EngineError::NoInput { .. }
            | EngineError::UnknownFormat { .. }
            | EngineError::Target { .. }
            | EngineError::TargetExists { .. } => FaultKind::Usage,
            EngineError::BadRewrite { .. } => FaultKind::Internal,
            _ => FaultKind::Source,
        };
        Self::Failed { kind, place, error: Box::new(error) }
    }
}

fn at_line(line: &Option<u64>) -> String {
    line.map(|line| format!(" (line {line})")).unwrap_or_default()
}

fn list(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(20).map(|name| format!("`{name}`")).collect();
    let more = if names.len() > 20 { format!(" and {} more", names.len() - 20) } else { String::new() };
    format!("{}{more}", shown.join(", "))
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
            budget: 400_000_000,
            read: 0.371,
            distinct_rows: 3_000_001,
            needed: 1_080_000_000,
            column: "postcode".into(),
            distinct_values: 812_334,
        };
        assert_eq!(
            error.to_string(),
            "the distinct rows do not fit into 400 MB: 3,000,001 of them after 37 % of the input; all of it would need \
             about 1.1 GB: give --memory 1.2GB, or make a column coarser: `postcode` has 812,334 distinct values"
        );
    }
}
