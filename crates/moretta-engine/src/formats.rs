//! Registry of file formats: their extensions and the functions that open and write them.
//!
//! To add a format, implement [`Scan`] for it, add a row to [`FORMATS`] and a variant to [`Format`].

use std::path::Path;

use crate::{
    csv::{CsvOptions, scan::CsvScan},
    error::EngineError,
    parquet::scan::ParquetScan,
    rewrite::{WriteFn, csv_out, parquet_out},
    scan::Scan,
    source::InputFile,
};

/// File format of tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Delimited text with a header: extensions `.csv`, `.tsv`, `.txt`.
    Csv,
    /// Apache Parquet: extensions `.parquet`, `.pq`.
    Parquet,
}

/// Opens one or more files as one table. Other formats ignore the CSV options but for [`CsvOptions::release`].
type OpenFn = fn(&[InputFile], &CsvOptions) -> Result<Box<dyn Scan>, EngineError>;

/// Row of the registry.
pub(crate) struct FormatEntry {
    format: Format,
    extensions: &'static [&'static str],
    pub(crate) open: OpenFn,
    pub(crate) write: WriteFn,
}

/// All formats, in the order of the variants of [`Format`].
static FORMATS: [FormatEntry; 2] = [
    FormatEntry { format: Format::Csv, extensions: &["csv", "tsv", "txt"], open: CsvScan::open, write: csv_out::write },
    FormatEntry {
        format: Format::Parquet,
        extensions: &["parquet", "pq"],
        open: ParquetScan::open,
        write: parquet_out::write,
    },
];

impl Format {
    /// Format of a file by its extension; `None` if it is not a known one.
    pub fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        FORMATS.iter().find(|entry| entry.extensions.contains(&extension.as_str())).map(|entry| entry.format)
    }

    /// Row of this format in [`FORMATS`].
    pub(crate) fn entry(self) -> &'static FormatEntry {
        &FORMATS[self as usize]
    }
}

/// All extensions as a list for messages: ".csv, .tsv, .txt, .parquet or .pq".
pub(crate) fn extensions() -> String {
    let mut all: Vec<String> = FORMATS.iter().flat_map(|entry| entry.extensions).map(|end| format!(".{end}")).collect();
    let last = all.pop().unwrap_or_default();
    format!("{} or {last}", all.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_in_the_order_of_their_names() {
        assert!(FORMATS.iter().enumerate().all(|(index, entry)| entry.format as usize == index));
        assert_eq!(Format::of(Path::new("a.b.PQ")), Some(Format::Parquet));
        assert_eq!(Format::of(Path::new("csv")), None);
        assert_eq!(extensions(), ".csv, .tsv, .txt, .parquet or .pq");
    }
}
