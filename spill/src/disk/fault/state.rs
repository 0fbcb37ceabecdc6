//! The content of a [`FaultDisk`](crate::FaultDisk): names, as they are now and as a power loss leaves them.

use super::file::FileState;
use super::plan::{self, FaultPlan, OperationOutcome};
use super::power_loss::PowerLossSampler;
use crate::disk::error::{Error, Result};
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A file independent of its name: an inode.
pub(super) type SharedFileState = Arc<Mutex<FileState>>;

/// The file of each name.
pub(super) type FilesByName = BTreeMap<String, SharedFileState>;

/// The state of a disk.
#[derive(Default)]
pub(super) struct FaultDiskState {
    /// The names as a running process sees them.
    pub(super) live: FilesByName,
    /// The names at the last sync of the directory.
    pub(super) durable: FilesByName,
    /// The changes to `live` since then, in order.
    pub(super) unsynced: Vec<DirectoryChange>,
    /// The planned faults.
    pub(super) plan: FaultPlan,
    /// The number of operations performed or failed, up to the crash.
    pub(super) operations: u64,
    /// The failed operations, as verbs, up to the crash.
    pub(super) failures: Vec<&'static str>,
    /// Whether the disk has crashed, so that every operation fails.
    pub(super) crashed: bool,
}

/// A change of the directory: `file` now has the name `set_name`, or no name.
pub(super) struct DirectoryChange {
    pub(super) file: SharedFileState,
    pub(super) name: Option<String>,
}

/// Locks, also after another thread panicked while it held the lock.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl FaultDiskState {
    /// Counts an operation and returns its outcome.
    pub(super) fn next_operation(
        &mut self,
        action: &'static str,
        name: &str,
        needs_room: bool,
    ) -> OperationOutcome {
        if self.crashed {
            return OperationOutcome::Fail { error: plan::crash(action, name), done: None };
        }
        let operation = self.operations;
        self.operations += 1;
        self.crashed = self.plan.crashes(operation);
        let verdict = self.plan.verdict(operation, action, name, needs_room);
        if let OperationOutcome::Fail { .. } = verdict {
            self.failures.push(action);
        }
        verdict
    }

    pub(super) fn find(&self, action: &'static str, name: &str) -> Result<&SharedFileState> {
        let missing = || Error::io(action, name, io::ErrorKind::NotFound.into());
        self.live.get(name).ok_or_else(missing)
    }

    /// Gives a file its name, or removes it.
    pub(super) fn set_name(&mut self, file: SharedFileState, name: Option<&str>) {
        let naming = DirectoryChange { file, name: name.map(str::to_owned) };
        naming.apply(&mut self.live);
        self.unsynced.push(naming);
    }

    /// Returns the names after a power loss. Some file systems keep the order of unsynced changes, so that a prefix
    /// survives; others do not.
    pub(super) fn names_after_power_loss(&self, luck: &mut PowerLossSampler) -> FilesByName {
        let mut names = self.durable.clone();
        let in_order = luck.draw_kept();
        for naming in &self.unsynced {
            if luck.draw_kept() {
                naming.apply(&mut names);
            } else if in_order {
                break;
            }
        }
        names
    }
}

impl DirectoryChange {
    pub(super) fn apply(&self, names: &mut FilesByName) {
        names.retain(|_, file| !Arc::ptr_eq(file, &self.file));
        if let Some(name) = &self.name {
            names.insert(name.clone(), self.file.clone());
        }
    }
}
