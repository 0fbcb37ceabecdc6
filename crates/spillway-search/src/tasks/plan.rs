//! Plans: the next work of a search, derived from the manifest of its directory.

use super::{hash, if_exists, load_hashed};
use crate::checkpoint::{FORMAT, MANIFEST, SavedSearch};
use crate::files::{self, PHASES, is_plan_id, plan_file, plan_id, private_file};
use crate::storage::SavedStorage;
use crate::{SearchLimits, SearchVerdict};
use rkyv::{Archive, Deserialize, Serialize};
use spill::{Codec, Disk, Error, FileName, FileSegment, PartitionWorker, Result, SavedRun};
use spillway_model::{Findings, StateSpace};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The states that one process searches before the next plan, as a multiple of the greatest size of thin levels.
const THIN_LEVELS: u64 = 16;

/// The greatest number of files of levels.
const FILES_MAX: usize = u16::MAX as usize;

/// The number of levels of a merge up to which tasks merge them. One process continues alone with more, since each task
/// would open all of them.
const LEVELS_MAX: u32 = 1 << 14;

/// The number of new attempts to plan after a process that continues alone removed the files of a plan.
const SWEPT_MAX: u32 = 20;

/// The time between these attempts, after which the removal is complete.
pub(super) const SWEEPING: Duration = Duration::from_millis(100);

/// The work of the tasks of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub enum TaskPhase {
    /// Expand parts of the last level.
    Expand,
    /// Settle the next level from the candidates.
    Settle,
    /// Merge several runs into one.
    Merge,
    /// Extend a growing encoding by the unencoded states of the last level.
    Grow,
}

impl TaskPhase {
    /// Returns whether its tasks need the model.
    pub fn needs_model(self) -> bool {
        matches!(self, TaskPhase::Expand | TaskPhase::Grow)
    }

    /// Returns the name in commands and files.
    pub fn name(self) -> &'static str {
        PHASES[self as usize]
    }
}

/// The part of a level that a task takes.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub enum TaskRange {
    /// States by their indices in the level.
    States {
        /// The first state.
        from: u64,
        /// The end.
        until: u64,
    },
    /// Keys, as the codec has them in memory.
    Keys {
        /// The least key, if there is a bound.
        low: Option<Vec<u8>>,
        /// The exclusive upper bound, if there is one.
        high: Option<Vec<u8>>,
    },
}

/// Independent tasks.
#[derive(Clone, Debug, PartialEq, Archive, Serialize, Deserialize)]
pub struct TaskPlan {
    /// The hash of the manifest that the plan is based on.
    base: [u8; 32],
    /// The work of the tasks.
    pub phase: TaskPhase,
    /// The last level.
    pub level: u32,
    /// For tasks that expand: the first state of each and the end, in key order of the level.
    pub(super) states: Vec<u64>,
    /// For tasks that take ranges of keys: the keys between the ranges, as the codec has them in memory.
    pub(super) borders: Vec<Vec<u8>>,
    /// For tasks that merge: the index of the first merged run. All later runs are merged, too.
    pub(super) runs_from: u32,
    /// The time when it was made, in seconds since 1970.
    begun: f64,
    /// A number that distinguishes plans of the same name: a removed plan may be made again.
    nonce: u64,
}

/// The next work of a search.
#[derive(Clone, Debug, PartialEq)]
pub enum NextWork {
    /// The tasks of a plan.
    Tasks(TaskPlan),
    /// One process searches until there are this many states in all, or to the end.
    Search(Option<u64>),
    /// None: there is a verdict.
    Ended(SearchVerdict),
}

/// Options for dividing a search into tasks.
#[derive(Clone, Copy, Debug)]
pub struct SharingOptions {
    /// The greatest number of tasks.
    pub tasks: u32,
    /// Levels with fewer states are thin.
    pub thin: u64,
}

impl SharingOptions {
    /// Returns the number of states that one process visits before the search is divided.
    pub fn first_states(self) -> u64 {
        THIN_LEVELS * self.thin
    }
}

/// Returns why a search cannot be divided into tasks, if it cannot.
pub fn sharing_obstacle(model: &dyn StateSpace, storage: &SavedStorage) -> Option<&'static str> {
    if matches!(storage, SavedStorage::Comback(_)) {
        return Some("states are stored as hashes and back-edges (--store comback)");
    }
    if model.capabilities().postponing.is_some() {
        return Some("transitions are postponed (-X por-proviso=levels)");
    }
    if model.capabilities().sleep_sets.is_some() {
        return Some("transitions are in sleep sets (--por sleep)");
    }
    if model.capabilities().views.is_some() {
        return Some("states are identified by views (VIEW)");
    }
    model.capabilities().dominance.map(|_| "some states dominate others (--reduce dominate)")
}

/// Returns the manifest in `disk` and its hash.
pub fn current(disk: &dyn Disk) -> Result<(SavedSearch, [u8; 32])> {
    load_hashed(disk, MANIFEST, SavedSearch::load)
}

impl TaskPlan {
    /// Returns the next work in a directory. Writes a plan if there is none.
    pub fn next(
        disk: &dyn Disk,
        model: &dyn StateSpace,
        limits: &SearchLimits,
        wanted: SharingOptions,
    ) -> Result<NextWork> {
        let mut left = SWEPT_MAX;
        loop {
            let (saved, base) = current(disk)?;
            let planning = TaskPlanner { disk, saved: &saved, base, model, limits, wanted };
            let next = planning.next().and_then(|next| match next {
                NextWork::Tasks(plan) => plan.publish(disk, &saved).map(NextWork::Tasks),
                next => Ok(next),
            });
            // Another process may have committed and removed files that this needs, or may continue alone and remove
            // files that it does not know.
            let is_swept = next.as_ref().is_err_and(Error::is_not_found) && left > 0;
            if next.is_ok() || hash(disk, MANIFEST)? == base && !is_swept {
                return next;
            }
            left -= u32::from(is_swept);
            std::thread::sleep(SWEEPING);
        }
    }

    /// Returns the plan of this name in a directory, if it exists and is based on the current manifest.
    pub fn load(disk: &dyn Disk, id: &str) -> Result<Option<(TaskPlan, SavedSearch)>> {
        let Some(plan) = TaskPlan::load_named(disk, id)? else { return Ok(None) };
        let (saved, base) = current(disk)?;
        if plan.base != base {
            return Ok(None);
        }
        plan.check(id, &saved)?;
        Ok(Some((plan, saved)))
    }

    /// Returns the plan of this name, based on any manifest.
    fn load_named(disk: &dyn Disk, id: &str) -> Result<Option<TaskPlan>> {
        if !is_plan_id(id) {
            // No plan has such a name, and it may be a path.
            return Ok(None);
        }
        if_exists(spill::load_value(disk, &plan_file(id), FORMAT))
    }

    /// Rejects a plan of the current manifest that no process has made: a copy under another name, or one that does not
    /// take each state or key exactly once.
    fn check(&self, id: &str, saved: &SavedSearch) -> Result<()> {
        let what = match (self.id() == id, self.fits(saved)) {
            (true, true) => return Ok(()),
            (false, _) => format!("it is the plan {}", self.id()),
            (true, false) => "its tasks do not cover the level exactly once".to_owned(),
        };
        Err(Error::corrupt(plan_file(id), 0, what))
    }

    /// Returns whether its tasks cover the work of the manifest exactly once.
    fn fits(&self, saved: &SavedSearch) -> bool {
        let (levels, open) = (&saved.store.levels, &saved.open);
        let Some(last) =
            levels.len().checked_sub(1).filter(|it| *it as u64 == u64::from(self.level))
        else {
            return false;
        };
        let frontier = levels.keys(last);
        let of_states = || {
            let ends = (self.states.first(), self.states.last());
            self.borders.is_empty()
                && self.states.len() > 1
                && self.states.is_sorted_by(|one, other| one < other)
                && ends == (Some(&open.expanded), Some(&frontier))
        };
        let of_keys = || {
            let width = saved.codec().map(|it| it.key_width(saved.width as usize));
            self.states.is_empty()
                && self
                    .borders
                    .iter()
                    .all(|it| width.as_ref().is_ok_and(|width| it.len() == *width))
                && self.borders.is_sorted()
        };
        let has_names = |before: usize| before + self.tasks() as usize <= FILES_MAX;
        self.begun.is_finite()
            && match self.phase {
                TaskPhase::Expand => {
                    of_states()
                        && has_names(open.logs.len())
                        && has_names(open.unencoded_logs.len())
                }
                TaskPhase::Settle => {
                    of_keys() && open.expanded == frontier && has_names(levels.shards.len())
                }
                TaskPhase::Grow => {
                    self.states.is_empty()
                        && self.borders.is_empty()
                        && open.expanded == frontier
                        && !open.unencoded.is_empty()
                        && has_names(open.logs.len())
                }
                TaskPhase::Merge => {
                    of_keys() && (self.runs_from as usize) < saved.store.runs.len() && has_names(0)
                }
            }
    }

    /// Returns whether it is still the current plan of a directory.
    pub(super) fn is_current(&self, disk: &dyn Disk) -> Result<bool> {
        Ok(TaskPlan::load_named(disk, &self.id())?.as_ref() == Some(self)
            && hash(disk, MANIFEST)? == self.base)
    }

    /// Returns its name, which consists of the level, the phase and the hash of the manifest.
    pub fn id(&self) -> String {
        plan_id(self.level, self.phase as usize, &self.base)
    }

    /// Returns a digest that distinguishes it from all other plans.
    pub(super) fn digest(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        let numbers = [u64::from(self.level), u64::from(self.runs_from), self.nonce];
        let numbers = numbers.into_iter().chain([self.begun.to_bits(), self.states.len() as u64]);
        hasher.update(&self.base).update(self.phase.name().as_bytes());
        for number in numbers.chain(self.states.iter().copied()) {
            hasher.update(&number.to_le_bytes());
        }
        for border in &self.borders {
            hasher.update(&(border.len() as u64).to_le_bytes()).update(border);
        }
        *hasher.finalize().as_bytes()
    }

    /// Returns the part that a task takes.
    pub(super) fn range(&self, task: u32) -> TaskRange {
        let task = task as usize;
        match self.phase {
            TaskPhase::Expand => {
                TaskRange::States { from: self.states[task], until: self.states[task + 1] }
            }
            TaskPhase::Settle | TaskPhase::Merge | TaskPhase::Grow => {
                let border = |at: usize| self.borders.get(at).cloned();
                TaskRange::Keys { low: task.checked_sub(1).and_then(border), high: border(task) }
            }
        }
    }

    /// Returns the file that a task writes, numbered after the existing files.
    pub(super) fn output(&self, saved: &SavedSearch, task: u32) -> FileName {
        let behind = |files: usize| (files + task as usize) as u16;
        match self.phase {
            TaskPhase::Expand | TaskPhase::Grow => {
                FileName::Candidates { level: self.level, shard: behind(saved.open.logs.len()) }
            }
            TaskPhase::Settle => {
                FileName::Levels { shard: behind(saved.store.levels.shards.len()) }
            }
            TaskPhase::Merge => {
                let (first, last) = saved.levels_from(self.runs_from);
                FileName::Merged { first, last, part: behind(0) }
            }
        }
    }

    /// Returns the second file that a task may write: its unencoded states, numbered after the existing files, or the
    /// journal of the encoding.
    pub(super) fn second_output(&self, saved: &SavedSearch, task: u32) -> Option<FileName> {
        let level = self.level;
        match self.phase {
            TaskPhase::Expand => {
                let shard = (saved.open.unencoded_logs.len() + task as usize) as u16;
                Some(FileName::Unencoded { level, shard })
            }
            TaskPhase::Grow => Some(FileName::Encoding { level }),
            TaskPhase::Settle | TaskPhase::Merge => None,
        }
    }

    /// Returns the number of its tasks.
    pub fn tasks(&self) -> u32 {
        match self.phase {
            TaskPhase::Expand => self.states.len().saturating_sub(1) as u32,
            TaskPhase::Settle | TaskPhase::Merge | TaskPhase::Grow => self.borders.len() as u32 + 1,
        }
    }

    /// Returns its age in seconds, as far as clocks agree.
    pub(super) fn age(&self) -> f64 {
        (now() - self.begun).max(0.0)
    }

    /// Returns its file.
    pub(super) fn file(&self) -> String {
        plan_file(&self.id())
    }

    /// Returns the private name of a file while this process writes it.
    pub(super) fn own(&self, name: &str) -> String {
        private_file(name, &self.id(), attempt())
    }

    /// Returns whether a file is a private one of its tasks.
    pub(super) fn is_own(&self, name: &str) -> bool {
        files::is_private_of(name, &self.id())
    }

    /// Writes the plan. Returns it, or the plan that another process wrote before for the same manifest.
    fn publish(self, disk: &dyn Disk, saved: &SavedSearch) -> Result<TaskPlan> {
        let own = self.own(&self.file());
        spill::commit_value(disk, &own, FORMAT, &self)?;
        if disk.rename_new(&own, &self.file())? {
            disk.sync_dir()?;
            return Ok(self);
        }
        let theirs: TaskPlan = spill::load_value(disk, &self.file(), FORMAT)?;
        match theirs.base == self.base {
            true => theirs.check(&self.id(), saved).map(|()| theirs),
            false => Err(Error::corrupt(self.file(), 0, "it is of another manifest")),
        }
    }
}

/// Returns a number that differs between processes, machines and times.
fn attempt() -> u64 {
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    hasher.write_u64(now().to_bits());
    hasher.finish()
}

/// Returns the seconds since 1970.
fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs_f64()
}

/// The input of planning.
struct TaskPlanner<'p> {
    disk: &'p dyn Disk,
    saved: &'p SavedSearch,
    base: [u8; 32],
    model: &'p dyn StateSpace,
    limits: &'p SearchLimits,
    wanted: SharingOptions,
}

impl TaskPlanner<'_> {
    fn next(&self) -> Result<NextWork> {
        let (saved, levels) = (self.saved, &self.saved.store.levels);
        let outcome = saved.outcome()?;
        if outcome.verdict != SearchVerdict::Incomplete {
            return Ok(NextWork::Ended(outcome.verdict));
        }
        let states = outcome.states();
        let alone = NextWork::Search(Some(states + self.wanted.first_states()));
        let Some(last) = levels.len().checked_sub(1) else { return Ok(alone) };
        if levels.shards.len() + self.wanted.tasks as usize > FILES_MAX {
            return Ok(alone);
        }
        let in_memory = |from: u32| last as u32 - saved.store.runs[from as usize].first;
        if self.runs_in_memory().is_some_and(|from| in_memory(from) > LEVELS_MAX) {
            return Ok(alone);
        }
        let (frontier, open) = (levels.keys(last), &saved.open);
        if open.expanded < frontier {
            return match frontier < self.wanted.thin {
                true => Ok(alone),
                false => Ok(NextWork::Tasks(match self.runs_to_merge() {
                    Some(from) => self.merge(from)?,
                    None => self.expand(frontier)?,
                })),
            };
        }
        let ends = self.ends(&outcome.findings);
        if !ends && !open.unencoded.is_empty() {
            return Ok(NextWork::Tasks(self.plan(TaskPhase::Grow)));
        }
        if open.candidates.is_empty() || ends {
            // The search reaches a verdict, or the next level if the findings do not end it.
            return Ok(NextWork::Search(Some(states)));
        }
        Ok(NextWork::Tasks(match self.runs_in_memory() {
            Some(from) => self.merge(from)?,
            None => self.settle()?,
        }))
    }

    /// Returns whether the findings end the search.
    fn ends(&self, findings: &Findings) -> bool {
        let SearchLimits { checks, stop_on_violation, .. } = self.limits;
        *stop_on_violation && checks.any_selected(self.model, findings)
            || self.limits.are_answered(self.model, findings)
    }

    /// Returns the index of the first of the last runs to merge, if there are any. A run is merged if it is less than
    /// twice as large as all later ones together.
    fn runs_to_merge(&self) -> Option<u32> {
        let runs = &self.saved.store.runs;
        let keys = |run: &SavedRun| -> u64 {
            (run.first..=run.last).map(|it| self.saved.store.levels.keys(it as usize)).sum()
        };
        let mut from = runs.len().checked_sub(1)?;
        let mut behind = keys(&runs[from]);
        while from > 0 && keys(&runs[from - 1]) < 2 * behind {
            from -= 1;
            behind += keys(&runs[from]);
        }
        let like = (from + 1 < runs.len()).then_some(from as u32);
        like.into_iter().chain(self.runs_in_memory()).min()
    }

    /// Returns the index of the first run that one process had in memory and that consists of several levels. A run of
    /// one level is in the file of the level.
    fn runs_in_memory(&self) -> Option<u32> {
        let is_nowhere = |run: &SavedRun| run.pieces.is_empty() && run.first < run.last;
        self.saved.store.runs.iter().position(is_nowhere).map(|it| it as u32)
    }

    fn expand(&self, frontier: u64) -> Result<TaskPlan> {
        let expanded = self.saved.open.expanded;
        let last = self.saved.store.levels.len() - 1;
        let pieces = self.saved.store.levels.level(last);
        let codec = self.saved.codec()?;
        let segments = self.saved.apart(self.disk, &codec).open(&pieces)?;
        // A block is decoded by one task.
        let mut ends = Vec::new();
        let mut end = 0;
        for segment in &segments {
            for block in 0..segment.blocks() {
                end += segment.block_keys(block) as u64;
                ends.push(end);
            }
        }
        let tasks = u64::from(self.wanted.tasks.max(1));
        let share = (frontier - expanded).div_ceil(tasks);
        let mut states = vec![expanded];
        for end in ends {
            let is_full = end >= states[states.len() - 1] + share && end < frontier;
            states.extend(is_full.then_some(end));
        }
        states.push(frontier);
        Ok(TaskPlan { states, ..self.plan(TaskPhase::Expand) })
    }

    fn settle(&self) -> Result<TaskPlan> {
        self.by_keys(TaskPhase::Settle, &self.saved.open.candidates)
    }

    fn merge(&self, from: u32) -> Result<TaskPlan> {
        let merged = self.by_keys(TaskPhase::Merge, &self.saved.pieces_from(from))?;
        Ok(TaskPlan { runs_from: from, ..merged })
    }

    /// Plans tasks that take ranges of the keys of these segments.
    fn by_keys(&self, phase: TaskPhase, pieces: &[FileSegment]) -> Result<TaskPlan> {
        let codec = self.saved.codec()?;
        let apart = self.saved.apart(self.disk, &codec);
        let borders = apart.boundaries(&apart.open(pieces)?, self.wanted.tasks as usize);
        Ok(TaskPlan { borders, ..self.plan(phase) })
    }

    fn plan(&self, phase: TaskPhase) -> TaskPlan {
        TaskPlan {
            base: self.base,
            phase,
            level: self.saved.store.levels.len() as u32 - 1,
            states: Vec::new(),
            borders: Vec::new(),
            runs_from: 0,
            begun: now(),
            nonce: attempt(),
        }
    }
}

impl SavedSearch {
    /// Returns access to its files.
    pub(super) fn apart<'a>(&self, disk: &'a dyn Disk, codec: &'a Codec) -> PartitionWorker<'a> {
        PartitionWorker { disk, whole_width: self.width as usize, codec }
    }

    /// Returns the segments of a run: its own, or those of its levels.
    pub(super) fn pieces_of(&self, run: &SavedRun) -> Vec<FileSegment> {
        match run.pieces.is_empty() {
            false => run.pieces.clone(),
            true => {
                let levels = run.first as usize..=run.last as usize;
                levels.flat_map(|it| self.store.levels.level(it)).collect()
            }
        }
    }

    /// Returns the segments of all runs from one index on.
    pub(super) fn pieces_from(&self, from: u32) -> Vec<FileSegment> {
        let runs = &self.store.runs[from as usize..];
        runs.iter().flat_map(|it| self.pieces_of(it)).collect()
    }

    /// Returns the range of levels of a run that merges all runs from one index on.
    pub(super) fn levels_from(&self, from: u32) -> (u32, u32) {
        (self.store.runs[from as usize].first, self.store.levels.len() as u32 - 1)
    }
}
