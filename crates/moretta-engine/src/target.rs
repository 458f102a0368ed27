//! Where the records go: a temporary file beside the target, renamed when the caller says so.
//!
//! Guarantee: until [`Pending::persist`] the target's path holds what it held before; afterwards all of the new file, on
//! the disk, under the permissions the old one had (or the default_permissions ones). A [`Pending`] that is dropped removes its file. A
//! killed run leaves at most `.moretta-*.tmp` beside the target. Until then only the owner can read it.

use std::{
    fs::{File, Permissions},
    path::{Path, PathBuf},
};

use tempfile::NamedTempFile;

use crate::{csv::CsvOptions, error::EngineError, formats::Format, source::Source};

/// A file to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Its path.
    pub path: PathBuf,
    /// Its format.
    pub format: Format,
    /// Whether an existing file may be replaced.
    pub overwrite: bool,
}

impl Target {
    /// A target whose name speaks of its format.
    pub fn new(path: impl Into<PathBuf>) -> Result<Self, EngineError> {
        let path = path.into();
        match Format::of(&path) {
            Some(format) => Ok(Self { path, format, overwrite: false }),
            None => Err(EngineError::UnknownFormat { path }),
        }
    }

    /// The folder it is in.
    pub(crate) fn folder(&self) -> &Path {
        self.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
    }

    /// Makes the temporary file, or says why the folder cannot take it.
    pub(crate) fn create_pending(&self) -> Result<Pending, EngineError> {
        let refuse = |reason: String| EngineError::Target { path: self.path.clone(), reason };
        let folder = self.folder();
        if !folder.is_dir() {
            return Err(refuse(format!("there is no folder {}", folder.display())));
        }
        if self.path.is_dir() {
            return Err(refuse("it is a folder".to_string()));
        }
        // Only the owner can read it until it has its name.
        let file = tempfile::Builder::new()
            .prefix(".moretta-")
            .suffix(".tmp")
            .tempfile_in(folder)
            .map_err(|error| refuse(format!("its folder cannot be written to: {error}")))?;
        let default_permissions = default_permissions(&file)?;
        Ok(Pending { file, target: self.clone(), default_permissions })
    }
}

/// The permissions of a new file by this process, taken from its mask where the system shows it.
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

/// Writes a small file beside its path; [`Pending::persist`] renames it.
pub fn write_pending(path: impl Into<PathBuf>, content: &[u8], overwrite: bool) -> Result<Pending, EngineError> {
    // Nothing reads it back through us, so its format does not matter.
    let pending = Target { path: path.into(), format: Format::Csv, overwrite }.create_pending()?;
    std::io::Write::write_all(&mut pending.file(), content).map_err(EngineError::io(pending.path(), "write"))?;
    pending.sync()?;
    Ok(pending)
}

/// A written file that does not bear its name yet.
#[derive(Debug)]
pub struct Pending {
    file: NamedTempFile,
    target: Target,
    default_permissions: Permissions,
}

impl Pending {
    /// Where it is now, to read it back.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Opens what was written, to check it.
    pub(crate) fn open(&self, options: &CsvOptions) -> Result<Source, EngineError> {
        Source::open_as(self.path(), self.target.format, options)
    }

    /// Renames it to its target. An existing file is an error unless the target allows to replace it.
    pub fn persist(self) -> Result<(), EngineError> {
        let Self { file, target, default_permissions } = self;
        let (path, overwrite) = (&target.path, target.overwrite);
        let permissions = match std::fs::metadata(path) {
            Ok(old) if overwrite => old.permissions(),
            Ok(_) => return Err(EngineError::TargetExists { path: path.clone() }),
            Err(_) => default_permissions,
        };
        file.as_file().set_permissions(permissions).map_err(EngineError::io(path, "set the permissions of"))?;
        let renamed = if overwrite { file.persist(path) } else { file.persist_noclobber(path) };
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

    /// The open file.
    pub(crate) fn file(&self) -> &File {
        self.file.as_file()
    }

    /// Makes sure that everything is on the disk.
    pub(crate) fn sync(&self) -> Result<(), EngineError> {
        self.file().sync_all().map_err(EngineError::io(self.path(), "sync"))
    }
}

/// Writes all of `bytes` at a position, from any thread.
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

/// Reads exactly `bytes` from a position, from any thread.
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
