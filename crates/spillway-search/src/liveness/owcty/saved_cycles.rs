//! The checkpoint of a search for accepting cycles, in addition to that of the search that reached the states.

use super::marks::ShardMarks;
use super::sweep::SweepKind;
use crate::checkpoint::FORMAT;
pub use crate::files::CYCLES;
use rkyv::{Archive, Deserialize, Serialize};
use spill::{Disk, Error, FileName, FileSegment, Result};

/// The stages of a search.
pub const STAGES: [&str; 5] = [
    "trimming",
    "reaching from accepting states",
    "looking for a loop",
    "checking the cycle proviso",
    "done",
];

/// The goal of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub enum CycleGoal {
    /// An accepting cycle. Without one the verdict is final.
    Acceptance,
    /// An accepting cycle. Without one a search with the goal `Proviso` follows.
    AcceptanceInRound,
    /// States on cycles without a fully expanded state. Without one the verdict is final.
    Proviso,
}

/// A round of a search that enforces the cycle proviso.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub struct RoundNumbers {
    /// The number of the round, from 1.
    pub number: u32,
    /// The number of states of the system that the round expands fully.
    pub full_states: u64,
}

/// The state at which a round begins.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub struct RoundTarget {
    /// Its level.
    pub level: u64,
    /// The state.
    pub state: Vec<u8>,
}

/// A fair cycle under construction: paths from the target of a round back to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub struct FairCyclePath {
    /// Its states so far, the target first.
    pub states: Vec<Vec<u8>>,
    /// The [bytes](spillway_model::ProcessSet::to_bytes) of the processes to which the step from each state is fair.
    pub fair_to: Vec<Vec<u8>>,
    /// The next step of the cycle, if it is known and leads back.
    pub witness: Option<FairStepWitness>,
    /// The layers of the round from the target of that step.
    pub layers: Vec<Vec<FileSegment>>,
}

/// A step that is fair to a process.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub struct FairStepWitness {
    /// The index of the layer of the round that contains its source; nothing if the source is the target of the round.
    pub layer: Option<u32>,
    /// The source state.
    pub from: Vec<u8>,
    /// The target state.
    pub to: Vec<u8>,
    /// The process.
    pub process: u32,
}

/// The next operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub enum CycleOperation {
    /// A sweep.
    Sweep(SweepKind),
    /// Choose the state at which a round begins.
    Pick,
    /// Search for a fair step that the cycle through the target still needs.
    Walk,
    /// There is no accepting cycle.
    None,
    /// There is an accepting cycle, given by the layers.
    Found,
    /// There is a cycle among the states of the set.
    Remaining,
}

/// The saved state of a search for accepting cycles.
#[derive(Clone, Debug, PartialEq, Archive, Serialize, Deserialize)]
pub struct SavedCycleSearch {
    /// The digest of the model.
    pub digest: [u8; 32],
    /// The goal of the search.
    pub goal: CycleGoal,
    /// The round, if the search enforces the cycle proviso.
    pub round: Option<RoundNumbers>,
    /// The shards of the region.
    pub region: Vec<FileSegment>,
    /// The numbers of each shard.
    pub marks: Vec<ShardMarks>,
    /// The next operation.
    pub next: CycleOperation,
    /// The number of completed sweeps.
    pub sweeps: u32,
    /// The number of states in the set when *reach* was last started.
    pub seeded: u64,
    /// The index of the current requirement of a cycle.
    pub demand: u32,
    /// The number of consecutive requirements that removed no state.
    pub settled: u32,
    /// The state at which the round began, if there is a round.
    pub target: Option<RoundTarget>,
    /// The layers of the round: the states at each distance from the target.
    pub layers: Vec<Vec<FileSegment>>,
    /// Whether the target is in one of the layers.
    pub returned: bool,
    /// The fair cycle through the target, while it is built.
    pub walk: Option<FairCyclePath>,
    /// Seconds of sweeping so far.
    pub seconds: f64,
}

impl SavedCycleSearch {
    /// Returns whether a directory contains a saved cycle search.
    pub fn is_in(disk: &dyn Disk) -> Result<bool> {
        Ok(disk.list()?.iter().any(|(name, _)| name == CYCLES))
    }

    pub(super) fn commit(&self, disk: &dyn Disk) -> Result<()> {
        spill::commit_value(disk, CYCLES, FORMAT, self)
    }

    /// Reads the saved search of a directory, if there is one.
    pub fn find(disk: &dyn Disk) -> Result<Option<SavedCycleSearch>> {
        match SavedCycleSearch::is_in(disk)? {
            true => SavedCycleSearch::load(disk).map(Some),
            false => Ok(None),
        }
    }

    /// Reads the saved search of a directory.
    pub fn load(disk: &dyn Disk) -> Result<SavedCycleSearch> {
        let saved: SavedCycleSearch = spill::load_value(disk, CYCLES, FORMAT)?;
        match saved.agrees() {
            true => Ok(saved),
            false => Err(Error::corrupt(CYCLES, 0, "its numbers do not agree")),
        }
    }

    /// Returns whether the invariants hold on which resuming relies without further checks.
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
            && (self.next == CycleOperation::Remaining) <= (self.goal == CycleGoal::Proviso)
    }

    /// Returns every file that the checkpoint names.
    pub fn files(&self) -> impl Iterator<Item = FileName> {
        let layers = self.walk().chain(&self.layers).flatten();
        let pieces = self.region.iter().chain(layers).map(|it| it.file);
        pieces.chain(self.marks.iter().filter_map(|it| it.file).map(|(file, _)| file))
    }

    /// Returns the layers of the fair cycle.
    fn walk(&self) -> impl Iterator<Item = &Vec<FileSegment>> {
        self.walk.iter().flat_map(|it| &it.layers)
    }

    /// Returns whether a search that finds nothing shows that there is no accepting cycle.
    pub(super) fn is_final(&self) -> bool {
        self.goal != CycleGoal::AcceptanceInRound
    }

    /// Returns whether the search found no accepting cycle, and the cycle proviso must be checked.
    pub fn needs_proviso(&self) -> bool {
        self.next == CycleOperation::None && !self.is_final()
    }

    /// Returns whether the search found states on cycles without a fully expanded state.
    pub fn has_remaining(&self) -> bool {
        self.next == CycleOperation::Remaining
    }

    /// Returns the index of its stage in [`STAGES`].
    pub(super) fn stage(&self) -> u64 {
        match self.next {
            CycleOperation::Found => 4,
            CycleOperation::None if self.is_final() => 4,
            _ if self.goal == CycleGoal::Proviso => 3,
            CycleOperation::Sweep(SweepKind::Count | SweepKind::Drop) => 0,
            CycleOperation::Sweep(SweepKind::Seed | SweepKind::Grow | SweepKind::Reached) => 1,
            CycleOperation::Sweep(SweepKind::Round | SweepKind::Peel | SweepKind::Forget)
            | CycleOperation::Pick
            | CycleOperation::Walk => 2,
            CycleOperation::None | CycleOperation::Remaining => 3,
        }
    }

    /// Returns the name of its stage.
    pub fn stage_name(&self) -> &'static str {
        STAGES[self.stage() as usize]
    }

    /// Returns the number of states that may still lie on an accepting cycle.
    pub fn members(&self) -> u64 {
        self.marks.iter().map(|it| it.counts.members).sum()
    }
}
