//! The status of a search that may be running, as its directory shows it to observers.

use super::DirectoryContents;
use super::session_log::{SessionStart, all_expanded, last_level};
use crate::search::checkpoint::SavedSearch;
use crate::search::files::{CYCLES, MANIFEST};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The status of the search in a directory.
#[derive(Clone, Debug, PartialEq)]
pub struct RunStatus {
    /// Whether a process is running it.
    pub is_running: bool,
    /// How long it has been running, if it is running and the start is known.
    pub running_for: Option<Duration>,
    /// The age of the last checkpoint by the clock of its file, if there is one.
    pub checkpoint_ago: Option<Duration>,
    /// The position at that checkpoint.
    pub at: Option<CheckpointPosition>,
    /// States expanded per second in the last session, up to that checkpoint.
    pub rate: Option<f64>,
}

/// The position of a search at a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckpointPosition {
    /// The number of the last level, from 0.
    pub level: u64,
    /// The number of states found.
    pub states: u64,
    /// The number of states of the last level.
    pub frontier: u64,
    /// The number of expanded states of the last level.
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
    /// Returns the status of the search in `dir`, which has these contents.
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

/// Returns the age of a file by its clock. `None` if there is no file.
pub(super) fn file_age(file: &Path) -> Option<Duration> {
    let written = std::fs::symlink_metadata(file).ok()?.modified().ok()?;
    Some(SystemTime::now().duration_since(written).unwrap_or_default())
}

/// Returns the age of the last checkpoint in a directory, if there is one.
pub(super) fn checkpoint_age(dir: &Path) -> Option<Duration> {
    [MANIFEST, CYCLES].into_iter().filter_map(|name| file_age(&dir.join(name))).min()
}

/// Returns the states expanded per second between the beginning of a session and a checkpoint. `None` if the
/// checkpoint is older than the session.
fn rate(saved: &SavedSearch, begun: SessionStart) -> Option<f64> {
    let seconds = saved.seconds - begun.seconds;
    let expanded = all_expanded(saved).checked_sub(begun.expanded)?;
    (expanded > 0 && seconds > 0.0).then(|| expanded as f64 / seconds)
}
