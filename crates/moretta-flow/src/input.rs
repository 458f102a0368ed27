//! Inputs and destinations of requests: tables in files or in memory, policies in files or as values.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use moretta_core::hierarchy::Hierarchies;
use moretta_engine::{MemoryTable, TableSlot, same_file};

use crate::session::STANDARD_STREAM;

/// Table that a request reads.
#[derive(Debug, Clone)]
pub enum Input {
    /// A file, a folder of files, a pattern, or `-` for standard input.
    Named(String),
    /// Records in memory.
    Memory(MemoryTable),
}

impl Input {
    /// The name in messages.
    pub fn name(&self) -> &str {
        match self {
            Self::Named(name) => name,
            Self::Memory(table) => table.name(),
        }
    }

    /// The name without folder, for pages.
    pub(crate) fn file_name(&self) -> String {
        Path::new(self.name()).file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Whether it is standard input, which can be read only once.
    pub(crate) fn is_stream(&self) -> bool {
        matches!(self, Self::Named(name) if name == STANDARD_STREAM)
    }

    /// Whether both are the same file.
    pub(crate) fn is_same_file(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Named(one), Self::Named(two)) => same_file(Path::new(one), Path::new(two)),
            _ => false,
        }
    }
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl From<String> for Input {
    fn from(name: String) -> Self {
        Self::Named(name)
    }
}

impl From<&str> for Input {
    fn from(name: &str) -> Self {
        Self::Named(name.to_owned())
    }
}

impl From<MemoryTable> for Input {
    fn from(table: MemoryTable) -> Self {
        Self::Memory(table)
    }
}

/// Policy of a request.
#[derive(Debug, Clone)]
pub enum PolicySource {
    /// A policy file.
    File(PathBuf),
    /// A policy in memory.
    Value(PolicyValue),
}

/// A policy that was read before, or that a program made.
#[derive(Debug, Clone)]
pub struct PolicyValue {
    /// Name of the policy in messages; its lines are shown if it ends in .toml.
    pub name: PathBuf,
    /// Text of the policy.
    pub text: String,
    /// Folder that relative file names of the policy refer to.
    pub folder: PathBuf,
    /// Hierarchies by column, instead of the files that the policy names for these columns.
    pub hierarchies: Hierarchies,
}

impl From<PathBuf> for PolicySource {
    fn from(path: PathBuf) -> Self {
        Self::File(path)
    }
}

/// Where a release goes when it has been read back.
#[derive(Debug, Clone)]
pub enum Destination {
    /// A file, or `-` for standard output.
    File(PathBuf),
    /// A table in memory.
    Memory(TableSlot),
}

impl Destination {
    /// The file; `None` for standard output and for a table in memory.
    pub(crate) fn file(&self) -> Option<&Path> {
        match self {
            Self::File(path) if path != Path::new(STANDARD_STREAM) => Some(path),
            _ => None,
        }
    }

    /// The name without folder, for pages.
    pub(crate) fn file_name(&self) -> String {
        match self {
            Self::File(path) => path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            Self::Memory(_) => self.to_string(),
        }
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Memory(_) => f.write_str("the release"),
        }
    }
}

impl From<PathBuf> for Destination {
    fn from(path: PathBuf) -> Self {
        Self::File(path)
    }
}

/// Saved recoding of a request.
#[derive(Debug, Clone)]
pub enum RecodingSource {
    /// A recoding file.
    File(PathBuf),
    /// Text of a recoding.
    Value(String),
}

impl From<PathBuf> for RecodingSource {
    fn from(path: PathBuf) -> Self {
        Self::File(path)
    }
}
