//! The contract with engines: the two passes over the records of one table.
//!
//! An engine *counts* records ([`Records::count`]) and *rewrites* them ([`Engine::rewrite`]). It may run on one machine
//! or on a cluster: the contract assumes no files, and record numbers are optional. A rewrite writes a [`Staged`]
//! release, which only the data holder can access until [`Staged::publish`] is called with a [`ReadBackProof`].

use std::{error::Error, fmt};

use serde::{Deserialize, Serialize};

use crate::{
    counts::{Counts, Rewrite},
    group_sizes::GroupSizes,
    observer::Observer,
};

/// Records that can be counted: a source, or a release that was just written.
pub trait Records: Send + Sync {
    /// Name of the table in messages: a path, or a table of a database.
    fn name(&self) -> String;

    /// Column names in order, each once.
    fn columns(&self) -> &[String];

    /// First pass: the distinct rows of `columns`, each with the number of records that carry it.
    fn count(&self, columns: &[String], observer: &dyn Observer) -> Result<Counts, EngineFault>;

    /// Sizes of the groups of records with equal values, for each of several sets of columns. An engine should override
    /// it if it can count them without the texts of all rows.
    fn group_sizes(&self, sets: &[Vec<String>], observer: &dyn Observer) -> Result<Vec<GroupSizes>, EngineFault> {
        let of_set = |set: &Vec<String>| Ok(GroupSizes::of(self.count(set, observer)?.counts));
        sets.iter().map(of_set).collect()
    }

    /// [`count`](Self::count) and [`group_sizes`](Self::group_sizes). An engine should override it if it can do both in
    /// one pass.
    fn count_with_sizes(
        &self,
        columns: &[String],
        sets: &[Vec<String>],
        observer: &dyn Observer,
    ) -> Result<(Counts, Vec<GroupSizes>), EngineFault> {
        let counts = self.count(columns, observer)?;
        Ok((counts, self.group_sizes(sets, observer)?))
    }

    /// The first `records` records as texts.
    fn sample(&self, records: usize) -> Result<Sample, EngineFault>;
}

/// Maximum sets of columns whose groups are counted in one pass: with exact numbers every record is a group of each
/// set, and 16 of them take about 600 MB per million records. An engine with a memory limit may count fewer at once.
/// Not tuned.
const MAX_SETS: usize = 16;

/// First pass, with the sizes of groups by further sets of columns. Sets within `columns` are grouped from the counts;
/// the others are counted with them, in further passes if there are many.
pub fn count_with_sizes(
    records: &dyn Records,
    columns: &[String],
    sets: &[Vec<String>],
    observer: &dyn Observer,
) -> Result<(Counts, Vec<GroupSizes>), EngineFault> {
    let within = |set: &Vec<String>| {
        set.iter().map(|name| columns.iter().position(|column| column == name)).collect::<Option<Vec<usize>>>()
    };
    let outside: Vec<Vec<String>> = sets.iter().filter(|set| within(set).is_none()).cloned().collect();
    let mut passes = outside.chunks(MAX_SETS);
    let (counts, mut sizes) = match passes.next() {
        Some(first) => records.count_with_sizes(columns, first, observer)?,
        None => (records.count(columns, observer)?, Vec::new()),
    };
    for further in passes {
        sizes.extend(records.group_sizes(further, observer)?);
    }
    let mut sizes = sizes.into_iter();
    let of_set = |set: &Vec<String>| match within(set) {
        Some(indices) => GroupSizes::of_counts(&counts, &indices),
        None => sizes.next().unwrap_or_default(),
    };
    let sizes = sets.iter().map(of_set).collect();
    Ok((counts, sizes))
}

/// Records that can be rewritten.
pub trait Engine: Records {
    /// Where the engine can write a release: a file, a table of a database, a buffer.
    type Target: Sync;
    /// A release that is written but not published.
    type Staged: Staged;

    /// Whether the engine supports [`RecordOrder::Input`](crate::counts::RecordOrder::Input).
    fn keeps_order(&self) -> bool;

    /// Approximate bytes of the records as text, for estimates of memory; `None` if they are not known.
    fn text_bytes(&self) -> Option<u64> {
        None
    }

    /// Bytes of the buffers that the format of a target needs in this process, whatever is written.
    fn format_bytes(&self, _target: &Self::Target) -> u64 {
        0
    }

    /// Second pass: writes every record, rewritten, where only the data holder can reach it.
    fn rewrite(
        &self,
        rewrite: &Rewrite,
        target: &Self::Target,
        observer: &dyn Observer,
    ) -> Result<Self::Staged, EngineFault>;
}

/// A release that is written but not published. Dropping it removes it.
pub trait Staged: Send + Sync {
    /// Opens what was written, to read it back.
    fn open(&self) -> Result<Box<dyn Records + '_>, EngineFault>;

    /// The file that [`Staged::publish`] makes available; `None` if the release is not a file.
    fn file(&self, _observer: &dyn Observer) -> Result<Option<ReleaseFile>, EngineFault> {
        Ok(None)
    }

    /// Makes the release available under its target, all of it at once.
    fn publish(self, proof: ReadBackProof) -> Result<(), EngineFault>;
}

/// A released file, as reports and recodings name it: after a run that was killed, they may be beside another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReleaseFile {
    /// Name without folder.
    pub file: String,
    /// Size in bytes.
    pub bytes: u64,
    /// SHA-256 of the content, in hexadecimal digits.
    pub sha256: String,
}

/// Proof that a release was read back and found to be what was verified. No other crate
/// can make one; in this one only [`Written::read_back`](crate::publish::Written::read_back) does.
#[derive(Debug)]
pub struct ReadBackProof(());

impl ReadBackProof {
    pub(crate) fn of_read_back() -> Self {
        Self(())
    }

    /// A proof of nothing, for tests of engines.
    #[cfg(any(test, feature = "testing"))]
    pub fn for_tests() -> Self {
        Self(())
    }
}

/// The first records of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// Column names.
    pub columns: Vec<String>,
    /// The texts of each record's cells.
    pub rows: Vec<Vec<String>>,
}

/// Reason why a pass failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum EngineFault {
    /// The observer asked to stop.
    Cancelled,
    /// Anything else; the message is the error's own.
    Failed {
        /// Whether the data, the request or the program is at fault.
        kind: FaultKind,
        /// Location of the error, if the engine knows it.
        place: Option<FaultLocation>,
        /// The engine's own error.
        error: Box<dyn Error + Send + Sync>,
    },
}

/// The party at fault when a pass fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// The records, or the place they are read from.
    Source,
    /// The place that the release should be written to, or a source that does not exist.
    Usage,
    /// A defect of the program.
    Internal,
}

impl EngineFault {
    /// The records are at fault, at an unknown place.
    pub fn failed(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Failed { kind: FaultKind::Source, place: None, error: error.into() }
    }
}

impl fmt::Display for EngineFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cancelled => f.write_str("cancelled"),
            Self::Failed { error, .. } => error.fmt(f),
        }
    }
}

impl Error for EngineFault {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Cancelled => None,
            Self::Failed { error, .. } => error.source(),
        }
    }
}

/// Location of an error in the input. Numbers count from 1.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FaultLocation {
    /// The file or table.
    pub file: Option<String>,
    /// The line of a text file.
    pub line: Option<u64>,
    /// The record, header not counted.
    pub record: Option<u64>,
    /// The column's name.
    pub column: Option<String>,
}

impl FaultLocation {
    /// A file as a whole.
    pub fn file(name: impl Into<String>) -> Self {
        Self { file: Some(name.into()), ..Self::default() }
    }
}
