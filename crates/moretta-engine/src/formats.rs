//! The formats of table files, in one table: which names they have, how they are opened and how they are written.
//!
//! A new format is a file that implements [`Scan`], one line of [`FORMATS`] and its name in [`Format`].

use std::path::Path;

use crate::{
    csv::{CsvOptions, scan::CsvScan},
    error::EngineError,
    parquet::scan::ParquetScan,
    rewrite::{WriteFn, csv_out, parquet_out},
    scan::Scan,
    source::InputFile,
};

/// A format of table files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Delimited text with a header: `.csv`, `.tsv`, `.txt`.
    Csv,
    /// Apache Parquet: `.parquet`, `.pq`.
    Parquet,
}

/// Opens at least one file.
type OpenFn = fn(&[InputFile], &CsvOptions) -> Result<Box<dyn Scan>, EngineError>;

/// All that is known of a format.
pub(crate) struct FormatEntry {
    format: Format,
    extensions: &'static [&'static str],
    pub(crate) open: OpenFn,
    pub(crate) write: WriteFn,
}

/// In the order of [`Format`].
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
    /// The format a file's name speaks of.
    pub fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        FORMATS.iter().find(|entry| entry.extensions.contains(&extension.as_str())).map(|entry| entry.format)
    }

    /// How files of this format are opened and written.
    pub(crate) fn entry(self) -> &'static FormatEntry {
        &FORMATS[self as usize]
    }
}

/// All extensions, as messages list them.
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
        assert!(FORMATS.iter().enumerate().all(|(at, entry)| entry.format as usize == at));
        assert_eq!(Format::of(Path::new("a.b.PQ")), Some(Format::Parquet));
        assert_eq!(Format::of(Path::new("csv")), None);
        assert_eq!(extensions(), ".csv, .tsv, .txt, .parquet or .pq");
    }
}
