//! Where the records come from: one file, a folder of them, or a pattern.
//!
//! Guarantee: all files of an open [`Source`] have one format and the same columns in the same order, no name twice, and
//! their length and time of change are remembered, so that a later pass notices a file that was written to in between.
//! Cost: reads headers (CSV) and footers (Parquet) only.

use crate::csv::blocks::DataFile;
use crate::csv::scan::CsvInput;
use crate::csv::{CsvOptions, Dialect, header};
use crate::error::EngineError;
use crate::parquet::open::{self, ParquetFile};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A format of table files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Delimited text with a header: `.csv`, `.tsv`, `.txt`.
    Csv,
    /// Apache Parquet: `.parquet`, `.pq`.
    Parquet,
}

impl Format {
    /// The format a file's name speaks of.
    pub fn of(path: &Path) -> Option<Format> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "csv" | "tsv" | "txt" => Some(Format::Csv),
            "parquet" | "pq" => Some(Format::Parquet),
            _ => None,
        }
    }
}

/// One or more files with the same columns.
#[derive(Debug)]
pub struct Source {
    pub(crate) columns: Vec<String>,
    pub(crate) data: Data,
    marks: Vec<Mark>,
}

/// The files by format.
#[derive(Debug)]
pub(crate) enum Data {
    Csv { files: Vec<DataFile>, dialect: Dialect },
    Parquet(Vec<ParquetFile>),
}

/// What tells that a file was written to.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Mark {
    path: PathBuf,
    length: u64,
    modified: Option<SystemTime>,
}

impl Mark {
    fn of(path: &Path) -> Result<Mark, EngineError> {
        let metadata = std::fs::metadata(path).map_err(EngineError::io(path, "open"))?;
        Ok(Mark { path: path.to_path_buf(), length: metadata.len(), modified: metadata.modified().ok() })
    }
}

impl Source {
    /// Opens a file, all data files of a folder (hidden ones left out, sorted by name), or those that match a pattern with
    /// `*` and `?` in its last part.
    pub fn open(path_or_glob: &str, options: &CsvOptions) -> Result<Source, EngineError> {
        let paths = expand(path_or_glob)?;
        let first = &paths[0];
        let format = Format::of(first).ok_or_else(|| EngineError::UnknownFormat { path: first.clone() })?;
        for path in &paths {
            match Format::of(path) {
                Some(other) if other == format => {}
                Some(_) => {
                    return Err(EngineError::MixedFormats { path: path.clone(), first: first.clone() });
                }
                None => return Err(EngineError::UnknownFormat { path: path.clone() }),
            }
        }
        Source::open_files(paths, format, options)
    }

    /// Opens one file whose name need not speak of its format.
    pub fn open_as(path: &Path, format: Format, options: &CsvOptions) -> Result<Source, EngineError> {
        Source::open_files(vec![path.to_path_buf()], format, options)
    }

    fn open_files(paths: Vec<PathBuf>, format: Format, options: &CsvOptions) -> Result<Source, EngineError> {
        let marks = paths.iter().map(|path| Mark::of(path)).collect::<Result<Vec<_>, _>>()?;
        let (columns, data) = match format {
            Format::Csv => open_csv(&paths, options)?,
            Format::Parquet => {
                let files = paths.iter().map(|path| ParquetFile::open(path)).collect::<Result<Vec<_>, _>>()?;
                (open::same_columns(&files)?, Data::Parquet(files))
            }
        };
        Ok(Source { columns, data, marks })
    }

    /// The names of the columns.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The files, in the order they are read.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.marks.iter().map(|mark| mark.path.as_path())
    }

    /// The format of all files.
    pub fn format(&self) -> Format {
        match self.data {
            Data::Csv { .. } => Format::Csv,
            Data::Parquet(_) => Format::Parquet,
        }
    }

    /// How the files are read, with the delimiter that was found. Parquet: how a CSV file made from it is written.
    pub fn csv_options(&self) -> CsvOptions {
        match self.data {
            Data::Csv { dialect, .. } => CsvOptions { delimiter: Some(dialect.delimiter), quote: dialect.quote },
            Data::Parquet(_) => CsvOptions { delimiter: Some(b','), quote: b'"' },
        }
    }

    /// Bytes of all files.
    pub fn bytes(&self) -> u64 {
        self.marks.iter().map(|mark| mark.length).sum()
    }

    /// Whether `path` is one of the files, by whatever name.
    pub fn contains_file(&self, path: &Path) -> bool {
        self.paths().any(|mine| same_file(mine, path))
    }

    /// An error if a file was written to since it was opened.
    pub(crate) fn check_unchanged(&self) -> Result<(), EngineError> {
        for mark in &self.marks {
            if Mark::of(&mark.path)? != *mark {
                return Err(EngineError::changed(format!("{} was written to", mark.path.display())));
            }
        }
        Ok(())
    }

    /// The position of a column.
    pub(crate) fn position(&self, name: &str) -> Result<usize, EngineError> {
        self.columns
            .iter()
            .position(|column| column == name)
            .ok_or_else(|| EngineError::UnknownColumn { name: name.to_string(), known: self.columns.clone() })
    }

    /// What a scan of CSV files has to know.
    pub(crate) fn csv_input(&self, files: &[DataFile], dialect: Dialect, block_size: usize) -> CsvInput {
        CsvInput { files: files.to_vec(), dialect, width: self.columns.len(), block_size, total: self.bytes() }
    }
}

fn open_csv(paths: &[PathBuf], options: &CsvOptions) -> Result<(Vec<String>, Data), EngineError> {
    let first = header::read(&paths[0], options)?;
    let options = CsvOptions { delimiter: Some(first.dialect.delimiter), ..*options };
    let mut files = vec![DataFile { path: paths[0].clone(), data_offset: first.data_offset }];
    for path in &paths[1..] {
        let other = header::read(path, &options)?;
        if let Some(detail) = difference(&first.columns, &other.columns) {
            return Err(EngineError::HeaderDiffers { path: path.clone(), first: paths[0].clone(), detail });
        }
        files.push(DataFile { path: path.clone(), data_offset: other.data_offset });
    }
    Ok((first.columns, Data::Csv { files, dialect: first.dialect }))
}

/// Where two headers differ, in words.
pub(crate) fn difference(first: &[String], other: &[String]) -> Option<String> {
    let at = first.iter().zip(other).position(|(a, b)| a != b);
    match at {
        Some(at) => Some(format!("column {} is `{}`, not `{}`", at + 1, other[at], first[at])),
        None if first.len() != other.len() => Some(format!("{} columns, not {}", other.len(), first.len())),
        None => None,
    }
}

/// Whether two paths lead to the same file.
pub fn same_file(one: &Path, two: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        if let (Ok(one), Ok(two)) = (std::fs::metadata(one), std::fs::metadata(two)) {
            return (one.dev(), one.ino()) == (two.dev(), two.ino());
        }
    }
    matches!((one.canonicalize(), two.canonicalize()), (Ok(one), Ok(two)) if one == two)
}

fn expand(path_or_glob: &str) -> Result<Vec<PathBuf>, EngineError> {
    let path = Path::new(path_or_glob);
    let none = || EngineError::NoInput { pattern: path_or_glob.to_string() };
    if path.is_dir() {
        return files_of(path, |_, data| data)?.ok_or_else(none);
    }
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if path.exists() || !name.contains(['*', '?']) {
        std::fs::metadata(path).map_err(EngineError::io(path, "open"))?;
        return Ok(vec![path.to_path_buf()]);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    files_of(folder, |file, _| matches(name.as_bytes(), file.as_bytes()))?.ok_or_else(none)
}

/// The files of a folder that are chosen by name (and whether they have a data extension), not hidden, sorted.
fn files_of(folder: &Path, chosen: impl Fn(&str, bool) -> bool) -> Result<Option<Vec<PathBuf>>, EngineError> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(EngineError::io(folder, "read"))? {
        let path = entry.map_err(EngineError::io(folder, "read"))?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
            continue;
        };
        if !name.starts_with('.') && path.is_file() && chosen(name, Format::of(&path).is_some()) {
            files.push(path);
        }
    }
    files.sort();
    Ok(Some(files).filter(|files| !files.is_empty()))
}

/// Whether a name matches a pattern of `*` (any characters) and `?` (any one byte).
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut p, mut n) = (0, 0);
    // Where to go on when the last star takes one byte more.
    let mut retry: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some(b'*') => {
                retry = Some((p, n));
                p += 1;
            }
            Some(&byte) if byte == b'?' || byte == name[n] => {
                p += 1;
                n += 1;
            }
            _ => match &mut retry {
                Some((star, from)) => {
                    *from += 1;
                    (p, n) = (*star + 1, *from);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|&byte| byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, name, expected) in [
            ("*.csv", "a.csv", true),
            ("*.csv", "a.csv.gz", false),
            ("part-?.csv", "part-1.csv", true),
            ("part-?.csv", "part-12.csv", false),
            ("a*b*c", "aXbYbc", true),
            ("a*b*c", "aXbYb", false),
            ("*", "", true),
        ] {
            assert_eq!(matches(pattern.as_bytes(), name.as_bytes()), expected, "{pattern} {name}");
        }
    }
}
