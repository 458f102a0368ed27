//! The local engine behind the contract of `moretta-core`: records that can be counted, and releases that are staged
//! beside their target until they were read back.

use std::path::Path;

use moretta_core::{
    counts::{Counts, Rewrite},
    engine::{Engine, EngineFault, FaultKind, FaultLocation, ReadBackProof, Records, Sample, Staged},
    observer::Observer,
};

use crate::{
    csv::CsvOptions,
    error::EngineError,
    local::{EngineOptions, LocalEngine},
    target::{Pending, Target},
};

/// A release in a temporary file beside its target.
#[derive(Debug)]
pub struct StagedFile {
    pub(crate) records: u64,
    pub(crate) bytes: u64,
    /// How to read the file back if it is CSV.
    pub(crate) csv: CsvOptions,
    pub(crate) options: EngineOptions,
    pub(crate) pending: Pending,
}

impl StagedFile {
    /// Records written.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Size of the file.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The temporary file.
    pub fn path(&self) -> &Path {
        self.pending.path()
    }
}

impl Staged for StagedFile {
    fn open(&self) -> Result<Box<dyn Records + '_>, EngineFault> {
        let source = self.pending.open(&self.csv)?;
        Ok(Box::new(LocalEngine::with_options(source, self.options.clone())))
    }

    fn publish(self, _: ReadBackProof) -> Result<(), EngineFault> {
        Ok(self.pending.persist()?)
    }
}

impl Records for LocalEngine {
    fn name(&self) -> String {
        self.source().name().to_owned()
    }

    fn columns(&self) -> &[String] {
        self.source().columns()
    }

    fn count(&self, columns: &[String], observer: &dyn Observer) -> Result<Counts, EngineFault> {
        Ok(self.group_and_count(columns, observer)?)
    }

    fn sample(&self, records: usize) -> Result<Sample, EngineFault> {
        Ok(self.first_records(records)?)
    }
}

impl Engine for LocalEngine {
    type Target = Target;
    type Staged = StagedFile;

    fn keeps_order(&self) -> bool {
        true
    }

    fn rewrite(&self, rewrite: &Rewrite, target: &Target, observer: &dyn Observer) -> Result<StagedFile, EngineFault> {
        Ok(self.stage(rewrite, target, observer)?)
    }
}

impl From<EngineError> for EngineFault {
    fn from(error: EngineError) -> Self {
        if matches!(error, EngineError::Cancelled) {
            return Self::Cancelled;
        }
        let place = match &error {
            EngineError::Record { path, record, line, .. } => Some(FaultLocation {
                record: Some(*record),
                line: *line,
                ..FaultLocation::file(path.display().to_string())
            }),
            EngineError::UnsupportedType { path, column, .. } => {
                Some(FaultLocation { column: Some(column.clone()), ..FaultLocation::file(path.display().to_string()) })
            }
            error => error.path().map(|path| FaultLocation::file(path.display().to_string())),
        };
        let kind = match error {
            EngineError::NoInput { .. }
            | EngineError::UnknownFormat { .. }
            | EngineError::Target { .. }
            | EngineError::TargetExists { .. } => FaultKind::Usage,
            EngineError::BadRewrite { .. } => FaultKind::Internal,
            _ => FaultKind::Source,
        };
        Self::Failed { kind, place, error: Box::new(error) }
    }
}
