//! Writing a file of a [`FaultDisk`]: what the plan lets through reaches the file's state.

use super::file::FileState;
use super::plan::Verdict;
use super::{FaultDisk, File, lock};
use crate::{Append, Error, Result};
use std::io;

/// A file being written.
pub(super) struct FaultAppend {
    disk: FaultDisk,
    name: String,
    file: File,
    /// A sync has failed.
    doubtful: bool,
}

impl FaultAppend {
    pub(super) fn new(disk: FaultDisk, name: &str, file: File) -> FaultAppend {
        FaultAppend { disk, name: name.to_owned(), file, doubtful: false }
    }

    fn check_not_doubtful(&self) -> Result<()> {
        if self.doubtful {
            let error = io::Error::other("an earlier sync of it failed");
            return Err(Error::io("write", &self.name, error));
        }
        Ok(())
    }

    /// Flushes or syncs, which needs room for what has not been flushed.
    fn settle(&mut self, action: &'static str, apply: impl FnOnce(&mut FileState)) -> Result<()> {
        self.check_not_doubtful()?;
        let needs_room = lock(&self.file).has_hidden();
        self.disk.operate(action, &self.name, needs_room, |_| {
            apply(&mut lock(&self.file));
            Ok(())
        })
    }
}

impl Append for FaultAppend {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.check_not_doubtful()?;
        let mut state = self.disk.state();
        let (written, outcome) = match state.next("write", &self.name, true) {
            Verdict::Go => (bytes.len(), Ok(())),
            Verdict::Fail { error, done } => {
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
        self.settle("flush", FileState::flush)
    }

    fn sync(&mut self) -> Result<()> {
        let outcome = self.settle("sync", FileState::sync);
        self.doubtful |= outcome.is_err();
        outcome
    }
}
