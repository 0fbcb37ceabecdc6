//! Writing a file of a [`FaultDisk`](crate::FaultDisk). What the plan permits reaches the file's state.

use super::file::FileState;
use super::plan::OperationOutcome;
use super::state::{FaultDiskState, SharedFileState, lock};
use crate::disk::AppendFile;
use crate::disk::error::{Error, Result};
use std::io;
use std::sync::{Arc, Mutex};

/// A file open for writing.
pub(super) struct FaultAppend {
    /// The state of the disk.
    state: Arc<Mutex<FaultDiskState>>,
    /// The name when the file was opened, for messages.
    name: String,
    file: SharedFileState,
    /// Whether a sync has failed.
    doubtful: bool,
}

impl FaultAppend {
    pub(super) fn new(
        state: Arc<Mutex<FaultDiskState>>,
        name: &str,
        file: SharedFileState,
    ) -> FaultAppend {
        FaultAppend { state, name: name.to_owned(), file, doubtful: false }
    }

    fn check_not_doubtful(&self) -> Result<()> {
        if self.doubtful {
            let error = io::Error::other("an earlier sync of it failed");
            return Err(Error::io("write", &self.name, error));
        }
        Ok(())
    }

    /// Flushes or syncs. This needs space for the bytes that are not flushed.
    fn complete(
        &mut self,
        action: &'static str,
        apply: impl FnOnce(&mut FileState),
        apply_in_part: impl FnOnce(&mut FileState),
    ) -> Result<()> {
        self.check_not_doubtful()?;
        let needs_room = lock(&self.file).has_unflushed();
        let mut state = lock(&self.state);
        let verdict = state.next_operation(action, &self.name, needs_room);
        let mut file = lock(&self.file);
        match verdict {
            OperationOutcome::Go => {
                apply(&mut file);
                Ok(())
            }
            OperationOutcome::Fail { error, done } => {
                let begun = done.is_some_and(|done| done.is_multiple_of(2));
                if begun && state.crashed {
                    apply(&mut file);
                } else if begun {
                    apply_in_part(&mut file);
                }
                Err(error)
            }
        }
    }
}

impl AppendFile for FaultAppend {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.check_not_doubtful()?;
        let mut state = lock(&self.state);
        let (written, outcome) = match state.next_operation("write", &self.name, true) {
            OperationOutcome::Go => (bytes.len(), Ok(())),
            OperationOutcome::Fail { error, done } => {
                (done.map_or(0, |done| done as usize % (bytes.len() + 1)), Err(error))
            }
        };
        lock(&self.file).append(&bytes[..written]);
        outcome
    }

    fn len(&self) -> u64 {
        lock(&self.file).bytes().len() as u64
    }

    fn flush(&mut self) -> Result<()> {
        self.complete("flush", FileState::flush, |_| {})
    }

    fn sync(&mut self) -> Result<()> {
        let outcome = self.complete("sync", FileState::sync, FileState::fail_to_sync);
        self.doubtful |= outcome.is_err();
        outcome
    }
}
