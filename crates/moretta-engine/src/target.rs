//! Output of a run: a temporary file beside the target, which is renamed on request.
//!
//! Guarantee: until [`Pending::persist`], the target's path holds what it held before; afterwards it holds the complete
//! new file, synced to disk, with the permissions of the file it replaced or those of a new file. Until then only the
//! owner can read the file. A [`Pending`] that is dropped removes its file; a killed run may leave
//! `.moretta-*.tmp` beside the target: it may be a release that was not checked and should be deleted.

use std::{
    fs::{File, Permissions},
    path::{Path, PathBuf},
};

use tempfile::NamedTempFile;

use crate::{csv::CsvOptions, error::EngineError, formats::Format, source::Source};

/// File to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Path of the file after [`Pending::persist`].
    pub path: PathBuf,
    /// Format to write, whatever the extension of `path`.
    pub format: Format,
    /// Whether an existing file may be replaced.
    pub overwrite: bool,
}

impl Target {
    /// A target of the format of its extension, which must not exist yet.
    pub fn new(path: impl Into<PathBuf>) -> Result<Self, EngineError> {
        let path = path.into();
        match Format::of(&path) {
            Some(format) => Ok(Self { path, format, overwrite: false }),
            None => Err(EngineError::UnknownFormat { path }),
        }
    }

    /// Folder of the path; `.` if the path is a bare name.
    pub(crate) fn folder(&self) -> &Path {
        self.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
    }

    /// Creates the temporary file beside the target.
    pub(crate) fn create_pending(&self) -> Result<Pending, EngineError> {
        let refuse = |reason: String| EngineError::Target { path: self.path.clone(), reason };
        let folder = self.folder();
        if !folder.is_dir() {
            return Err(refuse(format!("there is no folder {}", folder.display())));
        }
        if self.path.is_dir() {
            return Err(refuse("it is a folder".to_string()));
        }
        // `tempfile` creates files that only the owner can read.
        let file = tempfile::Builder::new()
            .prefix(".moretta-")
            .suffix(".tmp")
            .tempfile_in(folder)
            .map_err(|error| refuse(format!("its folder cannot be written to: {error}")))?;
        let default_permissions = default_permissions(&file)?;
        Ok(Pending { file, target: self.clone(), default_permissions })
    }
}

/// Permissions that a file created by this process gets by default, as `tempfile` creates files for the owner only.
///
/// They are `0o666` without the bits of the process's umask. The standard library cannot read the umask, and the system
/// call `umask(2)` can read it only by changing it for all threads, besides needing `libc` and `unsafe`. Linux shows it
/// in `/proc/self/status`; on other Unix systems the usual `0o022` is assumed.
fn default_permissions(file: &NamedTempFile) -> Result<Permissions, EngineError> {
    #[cfg(unix)]
    {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| u32::from_str_radix(line.strip_prefix("Umask:")?.trim(), 8).ok());
        let _ = file;
        Ok(std::os::unix::fs::PermissionsExt::from_mode(0o666 & !mask.unwrap_or(0o022)))
    }
    #[cfg(not(unix))]
    Ok(file.as_file().metadata().map_err(EngineError::io(file.path(), "read"))?.permissions())
}

/// Writes `content` to a temporary file beside `path`; [`Pending::persist`] renames it.
pub fn write_pending(path: impl Into<PathBuf>, content: &[u8], overwrite: bool) -> Result<Pending, EngineError> {
    // The file is not read back through `Pending::open`, so the format does not matter.
    let pending = Target { path: path.into(), format: Format::Csv, overwrite }.create_pending()?;
    std::io::Write::write_all(&mut pending.file(), content).map_err(EngineError::io(pending.path(), "write"))?;
    pending.sync()?;
    Ok(pending)
}

/// Temporary file that is to be renamed to its target. Dropping it removes the file.
#[derive(Debug)]
pub struct Pending {
    file: NamedTempFile,
    target: Target,
    default_permissions: Permissions,
}

impl Pending {
    /// Path of the temporary file.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Opens the temporary file as a source, to read it back.
    pub(crate) fn open(&self, options: &CsvOptions) -> Result<Source, EngineError> {
        Source::open_as(self.path(), self.target.format, options)
    }

    /// Renames the file to its target. An existing target is an error unless [`Target::overwrite`] is set.
    pub fn persist(self) -> Result<(), EngineError> {
        let Self { file, target, default_permissions } = self;
        let path = &target.path;
        let permissions = match std::fs::metadata(path) {
            Ok(old) if target.overwrite => old.permissions(),
            Ok(_) => return Err(EngineError::TargetExists { path: path.clone() }),
            Err(_) => default_permissions,
        };
        file.as_file().set_permissions(permissions).map_err(EngineError::io(path, "set the permissions of"))?;
        let renamed = if target.overwrite { file.persist(path) } else { file.persist_noclobber(path) };
        if let Err(error) = renamed {
            return Err(match error.error.kind() {
                std::io::ErrorKind::AlreadyExists => EngineError::TargetExists { path: path.clone() },
                _ => EngineError::Io { path: path.clone(), action: "write", source: error.error },
            });
        }
        #[cfg(unix)]
        File::open(target.folder())
            .and_then(|folder| folder.sync_all())
            .map_err(EngineError::io(target.folder(), "sync"))?;
        Ok(())
    }

    pub(crate) fn file(&self) -> &File {
        self.file.as_file()
    }

    /// Flushes content and metadata to disk.
    pub(crate) fn sync(&self) -> Result<(), EngineError> {
        self.file().sync_all().map_err(EngineError::io(self.path(), "sync"))
    }
}

/// Writes all of `bytes` at a byte offset. Threads may call it at the same time.
pub(crate) fn write_at(file: &File, bytes: &[u8], offset: u64) -> std::io::Result<()> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::write_all_at(file, bytes, offset);
    #[cfg(windows)]
    {
        let (mut bytes, mut offset) = (bytes, offset);
        while !bytes.is_empty() {
            let written = std::os::windows::fs::FileExt::seek_write(file, bytes, offset)?;
            bytes = &bytes[written..];
            offset += written as u64;
        }
        Ok(())
    }
}

/// Fills `bytes` from a byte offset. Threads may call it at the same time.
pub(crate) fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> std::io::Result<()> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset);
    #[cfg(windows)]
    {
        let (mut bytes, mut offset) = (bytes, offset);
        while !bytes.is_empty() {
            let read = std::os::windows::fs::FileExt::seek_read(file, bytes, offset)?;
            if read == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            bytes = &mut bytes[read..];
            offset += read as u64;
        }
        Ok(())
    }
}
