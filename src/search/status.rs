//! How far a search is at this moment, in a small file of its directory that is replaced every second
//! (`docs/format.md`, `docs/schema/status.json`).
//!
//! It is for whoever looks on from another process. Nothing rests on it: it is not made durable, and where it cannot be
//! written it says what it said before, and when that was.

use super::events::Sample;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The name of the file.
pub const STATUS: &str = "status.json";

/// It is written under this name first, so that nobody reads half of it.
///
/// It comes and goes while a search runs, whose files are swept meanwhile: nobody else may remove it.
pub(super) const UNFINISHED: &str = "status.json.new";

/// The version of what it says.
const VERSION: u32 = 1;

/// A file longer than this, in bytes, is none of ours.
const BYTES_MAX: u64 = 1 << 16;

/// How far a search is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Status {
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
    pub now: Sample,
    /// `verified`, `violated`, `incomplete` or `failed`, once the sitting has ended.
    pub verdict: Option<String>,
}

impl Status {
    /// That of a search that takes so much of `budget` and `threads`, now.
    pub(super) fn new((before, budget, threads): (f64, u64, u32), now: Sample) -> Status {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let at = since.map_or(0, |it| it.as_millis() as u64);
        Status { version: VERSION, at, before, budget, threads, rate: None, now, verdict: None }
    }

    /// How long ago it was written, by the clock of this machine.
    pub fn age(&self) -> Duration {
        let written = UNIX_EPOCH + Duration::from_millis(self.at);
        SystemTime::now().duration_since(written).unwrap_or_default()
    }

    /// Replaces what is said in `dir`, if that can be done.
    pub(super) fn replace(&self, dir: &Path) {
        let unfinished = dir.join(UNFINISHED);
        let said = serde_json::to_vec(self).unwrap_or_default();
        let written = std::fs::write(&unfinished, said);
        if written.and_then(|()| std::fs::rename(&unfinished, dir.join(STATUS))).is_err() {
            let _ = std::fs::remove_file(&unfinished);
        }
    }

    /// What is said in `dir`, if something is.
    pub fn read(dir: &Path) -> Option<Status> {
        let path = dir.join(STATUS);
        let is_ours = std::fs::metadata(&path).is_ok_and(|it| it.is_file() && it.len() < BYTES_MAX);
        let status: Status =
            serde_json::from_slice(&is_ours.then(|| std::fs::read(path))?.ok()?).ok()?;
        (status.version == VERSION).then_some(status)
    }
}
