//! The start record of a session, saved for observers.
//!
//! The record is not durable: after a crash it may be damaged or missing. Together with the last checkpoint it gives
//! the running time and the speed of the search. It has no other use.

use crate::search::checkpoint::{FORMAT, SavedSearch};
use crate::search::files::SESSION_START;
use rkyv::{Archive, Deserialize, Serialize};
use spill::Disk;
use std::time::{SystemTime, UNIX_EPOCH};

/// The start of a session.
#[derive(Clone, Copy, Debug, PartialEq, Archive, Serialize, Deserialize)]
pub struct SessionStart {
    /// The time, in milliseconds since the beginning of 1970.
    pub begun: u64,
    /// The states expanded before.
    pub expanded: u64,
    /// The seconds of searching before.
    pub seconds: f64,
}

impl SessionStart {
    /// Returns the record of a session that begins now, from a checkpoint if there is one.
    pub(super) fn after(saved: Option<&SavedSearch>) -> SessionStart {
        let begun = SystemTime::now().duration_since(UNIX_EPOCH);
        SessionStart {
            begun: begun.map_or(0, |it| it.as_millis() as u64),
            expanded: saved.map_or(0, all_expanded),
            seconds: saved.map_or(0.0, |saved| saved.seconds),
        }
    }

    /// Saves the record. A failure, as on a full disk, does not stop the search, but the record of an earlier session
    /// must then not remain.
    pub(super) fn save(&self, disk: &dyn Disk) {
        if spill::put_value(disk, SESSION_START, FORMAT, self).is_err() {
            let _ = disk.remove(SESSION_START);
        }
    }

    /// Reads the record of the last session, if it is intact.
    pub(super) fn load(disk: &dyn Disk) -> Option<SessionStart> {
        spill::load_value(disk, SESSION_START, FORMAT).ok()
    }
}

/// Returns the states of all levels that were expanded at a checkpoint.
pub(super) fn all_expanded(saved: &SavedSearch) -> u64 {
    let levels = &saved.store.levels;
    let states: u64 = levels.keys_by_level().sum();
    match saved.verdict {
        0 => states - last_level(saved) + saved.open.expanded,
        _ => states,
    }
}

/// Returns the number of states of the last level at a checkpoint.
pub(super) fn last_level(saved: &SavedSearch) -> u64 {
    let levels = &saved.store.levels;
    levels.len().checked_sub(1).map_or(0, |last| levels.keys(last))
}

#[cfg(test)]
mod tests {
    use super::*;
    use spill::FaultDisk;

    #[test]
    fn a_session_start_is_loaded_and_damage_is_ignored() {
        let disk = FaultDisk::new();
        assert_eq!(SessionStart::load(&disk), None);
        let first = SessionStart { begun: 1_700_000_000_123, expanded: 12, seconds: 3.5 };
        first.save(&disk);
        assert_eq!(SessionStart::load(&disk), Some(first));
        let second = SessionStart::after(None);
        assert!(second.begun > first.begun && second.expanded == 0 && second.seconds == 0.0);
        second.save(&disk);
        assert_eq!(SessionStart::load(&disk), Some(second));
        let mut bytes = disk.read(SESSION_START).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        let mut file = disk.create(SESSION_START).unwrap();
        file.write(&bytes).unwrap();
        file.flush().unwrap();
        drop(file);
        assert_eq!(SessionStart::load(&disk), None);
    }
}
