//! A directory whose files lie elsewhere: in an object store, say.
//!
//! What is here is a copy of what has been asked for: files that may have holes where nothing has been read. Whoever has the
//! files, their [`RemoteOrigin`], brings what is read, and takes what gets its final name. What is written is private until then.
//!
//! Two things are as in a directory that several machines share, and the origin sees to them. A name that is given by
//! [`Disk::rename_new`] is given to one of those who ask for it. And a file that is replaced (the manifest) is replaced by
//! whoever has seen the last of it: one who has not is told that what he goes by is not there.

use super::error::{Error, Result};
use super::map::MappedBytes;
use super::{AppendFile, Disk, HeadCheck, RealDisk};
use std::fmt::Debug;
use std::io::ErrorKind;
use std::ops::Range;
use std::sync::Arc;

/// Whoever has the files of a [`RemoteDisk`] disk.
pub trait RemoteOrigin: Send + Sync + Debug {
    /// Sees to it that the directory has this file, as long as it is, and of it what is to be read: a range, or the whole
    /// as it is now. A file that is not there is an error ([`Error::is_not_found`]).
    fn fetch(&self, name: &str, range: Option<Range<u64>>) -> Result<()>;

    /// Takes the file of this name from the directory, whole and for ever, unless somebody has given the name and it was to be
    /// `new`, or the file that it replaces is not the one last brought. Tells whether it was taken.
    fn publish(&self, name: &str, new: bool) -> Result<bool>;

    /// Removes a file; it is no error if there is none.
    fn remove(&self, name: &str) -> Result<()>;
}

/// A directory of an [`RemoteOrigin`].
#[derive(Debug)]
pub struct RemoteDisk {
    here: RealDisk,
    origin: Arc<dyn RemoteOrigin>,
    /// Whether a name is only one's own, while a file is written.
    is_own: fn(&str) -> bool,
}

impl RemoteDisk {
    /// The files of `origin`, with copies in a directory. Names that `is_own` tells never leave it.
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
            // Theirs is brought when it is read.
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

    /// Those of which there is a copy here.
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
