//! The free space of a disk, measured now and then.
//!
//! The system call takes 2 µs. A search with levels of a few states would spend a sixth of its time in it.

use crate::disk::Disk;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The number of bytes that may be written between two measurements.
const MEASURED_EACH: u64 = 1 << 20;

/// The last measurement of free space.
pub(super) struct FreeSpace {
    /// The free bytes at the last measurement.
    left: AtomicU64,
    /// The number of bytes that may have been written since.
    written: AtomicU64,
}

impl Default for FreeSpace {
    fn default() -> FreeSpace {
        // The first use measures.
        FreeSpace { left: AtomicU64::new(0), written: AtomicU64::new(MEASURED_EACH) }
    }
}

impl FreeSpace {
    /// Returns the free bytes of a disk before at most `bytes` bytes are written. The result may be old by
    /// [`MEASURED_EACH`] bytes. It is `u64::MAX` if the disk does not know.
    pub fn before_write(&self, disk: &dyn Disk, bytes: u64) -> u64 {
        let written = self.written.load(Relaxed).saturating_add(bytes);
        if written < MEASURED_EACH {
            self.written.store(written, Relaxed);
        } else {
            self.left.store(disk.bytes_left().unwrap_or(u64::MAX), Relaxed);
            self.written.store(bytes.min(MEASURED_EACH), Relaxed);
        }
        self.left.load(Relaxed)
    }
}
