//! What a task leaves behind when it is done.

use super::plan::Plan;
use super::{if_there, remove_if_there};
use crate::search::checkpoint::{FORMAT, SavedFinding};
use rkyv::{Archive, Deserialize, Serialize};
use spill::{Disk, Error, FileSegment, Result};

/// So many bytes at the end of what a task has written are looked at to know it again: there is what says of all blocks where
/// they are and with what they begin.
const SEALED: u64 = 64 << 10;

/// How names of files begin in which receipts are.
pub(super) const FILE: &str = "receipt-";

/// What came of a task.
#[derive(Clone, Debug, Archive, Serialize, Deserialize)]
pub struct Receipt {
    /// Which plan of that name it is of.
    pub(super) nonce: u64,
    /// What it has written.
    pub piece: FileSegment,
    /// The checksum of the end of that.
    pub(super) seal: u32,
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
    pub(super) fn of(plan: &Plan, disk: &dyn Disk, piece: FileSegment) -> Result<Receipt> {
        Ok(Receipt {
            nonce: plan.nonce,
            piece,
            seal: seal(disk, piece)?,
            exceptional: Vec::new(),
            transitions: 0,
            passed: 0,
            beyond: 0,
            taken: Vec::new(),
            findings: Vec::new(),
            seconds: 0.0,
        })
    }

    /// The receipt of a task, if it has been done. One that is damaged, of another plan, or whose file is not there or is
    /// another, is removed, so that the task is done again: a loss of power may leave any of these.
    pub(super) fn load(disk: &dyn Disk, plan: &Plan, task: u32) -> Result<Option<Receipt>> {
        let name = file(plan, task);
        let loaded: Result<Receipt> = spill::load_value(disk, &name, FORMAT);
        let receipt = match loaded {
            Err(Error::Corrupt { .. }) => None,
            read => match if_there(read)? {
                None => return Ok(None),
                found => found,
            },
        };
        let is_good = |it: &Receipt| match if_there(seal(disk, it.piece)) {
            Err(Error::Corrupt { .. }) => Ok(false),
            found => Ok(it.nonce == plan.nonce && found? == Some(it.seal)),
        };
        match receipt {
            Some(receipt) if is_good(&receipt)? => Ok(Some(receipt)),
            _ => remove_if_there(disk, &name).map(|()| None),
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

/// The checksum of the end of a piece.
fn seal(disk: &dyn Disk, piece: FileSegment) -> Result<u32> {
    let end = piece.at.offset + piece.at.length;
    let tail = disk.map(&piece.file.to_string(), end - piece.at.length.min(SEALED)..end)?;
    Ok(spill::checksum(&tail))
}
