//! Input files, and copies of standard input that are read like files.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

use super::packing::Packing;
use crate::{error::EngineError, target::read_some_at};

/// An input file as it was when it was opened.
#[derive(Debug, Clone)]
pub(crate) struct InputFile {
    /// Path, or the name of standard input in messages.
    pub(crate) path: PathBuf,
    /// Bytes of the file.
    pub(crate) length: u64,
    modified: Option<SystemTime>,
    pub(crate) packing: Packing,
    /// A copy without a name; `None` if the file is at `path`.
    copy: Option<Arc<File>>,
    /// Maximum bytes of the process, which limits the buffers of compressed files; `None` for no limit.
    pub(crate) memory: Option<u64>,
}

impl InputFile {
    /// The file at a path.
    pub(crate) fn new(path: &Path, packing: Packing, memory: Option<u64>) -> Result<Self, EngineError> {
        let metadata = std::fs::metadata(path).map_err(EngineError::io(path, "open"))?;
        let (length, modified) = (metadata.len(), metadata.modified().ok());
        Ok(Self { path: path.to_path_buf(), length, modified, packing, copy: None, memory })
    }

    /// A copy of `length` bytes that nothing else can open; `name` is for messages.
    pub(crate) fn copied(name: &str, copy: Arc<File>, length: u64, packing: Packing, memory: Option<u64>) -> Self {
        Self { path: PathBuf::from(name), length, modified: None, packing, copy: Some(copy), memory }
    }

    /// The file, whose position is not used.
    pub(crate) fn file(&self) -> Result<Arc<File>, EngineError> {
        match &self.copy {
            Some(copy) => Ok(Arc::clone(copy)),
            None => Ok(Arc::new(File::open(&self.path).map_err(EngineError::io(&self.path, "open"))?)),
        }
    }

    /// The file with a position of its own, for libraries that seek.
    pub(crate) fn reopen(&self) -> Result<File, EngineError> {
        let Some(copy) = &self.copy else { return File::open(&self.path).map_err(EngineError::io(&self.path, "open")) };
        #[cfg(target_os = "linux")]
        return File::open(format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&**copy)))
            .map_err(EngineError::io(&self.path, "open a copy of"));
        #[cfg(not(target_os = "linux"))]
        {
            let _ = copy;
            Err(EngineError::io(&self.path, "seek in")(io::ErrorKind::Unsupported.into()))
        }
    }

    /// A reader from the first byte of the file on.
    pub(crate) fn open(&self) -> Result<FileReader, EngineError> {
        Ok(FileReader { file: self.file()?, offset: 0, length: self.length })
    }

    /// Returns an error if the length or modification time has changed. A copy cannot change.
    pub(crate) fn check_unchanged(&self) -> Result<(), EngineError> {
        if self.copy.is_some() {
            return Ok(());
        }
        let now = Self::new(&self.path, self.packing, None)?;
        if (now.length, now.modified) != (self.length, self.modified) {
            return Err(EngineError::changed(format!("{} was written to", self.path.display())));
        }
        Ok(())
    }
}

/// Reads a file from a position of its own, so that several readers can share the file.
#[derive(Debug)]
pub(crate) struct FileReader {
    file: Arc<File>,
    offset: u64,
    length: u64,
}

impl Read for FileReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = read_some_at(&self.file, buffer, self.offset)?;
        self.offset += read as u64;
        Ok(read)
    }
}

impl Seek for FileReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let offset = match to {
            SeekFrom::Start(offset) => Some(offset),
            SeekFrom::Current(step) => self.offset.checked_add_signed(step),
            SeekFrom::End(step) => self.length.checked_add_signed(step),
        };
        self.offset = offset.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.offset)
    }
}
