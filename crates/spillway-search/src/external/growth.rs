//! Encodings that grow: the end of a level at which unencoded states get their bytes.
//!
//! ```text
//! expand the last level      -> candidates, unencoded states
//! grow the encoding by them  -> bytes appended to the journal
//! encode them                -> candidates
//! settle the next level
//! ```
//!
//! Invariants:
//!
//! - A manifest names the length of the journal. The encoding of that journal has the bytes of all states of the levels
//!   and of all candidates that the manifest names.
//! - The encoding grows only when the level is expanded. So the unencoded states are all successors of the level without
//!   bytes, however often the search was interrupted.
//! - Between the growth and the removal of the unencoded states there is no checkpoint. A manifest names either these
//!   states and the journal before, or their candidates and the journal after.
//! - What follows the named length of the journal does not exist. After a kill the same bytes are appended again.

use super::{ExpansionWorker, ExternalSearch};
use crate::checkpoint::{SavedJournal, SavedSearch, logs};
use crate::expand::{LateEncoding, UnencodedBuffer, UnencodedLevel};
use crate::{MemoryPlan, model_failure};
use spill::{AppendFile, Disk, Error, FileName, FileSegment, Result};
use spillway_model::{GrowingStateSpace, StateSpace};

/// A search cannot be done for a system whose encoding grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GrowthError {
    /// The storage of states or the reduction needs bytes that do not wait.
    #[error("the encoding of states grows during this search, which {0} does not support")]
    Unsupported(&'static str),
    /// The encoding does not fit in memory.
    #[error(
        "the encoding of states takes {found} bytes of memory, but the budget has {limit} for it"
    )]
    TooLarge {
        /// The bytes that the encoding takes.
        found: u64,
        /// The bytes of its share.
        limit: u64,
    },
}

impl GrowthError {
    /// Checks that an encoding fits its share of the memory.
    ///
    /// # Errors
    ///
    /// It does not.
    pub(crate) fn check_size(growing: &dyn GrowingStateSpace, plan: &MemoryPlan) -> Result<()> {
        let (found, limit) = (growing.memory(), plan.encoding);
        match found > limit {
            true => Err(GrowthError::TooLarge { found, limit }.into_error()),
            false => Ok(()),
        }
    }

    /// Converts this into an error of the store's source of keys.
    pub(super) fn into_error(self) -> Error {
        Error::Source { reason: self.into() }
    }
}

/// The journal of an encoding that grows.
#[derive(Default)]
pub(super) struct EncodingJournal {
    open: Option<OpenJournal>,
}

/// A journal that has bytes.
struct OpenJournal {
    saved: SavedJournal,
    file: Box<dyn AppendFile>,
}

impl EncodingJournal {
    /// Restores the encoding of a system, and continues after the named bytes of the journal.
    pub(super) fn restore(
        model: &dyn StateSpace,
        disk: &dyn Disk,
        saved: Option<SavedJournal>,
    ) -> Result<EncodingJournal> {
        restore_encoding(model, disk, saved)?;
        let open = |saved: SavedJournal| {
            let file = disk.append_at(&saved.file().to_string(), saved.length)?;
            Ok(OpenJournal { saved, file })
        };
        Ok(EncodingJournal { open: saved.map(open).transpose()? })
    }

    /// Appends the extension of the encoding at the end of a level.
    fn append(&mut self, bytes: &[u8], level: u32, disk: &dyn Disk) -> Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let OpenJournal { saved, file } = match &mut self.open {
            Some(open) => open,
            None => {
                let saved = SavedJournal { level, length: 0 };
                let file = disk.create(&saved.file().to_string())?;
                self.open.insert(OpenJournal { saved, file })
            }
        };
        file.write(bytes)?;
        saved.length += bytes.len() as u64;
        Ok(())
    }

    /// Makes the journal durable.
    pub(super) fn sync(&mut self) -> Result<()> {
        self.open.as_mut().map_or(Ok(()), |open| open.file.sync())
    }

    /// Returns the part of the manifest.
    pub(super) fn saved(&self) -> Option<SavedJournal> {
        self.open.as_ref().map(|open| open.saved)
    }
}

/// Restores the encoding of a system from its journal in a search directory.
///
/// # Errors
///
/// The journal cannot be read, is damaged, or belongs to another system.
fn restore_encoding(
    model: &dyn StateSpace,
    disk: &dyn Disk,
    saved: Option<SavedJournal>,
) -> Result<()> {
    let Some(growing) = model.capabilities().growing else { return Ok(()) };
    let Some(saved) = saved else { return growing.restore(&[]).map_err(model_failure) };
    let name = saved.file().to_string();
    let journal = disk.map(&name, 0..saved.length)?;
    growing.restore(&journal).map_err(|error| Error::corrupt(name, 0, error.to_string()))
}

impl SavedSearch {
    /// Prepares a system for reading the states of this manifest: checks that the manifest is of this system, and
    /// restores the encoding of a system whose encoding grows.
    ///
    /// # Errors
    ///
    /// The manifest or the journal is damaged, or belongs to another system.
    pub fn prepare_model(&self, model: &dyn StateSpace, disk: &dyn Disk) -> Result<()> {
        self.check_model(model)?;
        restore_encoding(model, disk, self.encoding)
    }
}

impl ExternalSearch<'_> {
    /// Gives bytes to the unencoded states of the level. They become candidates, which are passed to `note` first.
    pub(super) fn grow_encoding(&mut self, note: &mut dyn FnMut(&[u8])) -> Result<()> {
        let Some(growing) = self.model.capabilities().growing else { return Ok(()) };
        self.unencoded_buffers().try_for_each(UnencodedBuffer::flush)?;
        let level = self.level_number();
        let (first, others) = match self.workers.split_first_mut() {
            Some(workers) => workers,
            None => return Ok(()),
        };
        let own = first.take_unencoded();
        let buffers = own.iter().chain(others.iter().filter_map(ExpansionWorker::unencoded));
        let unencoded = UnencodedLevel::open(&*self.disk, buffers, &self.open.unencoded)?;
        if unencoded.is_empty() {
            first.return_unencoded(own);
            return Ok(());
        }
        let edge_bytes = self.storage.tag_bytes(self.model);
        let late = LateEncoding { model: self.model, growing, level, edge_bytes };
        let journal = late.encode(unencoded, first, note)?;
        first.return_unencoded(own);
        self.journal.append(&journal, level, &*self.disk)?;
        GrowthError::check_size(growing, &self.plan)?;
        self.drop_unencoded()
    }

    /// Ends the search: drops the unencoded states.
    pub(super) fn forget_unencoded(&mut self) {
        let files: Vec<FileName> =
            self.unencoded_buffers().filter_map(UnencodedBuffer::clear).collect();
        self.stale.extend(files);
        self.stale.append(&mut self.open.unencoded_files);
        self.open.unencoded.clear();
    }

    /// Removes the unencoded states, at once or when the manifest no longer names them.
    pub(super) fn drop_unencoded(&mut self) -> Result<()> {
        let files: Vec<FileName> =
            self.unencoded_buffers().filter_map(UnencodedBuffer::clear).collect();
        self.open.unencoded.clear();
        let restored = std::mem::take(&mut self.open.unencoded_files);
        let in_manifest = std::mem::take(&mut self.open.unencoded_in_manifest);
        self.discard([files, restored].concat(), in_manifest)
    }

    /// Resumes with the unencoded states of a checkpoint.
    pub(super) fn reopen_unencoded(&mut self, level: u32, logs: &[u64]) -> Result<()> {
        for (shard, &length) in logs.iter().enumerate().filter(|(_, length)| **length > 0) {
            match self.workers.get_mut(shard).and_then(ExpansionWorker::unencoded_mut) {
                Some(buffer) => buffer.restore(level, length)?,
                None => {
                    let file = FileName::Unencoded { level, shard: shard as u16 };
                    self.open.unencoded_files.push(file);
                }
            }
        }
        Ok(())
    }

    /// Returns the part of the manifest: the runs, and the length of the file of each worker.
    pub(super) fn saved_unencoded(&self) -> (Vec<FileSegment>, Vec<u64>) {
        let buffers = self.workers.iter().filter_map(ExpansionWorker::unencoded);
        let lengths = buffers.clone().map(|it| it.log_length().unwrap_or(0));
        let runs = buffers.clone().flat_map(UnencodedBuffer::pieces);
        let runs = self.open.unencoded.iter().chain(runs).copied().collect();
        (runs, logs(lengths, &self.open.unencoded))
    }

    fn unencoded_buffers(&mut self) -> impl Iterator<Item = &mut UnencodedBuffer> {
        self.workers.iter_mut().filter_map(ExpansionWorker::unencoded_mut)
    }
}
