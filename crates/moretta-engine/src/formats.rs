//! The one table of file formats: names, extensions, and the functions that open and write them. Messages, the help of
//! the command line, `moretta formats` and the documents are made from it.
//!
//! To add a format, implement [`Scan`] for it, add a row to [`FORMATS`] and a variant to [`Format`]. To add a compression,
//! add a row to [`PACKINGS`] and a variant to [`Packing`].

use std::path::Path;

use crate::{
    bytes::{
        file::InputFile,
        packing::{PACKINGS, Packing},
    },
    csv::{CsvOptions, scan::CsvScan},
    error::EngineError,
    ipc::scan::ArrowScan,
    parquet::scan::ParquetScan,
    rewrite::{WriteFn, csv_out, parquet_out},
    scan::Scan,
};

/// File format of tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Delimited text.
    Csv,
    /// Apache Parquet.
    Parquet,
    /// Apache Arrow IPC, file format.
    ArrowFile,
    /// Apache Arrow IPC, stream format.
    ArrowStream,
}

/// Opens one or more files as one table. Other formats ignore the CSV options but for [`CsvOptions::release`].
type OpenFn = fn(&[InputFile], &CsvOptions) -> Result<Box<dyn Scan>, EngineError>;

/// Row of the table of formats.
#[derive(Debug)]
pub struct FormatEntry {
    /// Variant of this row.
    pub format: Format,
    /// Name for people.
    pub name: &'static str,
    /// Extensions of its files, without dot; the first is the usual one.
    pub extensions: &'static [&'static str],
    /// Whether its files may be packed as a whole ([`PACKINGS`]).
    pub packed: bool,
    /// Note for users.
    pub remark: &'static str,
    /// First bytes of its files; empty if they have no mark.
    pub(crate) magic: &'static [u8],
    pub(crate) open: OpenFn,
    pub(crate) write: WriteFn,
}

/// All formats, in the order of the variants of [`Format`]. All are read and written.
pub static FORMATS: [FormatEntry; 4] = [
    FormatEntry {
        format: Format::Csv,
        name: "CSV",
        extensions: &["csv", "tsv", "txt"],
        packed: true,
        remark: "delimiter, encoding and notation of numbers as in [input] and [release] of the policy",
        magic: b"",
        open: CsvScan::open,
        write: csv_out::write,
    },
    FormatEntry {
        format: Format::Parquet,
        name: "Parquet",
        extensions: &["parquet", "pq"],
        packed: false,
        remark: "compressed inside: written with Zstandard",
        magic: b"PAR1",
        open: ParquetScan::open,
        write: parquet_out::write,
    },
    FormatEntry {
        format: Format::ArrowFile,
        name: "Arrow file",
        extensions: &["arrow", "feather", "ipc"],
        packed: false,
        remark: "also Feather, version 2; read with LZ4 or Zstandard inside, written without",
        magic: b"ARROW1",
        open: ArrowScan::open,
        write: parquet_out::write_arrow_file,
    },
    FormatEntry {
        format: Format::ArrowStream,
        name: "Arrow stream",
        extensions: &["arrows"],
        packed: false,
        remark: "for pipes; read with LZ4 or Zstandard inside, written without",
        magic: b"\xff\xff\xff\xff",
        open: ArrowScan::open,
        write: parquet_out::write_arrow_stream,
    },
];

impl Format {
    /// Format of a file by its extension; `None` if it is not a known one.
    pub fn of(path: &Path) -> Option<Self> {
        FileKind::of(path).map(|kind| kind.format)
    }

    /// Row of this format in [`FORMATS`].
    pub fn entry(self) -> &'static FormatEntry {
        &FORMATS[self as usize]
    }
}

/// Format of a file, and how the file is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileKind {
    /// Format of the unpacked file.
    pub format: Format,
    /// How it is packed.
    pub packing: Packing,
    /// Whether the name says that columns are separated by tabs.
    pub tabs: bool,
}

impl FileKind {
    /// CSV that is not packed.
    pub const CSV: Self = Self { format: Format::Csv, packing: Packing::None, tabs: false };

    /// Kind of a file by its extensions, such as `.csv` or `.csv.gz`; `None` if they are not known.
    pub fn of(path: &Path) -> Option<Self> {
        path.extension()?;
        Self::of_name(path.file_name()?.to_str()?.split_once('.')?.1)
    }

    /// Kind of files with these extensions, such as `csv.gz`.
    pub fn of_name(extensions: &str) -> Option<Self> {
        let mut parts = extensions.rsplit('.').map(str::to_ascii_lowercase);
        let mut last = parts.next()?;
        let packing = PACKINGS.iter().find(|entry| entry.extension == last).map(|entry| entry.packing);
        if packing.is_some() {
            last = parts.next()?;
        }
        let entry = FORMATS.iter().find(|entry| entry.extensions.contains(&last.as_str()))?;
        if packing.is_some() && !entry.packed {
            return None;
        }
        Some(Self { format: entry.format, packing: packing.unwrap_or_default(), tabs: last == "tsv" })
    }

    /// Kind of a file by its first bytes: a packed file is CSV, and so is one without a known mark.
    pub(crate) fn of_magic(head: &[u8]) -> Self {
        let marked = |entry: &&FormatEntry| !entry.magic.is_empty() && head.starts_with(entry.magic);
        let format = FORMATS.iter().find(marked).map_or(Format::Csv, |entry| entry.format);
        Self { format, packing: Packing::of_magic(head), tabs: false }
    }
}

/// All extensions as a list for messages: ".csv, .tsv, .txt (also .gz, .zst), .parquet or .pq".
pub fn extensions() -> String {
    let dotted = |names: &[&str]| names.iter().map(|name| format!(".{name}")).collect::<Vec<_>>();
    let packings: Vec<&str> = PACKINGS.iter().map(|entry| entry.extension).collect();
    let mut all: Vec<String> = Vec::new();
    for entry in &FORMATS {
        let mut names = dotted(entry.extensions);
        if let Some(last) = names.last_mut().filter(|_| entry.packed) {
            *last += &format!(" (also {})", dotted(&packings).join(", "));
        }
        all.extend(names);
    }
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
    }

    #[test]
    fn packed_files_have_two_extensions() {
        let kind = |name: &str| FileKind::of(Path::new(name)).map(|kind| (kind.format, kind.packing, kind.tabs));
        assert_eq!(kind("x/a.csv.gz"), Some((Format::Csv, Packing::Gzip, false)));
        assert_eq!(kind("a.2024.TSV.ZST"), Some((Format::Csv, Packing::Zstd, true)));
        assert_eq!(kind("a.csv"), Some((Format::Csv, Packing::None, false)));
        for name in ["a.gz", "gz", "a.parquet.gz", "a.csv.gz.gz", ".csv", "a.csv."] {
            assert_eq!(kind(name), None, "{name}");
        }
    }

    #[test]
    fn the_list_of_extensions_has_every_format() {
        let list = extensions();
        for extension in FORMATS.iter().flat_map(|entry| entry.extensions) {
            assert!(list.contains(&format!(".{extension}")), "{list}");
        }
        assert!(list.starts_with(".csv, .tsv, .txt (also .gz, .zst), .parquet"), "{list}");
    }
}
