//! Files that a request writes: checked before the work, written beside their names, renamed at the end.

use std::path::{Path, PathBuf};

use moretta_engine::{Format, LocalEngine, same_file, write_pending};

use crate::error::FlowError;

/// The forms of files besides the release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Lines for programs that read tables.
    Csv,
    /// Everything, for programs.
    Json,
    /// A page for people.
    Html,
    /// A vector image.
    Svg,
}

impl Form {
    /// The form that a file's name asks for; `rule` says what would be right.
    pub(crate) fn of(path: &Path, allowed: &[Self], rule: &str) -> Result<Self, FlowError> {
        let form = match path.extension().and_then(|extension| extension.to_str()) {
            Some("csv") => Some(Self::Csv),
            Some("json") => Some(Self::Json),
            Some("html" | "htm") => Some(Self::Html),
            Some("svg") => Some(Self::Svg),
            _ => None,
        };
        let form = form.filter(|form| allowed.contains(form));
        form.ok_or_else(|| FlowError::usage(format!("{}: {rule}", path.display())))
    }
}

/// A file of figures that a request writes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutputFile {
    /// Its path; nothing is written without one.
    pub path: Option<PathBuf>,
    /// Whether an existing file may be replaced.
    pub overwrite: bool,
}

impl OutputFile {
    /// The form that the file's name asks for; `rule` says what would be right.
    pub(crate) fn form(&self, allowed: &[Form], rule: &str) -> Result<Option<Form>, FlowError> {
        self.path.as_deref().map(|path| Form::of(path, allowed, rule)).transpose()
    }

    /// Checks that the file can be written, is not read by the same request, and does not lie among an input's files.
    pub fn check(&self, read: &[PathBuf], inputs: &[&LocalEngine]) -> Result<(), FlowError> {
        let Some(path) = &self.path else { return Ok(()) };
        let mut reads = read.to_vec();
        for input in inputs {
            reads.extend(input.source().paths().map(PathBuf::from));
            check_beside(path, input.source().name())?;
        }
        check_outputs(&[path], &reads, self.overwrite)
    }

    /// Writes the text, if there is a path.
    pub fn write(&self, text: impl FnOnce() -> String) -> Result<(), FlowError> {
        match &self.path {
            Some(path) => Ok(write_pending(path, text().as_bytes(), self.overwrite)?.persist()?),
            None => Ok(()),
        }
    }
}

/// Checks files to be written: none may exist unless it may be replaced, none may be read as well, each needs a folder.
pub(crate) fn check_outputs(outputs: &[&Path], sources: &[PathBuf], overwrite: bool) -> Result<(), FlowError> {
    for (index, path) in outputs.iter().enumerate() {
        let shown = path.display();
        let same = |other: &Path| location(other) == location(path) || same_file(other, path);
        let problem = if sources.iter().any(|source| same(source)) {
            format!("{shown} is read by this command and cannot be written by it; name another file")
        } else if outputs[..index].iter().any(|other| same(other)) {
            format!("{shown} is named twice as a file to write")
        } else if path.is_dir() {
            format!("{shown} is a folder; name a file to write")
        } else if !overwrite && path.exists() {
            format!("{shown} exists already; name another file, or give --overwrite to replace it")
        } else if !folder(path).is_dir() {
            format!("cannot write {shown}: there is no folder {}", folder(path).display())
        } else {
            // Better now than after the work: the temporary file is removed at once.
            drop(write_pending(*path, &[], overwrite)?);
            continue;
        };
        return Err(FlowError::usage(problem));
    }
    Ok(())
}

/// A data file in the folder that was read would be part of the next input.
pub(crate) fn check_beside(output: &Path, input: &str) -> Result<(), FlowError> {
    let read = Path::new(input);
    let inside = Format::of(output).is_some()
        && read.is_dir()
        && location(output).is_some_and(|location| location.parent() == read.canonicalize().ok().as_deref());
    if inside {
        return Err(FlowError::usage(format!(
            "{} would be read as input the next time; write it to another folder than {input}",
            output.display()
        )));
    }
    Ok(())
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Where a path leads, however it is written, for a file that may not exist yet.
fn location(path: &Path) -> Option<PathBuf> {
    Some(folder(path).canonicalize().ok()?.join(path.file_name()?))
}
