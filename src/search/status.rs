//! How far a search is at this moment, in a small file of its directory that is replaced every second
//! (`docs/reference/format.md`, `docs/schema/status.json`).
//!
//! It is for whoever looks on from another process. Nothing rests on it: it is not made durable, and where it cannot be
//! written it says what it said before, and when that was.

use super::events::{ProgressSample, is_time, replace};
pub use super::files::STATUS;
use super::files::unfinished;
use serde::{Deserialize, Serialize};
use spill::{Disk, RealDisk};
use std::io::Read;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The version of what it says.
const VERSION: u32 = 1;

/// A file longer than this, in bytes, is none of ours.
const BYTES_MAX: u64 = 1 << 16;

/// How far a search is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchStatus {
    /// Of what it says.
    pub version: u32,
    /// When it was written: milliseconds after the beginning of 1970.
    pub at: u64,
    /// Seconds of searching in earlier sittings, up to their last checkpoint.
    pub before: f64,
    /// The most memory that may be resident, in bytes.
    pub budget: u64,
    /// Threads.
    pub threads: u32,
    /// States expanded a second in this sitting, once there is something to tell.
    pub rate: Option<f64>,
    /// How far it is.
    pub now: ProgressSample,
    /// `verified`, `violated`, `incomplete` or `failed`, once the sitting has ended.
    pub verdict: Option<String>,
}

impl SearchStatus {
    /// That of a search that takes so much of `budget` and `threads`, now.
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

    /// How long ago it was written, by the clock of this machine.
    pub fn age(&self) -> Duration {
        let written = UNIX_EPOCH + Duration::from_millis(self.at);
        SystemTime::now().duration_since(written).unwrap_or_default()
    }

    /// Replaces what is said in a directory, if that can be done.
    pub(super) fn replace(&self, disk: &RealDisk) {
        let said = serde_json::to_vec(self).unwrap_or_default();
        if replace(disk, STATUS, &said).is_err() {
            let _ = disk.remove(&unfinished(STATUS));
        }
    }

    /// What is said in `dir`, if something is.
    pub fn read(dir: &Path) -> Option<SearchStatus> {
        let file = RealDisk::open(dir).ok()?.open_to_read(STATUS).ok()?;
        let mut said = Vec::new();
        file.take(BYTES_MAX).read_to_end(&mut said).ok()?;
        serde_json::from_slice(&said).ok().filter(SearchStatus::is_possible)
    }

    /// Whether a search can have said so: anybody may have written the file.
    fn is_possible(&self) -> bool {
        self.version == VERSION
            && self.now.is_possible()
            && is_time(self.before)
            && self.rate.is_none_or(|rate| (0.0..1e18).contains(&rate))
    }
}
