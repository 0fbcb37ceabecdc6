//! A disk that counts its bytes and enforces a limit.
//!
//! The bytes of a file count from their write until the file has neither a name nor a writer. That is exactly while
//! its [`MeteredLength`] is referenced by the table of names or by an [`AppendFile`]. So truncation and removal give
//! bytes back without further bookkeeping. A write reserves its bytes first and returns those it does not use, so that
//! several threads together stay below the limit.

use super::error::{Error, Result};
use super::map::MappedBytes;
use super::{AppendFile, Disk, HeadCheck};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Counts the bytes of another disk, and limits them.
#[derive(Debug)]
pub struct MeteredDisk {
    inner: Arc<dyn Disk>,
    /// The meter, shared with every file, which may outlive its name.
    meter: Arc<DiskMeter>,
    /// The files that have a name. A name changes here after it changes on the disk.
    files: Mutex<BTreeMap<String, Arc<MeteredLength>>>,
}

/// The counts of a [`MeteredDisk`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskUsage {
    /// The bytes of all current files.
    pub live: u64,
    /// The maximum of `live`.
    pub peak: u64,
    /// The bytes written since the disk was opened.
    pub written: u64,
    /// The bytes of decoded blocks, which a system without a cache would have to read.
    pub read: u64,
    /// The number of syncs of files and of the directory.
    pub syncs: u64,
}

#[derive(Debug)]
struct DiskMeter {
    /// The limit of `live`.
    limit: Option<u64>,
    /// The bytes of all files, and those reserved for pending writes.
    live: AtomicU64,
    /// The maximum of `live` after a write.
    peak: AtomicU64,
    written: AtomicU64,
    read: Arc<AtomicU64>,
    syncs: AtomicU64,
}

/// The length of one file; it is part of `live` while this lives.
#[derive(Debug)]
struct MeteredLength {
    bytes: AtomicU64,
    meter: Arc<DiskMeter>,
}

impl MeteredDisk {
    /// Counts the bytes of `inner`, beginning with the existing ones. A write that would exceed the limit fails with
    /// [`Error::Full`] before it writes anything.
    pub fn new(inner: Arc<dyn Disk>, limit: Option<u64>) -> Result<MeteredDisk> {
        let zero = || AtomicU64::new(0);
        let read = Arc::new(zero());
        let meter =
            DiskMeter { limit, live: zero(), peak: zero(), written: zero(), read, syncs: zero() };
        let meter = Arc::new(meter);
        let files = inner.list()?.into_iter();
        let files =
            files.map(|(name, length)| (name, MeteredLength::new(&meter, length))).collect();
        Ok(MeteredDisk { inner, meter, files: Mutex::new(files) })
    }

    /// Returns the limit on the bytes of all files.
    pub fn limit(&self) -> Option<u64> {
        self.meter.limit
    }

    /// Returns the number of bytes left below the limit, if there is one.
    pub fn remaining_limit(&self) -> Option<u64> {
        self.limit().map(|limit| limit.saturating_sub(self.usage().live))
    }

    /// Returns the counts so far.
    pub fn usage(&self) -> DiskUsage {
        let DiskMeter { live, peak, written, read, syncs, .. } = &*self.meter;
        DiskUsage {
            live: live.load(Relaxed),
            peak: peak.load(Relaxed),
            written: written.load(Relaxed),
            read: read.load(Relaxed),
            syncs: syncs.load(Relaxed),
        }
    }

    fn files(&self) -> MutexGuard<'_, BTreeMap<String, Arc<MeteredLength>>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn append(
        &self,
        name: &str,
        inner: Box<dyn AppendFile>,
        length: Arc<MeteredLength>,
    ) -> Box<dyn AppendFile> {
        Box::new(MeteredAppend { name: name.to_owned(), inner, length })
    }
}

impl DiskMeter {
    /// Counts `bytes` as live, unless that exceeds the limit.
    fn reserve(&self, bytes: u64) -> bool {
        let within = |live: &u64| self.limit.is_none_or(|limit| *live <= limit);
        let grow = |live: u64| live.checked_add(bytes).filter(within);
        self.live.fetch_update(Relaxed, Relaxed, grow).is_ok()
    }
}

impl MeteredLength {
    fn new(meter: &Arc<DiskMeter>, bytes: u64) -> Arc<MeteredLength> {
        let live = meter.live.fetch_add(bytes, Relaxed) + bytes;
        meter.peak.fetch_max(live, Relaxed);
        Arc::new(MeteredLength { bytes: AtomicU64::new(bytes), meter: meter.clone() })
    }

    /// Records that the file now has `bytes` bytes.
    fn set(&self, bytes: u64) {
        self.meter.live.fetch_add(bytes, Relaxed);
        self.meter.live.fetch_sub(self.bytes.swap(bytes, Relaxed), Relaxed);
    }
}

impl Drop for MeteredLength {
    fn drop(&mut self) {
        self.set(0);
    }
}

impl Disk for MeteredDisk {
    fn create(&self, name: &str) -> Result<Box<dyn AppendFile>> {
        let inner = self.inner.create(name)?;
        let length = MeteredLength::new(&self.meter, 0);
        self.files().insert(name.to_owned(), length.clone());
        Ok(self.append(name, inner, length))
    }

    fn append_at(&self, name: &str, length: u64) -> Result<Box<dyn AppendFile>> {
        let inner = self.inner.append_at(name, length)?;
        let mut files = self.files();
        let counted = files
            .entry(name.to_owned())
            .or_insert_with(|| MeteredLength::new(&self.meter, length))
            .clone();
        counted.set(length);
        Ok(self.append(name, inner, counted))
    }

    fn map(&self, name: &str, range: Range<u64>) -> Result<MappedBytes> {
        Ok(self.inner.map(name, range)?.metered(self.meter.read.clone()))
    }

    fn read_if(&self, name: &str, accept: &HeadCheck<'_>) -> Result<Vec<u8>> {
        self.inner.read_if(name, accept)
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        self.inner.rename(from, to)?;
        let mut files = self.files();
        if let Some(length) = files.remove(from) {
            files.insert(to.to_owned(), length);
        }
        Ok(())
    }

    fn rename_new(&self, from: &str, to: &str) -> Result<bool> {
        let is_new = self.inner.rename_new(from, to)?;
        let mut files = self.files();
        if let Some(length) = files.remove(from).filter(|_| is_new) {
            files.insert(to.to_owned(), length);
        }
        Ok(is_new)
    }

    fn remove(&self, name: &str) -> Result<()> {
        self.inner.remove(name)?;
        self.files().remove(name);
        Ok(())
    }

    fn list(&self) -> Result<Vec<(String, u64)>> {
        self.inner.list()
    }

    fn sync_dir(&self) -> Result<()> {
        self.meter.syncs.fetch_add(1, Relaxed);
        self.inner.sync_dir()
    }

    fn bytes_left(&self) -> Option<u64> {
        self.remaining_limit().into_iter().chain(self.inner.bytes_left()).min()
    }
}

/// A file whose growth is counted.
struct MeteredAppend {
    name: String,
    inner: Box<dyn AppendFile>,
    length: Arc<MeteredLength>,
}

impl AppendFile for MeteredAppend {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let meter = &self.length.meter;
        let reserved = bytes.len() as u64;
        if !meter.reserve(reserved) {
            return Err(Error::Full { file: self.name.clone(), limit: meter.limit });
        }
        let before = self.inner.len();
        let outcome = self.inner.write(bytes);
        let written = self.inner.len() - before;
        self.length.bytes.fetch_add(written, Relaxed);
        let live = meter.live.fetch_sub(reserved - written, Relaxed) - (reserved - written);
        meter.peak.fetch_max(live, Relaxed);
        meter.written.fetch_add(written, Relaxed);
        outcome
    }

    fn len(&self) -> u64 {
        self.inner.len()
    }

    fn flush(&mut self) -> Result<()> {
        self.inner.flush()
    }

    fn sync(&mut self) -> Result<()> {
        self.length.meter.syncs.fetch_add(1, Relaxed);
        self.inner.sync()
    }
}
