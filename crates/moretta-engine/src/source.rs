//! Input of a run: one file, all data files of a folder, or the files that match a pattern.
//!
//! Guarantee: all files of an open [`Source`] have the same format and the same columns in the same order, and no
//! column name occurs twice. Length and modification time of each file are remembered, so that a later pass notices a
//! changed file. Cost: reads headers (CSV) and footers (Parquet) only.

use std::{
    collections::HashMap,
    fs::File,
    io::{Read, Seek, SeekFrom},
    path::{Path, PathBuf},
    sync::Arc,
};

use arrow_schema::DataType;
use moretta_core::{engine::ReleaseFile, observer::Observer, suggest::folded};

use crate::{
    arrow::text::has_text,
    bytes::{
        file::InputFile,
        packing::Packing,
        text::{FoundEncoding, find_encoding},
    },
    csv::CsvOptions,
    digest::sha256_of,
    error::EngineError,
    formats::{FileKind, Format},
    scan::Scan,
    table::{MemoryScan, MemoryTable},
    target::copy_observed,
};

/// One or more input files with the same columns.
#[derive(Debug)]
pub struct Source {
    name: String,
    scan: Box<dyn Scan>,
    format: Format,
    files: Vec<InputFile>,
}

/// Name of standard input in messages.
const STANDARD_INPUT: &str = "standard input";

/// Copy of standard input, or of another stream, that can be read more than once. The file has no name, so that the system
/// removes it when the process ends, however it ends, and no other user can open it.
#[derive(Debug, Clone)]
pub struct CopiedInput {
    file: Arc<File>,
    length: u64,
}

impl CopiedInput {
    /// Copies a stream into a temporary file in a folder.
    pub fn new(stream: impl Read, folder: &Path, observer: &dyn Observer) -> Result<Self, EngineError> {
        let mut file = tempfile::tempfile_in(folder).map_err(EngineError::io(folder, "write a temporary file in"))?;
        let name = Path::new(STANDARD_INPUT);
        let length = copy_observed(stream, &mut file, observer)?.map_err(EngineError::io(name, "copy"))?;
        file.seek(SeekFrom::Start(0)).map_err(EngineError::io(name, "read"))?;
        Ok(Self { file: Arc::new(file), length })
    }

    /// Format of the stream by its first bytes.
    fn kind(&self) -> Result<FileKind, EngineError> {
        let file = InputFile::copied(STANDARD_INPUT, Arc::clone(&self.file), self.length, Packing::None, None);
        let mut head = Vec::new();
        let read = file.open()?.take(16).read_to_end(&mut head);
        read.map_err(EngineError::io(Path::new(STANDARD_INPUT), "read"))?;
        Ok(FileKind::of_magic(&head))
    }
}

impl Source {
    /// Opens a file, all data files of a folder (except hidden ones, sorted by name), or the files that match a pattern
    /// with `*` and `?` in its last component.
    pub fn open(path_or_glob: &str, options: &CsvOptions) -> Result<Self, EngineError> {
        let paths = expand_paths(path_or_glob)?;
        let first = &paths[0];
        let kind_of =
            |path: &PathBuf| FileKind::of(path).ok_or_else(|| EngineError::UnknownFormat { path: path.clone() });
        let format = kind_of(first)?.format;
        let mut files = Vec::new();
        for path in &paths {
            let kind = kind_of(path)?;
            if kind.format != format {
                return Err(EngineError::MixedFormats { path: path.clone(), first: first.clone() });
            }
            files.push(InputFile::new(path, kind.packing, options.memory)?);
        }
        Self::open_files(path_or_glob.to_owned(), files, format, options)
    }

    /// Opens one file of a known kind, whatever its extension.
    pub fn open_as(path: &Path, kind: FileKind, options: &CsvOptions) -> Result<Self, EngineError> {
        let file = InputFile::new(path, kind.packing, options.memory)?;
        Self::open_files(path.display().to_string(), vec![file], kind.format, options)
    }

    /// Opens a copy of standard input. Its format is found from its first bytes if it is not known.
    pub fn open_copy(copy: &CopiedInput, kind: Option<FileKind>, options: &CsvOptions) -> Result<Self, EngineError> {
        let kind = kind.map_or_else(|| copy.kind(), Ok)?;
        let copied = Arc::clone(&copy.file);
        let file = InputFile::copied(STANDARD_INPUT, copied, copy.length, kind.packing, options.memory);
        Self::open_files(STANDARD_INPUT.to_owned(), vec![file], kind.format, options)
    }

    /// Finds the encoding of a CSV file, or of the first file of a folder or a pattern, from its first `limit` bytes;
    /// `None` if it is UTF-8, or another format.
    pub fn find_encoding(path_or_glob: &str, limit: u64) -> Result<Option<FoundEncoding>, EngineError> {
        let paths = expand_paths(path_or_glob)?;
        match FileKind::of(&paths[0]) {
            Some(FileKind { format: Format::Csv, packing, .. }) => {
                find_encoding(&InputFile::new(&paths[0], packing, None)?, limit)
            }
            _ => Ok(None),
        }
    }

    /// Like [`Source::find_encoding`], for a copy of standard input.
    pub fn find_copy_encoding(
        copy: &CopiedInput,
        kind: Option<FileKind>,
        limit: u64,
    ) -> Result<Option<FoundEncoding>, EngineError> {
        let kind = kind.map_or_else(|| copy.kind(), Ok)?;
        let file = InputFile::copied(STANDARD_INPUT, Arc::clone(&copy.file), copy.length, kind.packing, None);
        if kind.format == Format::Csv { find_encoding(&file, limit) } else { Ok(None) }
    }

    /// Reads a table in memory, which cannot change.
    pub fn of_table(table: MemoryTable) -> Self {
        let name = table.name().to_owned();
        Self { name, scan: Box::new(MemoryScan::new(table)), format: Format::ArrowStream, files: Vec::new() }
    }

    fn open_files(
        name: String,
        files: Vec<InputFile>,
        format: Format,
        options: &CsvOptions,
    ) -> Result<Self, EngineError> {
        Ok(Self { name, scan: (format.entry().open)(&files, options)?, format, files })
    }

    /// Path or pattern that was given to [`Source::open`], or name of the table.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Names of the columns, in file order.
    pub fn columns(&self) -> &[String] {
        self.scan.columns()
    }

    /// Paths of the files, in the order they are read; none for a table in memory.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|file| file.path.as_path())
    }

    /// Describes file number `index`, from 0: its name without folder, its size and its SHA-256.
    ///
    /// # Panics
    ///
    /// If there is no such file.
    pub fn digest(&self, index: usize, observer: &dyn Observer) -> Result<ReleaseFile, EngineError> {
        let input = &self.files[index];
        let sha256 = sha256_of(&*input.file()?, input.length, &input.path, observer)?;
        let file = input.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(ReleaseFile { file, bytes: input.length, sha256 })
    }

    /// Format of all files. A table in memory is an Arrow stream.
    pub fn format(&self) -> Format {
        self.format
    }

    /// CSV dialect of the files, with the delimiter that was detected. For Parquet: the dialect of a CSV release.
    pub fn csv_options(&self) -> CsvOptions {
        self.scan.csv_options().unwrap_or(CsvOptions { delimiter: Some(b','), ..CsvOptions::default() })
    }

    /// Numbers (from 1) of the columns that had the name of an earlier one: `x` became `x_2`.
    pub fn renamed_columns(&self) -> &[usize] {
        self.scan.renamed()
    }

    /// Whether the files are most likely UTF-8, although another encoding is declared.
    pub fn looks_like_utf8(&self) -> bool {
        self.scan.looks_like_utf8()
    }

    /// Whether the values of a column are numbers or of another type, not text.
    pub(crate) fn is_typed(&self, column: usize) -> bool {
        let is_text = |data_type: &DataType| match data_type {
            DataType::Dictionary(_, value) => value.is_string(),
            other => other.is_string(),
        };
        self.scan.schema().is_some_and(|schema| !is_text(schema.field(column).data_type()))
    }

    /// Total size of all files in bytes.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.length).sum()
    }

    pub(crate) fn scan(&self) -> &dyn Scan {
        &*self.scan
    }

    /// First file, or the name of the table, for messages about the whole source.
    pub(crate) fn first_path(&self) -> PathBuf {
        self.files.first().map_or_else(|| PathBuf::from(&self.name), |file| file.path.clone())
    }

    /// Returns an error if the length or modification time of a file has changed since it was opened.
    pub fn check_unchanged(&self) -> Result<(), EngineError> {
        self.files.iter().try_for_each(InputFile::check_unchanged)
    }

    /// The reason of an error of a pass: that a file changed, if one did, because a changed file may look damaged.
    pub(crate) fn reason(&self, error: EngineError) -> EngineError {
        match error {
            EngineError::Cancelled => error,
            _ => self.check_unchanged().err().unwrap_or(error),
        }
    }

    /// Index of a column; an error if there is none of this name.
    pub(crate) fn column_index(&self, name: &str) -> Result<usize, EngineError> {
        let known = self.columns();
        known.iter().position(|column| column == name).ok_or_else(|| EngineError::UnknownColumn {
            source_name: self.name.clone(),
            name: name.to_owned(),
            near: known.iter().find(|column| folded(column) == folded(name)).cloned(),
        })
    }

    /// For each column, whether its values are of a type without a text form: lists, structures, binary values.
    pub fn columns_without_text(&self) -> Vec<bool> {
        match self.scan.schema() {
            Some(schema) => schema.fields().iter().map(|field| !has_text(field.data_type())).collect(),
            None => vec![false; self.columns().len()],
        }
    }

    /// Returns an error if values of one of `columns` have no text form.
    pub(crate) fn check_has_text(&self, columns: &[usize]) -> Result<(), EngineError> {
        let fields = self.scan.schema().map(|schema| columns.iter().map(|&column| schema.field(column)));
        match fields.into_iter().flatten().find(|field| !has_text(field.data_type())) {
            None => Ok(()),
            Some(field) => Err(EngineError::UnsupportedType {
                path: self.first_path(),
                column: field.name().clone(),
                data_type: field.data_type().to_string(),
            }),
        }
    }
}

/// Numbers (from 1) of the first two columns with the same name; `None` if all names differ.
pub(crate) fn repeated_columns(columns: &[String]) -> Option<(usize, usize)> {
    let mut numbers = HashMap::new();
    let mut numbered = (1..).zip(columns);
    numbered.find_map(|(number, name)| Some((numbers.insert(name, number)?, number)))
}

/// Describes the first difference between two lists of column names, without the names; `None` if they are equal.
pub(crate) fn column_difference(first: &[String], other: &[String]) -> Option<String> {
    match first.iter().zip(other).position(|(a, b)| a != b) {
        Some(index) => Some(format!("column {} has another name", index + 1)),
        None if first.len() != other.len() => Some(format!("{} columns, not {}", other.len(), first.len())),
        None => None,
    }
}

/// Whether two paths lead to the same file, also by way of links.
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

/// Lists the files that a path, folder or pattern names; at least one.
fn expand_paths(path_or_glob: &str) -> Result<Vec<PathBuf>, EngineError> {
    let path = Path::new(path_or_glob);
    let no_input = || EngineError::NoInput { pattern: path_or_glob.to_string() };
    if path.is_dir() {
        return list_files(path, |_, has_data_extension| has_data_extension)?.ok_or_else(no_input);
    }
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if path.exists() || !name.contains(['*', '?']) {
        std::fs::metadata(path).map_err(EngineError::io(path, "open"))?;
        return Ok(vec![path.to_path_buf()]);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    list_files(folder, |file, _| glob_matches(name.as_bytes(), file.as_bytes()))?.ok_or_else(no_input)
}

/// Files of a folder, sorted by name, that are not hidden and that `chosen` accepts; `None` if there is none. `chosen`
/// gets the file name and whether it has the extension of a known format.
fn list_files(folder: &Path, chosen: impl Fn(&str, bool) -> bool) -> Result<Option<Vec<PathBuf>>, EngineError> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(EngineError::io(folder, "read"))? {
        let path = entry.map_err(EngineError::io(folder, "read"))?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        if !name.starts_with('.') && path.is_file() && chosen(name, Format::of(&path).is_some()) {
            files.push(path);
        }
    }
    files.sort();
    Ok(Some(files).filter(|files| !files.is_empty()))
}

/// Whether a name matches a pattern of `*` (any characters) and `?` (any one byte).
fn glob_matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut pattern_index, mut name_index) = (0, 0);
    // Last `*` of the pattern, and the byte of the name at which its match ends. On a mismatch the match is extended by
    // one.
    let mut retry: Option<(usize, usize)> = None;
    while name_index < name.len() {
        match pattern.get(pattern_index) {
            Some(b'*') => {
                retry = Some((pattern_index, name_index));
                pattern_index += 1;
            }
            Some(&byte) if byte == b'?' || byte == name[name_index] => {
                pattern_index += 1;
                name_index += 1;
            }
            _ => match &mut retry {
                Some((star, from)) => {
                    *from += 1;
                    (pattern_index, name_index) = (*star + 1, *from);
                }
                None => return false,
            },
        }
    }
    pattern[pattern_index..].iter().all(|&byte| byte == b'*')
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
            assert_eq!(glob_matches(pattern.as_bytes(), name.as_bytes()), expected, "{pattern} {name}");
        }
    }
}
