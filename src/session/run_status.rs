//! How a search goes that may be running now: what its directory tells whoever looks on.

use super::DirectoryContents;
use super::session_log::{SessionStart, all_expanded, last_level};
use crate::search::checkpoint::SavedSearch;
use crate::search::files::{CYCLES, MANIFEST};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How the search in a directory goes.
#[derive(Clone, Debug, PartialEq)]
pub struct RunStatus {
    /// Whether it is running now.
    pub is_running: bool,
    /// For how long, if it is and is known.
    pub running_for: Option<Duration>,
    /// How long ago the last checkpoint was made, by the clock of its file, if there is one.
    pub checkpoint_ago: Option<Duration>,
    /// Where it was then.
    pub at: Option<CheckpointPosition>,
    /// States that were expanded a second in the last sitting, up to that checkpoint.
    pub rate: Option<f64>,
}

/// Where a search was at a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckpointPosition {
    /// The number of the last level, from 0.
    pub level: u64,
    /// States found.
    pub states: u64,
    /// States of the last level.
    pub frontier: u64,
    /// How many of these were expanded.
    pub expanded: u64,
}

impl CheckpointPosition {
    fn of(saved: &SavedSearch) -> CheckpointPosition {
        let levels = &saved.store.levels;
        let frontier = last_level(saved);
        CheckpointPosition {
            level: levels.len().saturating_sub(1) as u64,
            states: levels.keys_by_level().sum(),
            frontier,
            expanded: if saved.verdict == 0 { saved.open.expanded } else { frontier },
        }
    }
}

impl RunStatus {
    /// How the search in `dir`, which has these contents, goes.
    pub fn of(dir: &Path, contents: &DirectoryContents) -> RunStatus {
        let DirectoryContents { saved, session_start: sitting, running, .. } = contents;
        let ago = |then: SystemTime| SystemTime::now().duration_since(then).unwrap_or_default();
        let begun = sitting.map(|it| UNIX_EPOCH + Duration::from_millis(it.begun));
        RunStatus {
            is_running: *running,
            running_for: begun.filter(|_| *running).map(ago),
            checkpoint_ago: checkpoint_age(dir).filter(|_| saved.is_some()),
            at: saved.as_ref().map(CheckpointPosition::of),
            rate: saved.as_ref().zip(*sitting).and_then(|(saved, begun)| rate(saved, begun)),
        }
    }
}

/// How long ago a file was written, by its clock; nothing if there is none.
pub(super) fn file_age(file: &Path) -> Option<Duration> {
    let written = std::fs::symlink_metadata(file).ok()?.modified().ok()?;
    Some(SystemTime::now().duration_since(written).unwrap_or_default())
}

/// How long ago the last checkpoint in a directory was made, if there is one.
pub(super) fn checkpoint_age(dir: &Path) -> Option<Duration> {
    [MANIFEST, CYCLES].into_iter().filter_map(|name| file_age(&dir.join(name))).min()
}

/// States expanded a second between the beginning of a sitting and a checkpoint; nothing if that is of an earlier one.
fn rate(saved: &SavedSearch, begun: SessionStart) -> Option<f64> {
    let seconds = saved.seconds - begun.seconds;
    let expanded = all_expanded(saved).checked_sub(begun.expanded)?;
    (expanded > 0 && seconds > 0.0).then(|| expanded as f64 / seconds)
}
