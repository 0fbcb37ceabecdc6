//! A search divided into tasks for any number of processes, on any number of machines that share the directory.
//!
//! The manifest of the directory is the only file that is ever replaced. It is that of a search of one process. It
//! determines the next *plan*: a phase of independent tasks. Each task reads files that do not change. It writes one
//! or two files of its own and a *receipt*, which names the plan, the task and its part. When every task has a receipt,
//! the plan is *committed*: a new manifest replaces the one that the plan is based on, if that is still
//! current.
//!
//! ```text
//! expand  each task takes a part of the last level's states      -> sorted runs of candidates and unencoded states
//! grow    one task gives bytes to all unencoded states           -> a sorted run of candidates, and the new journal
//! settle  each a range of keys: candidates minus all runs        -> a piece of the next level
//! merge   each a range of keys of some runs                      -> a piece of one run, where there are too many
//! search  levels are thin, or the search ends with a verdict: one process continues alone
//! ```
//!
//! *Why nothing is lost.* The output of a task depends only on the manifest and on its number, byte for byte. It gets
//! its name when it is complete. So a task may be executed twice, again, or partly, and resuming finds the directory as
//! after a checkpoint. The first process that writes a plan determines it; the others follow that plan. A plan whose
//! manifest was replaced is *stale*: its results do not count.

mod commit;
mod plan;
mod receipt;
mod run;

pub use commit::commit;
pub use plan::{
    NextWork, SharingOptions, TaskPhase, TaskPlan, TaskRange, current, sharing_obstacle,
};
pub use receipt::{ReceiptFault, TaskReceipt};
pub use run::{ExpansionContext, SearchTask};

use crate::checkpoint::FORMAT;
use spill::{Disk, Result};

/// The outcome of an operation on a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanOutcome<T> {
    /// It succeeded.
    Done(T),
    /// The plan is stale: another process was faster, or continued the search in another way.
    Stale,
    /// There is no task with this number.
    Missing(u32),
    /// The task with this number is not done, or its receipt does not count for this reason.
    Undone(u32, ReceiptFault),
}

impl<T> PlanOutcome<T> {
    /// Applies a function to the result.
    pub fn map<U>(self, become_of: impl FnOnce(T) -> U) -> PlanOutcome<U> {
        match self {
            PlanOutcome::Done(done) => PlanOutcome::Done(become_of(done)),
            PlanOutcome::Stale => PlanOutcome::Stale,
            PlanOutcome::Missing(task) => PlanOutcome::Missing(task),
            PlanOutcome::Undone(task, why) => PlanOutcome::Undone(task, why),
        }
    }
}

/// Returns whether a file is being written under a private name. Only these names contain a dot.
pub fn is_own(name: &str) -> bool {
    name.contains('.')
}

/// Returns the hash of a file's content, which identifies its version.
pub fn hash(disk: &dyn Disk, file: &str) -> Result<[u8; 32]> {
    Ok(*blake3::hash(&spill::read_committed(disk, file, FORMAT)?).as_bytes())
}

/// Loads a file that other processes may replace, and returns its hash.
pub fn load_hashed<T>(
    disk: &dyn Disk,
    file: &str,
    load: impl Fn(&dyn Disk) -> Result<T>,
) -> Result<(T, [u8; 32])> {
    loop {
        // The file may be replaced between the reads.
        let before = hash(disk, file)?;
        let loaded = load(disk);
        if hash(disk, file)? == before {
            return Ok((loaded?, before));
        }
    }
}

/// Returns the content of a file, or nothing if the file does not exist.
pub fn if_exists<T>(read: Result<T>) -> Result<Option<T>> {
    match read {
        Err(error) if error.is_not_found() => Ok(None),
        read => read.map(Some),
    }
}

/// Removes a file, if it exists.
fn remove_if_exists(disk: &dyn Disk, name: &str) -> Result<()> {
    if_exists(disk.remove(name)).map(|_| ())
}
