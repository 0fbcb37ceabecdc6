//! The receipt of a completed task.
//!
//! A receipt names its plan, by digest, its task, and the part of the level. A file can be copied, or can remain from
//! before a power failure, so its name proves nothing. A receipt of another plan or task does not count, and the task
//! is repeated.

use super::if_exists;
use super::plan::{TaskPhase, TaskPlan, TaskRange};
use crate::checkpoint::{FORMAT, SavedFinding, SavedSearch, restore_findings};
use crate::files::receipt_file;
use rkyv::{Archive, Deserialize, Serialize};
use spill::{Codec, Disk, Error, FileName, FileSegment, KeyPartition, Result};
use spillway_model::Counters;
use std::fmt;

/// Bytes at the end of a task's output that identify it. They contain the index of all blocks: their offsets and first
/// keys.
const SEALED: u64 = 64 << 10;

/// The bound on the counts of a task. The sum over all tasks does not overflow.
const COUNT_MAX: u64 = 1 << 46;

/// A file that a task writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub(super) struct TaskOutput {
    /// The file, from its beginning to its end.
    pub segment: FileSegment,
    /// The digest of its end.
    end: [u8; 32],
}

impl TaskOutput {
    /// Returns the output of a task that is in a file.
    pub(super) fn of(disk: &dyn Disk, segment: FileSegment) -> Result<TaskOutput> {
        Ok(TaskOutput { segment, end: digest_of_end(disk, segment)? })
    }

    /// Returns whether the file is still what the task wrote.
    fn is_unchanged(&self, disk: &dyn Disk) -> Result<bool> {
        Ok(digest_of_end(disk, self.segment)? == self.end)
    }
}

/// The result of a task.
#[derive(Clone, Debug, Archive, Serialize, Deserialize)]
pub struct TaskReceipt {
    /// The digest of its plan.
    pub(super) plan: [u8; 32],
    /// The number of the task.
    pub(super) task: u32,
    /// The part that it took.
    pub(super) range: TaskRange,
    /// Its outputs. The first are candidates, or a piece of a level or a run. There may be a second: unencoded states, or the
    /// journal of the encoding.
    pub(super) outputs: Vec<TaskOutput>,
    /// For candidates: the bits in which some are exceptions to the projection, as a whole state; empty if there are
    /// none.
    pub exceptional: Vec<u8>,
    /// The counters of the expanded states.
    pub counters: Counters,
    /// The number of executions of each action.
    pub action_counts: Vec<u64>,
    /// The findings.
    pub findings: Vec<SavedFinding>,
    /// The duration in seconds.
    pub seconds: f64,
}

/// The reason why a task counts as not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReceiptFault {
    /// There is no receipt.
    Missing,
    /// The receipt or its output is damaged, as described.
    Damaged(String),
    /// The receipt is of another plan, or of an older one.
    OtherPlan,
    /// The receipt is that of another task.
    OtherTask(u32),
    /// The receipt is for another part of the level.
    OtherRange,
    /// The receipt names another file than this task writes.
    OtherFile(String),
    /// The output does not exist.
    MissingFile(String),
    /// The file is not the output of the task.
    ChangedFile(String),
    /// The file has keys outside the task's range.
    KeysOutside(String),
    /// The receipt has a number that exceeds every possible count.
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
            ReceiptFault::Impossible => f.write_str("its receipt has a number out of range"),
        }
    }
}

/// A task of a plan, and the manifest that the plan is based on.
#[derive(Clone, Copy)]
pub(super) struct PlannedTask<'p> {
    pub plan: &'p TaskPlan,
    pub saved: &'p SavedSearch,
    pub task: u32,
}

impl TaskReceipt {
    /// Creates the receipt of a task with an output and no other results.
    pub(super) fn of(plan: &TaskPlan, task: u32, output: TaskOutput) -> TaskReceipt {
        TaskReceipt {
            plan: plan.digest(),
            task,
            range: plan.range(task),
            outputs: vec![output],
            exceptional: Vec::new(),
            counters: Counters::default(),
            action_counts: Vec::new(),
            findings: Vec::new(),
            seconds: 0.0,
        }
    }

    /// Returns the receipt of a task, if it is done. A power failure may leave a receipt that is damaged or of an
    /// earlier plan, or whose file is missing or another one.
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
            None => receipt.fault_of_outputs(disk, of)?,
            found => found,
        };
        Ok(fault.map_or(Ok(receipt), Err))
    }

    /// Returns the fault of a receipt, without its output.
    fn fault(&self, PlannedTask { plan, saved, task }: PlannedTask<'_>) -> Option<ReceiptFault> {
        let found = self.findings.iter().map(|it| it.count);
        let has_width = |bytes: usize| bytes == saved.width as usize;
        let is_possible =
            found.chain(self.outputs.iter().map(|it| it.segment.at.keys)).all(|it| it <= COUNT_MAX)
                && self.counters.are_at_most(COUNT_MAX)
                && self.action_counts.iter().all(|it| *it <= COUNT_MAX)
                && self
                    .findings
                    .iter()
                    .all(|it| has_width(it.witness.len()) && it.level <= u64::from(plan.level))
                && restore_findings(&self.findings).is_ok()
                && (self.exceptional.is_empty() || has_width(self.exceptional.len()));
        let second = plan.second_output(saved, task);
        let files = [Some(plan.output(saved, task)), second];
        let is_elsewhere = |output: &TaskOutput, file: Option<FileName>| {
            Some(output.segment.file) != file || output.segment.at.offset != 0
        };
        let elsewhere = self.outputs.iter().zip(files).find(|(it, file)| is_elsewhere(it, *file));
        let least = 1 + usize::from(plan.phase == TaskPhase::Grow);
        let most = 1 + usize::from(second.is_some());
        if self.plan != plan.digest() {
            Some(ReceiptFault::OtherPlan)
        } else if self.task != task {
            Some(ReceiptFault::OtherTask(self.task))
        } else if self.range != plan.range(task) {
            Some(ReceiptFault::OtherRange)
        } else if let Some((output, _)) = elsewhere {
            Some(ReceiptFault::OtherFile(output.segment.file.to_string()))
        } else if !(least..=most).contains(&self.outputs.len()) {
            Some(ReceiptFault::Impossible)
        } else {
            (!is_possible).then_some(ReceiptFault::Impossible)
        }
    }

    /// Returns the segment of its output.
    pub fn segment(&self) -> FileSegment {
        self.outputs[0].segment
    }

    /// Returns the segment of its second output, if there is one.
    pub(super) fn second_segment(&self) -> Option<FileSegment> {
        self.outputs.get(1).map(|it| it.segment)
    }

    /// Returns the bytes of its outputs.
    pub fn bytes_written(&self) -> u64 {
        self.outputs.iter().map(|it| it.segment.at.length).fold(0, u64::saturating_add)
    }

    /// Returns the fault of the outputs.
    fn fault_of_outputs(
        &self,
        disk: &dyn Disk,
        of: PlannedTask<'_>,
    ) -> Result<Option<ReceiptFault>> {
        for (number, output) in self.outputs.iter().enumerate() {
            let name = output.segment.file.to_string();
            let judged = if_exists(output.is_unchanged(disk)).map(|unchanged| match unchanged {
                None => Some(ReceiptFault::MissingFile(name)),
                Some(false) => Some(ReceiptFault::ChangedFile(name)),
                Some(true) => None,
            });
            let judged = match judged {
                Ok(None) if number == 0 => self.fault_of_keys(disk, of),
                judged => judged,
            };
            match judged {
                Err(error @ Error::Corrupt { .. }) => {
                    return Ok(Some(ReceiptFault::Damaged(error.to_string())));
                }
                Ok(None) => {}
                judged => return judged,
            }
        }
        Ok(None)
    }

    /// Returns the fault of the keys of the output.
    fn fault_of_keys(&self, disk: &dyn Disk, of: PlannedTask<'_>) -> Result<Option<ReceiptFault>> {
        let (codec, segment): (Codec, _) = (of.saved.codec()?, &self.segment());
        let apart = of.saved.apart(disk, &codec);
        match of.plan.phase {
            // Candidates have no range of keys.
            TaskPhase::Expand | TaskPhase::Grow => apart.check(segment).map(|()| None),
            TaskPhase::Settle | TaskPhase::Merge => {
                let part = KeyPartition { boundaries: &of.plan.borders, number: of.task as usize };
                let is_within = apart.is_within(segment, part)?;
                Ok((!is_within).then(|| ReceiptFault::KeysOutside(segment.file.to_string())))
            }
        }
    }

    /// Writes the receipt durably.
    pub(super) fn write(&self, disk: &dyn Disk, plan: &TaskPlan) -> Result<()> {
        let name = file(plan, self.task);
        // Two processes may execute the same task. Private names keep their unfinished files apart.
        let own = plan.own(&name);
        spill::commit_value(disk, &own, FORMAT, self)?;
        disk.rename(&own, &name)?;
        disk.sync_dir()
    }
}

/// Returns the file of a task's receipt.
pub(super) fn file(plan: &TaskPlan, task: u32) -> String {
    receipt_file(&plan.id(), task)
}

/// Returns the digest of the end of a segment.
fn digest_of_end(disk: &dyn Disk, piece: FileSegment) -> Result<[u8; 32]> {
    let end = piece.at.offset.saturating_add(piece.at.length);
    let tail = disk.map(&piece.file.to_string(), end - piece.at.length.min(SEALED)..end)?;
    Ok(*blake3::hash(&tail).as_bytes())
}
