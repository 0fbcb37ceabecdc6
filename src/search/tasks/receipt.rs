//! What a task leaves behind when it is done.
//!
//! A receipt says whose it is: of which plan, by its digest, of which task, and of which part of the level. A file can be copied,
//! or be left from before a loss of power, so the name that it has says nothing. A receipt that is another's does not count, and
//! the task is done again.

use super::if_exists;
use super::plan::{TaskPhase, TaskPlan, TaskRange};
use crate::model::Counters;
use crate::search::checkpoint::{FORMAT, SavedFinding, SavedSearch, restore_findings};
use crate::search::files::receipt_file;
use rkyv::{Archive, Deserialize, Serialize};
use spill::{Codec, Disk, Error, FileSegment, KeyPartition, Result};
use std::fmt;

/// So many bytes at the end of what a task has written are looked at to know it again: there is what says of all blocks where
/// they are and with what they begin.
const SEALED: u64 = 64 << 10;

/// No task comes to such a number of anything; those of all tasks can be added.
const COUNT_MAX: u64 = 1 << 46;

/// What came of a task.
#[derive(Clone, Debug, Archive, Serialize, Deserialize)]
pub struct TaskReceipt {
    /// The digest of the plan that it is of.
    pub(super) plan: [u8; 32],
    /// The number of the task.
    pub(super) task: u32,
    /// What it took.
    pub(super) range: TaskRange,
    /// What it has written.
    pub piece: FileSegment,
    /// The digest of the end of that.
    pub(super) end: [u8; 32],
    /// Of candidates, the bits in which some are exceptions to the projection, of a whole one; empty if there is none.
    pub exceptional: Vec<u8>,
    /// The statistics of the states expanded.
    pub counters: Counters,
    /// How often each action was taken.
    pub action_counts: Vec<u64>,
    /// What was found.
    pub findings: Vec<SavedFinding>,
    /// Seconds that it took.
    pub seconds: f64,
}

/// Why a task counts as not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReceiptFault {
    /// There is no receipt.
    Missing,
    /// The receipt, or what it says was written, is damaged, and how.
    Damaged(String),
    /// The receipt is of another plan, or of an older one.
    OtherPlan,
    /// The receipt is that of another task.
    OtherTask(u32),
    /// The receipt says that the task took another part of the level.
    OtherRange,
    /// The receipt says that another file was written than this task writes.
    OtherFile(String),
    /// The file that was written is not there.
    MissingFile(String),
    /// The file is not the one that was written.
    ChangedFile(String),
    /// The file has keys that are not of the task's range.
    KeysOutside(String),
    /// The receipt has a number that no task comes to.
    Impossible,
}

impl fmt::Display for ReceiptFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReceiptFault::Missing => f.write_str("it has no receipt"),
            ReceiptFault::Damaged(how) => f.write_str(how),
            ReceiptFault::OtherPlan => f.write_str("its receipt is of another plan"),
            ReceiptFault::OtherTask(task) => write!(f, "its receipt is that of task {task}"),
            ReceiptFault::OtherRange => f.write_str("its receipt is of another part of the level"),
            ReceiptFault::OtherFile(file) => {
                write!(f, "its receipt names {file}, which this task does not write")
            }
            ReceiptFault::MissingFile(file) => write!(f, "{file}, which it wrote, is not there"),
            ReceiptFault::ChangedFile(file) => write!(f, "{file} is not what it wrote"),
            ReceiptFault::KeysOutside(file) => {
                write!(f, "{file} has states that are not of its part of the level")
            }
            ReceiptFault::Impossible => {
                f.write_str("its receipt has a number that no task comes to")
            }
        }
    }
}

/// A task of a plan, and the manifest that the plan is of.
#[derive(Clone, Copy)]
pub(super) struct PlannedTask<'p> {
    pub plan: &'p TaskPlan,
    pub saved: &'p SavedSearch,
    pub task: u32,
}

impl TaskReceipt {
    /// That of a task that wrote a piece, and found nothing out beside.
    pub(super) fn of(
        plan: &TaskPlan,
        task: u32,
        disk: &dyn Disk,
        piece: FileSegment,
    ) -> Result<TaskReceipt> {
        Ok(TaskReceipt {
            plan: plan.digest(),
            task,
            range: plan.range(task),
            piece,
            end: digest_of_end(disk, piece)?,
            exceptional: Vec::new(),
            counters: Counters::default(),
            action_counts: Vec::new(),
            findings: Vec::new(),
            seconds: 0.0,
        })
    }

    /// The receipt of a task, if it has been done. A loss of power may leave one that is damaged, of an earlier plan, or whose
    /// file is not there or is another.
    pub(super) fn load(
        disk: &dyn Disk,
        of: PlannedTask<'_>,
    ) -> Result<std::result::Result<TaskReceipt, ReceiptFault>> {
        let loaded: Result<TaskReceipt> = spill::load_value(disk, &file(of.plan, of.task), FORMAT);
        let receipt = match loaded {
            Ok(receipt) => receipt,
            Err(error) if error.is_not_found() => return Ok(Err(ReceiptFault::Missing)),
            Err(error @ Error::Corrupt { .. }) => {
                return Ok(Err(ReceiptFault::Damaged(error.to_string())));
            }
            Err(error) => return Err(error),
        };
        let fault = match receipt.fault(of) {
            None => receipt.fault_of_piece(disk, of)?,
            found => found,
        };
        Ok(fault.map_or(Ok(receipt), Err))
    }

    /// What is wrong with it as the receipt of a task, by itself.
    fn fault(&self, PlannedTask { plan, saved, task }: PlannedTask<'_>) -> Option<ReceiptFault> {
        let found = self.findings.iter().map(|it| it.count);
        let has_width = |bytes: usize| bytes == saved.width as usize;
        let is_possible = found.chain([self.piece.at.keys]).all(|it| it <= COUNT_MAX)
            && self.counters.are_at_most(COUNT_MAX)
            && self.action_counts.iter().all(|it| *it <= COUNT_MAX)
            && self
                .findings
                .iter()
                .all(|it| has_width(it.witness.len()) && it.level <= u64::from(plan.level))
            && restore_findings(&self.findings).is_ok()
            && (self.exceptional.is_empty() || has_width(self.exceptional.len()));
        let file = plan.output(saved, task);
        if self.plan != plan.digest() {
            Some(ReceiptFault::OtherPlan)
        } else if self.task != task {
            Some(ReceiptFault::OtherTask(self.task))
        } else if self.range != plan.range(task) {
            Some(ReceiptFault::OtherRange)
        } else if self.piece.file != file || self.piece.at.offset != 0 {
            Some(ReceiptFault::OtherFile(self.piece.file.to_string()))
        } else {
            (!is_possible).then_some(ReceiptFault::Impossible)
        }
    }

    /// What is wrong with the file that it says was written.
    fn fault_of_piece(&self, disk: &dyn Disk, of: PlannedTask<'_>) -> Result<Option<ReceiptFault>> {
        let name = self.piece.file.to_string();
        let looked = if_exists(self.judge_piece(disk, of));
        match looked {
            Err(error @ Error::Corrupt { .. }) => {
                Ok(Some(ReceiptFault::Damaged(error.to_string())))
            }
            Ok(None) => Ok(Some(ReceiptFault::MissingFile(name))),
            Ok(Some(fault)) => Ok(fault),
            Err(error) => Err(error),
        }
    }

    fn judge_piece(&self, disk: &dyn Disk, of: PlannedTask<'_>) -> Result<Option<ReceiptFault>> {
        let name = || self.piece.file.to_string();
        if digest_of_end(disk, self.piece)? != self.end {
            return Ok(Some(ReceiptFault::ChangedFile(name())));
        }
        let (codec, number): (Codec, usize) = (of.saved.codec()?, of.task as usize);
        let apart = of.saved.apart(disk, &codec);
        if of.plan.phase == TaskPhase::Expand {
            // Candidates have whatever keys they have.
            return apart.check(&self.piece).map(|()| None);
        }
        let part = KeyPartition { boundaries: &of.plan.borders, number };
        let is_within = apart.is_within(&self.piece, part)?;
        Ok((!is_within).then(|| ReceiptFault::KeysOutside(name())))
    }

    /// Leaves it behind, durably.
    pub(super) fn write(&self, disk: &dyn Disk, plan: &TaskPlan) -> Result<()> {
        let name = file(plan, self.task);
        // Two may be at the same task: neither sees the other's half of a file.
        let own = plan.own(&name);
        spill::commit_value(disk, &own, FORMAT, self)?;
        disk.rename(&own, &name)?;
        disk.sync_dir()
    }
}

/// The file of a task's receipt.
pub(super) fn file(plan: &TaskPlan, task: u32) -> String {
    receipt_file(&plan.id(), task)
}

/// The digest of the end of a piece.
fn digest_of_end(disk: &dyn Disk, piece: FileSegment) -> Result<[u8; 32]> {
    let end = piece.at.offset.saturating_add(piece.at.length);
    let tail = disk.map(&piece.file.to_string(), end - piece.at.length.min(SEALED)..end)?;
    Ok(*blake3::hash(&tail).as_bytes())
}
