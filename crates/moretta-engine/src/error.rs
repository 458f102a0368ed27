//! What can go wrong in a pass, as data, with one rendering.
//!
//! Guarantee: a message names the file, and the record and line where they are known, says what was found and what would
//! be right, and never shows the content of a cell. Of several wrong records the earliest is reported, whatever the
//! number of threads (see [`crate::csv::blocks`]).

use std::{
    fmt, io,
    path::{Path, PathBuf},
};

use moretta_core::{
    engine::{EngineFault, FaultKind, Place},
    text::count,
};

use crate::formats::extensions;

/// Why a pass did not come to its end. Nothing was left behind.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The operating system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was tried: "open", "read", "write" and so on.
        action: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// A path, folder or pattern that names no data file.
    #[error(
        "{pattern}: no data file there (a {} file, a folder of them, or a pattern such as part-*.csv)",
        extensions()
    )]
    NoInput {
        /// What was given.
        pattern: String,
    },
    /// An extension that says nothing about the format.
    #[error("{}: the name should end in {}", path.display(), extensions())]
    UnknownFormat {
        /// The file.
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
        /// Where they differ.
        detail: String,
    },
    /// A file without any content.
    #[error("{} is empty: it should begin with a header that names the columns", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// A source with a header and nothing below it.
    #[error("{} has a header but no records", path.display())]
    NoRecords {
        /// The (first) file.
        path: PathBuf,
    },
    /// A header that names two columns alike.
    #[error("{}: the header names `{name}` twice: every column needs a name of its own", path.display())]
    DuplicateColumn {
        /// The file.
        path: PathBuf,
        /// The name.
        name: String,
    },
    /// A header that cannot be read.
    #[error("{}: the header cannot be read: {fault}", path.display())]
    Header {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        fault: Fault,
    },
    /// A column that was asked for and is not there.
    #[error("there is no column `{name}`; the columns are {}", list(known))]
    UnknownColumn {
        /// The name that was asked for.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// A column type that has no text form here.
    #[error("{}: column `{column}` is of type {data_type}, which has no plain text form: drop it, or convert it to text or a number first", path.display())]
    UnsupportedType {
        /// The file.
        path: PathBuf,
        /// The column.
        column: String,
        /// Its type.
        data_type: String,
    },
    /// A record that is not well-formed.
    #[error("{}, record {record}{}: {fault}", path.display(), at_line(line))]
    Record {
        /// The file.
        path: PathBuf,
        /// The record in this file, from 1, header not counted.
        record: u64,
        /// The line on which the record begins, from 1, header counted.
        line: Option<u64>,
        /// What is wrong with it.
        fault: Fault,
    },
    /// The Parquet reader or writer gave up.
    #[error("{}: {message}", path.display())]
    Parquet {
        /// The file.
        path: PathBuf,
        /// What it said.
        message: String,
    },
    /// The distinct values and rows outgrew the memory that was allowed.
    #[error(transparent)]
    OutOfMemory(Box<OutOfMemory>),
    /// The caller asked to stop.
    #[error("cancelled")]
    Cancelled,
    /// The second pass met other records than the first.
    #[error("the input changed between the two passes ({detail}): run again on a copy that nobody writes to")]
    InputChanged {
        /// What gave it away.
        detail: String,
    },
    /// A rewrite that does not fit the records or itself.
    #[error("the rewrite does not fit: {detail}")]
    BadRewrite {
        /// Why.
        detail: String,
    },
    /// A target that is there already.
    #[error("{} is there already: give --overwrite to replace it", path.display())]
    TargetExists {
        /// The target.
        path: PathBuf,
    },
    /// A target whose folder cannot take it.
    #[error("cannot write {}: {reason}", path.display())]
    Target {
        /// The target.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}

/// What is wrong with one record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// Another number of fields than the header.
    Fields {
        /// Fields of the record.
        found: usize,
        /// Fields of the header.
        expected: usize,
    },
    /// An empty line between records.
    BlankLine {
        /// Fields of the header.
        expected: usize,
    },
    /// A quote inside a field that does not begin with one.
    StrayQuote {
        /// The field, from 1.
        field: usize,
    },
    /// Something between a closing quote and the end of the field.
    AfterQuote {
        /// The field, from 1.
        field: usize,
    },
    /// A quote that is opened and never closed.
    UnclosedQuote {
        /// The field, from 1.
        field: usize,
    },
    /// A record longer than any record should be.
    TooLong {
        /// How long a record may be.
        limit: usize,
    },
    /// Bytes that are not UTF-8.
    NotUtf8,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fields { found, expected } => {
                write!(f, "{found} {} where the header has {expected}", plural(*found as u64, "field"))
            }
            Self::BlankLine { expected } => {
                write!(f, "a blank line where {expected} fields should be")
            }
            Self::StrayQuote { field } => write!(
                f,
                "a quote inside field {field}, which does not begin with one: quote the whole field and double the quote inside it"
            ),
            Self::AfterQuote { field } => write!(
                f,
                "text after the closing quote of field {field}: a quote inside a quoted field has to be doubled"
            ),
            Self::UnclosedQuote { field } => {
                write!(f, "the quote that opens field {field} is never closed")
            }
            Self::TooLong { limit } => {
                write!(f, "longer than {} MB: most likely a quote is opened here and never closed", limit >> 20)
            }
            Self::NotUtf8 => f.write_str("not valid UTF-8: save the file as UTF-8"),
        }
    }
}

/// The account of a pass that needed more memory than it was given.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub struct OutOfMemory {
    /// The bytes that were allowed.
    pub budget: u64,
    /// The share of the input that was read, in 0..1.
    pub read: f64,
    /// Distinct rows seen so far, at least.
    pub distinct_rows: u64,
    /// What all of the input would need, in bytes, by rule of three.
    pub needed: u64,
    /// The column with the most distinct values.
    pub column: String,
    /// How many it has so far, at least.
    pub distinct_values: u64,
}

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the distinct rows do not fit into {}: {} of them after {:.0} % of the input; all of it would need about {}: \
             give --memory {}, or make a column coarser: `{}` has {} distinct values",
            bytes(self.budget, " "),
            count(self.distinct_rows),
            self.read * 100.0,
            bytes(self.needed, " "),
            bytes(self.needed / 10 * 11, ""),
            self.column,
            count(self.distinct_values),
        )
    }
}

impl EngineError {
    /// The file it speaks of.
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

    /// An [`EngineError::Io`].
    pub(crate) fn io(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Io { path, action, source }
    }

    /// An [`EngineError::Parquet`].
    pub(crate) fn parquet<E: fmt::Display>(path: &Path) -> impl FnOnce(E) -> Self {
        let path = path.to_path_buf();
        move |error| Self::Parquet { path, message: error.to_string() }
    }

    /// An [`EngineError::InputChanged`].
    pub(crate) fn changed(detail: impl Into<String>) -> Self {
        Self::InputChanged { detail: detail.into() }
    }

    /// An [`EngineError::BadRewrite`].
    pub(crate) fn bad_rewrite(detail: impl Into<String>) -> Self {
        Self::BadRewrite { detail: detail.into() }
    }
}

impl From<EngineError> for EngineFault {
    fn from(error: EngineError) -> Self {
        if matches!(error, EngineError::Cancelled) {
            return Self::Cancelled;
        }
        let place = match &error {
            EngineError::Record { path, record, line, .. } => {
                Some(Place { record: Some(*record), line: *line, ..Place::file(path.display().to_string()) })
            }
            EngineError::UnsupportedType { path, column, .. } => {
                Some(Place { column: Some(column.clone()), ..Place::file(path.display().to_string()) })
            }
            error => error.path().map(|path| Place::file(path.display().to_string())),
        };
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

fn plural(count: u64, word: &str) -> String {
    if count == 1 { word.to_string() } else { format!("{word}s") }
}

fn list(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(20).map(|name| format!("`{name}`")).collect();
    let more = if names.len() > 20 { format!(" and {} more", names.len() - 20) } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

/// A number of bytes in the unit that suits it, with `gap` before the unit.
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
