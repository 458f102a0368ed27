//! [`StagedFile`]: a written release that waits to be read back before it gets its name.

use std::{io, panic::resume_unwind, path::Path, thread::JoinHandle};

use moretta_core::{
    engine::{EngineFault, ReadBackProof, Records, ReleaseFile, Staged},
    observer::Observer,
};

use crate::{
    csv::CsvOptions,
    digest::sha256_of,
    error::EngineError,
    local::{EngineOptions, LocalEngine},
    target::Pending,
};

/// Release in a temporary file beside its target, or in memory. Dropping it removes it.
#[derive(Debug)]
pub struct StagedFile {
    pub(crate) records: u64,
    pub(crate) bytes: u64,
    /// Dialect to read the file back with if it is CSV.
    pub(crate) csv: CsvOptions,
    pub(crate) options: EngineOptions,
    pub(crate) pending: Pending,
    /// Flushes the file to disk, while it is read back.
    pub(crate) sync: JoinHandle<io::Result<()>>,
}

impl StagedFile {
    /// Number of records written, header not counted.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Size of the file in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Path of the temporary file.
    pub fn path(&self) -> &Path {
        self.pending.path()
    }

    /// Gives the file its name when it is on the disk.
    pub(crate) fn persist(self) -> Result<(), EngineError> {
        let synced = self.sync.join().unwrap_or_else(|panic| resume_unwind(panic));
        synced.map_err(EngineError::io(self.pending.path(), "sync"))?;
        self.pending.persist()
    }
}

impl Staged for StagedFile {
    fn open(&self) -> Result<Box<dyn Records + '_>, EngineFault> {
        let source = self.pending.open(&self.csv)?;
        Ok(Box::new(LocalEngine::with_options(source, self.options.clone())))
    }

    fn file(&self, observer: &dyn Observer) -> Result<Option<ReleaseFile>, EngineFault> {
        if self.pending.is_in_memory() {
            return Ok(None);
        }
        let file = self.pending.target().file_name().unwrap_or_default().to_string_lossy().into_owned();
        let sha256 = sha256_of(self.pending.file(), self.bytes, self.path(), observer)?;
        Ok(Some(ReleaseFile { file, bytes: self.bytes, sha256 }))
    }

    fn publish(self, _: ReadBackProof) -> Result<(), EngineFault> {
        Ok(self.persist()?)
    }
}
