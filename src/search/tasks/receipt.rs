//! What a task leaves behind when it is done.

use super::plan::Plan;
use super::{if_there, remove_if_there};
use crate::search::checkpoint::{FORMAT, SavedFinding};
use rkyv::{Archive, Deserialize, Serialize};
use spill::{Disk, FileSegment, Result};

/// How names of files begin in which receipts are.
pub(super) const FILE: &str = "receipt-";

/// What came of a task.
#[derive(Clone, Debug, Archive, Serialize, Deserialize)]
pub struct Receipt {
    /// What it has written.
    pub piece: FileSegment,
    /// Of candidates, the bits in which some are exceptions to the projection, of a whole one; empty if there is none.
    pub exceptional: Vec<u8>,
    /// Transitions taken.
    pub transitions: u64,
    /// States that were run through.
    pub passed: u64,
    /// Steps that were not followed.
    pub beyond: u64,
    /// How often each action was taken.
    pub taken: Vec<u64>,
    /// What was found.
    pub findings: Vec<SavedFinding>,
    /// Seconds that it took.
    pub seconds: f64,
}

impl Receipt {
    /// That of a task that wrote a piece, and found nothing out beside.
    pub(super) fn of(piece: FileSegment) -> Receipt {
        Receipt {
            piece,
            exceptional: Vec::new(),
            transitions: 0,
            passed: 0,
            beyond: 0,
            taken: Vec::new(),
            findings: Vec::new(),
            seconds: 0.0,
        }
    }

    /// The receipt of a task, if it has been done. One that is damaged is removed, so that the task is done again.
    pub(super) fn load(disk: &dyn Disk, plan: &Plan, task: u32) -> Result<Option<Receipt>> {
        let name = file(plan, task);
        let receipt: Result<Receipt> = spill::load_value(disk, &name, FORMAT);
        match receipt {
            Err(spill::Error::Corrupt { .. }) => remove_if_there(disk, &name).map(|()| None),
            read => if_there(read),
        }
    }

    /// Leaves it behind, durably.
    pub(super) fn leave(&self, disk: &dyn Disk, plan: &Plan, task: u32) -> Result<()> {
        let name = file(plan, task);
        // Two may be at the same task: neither sees the other's half of a file.
        let own = plan.own(&name);
        spill::commit_value(disk, &own, FORMAT, self)?;
        disk.rename(&own, &name)?;
        disk.sync_dir()
    }
}

/// The file of a task's receipt.
pub(super) fn file(plan: &Plan, task: u32) -> String {
    format!("{FILE}{}-{task:05}", plan.id())
}
