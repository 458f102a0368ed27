//! Output of a run: a temporary file beside the target, which is renamed on request.
//!
//! Guarantee: until [`Pending::persist`], the target's path holds what it held before; afterwards it holds the complete
//! new file, synced to disk, with the permissions of the file it replaced or those of a new file. Only the owner can
//! read the file until it has its name; a run that is killed before it sets the permissions leaves a target that only
//! the owner can read. A [`Pending`] that is dropped removes its file, and [`remove_pending_files`] removes those of
//! all threads before a signal ends the process. After SIGKILL there may be a file `.moretta-*.tmp` beside the target:
//! it may be a release that was not checked and should be deleted.

use std::{
    collections::BTreeSet,
    fs::{File, Permissions},
    io::{Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::{Mutex, RwLock, RwLockReadGuard, mpsc::SyncSender},
    thread::JoinHandle,
};

use moretta_core::observer::Observer;
use tempfile::NamedTempFile;

use crate::{
    csv::{CsvOptions, CsvRelease},
    error::EngineError,
    formats::{FileKind, Format},
    ordered_pool::lock,
    source::Source,
    table::{MemoryTable, TableSlot},
};

/// Paths of the temporary files of this process. A signal ends the process as a whole, so that they are known for the
/// process and not for a job.
static TEMPORARY_FILES: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Path of the target that is standard output.
const STANDARD_OUTPUT: &str = "-";

/// Name of a release in memory in messages.
const MEMORY: &str = "the release";

/// Read-locked while files that belong together are renamed.
static PUBLISHING: RwLock<()> = RwLock::new(());

/// Delays [`remove_pending_files`] while the result lives, so that a signal does not separate files that belong
/// together. To be held for the renames only.
pub fn hold_signals() -> RwLockReadGuard<'static, ()> {
    PUBLISHING.read().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Removes all temporary files of this process. Afterwards no thread can create or rename one: it waits until the
/// process ends, which the caller must see to.
pub fn remove_pending_files() {
    std::mem::forget(PUBLISHING.write());
    let files = lock(&TEMPORARY_FILES);
    // A file that cannot be removed has been renamed or removed already.
    files.iter().for_each(|path| drop(std::fs::remove_file(path)));
    std::mem::forget(files);
}

/// File to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Path of the file after [`Pending::persist`].
    pub path: PathBuf,
    /// Format to write and its packing, whatever the extension of `path`.
    pub kind: FileKind,
    /// Whether an existing file may be replaced.
    pub overwrite: bool,
    /// Dialect of a CSV file.
    pub csv: CsvRelease,
    /// Place of a release in memory; `None` for a file.
    pub slot: Option<TableSlot>,
}

impl Target {
    /// A target of the format of its extension, which must not exist yet.
    pub fn new(path: impl Into<PathBuf>) -> Result<Self, EngineError> {
        let path = path.into();
        match FileKind::of(&path) {
            Some(kind) => Ok(Self::of_kind(path, kind)),
            None => Err(EngineError::UnknownFormat { path }),
        }
    }

    /// A target of a kind, which must not exist yet. The path `-` is standard output.
    pub fn of_kind(path: impl Into<PathBuf>, kind: FileKind) -> Self {
        Self { path: path.into(), kind, overwrite: false, csv: CsvRelease::default(), slot: None }
    }

    /// A release in memory, which is put into the slot when it is published.
    pub fn in_memory(slot: TableSlot) -> Self {
        let kind = FileKind { format: Format::ArrowStream, ..FileKind::CSV };
        Self { slot: Some(slot), ..Self::of_kind(MEMORY, kind) }
    }

    /// Whether the target is standard output. What is written there cannot be taken back, so that the temporary file is
    /// copied there when it was checked.
    fn is_stream(&self) -> bool {
        self.path == Path::new(STANDARD_OUTPUT)
    }

    /// Folder of the path; `.` if the path is a bare name.
    fn folder(&self) -> &Path {
        self.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
    }

    /// Creates the temporary file beside the target. If the target is a symbolic link, the file that it leads to is
    /// the target: the link stays, as if the program had opened it for writing.
    pub(crate) fn create_pending(&self) -> Result<Pending, EngineError> {
        let has_file = !self.is_stream() && self.slot.is_none();
        if has_file { self.create_named() } else { self.create_in(&std::env::temp_dir(), self.clone()) }
    }

    fn create_named(&self) -> Result<Pending, EngineError> {
        let refuse = |reason: String| EngineError::Target { path: self.path.clone(), reason };
        let mut target = self.clone();
        if self.path.is_symlink() {
            let followed = self.path.canonicalize();
            target.path = followed.map_err(|_| refuse("it is a symbolic link that leads to no file".to_owned()))?;
        }
        let folder = target.folder();
        if !folder.is_dir() {
            return Err(refuse(format!("there is no folder {}", folder.display())));
        }
        if target.path.is_dir() {
            return Err(refuse("it is a folder".to_string()));
        }
        if target.path.exists() && !target.path.is_file() {
            return Err(refuse("it is a pipe, a socket or a device, not a file; name a file".to_owned()));
        }
        let folder = folder.to_path_buf();
        self.create_in(&folder, target)
    }

    /// Creates the temporary file in a folder.
    fn create_in(&self, folder: &Path, target: Self) -> Result<Pending, EngineError> {
        let refuse = |reason: String| EngineError::Target { path: self.path.clone(), reason };
        // The lock makes sure that a file is known before `remove_pending_files` looks for it.
        let mut temporary_files = lock(&TEMPORARY_FILES);
        // `tempfile` creates files that only the owner can read.
        let file = tempfile::Builder::new()
            .prefix(".moretta-")
            .suffix(".tmp")
            .tempfile_in(folder)
            .map_err(|error| refuse(format!("its folder cannot be written to: {error}")))?;
        temporary_files.insert(file.path().to_owned());
        let name = TemporaryName(file.path().to_owned());
        drop(temporary_files);
        let default_permissions = default_permissions(&file)?;
        Ok(Pending { file, name, target, default_permissions, staged: TableSlot::default() })
    }
}

/// Entry in [`TEMPORARY_FILES`], which is removed when this is dropped.
#[derive(Debug)]
struct TemporaryName(PathBuf);

impl Drop for TemporaryName {
    fn drop(&mut self) {
        lock(&TEMPORARY_FILES).remove(&self.0);
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
    let pending = Target { overwrite, ..Target::of_kind(path, FileKind::CSV) }.create_named()?;
    std::io::Write::write_all(&mut pending.file(), content).map_err(EngineError::io(pending.path(), "write"))?;
    pending.sync()?;
    Ok(pending)
}

/// Renames files that belong together to their targets, unless one of these exists and may not be overwritten. A signal
/// waits until all have their names and permissions.
pub fn publish_all(files: Vec<Pending>) -> Result<(), EngineError> {
    let _held = hold_signals();
    files.iter().try_for_each(Pending::check_free)?;
    files.into_iter().try_for_each(Pending::persist)
}

/// Temporary file that is to be renamed to its target. Dropping it removes the file.
#[derive(Debug)]
pub struct Pending {
    // Dropped before `name`: the file is known as long as it exists.
    file: NamedTempFile,
    name: TemporaryName,
    target: Target,
    default_permissions: Permissions,
    /// A release in memory that is not published yet. The file is empty then.
    staged: TableSlot,
}

impl Pending {
    /// Path of the temporary file.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Folder of the temporary file.
    pub(crate) fn folder(&self) -> &Path {
        self.path().parent().unwrap_or(Path::new("."))
    }

    /// Whether the release is kept in memory.
    pub(crate) fn is_in_memory(&self) -> bool {
        self.target.slot.is_some()
    }

    /// Place for a release in memory until it is published.
    pub(crate) fn staged(&self) -> &TableSlot {
        &self.staged
    }

    /// The release in memory, before it is published.
    fn staged_table(&self) -> Result<MemoryTable, EngineError> {
        self.staged.get().ok_or_else(|| EngineError::bad_rewrite("the release was not written".to_owned()))
    }

    /// Opens the temporary file, or the release in memory, as a source, to read it back.
    pub(crate) fn open(&self, options: &CsvOptions) -> Result<Source, EngineError> {
        if self.is_in_memory() {
            return Ok(Source::of_table(self.staged_table()?));
        }
        Source::open_as(self.path(), self.target.kind, options)
    }

    /// Path of the file after [`Pending::persist`].
    pub fn target(&self) -> &Path {
        &self.target.path
    }

    /// Fails if the target exists and must not be replaced.
    pub fn check_free(&self) -> Result<(), EngineError> {
        match &self.target {
            target if target.is_stream() || target.slot.is_some() => Ok(()),
            Target { path, overwrite: false, .. } if path.symlink_metadata().is_ok() => {
                Err(EngineError::TargetExists { path: path.clone() })
            }
            _ => Ok(()),
        }
    }

    /// Copies the file to standard output.
    fn copy_out(self) -> Result<(), EngineError> {
        let mut from = self.file();
        let mut copy = || {
            let mut to = std::io::stdout().lock();
            from.seek(SeekFrom::Start(0))?;
            std::io::copy(&mut from, &mut to)?;
            to.flush()
        };
        copy().map_err(EngineError::io(Path::new("standard output"), "write"))
    }

    /// Renames the file to its target. An existing target is an error unless [`Target::overwrite`] is set.
    pub fn persist(self) -> Result<(), EngineError> {
        self.check_free()?;
        if let Some(slot) = &self.target.slot {
            slot.put(self.staged_table()?);
            return Ok(());
        }
        if self.target.is_stream() {
            return self.copy_out();
        }
        let Self { file, name, target, default_permissions, staged: _ } = self;
        let path = &target.path;
        let permissions = std::fs::metadata(path).map_or(default_permissions, |old| old.permissions());
        let renamed = if target.overwrite { file.persist(path) } else { file.persist_noclobber(path) };
        let file = renamed.map_err(|error| match error.error.kind() {
            std::io::ErrorKind::AlreadyExists => EngineError::TargetExists { path: path.clone() },
            _ => EngineError::Io { path: path.clone(), action: "write", source: error.error },
        })?;
        drop(name);
        // After the rename, so that a killed run leaves no temporary file that others can read.
        file.set_permissions(permissions).map_err(EngineError::io(path, "set the permissions of"))?;
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
    fn sync(&self) -> Result<(), EngineError> {
        self.file().sync_all().map_err(EngineError::io(self.path(), "sync"))
    }

    /// Flushes the file to disk while it is written and read back.
    pub(crate) fn sync_in_background(&self) -> Result<BackgroundSync, EngineError> {
        let start = || BackgroundSync::start(self.file().try_clone()?);
        start().map_err(EngineError::io(self.path(), "sync"))
    }
}

/// Flushes a file to disk on a thread of its own, which nearly always waits for the disk.
#[derive(Debug)]
pub(crate) struct BackgroundSync {
    requests: SyncSender<()>,
    thread: JoinHandle<std::io::Result<()>>,
}

impl BackgroundSync {
    fn start(file: File) -> std::io::Result<Self> {
        let (requests, received) = std::sync::mpsc::sync_channel(1);
        let flush = move || {
            received.into_iter().try_for_each(|()| file.sync_data())?;
            file.sync_all()
        };
        let thread = std::thread::Builder::new().name("sync".to_owned()).spawn(flush)?;
        Ok(Self { requests, thread })
    }

    /// Begins to flush what was written so far.
    pub(crate) fn flush(&self) {
        // A request that waits already will flush these bytes, too. A thread that failed says so at the end.
        let _ = self.requests.try_send(());
    }

    /// Begins to flush the complete file.
    pub(crate) fn complete(self) -> JoinHandle<std::io::Result<()>> {
        self.thread
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

/// Reads some bytes from a byte offset; 0 at the end of the file. Threads may call it at the same time.
pub(crate) fn read_some_at(file: &File, bytes: &mut [u8], offset: u64) -> std::io::Result<usize> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::read_at(file, bytes, offset);
    #[cfg(windows)]
    return std::os::windows::fs::FileExt::seek_read(file, bytes, offset);
}

/// Copies a stream until it ends or the observer stops it; returns the bytes copied.
pub(crate) fn copy_observed(
    mut from: impl Read,
    to: &mut impl Write,
    observer: &dyn Observer,
) -> Result<std::io::Result<u64>, EngineError> {
    let (mut part, mut copied) = (vec![0; 1 << 20], 0);
    loop {
        if observer.stop().is_some() {
            return Err(EngineError::Cancelled);
        }
        let read = match from.read(&mut part) {
            Ok(0) => return Ok(Ok(copied)),
            Ok(read) => read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Ok(Err(error)),
        };
        if let Err(error) = to.write_all(&part[..read]) {
            return Ok(Err(error));
        }
        copied += read as u64;
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
