//! Checkpoints of a search in its directory, and resuming.
//!
//! A checkpoint has three steps: write and sync all files that the manifest will name, commit the manifest, and then
//! remove the files that it no longer names. So at any time all files of the current manifest exist. Resuming removes
//! all orphan files.

use super::growth::EncodingJournal;
use super::{ExternalSearch, SearchResources, check_storage, levels_keys};
use crate::checkpoint::{SavedLevel, SavedSearch, logs, restore_findings, save_findings};
use crate::control::{SearchPhase, SearchProgress};
use crate::orphan_files::remove_orphan_files;
use crate::visited::VisitedStore;
use crate::{MemoryPlan, SearchLimits, SearchVerdict};
use spill::{Disk, FileName, Result};
use spillway_model::{ActionCounts, ExpansionOutcome, StateSpace};
use std::time::{Duration, Instant};

/// The least time between two checkpoints at ends of levels.
const LEVEL_CHECKPOINT_MIN: Duration = Duration::from_secs(1);

/// The divisor of the time that checkpoints at ends of levels may take.
const CHECKPOINT_SHARE: u32 = 50;

impl<'a> ExternalSearch<'a> {
    /// Resumes the search whose manifest is `saved`. Removes all orphan files.
    pub fn resume(
        model: &'a dyn StateSpace,
        resources: SearchResources<'a>,
        limits: SearchLimits,
        saved: SavedSearch,
    ) -> Result<Self> {
        let SearchResources { disk, plan, control } = resources.clone();
        saved.check_model(model)?;
        control.progress.enter(SearchPhase::Restoring);
        let storage = saved.storage()?;
        sweep(&*disk, Some(&saved))?;
        let mut search = ExternalSearch::new(model, resources, limits, storage);
        search.whole_levels = ExpansionOutcome {
            counters: saved.counters,
            action_counts: ActionCounts::new(saved.action_counts.clone()),
            findings: restore_findings(&saved.findings)?,
        };
        search.verdict = saved.outcome()?.verdict;
        search.hunts = saved.hunts.clone();
        search.seconds_before = saved.seconds;
        search.disk_before = saved.disk;
        let values = search.values.clone();
        search.store = VisitedStore::restore(model, disk, &plan, values, &saved)?;
        search.states = levels_keys(search.store.levels()).sum();
        let (codec, level) = (search.store.codec().clone(), search.level_number());
        search.workers.iter_mut().try_for_each(|worker| worker.change_codec(&codec, level))?;
        check_storage(model, &search.storage)?;
        search.journal = EncodingJournal::restore(model, &*search.disk, saved.encoding)?;
        search.reopen(saved.open)?;
        search.reopen_postponed(&saved.postponed)?;
        control.begin(search.states, search.last_level_states(), search.open.expanded);
        Ok(search)
    }

    fn reopen(&mut self, saved: SavedLevel) -> Result<()> {
        let level = self.level_number();
        for (shard, &length) in saved.logs.iter().enumerate().filter(|(_, length)| **length > 0) {
            match self.workers.get_mut(shard) {
                Some(worker) => worker.restore(level, length)?,
                None => {
                    let file = FileName::Candidates { level, shard: shard as u16 };
                    self.open.restored_files.push(file);
                }
            }
        }
        self.reopen_unencoded(level, &saved.unencoded_logs)?;
        self.open.unencoded_in_manifest = !saved.unencoded.is_empty();
        self.open.unencoded = saved.unencoded;
        self.open.expanded = saved.expanded;
        self.open.exhausted = saved.exhausted;
        self.open.outcome = ExpansionOutcome {
            counters: saved.counters,
            action_counts: ActionCounts::new(saved.action_counts),
            findings: restore_findings(&saved.findings)?,
        };
        self.open.in_manifest = !saved.candidates.is_empty();
        self.open.restored = saved.candidates;
        Ok(())
    }

    /// Removes the files written since the last checkpoint. Later parts of older files stay.
    pub(super) fn sweep_uncommitted(&self) -> Result<()> {
        match SavedSearch::load(&*self.disk) {
            Ok(saved) => sweep(&*self.disk, Some(&saved)),
            Err(error) if error.is_not_found() => sweep(&*self.disk, None),
            Err(error) => Err(error),
        }
    }

    pub(super) fn checkpoint_if_due(&mut self) -> Result<()> {
        let wait = LEVEL_CHECKPOINT_MIN.max(self.clock.cost * CHECKPOINT_SHARE);
        let wait = wait.min(self.control.checkpoint_every);
        if self.clock.last.elapsed() >= wait { self.checkpoint() } else { Ok(()) }
    }

    /// Makes the progress durable.
    pub(super) fn checkpoint(&mut self) -> Result<()> {
        let begun = Instant::now();
        let before = self.enter(SearchPhase::Saving);
        let level = self.level_number();
        for worker in &mut self.workers {
            worker.save(level)?;
        }
        self.save_postponed()?;
        self.journal.sync()?;
        self.store.sync()?;
        let saved = self.saved();
        self.open.in_manifest = !saved.open.candidates.is_empty();
        self.open.unencoded_in_manifest = !saved.open.unencoded.is_empty();
        self.postponed_is_saved(&saved.postponed);
        saved.commit(&*self.disk)?;
        self.store.sweep()?;
        self.stale.drain(..).try_for_each(|file| self.disk.remove(&file.to_string()))?;
        self.clock.last = Instant::now();
        self.clock.cost = begun.elapsed();
        self.enter(before);
        SearchProgress::add(&self.control.progress.checkpoints, 1);
        Ok(())
    }

    fn saved(&self) -> SavedSearch {
        let mut candidates = self.open.restored.clone();
        for worker in &self.workers {
            candidates.extend(worker.pieces());
        }
        let lengths = self.workers.iter().map(|worker| worker.log_length().unwrap_or(0));
        let (unencoded, unencoded_logs) = self.saved_unencoded();
        let (store, frontier) = self.store.saved();
        // The files may contain candidates that are exceptions to the store's codec.
        let wider = self.wider_codec();
        let projection = wider.as_ref().unwrap_or(self.store.codec()).projection();
        SavedSearch {
            digest: self.model.digest(),
            width: self.width() as u32,
            storage: self.storage.saved(),
            projection: projection.map(|projection| projection.saved()),
            store,
            values: self.store.saved_values(),
            frontier,
            counters: self.whole_levels.counters,
            action_counts: self.whole_levels.action_counts.all().to_vec(),
            findings: save_findings(&self.whole_levels.findings),
            open: SavedLevel {
                expanded: self.open.expanded,
                exhausted: self.open.exhausted,
                counters: self.open.outcome.counters,
                action_counts: self.open.outcome.action_counts.all().to_vec(),
                findings: save_findings(&self.open.outcome.findings),
                candidates,
                logs: logs(lengths, &self.open.restored),
                unencoded,
                unencoded_logs,
            },
            postponed: self.saved_postponed(),
            encoding: self.journal.saved(),
            hunts: self.hunts.clone(),
            verdict: match self.verdict {
                SearchVerdict::Incomplete => 0,
                SearchVerdict::Verified => 1,
                SearchVerdict::Violated => 2,
            },
            seconds: self.seconds(),
            disk: self.disk_figures(),
            peak_rss_bytes: MemoryPlan::peak_resident(),
            plan: self.plan,
            parts: self.store.parts(),
        }
    }
}

/// The times of the checkpoints and their cost.
pub(super) struct CheckpointClock {
    pub(super) started: Instant,
    pub(super) last: Instant,
    cost: Duration,
}

impl CheckpointClock {
    pub(super) fn new() -> Self {
        let now = Instant::now();
        Self { started: now, last: now, cost: Duration::ZERO }
    }
}

/// Removes every file of keys that `saved`, the manifest in `disk`, does not name. Without a manifest it removes all of
/// them.
pub(super) fn sweep(disk: &dyn Disk, saved: Option<&SavedSearch>) -> Result<()> {
    let mut known: Vec<String> =
        saved.into_iter().flat_map(SavedSearch::files).map(|file| file.to_string()).collect();
    known.sort_unstable();
    remove_orphan_files(disk, |name| known.binary_search_by(|it| it.as_str().cmp(name)).is_ok())
}
