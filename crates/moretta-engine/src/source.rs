//! Input of a run: one file, all data files of a folder, or the files that match a pattern.
//!
//! Guarantee: all files of an open [`Source`] have the same format and the same columns in the same order, and no
//! column name occurs twice. Length and modification time of each file are remembered, so that a later pass notices a
//! changed file. Cost: reads headers (CSV) and footers (Parquet) only.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    time::SystemTime,
};

use arrow_schema::DataType;
use moretta_core::suggest::folded;

use crate::{arrow::text::has_text, csv::CsvOptions, error::EngineError, formats::Format, scan::Scan};

/// One or more input files with the same columns.
#[derive(Debug)]
pub struct Source {
    name: String,
    scan: Box<dyn Scan>,
    format: Format,
    files: Vec<InputFile>,
}

/// Path, length and modification time of an input file when it was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InputFile {
    pub(crate) path: PathBuf,
    pub(crate) length: u64,
    modified: Option<SystemTime>,
}

impl InputFile {
    fn new(path: &Path) -> Result<Self, EngineError> {
        let metadata = std::fs::metadata(path).map_err(EngineError::io(path, "open"))?;
        Ok(Self { path: path.to_path_buf(), length: metadata.len(), modified: metadata.modified().ok() })
    }
}

impl Source {
    /// Opens a file, all data files of a folder (except hidden ones, sorted by name), or the files that match a pattern
    /// with `*` and `?` in its last component.
    pub fn open(path_or_glob: &str, options: &CsvOptions) -> Result<Self, EngineError> {
        let paths = expand_paths(path_or_glob)?;
        let first = &paths[0];
        let format = Format::of(first).ok_or_else(|| EngineError::UnknownFormat { path: first.clone() })?;
        for path in &paths {
            match Format::of(path) {
                Some(other) if other == format => {}
                Some(_) => return Err(EngineError::MixedFormats { path: path.clone(), first: first.clone() }),
                None => return Err(EngineError::UnknownFormat { path: path.clone() }),
            }
        }
        Self::open_files(path_or_glob.to_owned(), &paths, format, options)
    }

    /// Opens one file of a known format, whatever its extension.
    pub fn open_as(path: &Path, format: Format, options: &CsvOptions) -> Result<Self, EngineError> {
        Self::open_files(path.display().to_string(), &[path.to_path_buf()], format, options)
    }

    fn open_files(name: String, paths: &[PathBuf], format: Format, options: &CsvOptions) -> Result<Self, EngineError> {
        let files = paths.iter().map(|path| InputFile::new(path)).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { name, scan: (format.entry().open)(&files, options)?, format, files })
    }

    /// Path or pattern that was given to [`Source::open`].
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Names of the columns, in file order.
    pub fn columns(&self) -> &[String] {
        self.scan.columns()
    }

    /// Paths of the files, in the order they are read.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|file| file.path.as_path())
    }

    /// Format of all files.
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

    /// First file, for messages about the whole source.
    pub(crate) fn first_path(&self) -> PathBuf {
        self.files.first().map(|file| file.path.clone()).unwrap_or_default()
    }

    /// Returns an error if the length or modification time of a file has changed since it was opened.
    pub fn check_unchanged(&self) -> Result<(), EngineError> {
        for file in &self.files {
            if InputFile::new(&file.path)? != *file {
                return Err(EngineError::changed(format!("{} was written to", file.path.display())));
            }
        }
        Ok(())
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
