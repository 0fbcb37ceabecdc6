//! A search in parts that any number of processes do, on any number of machines that see the directory.
//!
//! The manifest of the directory is the only thing that is ever replaced, and what a search of one process would leave. From it
//! follows what is to be done next, a *plan*: a phase of tasks that know nothing of each other. Each reads files that nobody
//! changes, writes one file of its own, and a *receipt*, which says of which plan and task it is and what the task took. When there is one for each task, they are *committed*: a manifest
//! takes the place of the one that the plan began with, if that is still there.
//!
//! ```text
//! expand  each task takes a part of the last level's states      -> a sorted run of candidates
//! settle  each a range of keys: candidates minus all runs        -> a piece of the next level
//! merge   each a range of keys of some runs                      -> a piece of one run, where there are too many
//! search  levels are thin, or there is a verdict to be drawn: one process goes on by itself
//! ```
//!
//! *Why nothing is lost.* What a task writes depends on the manifest and on its number alone, byte for byte, and takes its name
//! when all of it is there. So a task may be done by two, again, or half; and whoever goes on with a directory finds it as
//! after a checkpoint. A plan, too, is what the first has written who planned: others follow it. A plan whose manifest is gone
//! is *stale*: nothing of it counts any more.

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

use crate::search::checkpoint::FORMAT;
use spill::{Disk, Result};

/// What comes of following a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanOutcome<T> {
    /// This.
    Done(T),
    /// Nothing: somebody else has been faster, or gone on with the search otherwise.
    Stale,
    /// Nothing: there is no task of this number.
    Missing(u32),
    /// Nothing: the task of this number has not been done, or does not count as done, and why.
    Undone(u32, ReceiptFault),
}

impl<T> PlanOutcome<T> {
    /// The same of what becomes of what was done.
    pub fn map<U>(self, become_of: impl FnOnce(T) -> U) -> PlanOutcome<U> {
        match self {
            PlanOutcome::Done(done) => PlanOutcome::Done(become_of(done)),
            PlanOutcome::Stale => PlanOutcome::Stale,
            PlanOutcome::Missing(task) => PlanOutcome::Missing(task),
            PlanOutcome::Undone(task, why) => PlanOutcome::Undone(task, why),
        }
    }
}

/// Whether a file is only being written, under a name of its own: no other has a dot in its name.
pub fn is_own(name: &str) -> bool {
    name.contains('.')
}

/// What tells a file from what others replace it by.
pub fn hash(disk: &dyn Disk, file: &str) -> Result<[u8; 32]> {
    Ok(*blake3::hash(&spill::read_committed(disk, file, FORMAT)?).as_bytes())
}

/// What `load` makes of a file that others may replace, and its hash.
pub fn load_hashed<T>(
    disk: &dyn Disk,
    file: &str,
    load: impl Fn(&dyn Disk) -> Result<T>,
) -> Result<(T, [u8; 32])> {
    loop {
        // Somebody may do so in between.
        let before = hash(disk, file)?;
        let loaded = load(disk);
        if hash(disk, file)? == before {
            return Ok((loaded?, before));
        }
    }
}

/// What a file says, unless it is not there.
pub fn if_exists<T>(read: Result<T>) -> Result<Option<T>> {
    match read {
        Err(error) if error.is_not_found() => Ok(None),
        read => read.map(Some),
    }
}

/// Removes a file, unless somebody has.
fn remove_if_exists(disk: &dyn Disk, name: &str) -> Result<()> {
    if_exists(disk.remove(name)).map(|_| ())
}
