//! The operating system's disk: one directory, its files and its lock.
//!
//! A directory may contain files from unknown sources. So one function opens every file in it. This function follows
//! no links and accepts only regular files ([`RealDisk::open_regular`]).
//!
//! Three rules keep the written data safe:
//!
//! - Creating a file under an existing name makes a *new* file. The old one is unlinked, not truncated, so existing
//!   mappings of it stay valid.
//! - A failed sync is never retried. The system may have dropped the unwritten pages, and the retry would report
//!   success.
//! - The lock is on an open file. It ends with the process in any case, so there are no stale locks.

use super::error::{Error, Result};
use super::map::MappedBytes;
use super::{AppendFile, Disk, HEAD_BYTES, HeadCheck};
use rustix::fs::OFlags;
use std::fs::{self, File, FileType, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The number of bytes that are buffered before a write.
const BUFFER_BYTES: usize = 64 << 10;

/// A process that tests whether the directory is locked holds the lock for much less time than this.
const LOCK_PROBE_MAX: Duration = Duration::from_millis(100);

/// Returns the number of bytes that the calling user may still write to the disk of `path`, if the system reports it.
pub fn free_bytes(path: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(path).ok()?;
    Some(found.f_bavail * found.f_frsize)
}

/// A directory of the operating system.
#[derive(Debug)]
pub struct RealDisk {
    path: PathBuf,
    /// The open directory, to make names durable.
    directory: File,
    /// The lock file, while the lock is held.
    lock: Mutex<Option<File>>,
}

impl RealDisk {
    /// The name of the lock file. [`Disk::list`] lists it like any other. Removing it would let a second process in.
    pub const LOCK: &str = "lock";

    /// Opens an existing directory.
    pub fn open(path: impl AsRef<Path>) -> Result<RealDisk> {
        let path = path.as_ref().to_path_buf();
        // A pipe of that name is rejected without waiting.
        let flags = OFlags::DIRECTORY | OFlags::NONBLOCK;
        let opened = OpenOptions::new().read(true).custom_flags(bits(flags)).open(&path);
        let directory =
            opened.map_err(|error| Error::io("open", path.display().to_string(), error))?;
        Ok(RealDisk { path, directory, lock: Mutex::new(None) })
    }

    /// Returns the path of the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Locks the directory against every other `RealDisk`, in this process or another, until this one is dropped. If
    /// another holds the lock, the error is [`Error::Locked`].
    pub fn lock(&self) -> Result<()> {
        let mut held = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        if held.is_some() {
            return Ok(());
        }
        let mut options = OpenOptions::new();
        let opened =
            self.open_regular(Self::LOCK, options.create(true).truncate(false).write(true));
        let file = opened.map_err(|error| Error::io("open", Self::LOCK, error))?;
        let begun = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => {
                    *held = Some(file);
                    return Ok(());
                }
                // Another process may only be testing the lock.
                Err(TryLockError::WouldBlock) if begun.elapsed() < LOCK_PROBE_MAX => {
                    std::thread::sleep(LOCK_PROBE_MAX / 20);
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(Error::Locked { file: Self::LOCK.to_owned() });
                }
                Err(TryLockError::Error(error)) => {
                    return Err(Error::io("lock the directory by its file", Self::LOCK, error));
                }
            }
        }
    }

    /// Returns whether another `RealDisk`, in this process or another, holds the lock. The test creates and writes
    /// nothing, and any number of processes may test at a time.
    pub fn is_locked(&self) -> bool {
        let opened = self.open_regular(Self::LOCK, OpenOptions::new().read(true));
        opened.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    /// Opens a file for reading.
    pub fn open_to_read(&self, name: &str) -> Result<File> {
        let opened = self.open_regular(name, OpenOptions::new().read(true));
        opened.map_err(|error| Error::io("read", name, error))
    }

    /// Opens a file for appending, or creates it.
    pub fn open_to_append(&self, name: &str) -> Result<File> {
        let opened = self.open_to_change(name, OpenOptions::new().create(true).append(true));
        opened.map_err(|error| Error::io("open", name, error))
    }

    /// Opens a file of the directory; no other function does. The name may be a link to a file outside, a pipe that
    /// blocks, or a device that acts when it is opened.
    fn open_regular(&self, name: &str, options: &mut OpenOptions) -> io::Result<File> {
        let path = self.path_of(name);
        match fs::symlink_metadata(&path) {
            Ok(found) => reject_irregular(found.file_type())?,
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        // Another file may have taken the name in the meantime.
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let file = options.custom_flags(bits(flags)).open(path)?;
        reject_irregular(file.metadata()?.file_type())?;
        Ok(file)
    }

    /// Does the same as [`open_regular`](RealDisk::open_regular) for a file whose bytes change in place. It rejects a
    /// file with a second hard link, since the change would affect files outside.
    fn open_to_change(&self, name: &str, options: &mut OpenOptions) -> io::Result<File> {
        let file = self.open_regular(name, options)?;
        match file.metadata()?.nlink() {
            0 | 1 => Ok(file),
            _ => {
                let what = "it has another name (a hard link): replace it by a copy";
                Err(io::Error::new(ErrorKind::InvalidData, what))
            }
        }
    }

    fn path_of(&self, name: &str) -> PathBuf {
        let mut components = Path::new(name).components();
        let first = components.next();
        debug_assert!(
            matches!(first, Some(Component::Normal(_))) && components.next().is_none(),
            "{name:?} is the name of a file in this directory"
        );
        self.path.join(name)
    }

    /// Rejects the removal of a folder under a file's name. Links and pipes can be removed.
    fn reject_folder(&self, name: &str) -> io::Result<()> {
        match fs::symlink_metadata(self.path_of(name)).map(|it| it.file_type()) {
            Ok(kind) if kind.is_dir() => reject_irregular(kind),
            _ => Ok(()),
        }
    }

    fn unlink_if_there(&self, name: &str) -> io::Result<()> {
        match fs::remove_file(self.path_of(name)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn entries(&self) -> io::Result<Vec<(String, u64)>> {
        let entry = |entry: io::Result<fs::DirEntry>| {
            let entry = entry?;
            match entry.metadata() {
                // Another process has just removed it.
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
                found => {
                    let name = entry.file_name().to_string_lossy().into_owned();
                    Ok(Some((name, found?.len())))
                }
            }
        };
        fs::read_dir(&self.path)?.filter_map(|it| entry(it).transpose()).collect()
    }
}

impl Disk for RealDisk {
    fn create(&self, name: &str) -> Result<Box<dyn AppendFile>> {
        let create = || {
            self.reject_folder(name)?;
            self.unlink_if_there(name)?;
            OpenOptions::new().write(true).create_new(true).open(self.path_of(name))
        };
        let file = create().map_err(|error| Error::io("create", name, error))?;
        Ok(Box::new(RealAppend::new(name, file, 0)))
    }

    fn append_at(&self, name: &str, length: u64) -> Result<Box<dyn AppendFile>> {
        let io = |error| Error::io("open", name, error);
        let mut file = self.open_to_change(name, OpenOptions::new().write(true)).map_err(io)?;
        let found = file.metadata().map_err(io)?.len();
        check_length(name, found, length)?;
        if found > length {
            file.set_len(length).map_err(|error| Error::io("truncate", name, error))?;
        }
        file.seek(SeekFrom::Start(length)).map_err(io)?;
        Ok(Box::new(RealAppend::new(name, file, length)))
    }

    fn map(&self, name: &str, range: Range<u64>) -> Result<MappedBytes> {
        let io = |error| Error::io("map", name, error);
        let file = self.open_regular(name, OpenOptions::new().read(true)).map_err(io)?;
        check_length(name, file.metadata().map_err(io)?.len(), range.end)?;
        MappedBytes::file(file, range).map_err(io)
    }

    fn read_if(&self, name: &str, accept: &HeadCheck<'_>) -> Result<Vec<u8>> {
        let io = |error| Error::io("read", name, error);
        let mut file = self.open_to_read(name)?;
        let length = file.metadata().map_err(io)?.len();
        let mut bytes = Vec::new();
        (&mut file).take(HEAD_BYTES as u64).read_to_end(&mut bytes).map_err(io)?;
        accept(&bytes, length)?;
        // Bytes that a growing file gains in the meantime are not read.
        let rest = length.saturating_sub(bytes.len() as u64);
        file.take(rest).read_to_end(&mut bytes).map_err(io)?;
        Ok(bytes)
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        fs::rename(self.path_of(from), self.path_of(to))
            .map_err(|error| Error::io("rename", from, error))
    }

    fn rename_new(&self, from: &str, to: &str) -> Result<bool> {
        // If two processes link to one name, the system rejects one of them, on whichever machine they run.
        let is_new = match fs::hard_link(self.path_of(from), self.path_of(to)) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
            linked => linked.map(|()| true),
        };
        let is_new = is_new.map_err(|error| Error::io("link", from, error))?;
        self.remove(from)?;
        Ok(is_new)
    }

    fn remove(&self, name: &str) -> Result<()> {
        let remove = || {
            self.reject_folder(name)?;
            fs::remove_file(self.path_of(name))
        };
        remove().map_err(|error| Error::io("remove", name, error))
    }

    fn list(&self) -> Result<Vec<(String, u64)>> {
        let mut entries = self
            .entries()
            .map_err(|error| Error::io("list", self.path.display().to_string(), error))?;
        entries.sort();
        Ok(entries)
    }

    fn sync_dir(&self) -> Result<()> {
        self.directory
            .sync_all()
            .map_err(|error| Error::io("sync", self.path.display().to_string(), error))
    }

    fn bytes_left(&self) -> Option<u64> {
        free_bytes(&self.path)
    }
}

/// Returns the flags in the form of the standard library.
fn bits(flags: OFlags) -> i32 {
    flags.bits() as i32
}

/// Rejects everything but regular files.
fn reject_irregular(kind: FileType) -> io::Result<()> {
    let what = match kind {
        it if it.is_file() => return Ok(()),
        it if it.is_dir() => "it is a folder, not a file",
        it if it.is_symlink() => "it is a symbolic link, not a file",
        _ => "it is a pipe or a device, not a file",
    };
    Err(io::Error::new(ErrorKind::InvalidData, what))
}

/// Rejects a use of bytes up to `wanted` in a file of `found` bytes.
pub(crate) fn check_length(name: &str, found: u64, wanted: u64) -> Result<()> {
    if found >= wanted {
        return Ok(());
    }
    let what = format!("the file ends here, but it should have at least {wanted} bytes");
    Err(Error::corrupt(name, found, what))
}

/// A file of the operating system, written through a buffer.
struct RealAppend {
    name: String,
    file: File,
    /// The number of bytes before `buffer`, which the operating system has.
    flushed: u64,
    /// Bytes that the operating system does not have yet.
    buffer: Vec<u8>,
    /// Whether a sync has failed.
    doubtful: bool,
}

impl RealAppend {
    fn new(name: &str, file: File, length: u64) -> Self {
        let buffer = Vec::with_capacity(BUFFER_BYTES);
        Self { name: name.to_owned(), file, flushed: length, buffer, doubtful: false }
    }

    fn error(&self, action: &'static str, error: io::Error) -> Error {
        Error::io(action, &self.name, error)
    }

    fn check_not_doubtful(&self) -> Result<()> {
        if self.doubtful {
            return Err(self.error("write", io::Error::other("an earlier sync of it failed")));
        }
        Ok(())
    }

    /// Writes the buffer to the file. On error, exactly the unwritten bytes stay in it.
    fn drain(&mut self) -> Result<()> {
        let (taken, outcome) = hand_over(&mut self.file, &self.buffer);
        self.flushed += taken as u64;
        self.buffer.drain(..taken);
        outcome.map_err(|error| self.error("write", error))
    }
}

/// Writes `bytes`. Returns the number of bytes written, also on error.
fn hand_over(file: &mut File, bytes: &[u8]) -> (usize, io::Result<()>) {
    let mut taken = 0;
    while taken < bytes.len() {
        match file.write(&bytes[taken..]) {
            Ok(0) => return (taken, Err(ErrorKind::WriteZero.into())),
            Ok(count) => taken += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return (taken, Err(error)),
        }
    }
    (taken, Ok(()))
}

impl AppendFile for RealAppend {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.check_not_doubtful()?;
        if self.buffer.len() + bytes.len() > BUFFER_BYTES {
            self.drain()?;
        }
        if bytes.len() < BUFFER_BYTES {
            self.buffer.extend_from_slice(bytes);
            return Ok(());
        }
        let (taken, outcome) = hand_over(&mut self.file, bytes);
        self.flushed += taken as u64;
        outcome.map_err(|error| self.error("write", error))
    }

    fn len(&self) -> u64 {
        self.flushed + self.buffer.len() as u64
    }

    fn flush(&mut self) -> Result<()> {
        self.check_not_doubtful()?;
        self.drain()
    }

    fn sync(&mut self) -> Result<()> {
        self.flush()?;
        // The length of a file counts as its data here: POSIX makes fdatasync write everything that is needed to read
        // the data back.
        self.file.sync_data().map_err(|error| {
            self.doubtful = true;
            self.error("sync", error)
        })
    }
}
