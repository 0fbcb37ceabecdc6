//! What a [`FaultDisk`](crate::FaultDisk) holds: names, as they are and as a loss of power leaves them.

use super::file::FileState;
use super::plan::{self, FaultPlan, OperationOutcome};
use super::power_loss::PowerLossSampler;
use crate::disk::error::{Error, Result};
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A file, whatever its name: an inode.
pub(super) type SharedFileState = Arc<Mutex<FileState>>;

/// Which file has which name.
pub(super) type FilesByName = BTreeMap<String, SharedFileState>;

/// The state of a disk.
#[derive(Default)]
pub(super) struct FaultDiskState {
    /// The names as a running process sees them.
    pub(super) live: FilesByName,
    /// The names as of the last sync of the directory.
    pub(super) durable: FilesByName,
    /// What happened to `live` since then, in order.
    pub(super) unsynced: Vec<DirectoryChange>,
    /// What goes wrong.
    pub(super) plan: FaultPlan,
    /// Operations performed or failed, up to the crash.
    pub(super) operations: u64,
    /// Which of them failed, by what was being done, up to the crash.
    pub(super) failures: Vec<&'static str>,
    /// Whether it has crashed, so that nothing goes on.
    pub(super) crashed: bool,
}

/// A change of the directory: the one name of `file` is now `set_name`, or it has none.
pub(super) struct DirectoryChange {
    pub(super) file: SharedFileState,
    pub(super) name: Option<String>,
}

/// Locks, also after another thread has panicked with the lock.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl FaultDiskState {
    /// Counts an operation and says whether it goes well.
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

    /// Gives a file its name, or none.
    pub(super) fn set_name(&mut self, file: SharedFileState, name: Option<&str>) {
        let naming = DirectoryChange { file, name: name.map(str::to_owned) };
        naming.apply(&mut self.live);
        self.unsynced.push(naming);
    }

    /// The names after the power failed. Some file systems keep the order of unsynced changes, so
    /// that a first few survive; others do not.
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
