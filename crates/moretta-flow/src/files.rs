//! Files that a request writes: checked before the work, written under temporary names, renamed at the end.

use std::path::{Path, PathBuf};

use moretta_engine::{Format, LocalEngine, publish_all, same_file, write_pending};

use crate::error::FlowError;

/// Formats of output files other than the release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputFormat {
    /// A table, for programs.
    Csv,
    /// The complete result, for programs.
    Json,
    /// A page for people.
    Html,
    /// A vector image.
    Svg,
}

impl OutputFormat {
    /// Returns the format of a file by its extension; otherwise an error with the text `rule`.
    pub(crate) fn of(path: &Path, allowed: &[Self], rule: &str) -> Result<Self, FlowError> {
        let format = match path.extension().and_then(|extension| extension.to_str()) {
            Some("csv") => Some(Self::Csv),
            Some("json") => Some(Self::Json),
            Some("html" | "htm") => Some(Self::Html),
            Some("svg") => Some(Self::Svg),
            _ => None,
        };
        let format = format.filter(|format| allowed.contains(format));
        format.ok_or_else(|| FlowError::usage(format!("{}: {rule}", path.display())))
    }
}

/// An optional output file of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutputFile {
    /// `None` if nothing is written.
    pub path: Option<PathBuf>,
    /// Whether an existing file may be overwritten.
    pub overwrite: bool,
}

impl OutputFile {
    /// Returns the format of the file by its extension; otherwise an error with the text `rule`.
    pub(crate) fn format(&self, allowed: &[OutputFormat], rule: &str) -> Result<Option<OutputFormat>, FlowError> {
        self.path.as_deref().map(|path| OutputFormat::of(path, allowed, rule)).transpose()
    }

    /// Checks that the file can be written, is not read by the same request, and is not in the folder of an input.
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
            Some(path) => Ok(publish_all(vec![write_pending(path, text().as_bytes(), self.overwrite)?])?),
            None => Ok(()),
        }
    }
}

/// Checks output files: none may exist unless `overwrite` is set, none may be an input, each needs a folder.
pub(crate) fn check_outputs(outputs: &[&Path], sources: &[PathBuf], overwrite: bool) -> Result<(), FlowError> {
    for (index, path) in outputs.iter().enumerate() {
        let shown = path.display();
        let same = |other: &Path| location(other) == location(path) || same_file(other, path);
        let problem = if sources.iter().any(|source| same(source)) {
            format!("{shown} is an input of this command and cannot be overwritten; name another file")
        } else if outputs[..index].iter().any(|other| same(other)) {
            format!("{shown} is named twice as an output file")
        } else if path.is_dir() {
            format!("{shown} is a folder; name a file")
        } else if !overwrite && path.is_file() {
            format!("{shown} exists; name another file, or use --overwrite")
        } else if !folder(path).is_dir() {
            format!("cannot write {shown}: folder {} does not exist", folder(path).display())
        } else {
            // Tests write access before the work; the temporary file is removed at once.
            drop(write_pending(*path, &[], overwrite)?);
            continue;
        };
        return Err(FlowError::usage(problem));
    }
    Ok(())
}

/// Refuses a data file in the input folder: the next run would read it as input.
pub(crate) fn check_beside(output: &Path, input: &str) -> Result<(), FlowError> {
    let read = Path::new(input);
    let inside = Format::of(output).is_some()
        && read.is_dir()
        && location(output).is_some_and(|location| location.parent() == read.canonicalize().ok().as_deref());
    if inside {
        return Err(FlowError::usage(format!(
            "{} is in the input folder {input}, so the next run would read it; write it to another folder",
            output.display()
        )));
    }
    Ok(())
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns the canonical path of a file that may not exist yet; a symbolic link is followed, as when the file is
/// written.
fn location(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok().or_else(|| Some(folder(path).canonicalize().ok()?.join(path.file_name()?)))
}
