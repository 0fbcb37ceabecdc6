//! The current progress of a search, in a small file of its directory that is replaced every second
//! (`docs/reference/format.md`, `docs/schema/status.json`).
//!
//! Other processes read it. Nothing depends on it. It is not made durable. If it cannot be written, the previous
//! content with its time remains.

use super::events::{ProgressSample, is_time, replace};
pub use super::files::STATUS;
use super::files::unfinished;
use serde::{Deserialize, Serialize};
use spill::{Disk, RealDisk};
use std::io::Read;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The version of the format.
const VERSION: u32 = 1;

/// The greatest size in bytes. Longer files are ignored.
const BYTES_MAX: u64 = 1 << 16;

/// The progress of a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchStatus {
    /// The version of the format.
    pub version: u32,
    /// The time of writing, in milliseconds since the beginning of 1970.
    pub at: u64,
    /// Seconds of searching in earlier sessions, up to their last checkpoint.
    pub before: f64,
    /// The bound on resident memory, in bytes.
    pub budget: u64,
    /// The number of threads.
    pub threads: u32,
    /// States expanded for each second of this session, once it is known.
    pub rate: Option<f64>,
    /// The progress.
    pub now: ProgressSample,
    /// `verified`, `violated`, `incomplete` or `failed`, once the session has ended.
    pub verdict: Option<String>,
}

impl SearchStatus {
    /// Creates the current status of a search with this budget and number of threads.
    pub(super) fn new(before: f64, budget: u64, threads: u32, now: ProgressSample) -> SearchStatus {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let at = since.map_or(0, |it| it.as_millis() as u64);
        SearchStatus {
            version: VERSION,
            at,
            before,
            budget,
            threads,
            rate: None,
            now,
            verdict: None,
        }
    }

    /// Returns the time since it was written, by the clock of this machine.
    pub fn age(&self) -> Duration {
        let written = UNIX_EPOCH + Duration::from_millis(self.at);
        SystemTime::now().duration_since(written).unwrap_or_default()
    }

    /// Replaces the status of a directory, if possible.
    pub(super) fn replace(&self, disk: &RealDisk) {
        let said = serde_json::to_vec(self).unwrap_or_default();
        if replace(disk, STATUS, &said).is_err() {
            let _ = disk.remove(&unfinished(STATUS));
        }
    }

    /// Reads the status of `dir`, if there is one.
    pub fn read(dir: &Path) -> Option<SearchStatus> {
        let file = RealDisk::open(dir).ok()?.open_to_read(STATUS).ok()?;
        let mut said = Vec::new();
        file.take(BYTES_MAX).read_to_end(&mut said).ok()?;
        serde_json::from_slice(&said).ok().filter(SearchStatus::is_possible)
    }

    /// Returns whether a search can have this status, since any program may have written the file.
    fn is_possible(&self) -> bool {
        self.version == VERSION
            && self.now.is_possible()
            && is_time(self.before)
            && self.rate.is_none_or(|rate| (0.0..1e18).contains(&rate))
    }
}
