//! The seam between this crate and whatever stores its bytes.
//!
//! A [`Disk`] is one flat directory of named files. Four things implement it: [`RealDisk`] (the
//! operating system), [`FaultDisk`] (memory, failing and losing power on request), [`MeteredDisk`]
//! (counts bytes and enforces a limit around another) and [`RemoteDisk`] (copies of files that lie
//! elsewhere). Everything above writes files front to back, never in the middle, and reads them as
//! immutable slices, so a disk needs only appending, mapping and the few directory operations that
//! commit a manifest.
//!
//! What is written goes through three stages, and each has a call that completes it:
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

/// So many bytes at the beginning of a file tell whether it is to be read.
pub const HEAD_BYTES: usize = 64;

/// Refuses a file by its first [`HEAD_BYTES`] bytes, or all that there are, and its length.
pub type HeadCheck<'a> = dyn Fn(&[u8], u64) -> Result<()> + 'a;

/// A directory of files that are appended to, mapped and replaced whole.
///
/// Names are single path components. Operations are atomic only where they say so, and durable
/// only after the matching `sync`: a file's bytes after [`AppendFile::sync`], its name, removal or
/// renaming after [`Disk::sync_dir`]. Files are seen by [`map`](Disk::map), [`read`](Disk::read)
/// and [`list`](Disk::list) as of the last [`AppendFile::flush`] or later.
pub trait Disk: Send + Sync + Debug {
    /// Creates `name` empty, replacing whatever had that name. What was mapped of the replaced
    /// file stays readable through its mapping.
    fn create(&self, name: &str) -> Result<Box<dyn AppendFile>>;

    /// Opens `name` to append at `length`, first cutting off whatever lies beyond. It is an error
    /// ([`crate::Error::Corrupt`]) if the file is shorter than `length`. Nothing beyond `length`
    /// may be mapped.
    fn append_at(&self, name: &str, length: u64) -> Result<Box<dyn AppendFile>>;

    /// The bytes `range` of `name`, which must not change while the mapping lives. It is an error
    /// ([`crate::Error::Corrupt`]) if the file is shorter than `range.end`.
    fn map(&self, name: &str, range: Range<u64>) -> Result<MappedBytes>;

    /// The whole of a small file, read into memory.
    fn read(&self, name: &str) -> Result<Vec<u8>> {
        self.read_if(name, &|_, _| Ok(()))
    }

    /// The whole of a small file, if `accept` takes it for one by its beginning and its length. A file that is refused is not
    /// read, however long it is.
    fn read_if(&self, name: &str, accept: &HeadCheck<'_>) -> Result<Vec<u8>>;

    /// Atomically gives `from` the name `to`, replacing whatever had it.
    fn rename(&self, from: &str, to: &str) -> Result<()>;

    /// Atomically gives `from` the name `to`, unless something has it; tells whether it was given. If it was not, `from` is
    /// removed.
    fn rename_new(&self, from: &str, to: &str) -> Result<bool>;

    /// Removes `name`. A file that is still mapped stays readable through its mapping.
    fn remove(&self, name: &str) -> Result<()>;

    /// Every file with its length in bytes, sorted by name.
    fn list(&self) -> Result<Vec<(String, u64)>>;

    /// Makes creations, removals and renames durable.
    fn sync_dir(&self) -> Result<()>;

    /// How many bytes may still be written, as far as that is known.
    fn bytes_left(&self) -> Option<u64> {
        None
    }
}

/// A file being appended to. Dropping it does not flush it.
pub trait AppendFile: Send {
    /// Appends `bytes`, all of them or, on error, any prefix of them; [`len`](AppendFile::len) tells.
    fn write(&mut self, bytes: &[u8]) -> Result<()>;

    /// The length of the file in bytes, those not flushed yet included.
    fn len(&self) -> u64;

    /// Whether nothing has been written yet.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Hands everything written so far to the disk: after it, [`Disk::map`], [`Disk::read`] and
    /// [`Disk::list`] see it, and it outlives the process, though not a loss of power.
    fn flush(&mut self) -> Result<()>;

    /// Makes everything written so far durable; flushes first. Once it has failed, it is unknown
    /// what is durable, so every later call fails as well.
    fn sync(&mut self) -> Result<()>;
}
