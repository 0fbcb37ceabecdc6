//! What a search must remember to go on: the contents of the manifest.
//!
//! A checkpoint is taken between two units of a level or between two levels. It names files and
//! lengths; whatever lies in the search directory beyond them is swept at resume. The bytes are
//! rkyv's, checked before they are believed, inside the manifest's own header and checksum.

mod consistency;

use super::comback::SavedFrontier;
pub use super::files::MANIFEST;
use super::storage::SavedStorage;
use super::store_stats::StorePart;
use super::{MemoryPlan, SearchOutcome, SearchVerdict, StateStorage};
use crate::model::{ActionCounts, Counters, FaultKind, Finding, Findings, StateSpace, Violation};
use consistency::contradiction;
use rkyv::{Archive, Deserialize, Serialize};
use spill::{
    Codec, Disk, Error, FileName, FileSegment, PayloadFormat, Projection, Result, SavedProjection,
    SavedStore, SavedValues,
};
use std::sync::Arc;

/// The manifest's format. The version covers every file of a search directory.
pub const FORMAT: PayloadFormat = PayloadFormat { magic: *b"SPILLWAY", version: 25 };

/// A search at rest.
#[derive(Clone, Debug, Archive, Serialize, Deserialize)]
pub struct SavedSearch {
    /// The digest of the model that was searched.
    pub digest: [u8; 32],
    /// Bytes of a state, with its tag or its value if it has one.
    pub width: u32,
    /// How states are stored.
    pub storage: SavedStorage,
    /// On what keys are projected in memory, if they are.
    pub projection: Option<SavedProjection>,
    /// The levels and the visited store.
    pub store: SavedStore,
    /// What lies behind the states of the store, if something does.
    pub values: Option<SavedValues>,
    /// With ComBack, the states of the last level.
    pub frontier: SavedFrontier,
    /// The statistics of the levels expanded whole, and the states that are re-expanded in all levels.
    pub counters: Counters,
    /// How often each action was taken in these levels, by its number; actions behind the last were not.
    pub action_counts: Vec<u64>,
    /// What was found in the levels expanded whole.
    pub findings: Vec<SavedFinding>,
    /// The last level, as far as it has been expanded; absent once there is a verdict.
    pub open: SavedLevel,
    /// What is left of states of which steps were put off.
    pub postponed: SavedPostponed,
    /// The verdict's code: 0 none, 1 verified, 2 violated.
    pub verdict: u8,
    /// Seconds of searching so far.
    pub seconds: f64,
    /// What the disk had to do.
    pub disk: DiskFigures,
    /// The most bytes that have been resident.
    pub peak_rss_bytes: u64,
    /// How the last sitting shared out its memory.
    pub plan: MemoryPlan,
    /// What each part of the store took then.
    pub parts: Vec<StorePart>,
}

/// What a search asked of its disk, in bytes, all sittings together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub struct DiskFigures {
    /// The most that have been there at a time.
    pub peak: u64,
    /// Written.
    pub written: u64,
    /// Of blocks decoded, whether they came from the disk or from the system's cache.
    pub read: u64,
}

/// A level of which a prefix has been expanded.
#[derive(Clone, Debug, Default, Archive, Serialize, Deserialize)]
pub struct SavedLevel {
    /// States expanded, the first ones in order.
    pub expanded: u64,
    /// Whether that are all, and nothing new came of them: what is left is to expand states again.
    pub exhausted: bool,
    /// Their statistics, and those of states that were re-expanded meanwhile.
    pub counters: Counters,
    /// How often each action was taken.
    pub action_counts: Vec<u64>,
    /// What was found in them.
    pub findings: Vec<SavedFinding>,
    /// Their candidates, as sorted runs.
    pub candidates: Vec<FileSegment>,
    /// The length in bytes of each worker's file of candidate runs; 0 if it has none.
    pub logs: Vec<u64>,
}

/// What is left to do, or to find out, of states of which steps were put off.
#[derive(Clone, Debug, Default, Archive, Serialize, Deserialize)]
pub struct SavedPostponed {
    /// Which states have which successors, as sorted runs: states of the last level while it is expanded,
    /// or once it is exhausted; before anything of it is expanded, of the level before.
    pub obligations: Vec<FileSegment>,
    /// The length in bytes of each worker's file of these; 0 if it has none.
    pub logs: Vec<u64>,
    /// The states that are to be expanded again, at most one piece: of the level before the last, or of the
    /// last if it is exhausted.
    pub carried: Vec<FileSegment>,
    /// How many of them have been, the first ones in order.
    pub expanded: u64,
}

/// One finding; checks are numbers here.
#[derive(Clone, Debug, Archive, Serialize, Deserialize)]
pub struct SavedFinding {
    /// 0 deadlock, 1 property, 2 and up the kinds of faults.
    pub check: u8,
    /// The number of the property or of the action.
    pub number: u32,
    /// How often.
    pub count: u64,
    /// The level of the first.
    pub level: u64,
    /// The least state of that level.
    pub witness: Vec<u8>,
}

impl SavedSearch {
    /// Whether all states were visited and nothing that was checked in states and steps is violated.
    pub fn is_verified(&self) -> bool {
        self.verdict == 1
    }

    /// Whether something was found that there may be a way to.
    pub fn has_findings(&self) -> bool {
        !(self.findings.is_empty() && self.open.findings.is_empty())
    }

    /// Makes this the state of the search in `disk`.
    pub fn commit(&self, disk: &dyn Disk) -> Result<()> {
        spill::commit_value(disk, MANIFEST, FORMAT, self)
    }

    /// Reads the state of the search in `disk`.
    pub fn load(disk: &dyn Disk) -> Result<SavedSearch> {
        let saved: SavedSearch = spill::load_value(disk, MANIFEST, FORMAT)?;
        saved.check().map(|()| saved)
    }

    /// Refuses numbers that contradict each other.
    pub(super) fn check(&self) -> Result<()> {
        match contradiction(self) {
            None => Ok(()),
            Some(part) => {
                let what = format!("what it says of its {part} cannot be right");
                Err(Error::corrupt(MANIFEST, 0, what))
            }
        }
    }

    /// The files of keys that it mentions.
    pub fn files(&self) -> impl Iterator<Item = FileName> {
        let shards = 0..self.store.levels.shards.len() as u16;
        let merged = self.store.runs.iter().flat_map(|run| &run.pieces);
        let SavedPostponed { obligations, carried, .. } = &self.postponed;
        let pieces = merged.chain(&self.frontier.pieces).chain(&self.open.candidates);
        let pieces = pieces.chain(obligations).chain(carried);
        let changes = self.values.iter().filter_map(|values| values.changes.as_ref());
        let changed = changes.flat_map(|changes| 0..changes.shards.len() as u16);
        let logs = shards.map(|shard| FileName::Levels { shard });
        let logs = logs.chain(changed.map(|shard| FileName::Changes { shard }));
        logs.chain(pieces.map(|piece| piece.file))
    }

    /// Bytes behind a state.
    pub fn value_bytes(&self) -> usize {
        self.values.as_ref().map_or(0, |values| values.bytes as usize)
    }

    /// How states are stored.
    pub fn storage(&self) -> Result<StateStorage> {
        let restored = self.storage.restore(self.width as usize - self.storage.tag_bytes());
        restored.ok_or_else(|| Error::corrupt(MANIFEST, 0, "its codec is none for these states"))
    }

    /// What candidates are written with, and the levels and runs of the sorted store.
    pub fn codec(&self) -> Result<Codec> {
        let asked = match self.storage()? {
            StateStorage::Sorted(codec) => codec,
            StateStorage::Comback(_) => Codec::Gaps,
        };
        let projected = match (&self.projection, asked) {
            (None, asked) => return Ok(asked),
            (Some(saved), Codec::Gaps) => Projection::restore(saved, self.width as usize),
            (Some(_), _) => None,
        };
        let none = || Error::corrupt(MANIFEST, 0, "its projection is none for these states");
        Ok(Codec::Projected(Arc::new(projected.ok_or_else(none)?)))
    }

    /// The findings, the open level's included; with ComBack, witnesses have their tags in front.
    pub fn all_findings(&self) -> Result<Findings> {
        let mut all = restore_findings(&self.findings)?;
        all.merge(restore_findings(&self.open.findings)?);
        Ok(all)
    }

    /// How often each action has been taken so far.
    pub(super) fn action_counts(&self) -> ActionCounts {
        let mut counts = ActionCounts::new(self.action_counts.clone());
        counts.merge(ActionCounts::new(self.open.action_counts.clone()));
        counts
    }

    /// What is known so far, the open level's tallies included.
    pub fn outcome(&self) -> Result<SearchOutcome> {
        let levels = &self.store.levels;
        Ok(SearchOutcome {
            verdict: match self.verdict {
                1 => SearchVerdict::Verified,
                2 => SearchVerdict::Violated,
                _ => SearchVerdict::Incomplete,
            },
            levels: levels.keys_by_level().collect(),
            counters: self.counters + self.open.counters,
            findings: self.all_findings()?.without_tags(self.storage.tag_bytes()),
            action_counts: self.action_counts(),
        })
    }

    /// Refuses the state of a search of another model.
    pub fn check_model(&self, model: &dyn StateSpace) -> Result<()> {
        let properties = model.description().properties().len();
        let is_known =
            |finding: &SavedFinding| finding.check != 1 || (finding.number as usize) < properties;
        let belongs = self.digest == model.digest()
            && self.width as usize == model.width() + self.storage.tag_bytes() + self.value_bytes()
            && self.findings.iter().chain(&self.open.findings).all(is_known);
        match belongs {
            true => Ok(()),
            false => Err(Error::corrupt(MANIFEST, 0, "it belongs to another model")),
        }
    }
}

/// Findings as they are saved.
pub fn save_findings(findings: &Findings) -> Vec<SavedFinding> {
    findings
        .iter()
        .map(|(check, finding)| {
            let (check, number) = match check {
                Violation::Deadlock => (0, 0),
                Violation::Property(number) => (1, number),
                Violation::Fault(kind, action) => {
                    let code = FaultKind::ALL.iter().position(|&it| it == kind);
                    (2 + code.unwrap_or_default() as u8, action)
                }
            };
            let Finding { count, level, witness } = finding.clone();
            SavedFinding { check, number, count, level, witness }
        })
        .collect()
}

/// Findings as they were saved.
pub fn restore_findings(saved: &[SavedFinding]) -> Result<Findings> {
    let mut findings = Findings::default();
    for SavedFinding { check, number, count, level, witness } in saved {
        let check = match check {
            0 => Violation::Deadlock,
            1 => Violation::Property(*number),
            code => match FaultKind::ALL.get(usize::from(code - 2)) {
                Some(&kind) => Violation::Fault(kind, *number),
                None => {
                    let what = format!("there is no kind of finding {code}");
                    return Err(Error::corrupt(MANIFEST, 0, what));
                }
            },
        };
        let finding = Finding { count: *count, level: *level, witness: witness.clone() };
        findings.restore(check, finding);
    }
    Ok(findings)
}

/// The length of each shard's file of runs: of those that workers append to, and of `restored` ones of
/// earlier sittings.
pub(super) fn logs(lengths: impl Iterator<Item = u64>, restored: &[FileSegment]) -> Vec<u64> {
    let mut logs: Vec<u64> = lengths.collect();
    for piece in restored {
        if let FileName::Candidates { shard, .. } | FileName::Obligations { shard, .. } = piece.file
        {
            let shard = usize::from(shard);
            logs.resize(logs.len().max(shard + 1), 0);
            logs[shard] = logs[shard].max(piece.at.offset + piece.at.length);
        }
    }
    logs
}
