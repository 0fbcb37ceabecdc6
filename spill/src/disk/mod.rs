//! The interface between this crate and the storage of its bytes.
//!
//! A [`Disk`] is one flat directory of named files. It has four implementations: [`RealDisk`] (the operating system),
//! [`FaultDisk`] (memory, with failures and power losses on request), [`MeteredDisk`] (counts the bytes of another and
//! enforces a limit) and [`RemoteDisk`] (copies of remote files). The other modules write files front to back, never
//! in the middle, and read them as immutable slices. So a disk needs only appending, mapping and the few directory
//! operations that commit a manifest.
//!
//! Written data passes three stages, and a call completes each:
//!
//! ```text
//!             write          flush           sync              lost when
//! bytes       in a buffer    on the disk     durable           the process / the power fails
//! names       -              on the disk     durable           - / the power fails
//!                                            (sync_dir)
//! ```

mod checksum;
mod directory;
mod error;
pub mod fault;
mod manifest;
mod map;
mod metered;
mod remote;

pub use checksum::checksum;
pub use directory::{RealDisk, free_bytes};
pub use error::{Error, Result};
pub use fault::FaultDisk;
pub use manifest::{
    PayloadFormat, commit, commit_value, load, load_value, put_value, read_committed,
};
pub use map::MappedBytes;
pub use metered::{DiskUsage, MeteredDisk};
pub use remote::{RemoteDisk, RemoteOrigin};

use std::fmt::Debug;
use std::ops::Range;

/// The number of bytes at the beginning of a file that decide whether it is read.
pub const HEAD_BYTES: usize = 64;

/// Rejects a file by its first [`HEAD_BYTES`] bytes, or all if there are fewer, and its length.
pub type HeadCheck<'a> = dyn Fn(&[u8], u64) -> Result<()> + 'a;

/// A directory of files that are appended to, mapped and replaced as a whole.
///
/// Names are single path components. Operations are atomic only where stated. They are durable only after the matching
/// `sync`: a file's bytes after [`AppendFile::sync`]; its name, removal or renaming after [`Disk::sync_dir`].
/// [`map`](Disk::map), [`read`](Disk::read) and [`list`](Disk::list) see files as of the last [`AppendFile::flush`] or
/// later.
pub trait Disk: Send + Sync + Debug {
    /// Creates `name` empty and replaces an existing file of that name. Mappings of the replaced file stay readable.
    fn create(&self, name: &str) -> Result<Box<dyn AppendFile>>;

    /// Opens `name` to append at `length`, and cuts off the bytes after it. If the file is shorter than `length`, the
    /// error is [`crate::Error::Corrupt`]. No bytes after `length` may be mapped.
    fn append_at(&self, name: &str, length: u64) -> Result<Box<dyn AppendFile>>;

    /// Maps the bytes `range` of `name`, which must not change while the mapping lives. If the file is shorter than
    /// `range.end`, the error is [`crate::Error::Corrupt`].
    fn map(&self, name: &str, range: Range<u64>) -> Result<MappedBytes>;

    /// Reads the whole of a small file into memory.
    fn read(&self, name: &str) -> Result<Vec<u8>> {
        self.read_if(name, &|_, _| Ok(()))
    }

    /// Reads the whole of a small file, if `accept` accepts its beginning and its length. A rejected file is not read,
    /// however long it is.
    fn read_if(&self, name: &str, accept: &HeadCheck<'_>) -> Result<Vec<u8>>;

    /// Renames `from` to `to` atomically and replaces an existing file of that name.
    fn rename(&self, from: &str, to: &str) -> Result<()>;

    /// Renames `from` to `to` atomically, unless a file has that name. Returns whether it was renamed. If not, `from`
    /// is removed.
    fn rename_new(&self, from: &str, to: &str) -> Result<bool>;

    /// Removes `name`. Mappings of the file stay readable.
    fn remove(&self, name: &str) -> Result<()>;

    /// Lists every file with its length in bytes, sorted by name.
    fn list(&self) -> Result<Vec<(String, u64)>>;

    /// Makes creations, removals and renames durable.
    fn sync_dir(&self) -> Result<()>;

    /// Returns the number of bytes that may still be written, if it is known.
    fn bytes_left(&self) -> Option<u64> {
        None
    }
}

/// A file opened for appending. Dropping it does not flush it.
pub trait AppendFile: Send {
    /// Appends `bytes`. On error, a prefix of them may have been appended; [`len`](AppendFile::len) reports how many.
    fn write(&mut self, bytes: &[u8]) -> Result<()>;

    /// Returns the length of the file in bytes, unflushed bytes included.
    fn len(&self) -> u64;

    /// Returns whether the file is empty.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Passes everything written so far to the disk. Then [`Disk::map`], [`Disk::read`] and [`Disk::list`] see it. It
    /// survives the end of the process, but not a power loss.
    fn flush(&mut self) -> Result<()>;

    /// Flushes, and makes everything written so far durable. After a failure the durable part is unknown, so every
    /// later call fails as well.
    fn sync(&mut self) -> Result<()>;
}
