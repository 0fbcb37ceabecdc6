//! What a search for accepting cycles must remember to go on, beside the search that reached the states.

use super::marks::ShardMarks;
use super::sweep::SweepKind;
use crate::search::checkpoint::FORMAT;
pub use crate::search::files::CYCLES;
use rkyv::{Archive, Deserialize, Serialize};
use spill::{Disk, Error, FileName, FileSegment, Result};

/// What a search is at.
pub const STAGES: [&str; 4] =
    ["trimming", "reaching from accepting states", "looking for a loop", "done"];

/// The state that a round begins with.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub struct RoundTarget {
    /// Its level.
    pub level: u64,
    /// The state.
    pub state: Vec<u8>,
}

/// A loop that is being put together: from the target of a round again and again back to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub struct FairCyclePath {
    /// Its states so far, the target first.
    pub states: Vec<Vec<u8>>,
    /// The [bytes](crate::model::ProcessSet::to_bytes) of the processes to which the step behind each is fair.
    pub fair_to: Vec<Vec<u8>>,
    /// The next step that it takes, if that is known and leads back.
    pub witness: Option<FairStepWitness>,
    /// What comes after that step, after each number of steps.
    pub layers: Vec<Vec<FileSegment>>,
}

/// A step that is fair to a process.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub struct FairStepWitness {
    /// The number of the layer of the round that has the state that it leaves; nothing if that is the target.
    pub layer: Option<u32>,
    /// The state that it leaves.
    pub from: Vec<u8>,
    /// Where it leads.
    pub to: Vec<u8>,
    /// The process.
    pub process: u32,
}

/// What is to be done next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub enum CycleOperation {
    /// A sweep.
    Sweep(SweepKind),
    /// A state to begin a round with is looked for.
    Pick,
    /// A step is looked for that a loop from there needs to be fair.
    Walk,
    /// There is no accepting cycle.
    None,
    /// The layers lead round one.
    Found,
}

/// A search for accepting cycles at rest.
#[derive(Clone, Debug, PartialEq, Archive, Serialize, Deserialize)]
pub struct SavedCycleSearch {
    /// The digest of the model.
    pub digest: [u8; 32],
    /// The region, in shards.
    pub region: Vec<FileSegment>,
    /// What is known of each.
    pub marks: Vec<ShardMarks>,
    /// What is to be done next.
    pub next: CycleOperation,
    /// Sweeps made.
    pub sweeps: u32,
    /// States of the set when it was last begun to look for those come to from accepting ones.
    pub seeded: u64,
    /// Which of what a cycle must have is looked at, by number.
    pub demand: u32,
    /// How many of these, one after another, took out no state.
    pub settled: u32,
    /// The state that the round began with, if one did.
    pub target: Option<RoundTarget>,
    /// The states that it came to first after each number of steps.
    pub layers: Vec<Vec<FileSegment>>,
    /// Whether the target is in one of these.
    pub returned: bool,
    /// The loop through the target, where it is to be fair and is being put together.
    pub walk: Option<FairCyclePath>,
    /// Seconds of sweeping so far.
    pub seconds: f64,
}

impl SavedCycleSearch {
    /// Whether there is one in a directory.
    pub fn is_in(disk: &dyn Disk) -> Result<bool> {
        Ok(disk.list()?.iter().any(|(name, _)| name == CYCLES))
    }

    pub(super) fn commit(&self, disk: &dyn Disk) -> Result<()> {
        spill::commit_value(disk, CYCLES, FORMAT, self)
    }

    /// Reads it from a directory.
    pub fn load(disk: &dyn Disk) -> Result<SavedCycleSearch> {
        let saved: SavedCycleSearch = spill::load_value(disk, CYCLES, FORMAT)?;
        match saved.agrees() {
            true => Ok(saved),
            false => Err(Error::corrupt(CYCLES, 0, "its numbers do not agree")),
        }
    }

    /// Whether what goes on relies on without asking again is so.
    fn agrees(&self) -> bool {
        let is_region = |piece: &FileSegment| piece.file == FileName::Region && piece.at.keys > 0;
        let are_marks = |file: &(FileName, u64)| matches!(file.0, FileName::Marks { sweep, .. } if sweep <= self.sweeps);
        let is_layer = |piece: &FileSegment| matches!(piece.file, FileName::Layer { .. });
        let needs_target = self.walk.is_some()
            || matches!(
                self.next,
                CycleOperation::Found | CycleOperation::Sweep(SweepKind::Round | SweepKind::Peel)
            );
        self.region.len() == self.marks.len()
            && self.region.len() < usize::from(u16::MAX)
            && self.region.iter().all(is_region)
            && self.marks.iter().filter_map(|it| it.file.as_ref()).all(are_marks)
            && self.walk().chain(&self.layers).flatten().all(is_layer)
            && self.walk.as_ref().is_none_or(|it| it.states.len() == it.fair_to.len())
            && (self.next != CycleOperation::Walk || self.walk.is_some())
            && (!needs_target || self.target.is_some())
            && (self.next != CycleOperation::Found || !self.layers.is_empty())
    }

    /// Every file that it names.
    pub fn files(&self) -> impl Iterator<Item = FileName> {
        let layers = self.walk().chain(&self.layers).flatten();
        let pieces = self.region.iter().chain(layers).map(|it| it.file);
        pieces.chain(self.marks.iter().filter_map(|it| it.file).map(|(file, _)| file))
    }

    /// The layers of the walk.
    fn walk(&self) -> impl Iterator<Item = &Vec<FileSegment>> {
        self.walk.iter().flat_map(|it| &it.layers)
    }

    /// Which of [`STAGES`] it is in, by number.
    pub(super) fn stage(&self) -> u64 {
        match self.next {
            CycleOperation::Sweep(SweepKind::Count | SweepKind::Drop) => 0,
            CycleOperation::Sweep(SweepKind::Seed | SweepKind::Grow | SweepKind::Reached) => 1,
            CycleOperation::Sweep(SweepKind::Round | SweepKind::Peel | SweepKind::Forget)
            | CycleOperation::Pick
            | CycleOperation::Walk => 2,
            CycleOperation::None | CycleOperation::Found => 3,
        }
    }

    /// What it is at.
    pub fn stage_name(&self) -> &'static str {
        STAGES[self.stage() as usize]
    }

    /// States that are not known yet not to lie on an accepting cycle.
    pub fn members(&self) -> u64 {
        self.marks.iter().map(|it| it.counts.members).sum()
    }
}
