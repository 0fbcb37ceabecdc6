//! The contents of the manifest, from which a search resumes.
//!
//! A checkpoint is written between two units of a level or between two levels. It names files and their lengths.
//! Resuming removes everything else from the search directory. The bytes are in rkyv's format and are validated before
//! use. They are enclosed in the manifest's header and checksum.

mod consistency;
mod saved_hunts;

use super::comback::SavedFrontier;
pub use super::files::MANIFEST;
use super::storage::SavedStorage;
use super::store_stats::StorePart;
use super::view_store;
use super::{MemoryPlan, SearchOutcome, SearchVerdict, StateStorage};
use consistency::contradiction;
use rkyv::{Archive, Deserialize, Serialize};
pub use saved_hunts::{SavedHuntFinding, SavedHunts};
use spill::{
    Codec, Disk, Error, FileName, FileSegment, PayloadFormat, Projection, Result, SavedProjection,
    SavedStore, SavedValues,
};
use spillway_model::{
    ActionCounts, BACK_EDGE_BYTES, Counters, FaultKind, Finding, Findings, StateSpace, Violation,
};
use std::sync::Arc;

/// The format of the manifest. The version covers every file of a search directory.
pub const FORMAT: PayloadFormat = PayloadFormat { magic: *b"SPILLWAY", version: 30 };

/// The saved state of a search.
#[derive(Clone, Debug, Archive, Serialize, Deserialize)]
pub struct SavedSearch {
    /// The digest of the searched model.
    pub digest: [u8; 32],
    /// Bytes of a state, with its tag or its value if it has one.
    pub width: u32,
    /// The storage of states.
    pub storage: SavedStorage,
    /// The projection of keys in memory, if there is one.
    pub projection: Option<SavedProjection>,
    /// The levels and the visited store.
    pub store: SavedStore,
    /// The values that follow the states of the store, if there are any.
    pub values: Option<SavedValues>,
    /// With ComBack, the states of the last level.
    pub frontier: SavedFrontier,
    /// The counters of the completed levels, and the number of re-expanded states of all levels.
    pub counters: Counters,
    /// The number of executions of each action in these levels, by its index. Later actions were never executed.
    pub action_counts: Vec<u64>,
    /// The findings of the completed levels.
    pub findings: Vec<SavedFinding>,
    /// The progress of the last level; empty once there is a verdict.
    pub open: SavedLevel,
    /// The remaining work on states with postponed transitions.
    pub postponed: SavedPostponed,
    /// The journal of an encoding that grows, once it has grown.
    pub encoding: Option<SavedJournal>,
    /// The hunts between levels.
    pub hunts: SavedHunts,
    /// The code of the verdict: 0 none, 1 verified, 2 violated.
    pub verdict: u8,
    /// Seconds of searching so far.
    pub seconds: f64,
    /// The use of the disk.
    pub disk: DiskFigures,
    /// The greatest resident memory in bytes.
    pub peak_rss_bytes: u64,
    /// The memory plan of the last session.
    pub plan: MemoryPlan,
    /// The sizes of the parts of the store at that time.
    pub parts: Vec<StorePart>,
}

/// The use of a search's disk, in bytes, over all sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub struct DiskFigures {
    /// The greatest size at one time.
    pub peak: u64,
    /// Bytes written.
    pub written: u64,
    /// Bytes of decoded blocks, read from the disk or from the system's cache.
    pub read: u64,
}

/// The journal of an encoding that grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub struct SavedJournal {
    /// The level at whose end the file was begun.
    pub level: u32,
    /// The length in bytes, at least 1.
    pub length: u64,
}

/// A level with an expanded prefix.
#[derive(Clone, Debug, Default, Archive, Serialize, Deserialize)]
pub struct SavedLevel {
    /// The number of expanded states, which are the first ones.
    pub expanded: u64,
    /// Whether all states are expanded and led to no new states, so that only re-expansion is left.
    pub exhausted: bool,
    /// The counters of these states and of those re-expanded at the same time.
    pub counters: Counters,
    /// The number of executions of each action.
    pub action_counts: Vec<u64>,
    /// The findings in these states.
    pub findings: Vec<SavedFinding>,
    /// Their candidates, as sorted runs.
    pub candidates: Vec<FileSegment>,
    /// The length in bytes of each worker's file of candidate runs; 0 if it has none.
    pub logs: Vec<u64>,
    /// Their successors without an encoding, as sorted runs. The keys of a segment are states.
    pub unencoded: Vec<FileSegment>,
    /// The length in bytes of each worker's file of these runs; 0 if it has none.
    pub unencoded_logs: Vec<u64>,
}

/// The remaining work on states with postponed transitions.
#[derive(Clone, Debug, Default, Archive, Serialize, Deserialize)]
pub struct SavedPostponed {
    /// The obligations, as sorted runs. They are of the last level while it is expanded or once it is exhausted. Before
    /// any of its states is expanded, they are of the previous level.
    pub obligations: Vec<FileSegment>,
    /// The length in bytes of each worker's file of obligations; 0 if it has none.
    pub logs: Vec<u64>,
    /// The states to re-expand, in at most one segment. They are of the level before the last, or of the last if it is
    /// exhausted.
    pub carried: Vec<FileSegment>,
    /// The number of re-expanded states, which are the first ones.
    pub expanded: u64,
}

/// A finding; checks are encoded as numbers.
#[derive(Clone, Debug, Archive, Serialize, Deserialize)]
pub struct SavedFinding {
    /// 0 for a deadlock, 1 for a property, 2 and more for the kinds of faults.
    pub check: u8,
    /// The number of the property or of the action.
    pub number: u32,
    /// The number of occurrences.
    pub count: u64,
    /// The level of the first occurrence.
    pub level: u64,
    /// The least state of that level with the finding.
    pub witness: Vec<u8>,
}

impl SavedJournal {
    /// Returns the file.
    pub fn file(self) -> FileName {
        FileName::Encoding { level: self.level }
    }
}

impl SavedSearch {
    /// Returns whether all states were visited and no check of states and steps is violated.
    pub fn is_verified(&self) -> bool {
        self.verdict == 1
    }

    /// Returns whether there are findings, to which there may be a counterexample.
    pub fn has_findings(&self) -> bool {
        let is_hunted = self.hunts.found.is_some();
        is_hunted || !(self.findings.is_empty() && self.open.findings.is_empty())
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

    /// Rejects numbers that contradict each other.
    pub(super) fn check(&self) -> Result<()> {
        match contradiction(self) {
            None => Ok(()),
            Some(part) => {
                let what = format!("what it says of its {part} cannot be right");
                Err(Error::corrupt(MANIFEST, 0, what))
            }
        }
    }

    /// Returns the files of keys that the manifest names.
    pub fn files(&self) -> impl Iterator<Item = FileName> {
        let shards = 0..self.store.levels.shards.len() as u16;
        let merged = self.store.runs.iter().flat_map(|run| &run.pieces);
        let SavedPostponed { obligations, carried, .. } = &self.postponed;
        let pieces = merged.chain(&self.frontier.pieces).chain(&self.open.candidates);
        let pieces = pieces.chain(obligations).chain(carried).chain(&self.open.unencoded);
        let journal = self.encoding.map(SavedJournal::file);
        let changes = self.values.iter().filter_map(|values| values.changes.as_ref());
        let changed = changes.flat_map(|changes| 0..changes.shards.len() as u16);
        let logs = shards.map(|shard| FileName::Levels { shard });
        let logs = logs.chain(changed.map(|shard| FileName::Changes { shard }));
        logs.chain(pieces.map(|piece| piece.file)).chain(journal)
    }

    /// Returns whether states are identified by views. Then the value contains a part of the state.
    fn has_views(&self) -> bool {
        self.values.as_ref().is_some_and(|it| it.operator == view_store::FIRST)
    }

    /// Returns the bytes of the value that follows a state.
    pub fn value_bytes(&self) -> usize {
        let values = self.values.as_ref().filter(|_| !self.has_views());
        values.map_or(0, |values| values.bytes as usize)
    }

    /// Returns the bytes that precede the witness of a finding.
    pub fn tag_bytes(&self) -> usize {
        if self.has_views() { BACK_EDGE_BYTES } else { self.storage.tag_bytes() }
    }

    /// Returns the storage of states.
    pub fn storage(&self) -> Result<StateStorage> {
        let restored = self.storage.restore(self.width as usize - self.storage.tag_bytes());
        restored.ok_or_else(|| Error::corrupt(MANIFEST, 0, "its codec does not fit these states"))
    }

    /// Returns the codec of candidates, and of the levels and runs of the sorted store.
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
        let none = || Error::corrupt(MANIFEST, 0, "its projection does not fit these states");
        Ok(Codec::Projected(Arc::new(projected.ok_or_else(none)?)))
    }

    /// Returns all findings, those of the open level included. With ComBack and with views, tags precede the witnesses.
    pub fn all_findings(&self) -> Result<Findings> {
        let mut all = restore_findings(&self.findings)?;
        all.merge(restore_findings(&self.open.findings)?);
        Ok(all)
    }

    /// Returns the number of executions of each action so far.
    pub(super) fn action_counts(&self) -> ActionCounts {
        let mut counts = ActionCounts::new(self.action_counts.clone());
        counts.merge(ActionCounts::new(self.open.action_counts.clone()));
        counts
    }

    /// Returns the outcome so far, the open level included.
    pub fn outcome(&self) -> Result<SearchOutcome> {
        let levels = &self.store.levels;
        let mut outcome = SearchOutcome {
            verdict: match self.verdict {
                1 => SearchVerdict::Verified,
                2 => SearchVerdict::Violated,
                _ => SearchVerdict::Incomplete,
            },
            levels: levels.keys_by_level().collect(),
            counters: self.counters + self.open.counters,
            findings: self.all_findings()?.without_tags(self.tag_bytes()),
            action_counts: self.action_counts(),
            hunted: None,
        };
        self.hunts.add_to(&mut outcome);
        Ok(outcome)
    }

    /// Rejects the state of a search of another model.
    pub fn check_model(&self, model: &dyn StateSpace) -> Result<()> {
        let properties = model.description().properties().len();
        let is_known =
            |finding: &SavedFinding| finding.check != 1 || (finding.number as usize) < properties;
        let hunted = self.hunts.found.iter().map(|it| &it.finding);
        let belongs = self.digest == model.digest()
            && self.width as usize == model.width() + self.tag_bytes() + self.value_bytes()
            && self.findings.iter().chain(&self.open.findings).chain(hunted).all(is_known);
        match belongs {
            true => Ok(()),
            false => Err(Error::corrupt(MANIFEST, 0, "it belongs to another model")),
        }
    }
}

/// Encodes findings for the manifest.
pub fn save_findings(findings: &Findings) -> Vec<SavedFinding> {
    findings.iter().map(|(check, finding)| save_finding(check, finding.clone())).collect()
}

/// Encodes a finding for the manifest.
pub fn save_finding(check: Violation, finding: Finding) -> SavedFinding {
    let (check, number) = match check {
        Violation::Deadlock => (0, 0),
        Violation::Property(number) => (1, number),
        Violation::Fault(kind, action) => {
            let code = FaultKind::ALL.iter().position(|&it| it == kind);
            (2 + code.unwrap_or_default() as u8, action)
        }
    };
    let Finding { count, level, witness } = finding;
    SavedFinding { check, number, count, level, witness }
}

/// Decodes findings of a manifest.
pub fn restore_findings(saved: &[SavedFinding]) -> Result<Findings> {
    let mut findings = Findings::default();
    for saved in saved {
        let (check, finding) = restore_finding(saved)?;
        findings.restore(check, finding);
    }
    Ok(findings)
}

/// Decodes a finding of a manifest.
pub fn restore_finding(saved: &SavedFinding) -> Result<(Violation, Finding)> {
    let &SavedFinding { check, number, count, level, ref witness } = saved;
    let check = match check {
        0 => Violation::Deadlock,
        1 => Violation::Property(number),
        code => match FaultKind::ALL.get(usize::from(code - 2)) {
            Some(&kind) => Violation::Fault(kind, number),
            None => {
                let what = format!("unknown kind of finding {code}");
                return Err(Error::corrupt(MANIFEST, 0, what));
            }
        },
    };
    Ok((check, Finding { count, level, witness: witness.clone() }))
}

/// Returns the length of each shard's file of runs: of those to which workers append, and of `restored` ones of earlier
/// sessions.
pub(super) fn logs(lengths: impl Iterator<Item = u64>, restored: &[FileSegment]) -> Vec<u64> {
    let mut logs: Vec<u64> = lengths.collect();
    for piece in restored {
        if let FileName::Candidates { shard, .. }
        | FileName::Obligations { shard, .. }
        | FileName::Unencoded { shard, .. } = piece.file
        {
            let shard = usize::from(shard);
            logs.resize(logs.len().max(shard + 1), 0);
            logs[shard] = logs[shard].max(piece.at.offset + piece.at.length);
        }
    }
    logs
}
