//! A directory of remote files, for example in an object store.
//!
//! The local directory contains copies of the requested parts: files may have holes where nothing has been read. The
//! [`RemoteOrigin`] of the files fetches what is read, and publishes a file when it gets its final name. Until then
//! the file is private.
//!
//! The origin guarantees two properties of a directory shared by several machines. [`Disk::rename_new`] gives a name
//! to only one of the processes that request it. Only a process that has read the last version of a file (the
//! manifest) can replace it. Other processes get the error that the file does not exist.

use super::error::{Error, Result};
use super::map::MappedBytes;
use super::{AppendFile, Disk, HeadCheck, RealDisk};
use std::fmt::Debug;
use std::io::ErrorKind;
use std::ops::Range;
use std::sync::Arc;

/// The origin of the files of a [`RemoteDisk`].
pub trait RemoteOrigin: Send + Sync + Debug {
    /// Makes the file present in the local directory, with its full length and the requested content: a range, or the
    /// whole current file. A missing file is an error ([`Error::is_not_found`]).
    fn fetch(&self, name: &str, range: Option<Range<u64>>) -> Result<()>;

    /// Publishes the file of this name from the local directory, complete and final. Returns whether it was published.
    /// It is not if the name exists and the file should be `new`, or if the replaced file is not the version fetched
    /// last.
    fn publish(&self, name: &str, new: bool) -> Result<bool>;

    /// Removes a file; a missing file is not an error.
    fn remove(&self, name: &str) -> Result<()>;
}

/// A directory of a [`RemoteOrigin`].
#[derive(Debug)]
pub struct RemoteDisk {
    here: RealDisk,
    origin: Arc<dyn RemoteOrigin>,
    /// Whether a name is private, used while a file is written.
    is_own: fn(&str) -> bool,
}

impl RemoteDisk {
    /// Creates the disk of `origin`'s files, with copies in a directory. Names for which `is_own` is true stay local.
    pub fn new(
        here: RealDisk,
        origin: Arc<dyn RemoteOrigin>,
        is_own: fn(&str) -> bool,
    ) -> RemoteDisk {
        RemoteDisk { here, origin, is_own }
    }

    fn publish(&self, name: &str, new: bool) -> Result<bool> {
        if (self.is_own)(name) {
            return Ok(true);
        }
        let taken = self.origin.publish(name, new)?;
        if !taken {
            // The remote version is fetched when it is read.
            self.here.remove(name)?;
        }
        Ok(taken)
    }

    fn fetch(&self, name: &str, range: Option<Range<u64>>) -> Result<()> {
        if (self.is_own)(name) { Ok(()) } else { self.origin.fetch(name, range) }
    }
}

impl Disk for RemoteDisk {
    fn create(&self, name: &str) -> Result<Box<dyn AppendFile>> {
        self.here.create(name)
    }

    fn append_at(&self, name: &str, length: u64) -> Result<Box<dyn AppendFile>> {
        self.fetch(name, None)?;
        self.here.append_at(name, length)
    }

    fn map(&self, name: &str, range: Range<u64>) -> Result<MappedBytes> {
        self.fetch(name, Some(range.clone()))?;
        self.here.map(name, range)
    }

    fn read_if(&self, name: &str, accept: &HeadCheck<'_>) -> Result<Vec<u8>> {
        self.fetch(name, None)?;
        self.here.read_if(name, accept)
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        self.here.rename(from, to)?;
        match self.publish(to, false)? {
            true => Ok(()),
            false => Err(Error::io("replace", to, ErrorKind::NotFound.into())),
        }
    }

    fn rename_new(&self, from: &str, to: &str) -> Result<bool> {
        self.here.rename(from, to)?;
        self.publish(to, true)
    }

    fn remove(&self, name: &str) -> Result<()> {
        let removed = self.here.remove(name);
        if (self.is_own)(name) {
            return removed;
        }
        self.origin.remove(name)
    }

    /// Lists the files with a local copy.
    fn list(&self) -> Result<Vec<(String, u64)>> {
        self.here.list()
    }

    fn sync_dir(&self) -> Result<()> {
        self.here.sync_dir()
    }

    fn bytes_left(&self) -> Option<u64> {
        self.here.bytes_left()
    }
}
