//! A disk in memory that fails and loses power on request: every crash becomes a unit test.
//!
//! Every operation that changes the disk has a number, counted from 0: create, append_at, write, flush, sync, rename,
//! remove, sync_dir. A [`FaultPlan`] determines which of them fail, and how. After a crash every operation fails.
//! There are two ways to continue, each with a new disk:
//!
//! - [`FaultDisk::restart`]: the process was killed. The data that it had passed to the system is there; the data in
//!   its buffers is not.
//! - [`FaultDisk::reboot`]: the power failed. Synced data is there. Each unsynced change has a pseudo-random outcome:
//!   done, lost or, for bytes, torn, page by page. Synced bytes that were not cut off keep their value, whatever was
//!   appended after them since. Bytes that a failed sync should have written stay in doubt, since a later sync treats
//!   them as written.
//!
//! A test runs a workload once to count its operations. Then it runs it again with a crash at each of them, reboots
//! with many seeds, and checks that the result is consistent. Everything is deterministic.
//!
//! The assumptions about a real disk are those of POSIX:
//!
//! - A synced file keeps its bytes, but it has its new name only once the directory is synced, too.
//! - Of several changes to the directory, some may survive without those before them.
//! - A file's new length may survive without the bytes.
//! - A rename happens completely or not at all.

mod append;
mod file;
mod plan;
mod power_loss;
mod state;

pub use plan::FaultPlan;

use super::directory::check_length;
use super::error::Result;
use super::map::MappedBytes;
use super::{AppendFile, Disk, HEAD_BYTES, HeadCheck};
use append::FaultAppend;
use file::FileState;
use plan::OperationOutcome;
use power_loss::PowerLossSampler;
use state::{DirectoryChange, FaultDiskState, FilesByName, SharedFileState, lock};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard};

/// A disk in memory that fails on request. Clones share their data.
#[derive(Clone, Default)]
pub struct FaultDisk {
    state: Arc<Mutex<FaultDiskState>>,
}

impl FaultDisk {
    /// Creates an empty disk without faults.
    pub fn new() -> FaultDisk {
        FaultDisk::default()
    }

    /// Creates an empty disk with planned faults.
    pub fn with_faults(plan: FaultPlan) -> FaultDisk {
        let disk = FaultDisk::new();
        disk.set_plan(plan);
        disk
    }

    /// Replaces the plan. The numbering of operations continues.
    pub fn set_plan(&self, plan: FaultPlan) {
        self.state().plan = plan;
    }

    /// Returns the number of operations so far, including failed ones, without those after a crash.
    pub fn operations(&self) -> u64 {
        self.state().operations
    }

    /// Returns the operations that failed by plan, as verbs: "write", "sync".
    pub fn failures(&self) -> Vec<&'static str> {
        self.state().failures.clone()
    }

    /// Returns whether the planned crash has happened.
    pub fn has_crashed(&self) -> bool {
        self.state().crashed
    }

    /// Returns the disk after the process is killed now, or was killed at the crash. Unsynced data is still unsynced.
    pub fn restart(&self) -> FaultDisk {
        let state = self.state();
        let mut copies: BTreeMap<*const Mutex<FileState>, SharedFileState> = BTreeMap::new();
        let mut copy = |file: &SharedFileState| {
            let restarted = || Arc::new(Mutex::new(lock(file).after_restart()));
            copies.entry(Arc::as_ptr(file)).or_insert_with(restarted).clone()
        };
        let restarted = FaultDiskState {
            live: state.live.iter().map(|(name, file)| (name.clone(), copy(file))).collect(),
            durable: state.durable.iter().map(|(name, file)| (name.clone(), copy(file))).collect(),
            unsynced: state
                .unsynced
                .iter()
                .map(|DirectoryChange { file, name }| DirectoryChange {
                    file: copy(file),
                    name: name.clone(),
                })
                .collect(),
            ..FaultDiskState::default()
        };
        FaultDisk { state: Arc::new(Mutex::new(restarted)) }
    }

    /// Returns the disk after the power fails now, or failed at the crash. Seed 0 loses all unsynced data, seed 1
    /// keeps all of it, and every other seed gives its own pseudo-random outcomes.
    pub fn reboot(&self, seed: u64) -> FaultDisk {
        let state = self.state();
        let mut luck = PowerLossSampler::new(seed);
        let names: FilesByName = state
            .names_after_power_loss(&mut luck)
            .into_iter()
            .map(|(name, file)| {
                let found = FileState::durable(lock(&file).after_power_loss(&mut luck));
                (name, Arc::new(Mutex::new(found)))
            })
            .collect();
        let found =
            FaultDiskState { durable: names.clone(), live: names, ..FaultDiskState::default() };
        FaultDisk { state: Arc::new(Mutex::new(found)) }
    }

    /// Inverts a bit of a stored byte, as decay does.
    ///
    /// # Panics
    ///
    /// If there is no such byte.
    pub fn flip_bit(&self, name: &str, offset: u64, bit: u32) {
        lock(&self.file(name)).flip_bit(offset as usize, bit);
    }

    /// Truncates a file durably.
    ///
    /// # Panics
    ///
    /// If there is no such file.
    pub fn truncate(&self, name: &str, length: u64) {
        let file = self.file(name);
        let mut file = lock(&file);
        file.cut(length as usize);
        file.sync();
    }

    fn state(&self) -> MutexGuard<'_, FaultDiskState> {
        lock(&self.state)
    }

    fn file(&self, name: &str) -> SharedFileState {
        self.state().live.get(name).unwrap_or_else(|| panic!("there is a file {name}")).clone()
    }

    /// Performs an operation that writes no bytes, unless the plan prevents it.
    fn operate<T>(
        &self,
        action: &'static str,
        name: &str,
        needs_room: bool,
        apply: impl FnOnce(&mut FaultDiskState) -> Result<T>,
    ) -> Result<T> {
        let mut state = self.state();
        match state.next_operation(action, name, needs_room) {
            OperationOutcome::Go => apply(&mut state),
            OperationOutcome::Fail { error, done } => {
                if done.is_some_and(|done| done.is_multiple_of(2)) {
                    // The operation is done, but the caller gets an error.
                    let _ = apply(&mut state);
                }
                Err(error)
            }
        }
    }

    /// Performs an operation that changes nothing, so it fails only after a crash.
    fn inspect<T>(
        &self,
        action: &'static str,
        name: &str,
        look: impl FnOnce(&FaultDiskState) -> Result<T>,
    ) -> Result<T> {
        let state = self.state();
        if state.crashed { Err(plan::crash(action, name)) } else { look(&state) }
    }

    fn append(&self, name: &str, file: SharedFileState) -> Box<dyn AppendFile> {
        Box::new(FaultAppend::new(self.state.clone(), name, file))
    }
}

impl Disk for FaultDisk {
    fn create(&self, name: &str) -> Result<Box<dyn AppendFile>> {
        self.operate("create", name, true, |state| {
            if let Some(old) = state.live.get(name).cloned() {
                state.set_name(old, None);
            }
            let file = SharedFileState::default();
            state.set_name(file.clone(), Some(name));
            Ok(self.append(name, file))
        })
    }

    fn append_at(&self, name: &str, length: u64) -> Result<Box<dyn AppendFile>> {
        self.operate("open", name, false, |state| {
            let file = state.find("open", name)?.clone();
            check_length(name, lock(&file).visible().len() as u64, length)?;
            lock(&file).cut(length as usize);
            Ok(self.append(name, file))
        })
    }

    fn map(&self, name: &str, range: Range<u64>) -> Result<MappedBytes> {
        self.inspect("map", name, |state| {
            let file = lock(state.find("map", name)?);
            check_length(name, file.visible().len() as u64, range.end)?;
            let start = range.start.min(range.end) as usize;
            Ok(MappedBytes::memory(file.bytes().clone(), start..range.end as usize))
        })
    }

    fn read_if(&self, name: &str, accept: &HeadCheck<'_>) -> Result<Vec<u8>> {
        self.inspect("read", name, |state| {
            let file = lock(state.find("read", name)?);
            let bytes = file.visible();
            accept(&bytes[..bytes.len().min(HEAD_BYTES)], bytes.len() as u64)?;
            Ok(bytes.to_vec())
        })
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        self.operate("rename", from, false, |state| {
            let file = state.find("rename", from)?.clone();
            state.set_name(file, Some(to));
            Ok(())
        })
    }

    fn rename_new(&self, from: &str, to: &str) -> Result<bool> {
        self.operate("rename", from, false, |state| {
            let file = state.find("rename", from)?.clone();
            let is_new = !state.live.contains_key(to);
            state.set_name(file, is_new.then_some(to));
            Ok(is_new)
        })
    }

    fn remove(&self, name: &str) -> Result<()> {
        self.operate("remove", name, false, |state| {
            let file = state.find("remove", name)?.clone();
            state.set_name(file, None);
            Ok(())
        })
    }

    fn list(&self) -> Result<Vec<(String, u64)>> {
        self.inspect("list", "the directory", |state| {
            let length = |file: &SharedFileState| lock(file).visible().len() as u64;
            Ok(state.live.iter().map(|(name, file)| (name.clone(), length(file))).collect())
        })
    }

    fn sync_dir(&self) -> Result<()> {
        self.operate("sync", "the directory", false, |state| {
            state.durable = state.live.clone();
            state.unsynced.clear();
            Ok(())
        })
    }
}

impl fmt::Debug for FaultDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state();
        let lengths: Vec<(&str, usize)> = state
            .live
            .iter()
            .map(|(name, file)| (name.as_str(), lock(file).visible().len()))
            .collect();
        f.debug_struct("FaultDisk")
            .field("files", &lengths)
            .field("operations", &state.operations)
            .field("crashed", &state.crashed)
            .finish()
    }
}
