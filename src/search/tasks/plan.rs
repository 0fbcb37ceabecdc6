//! What is to be done next, as the manifest of a directory tells.

use super::{hash, if_exists, load_hashed};
use crate::model::{Findings, StateSpace};
use crate::search::checkpoint::{FORMAT, MANIFEST, SavedSearch};
use crate::search::files::{self, PHASES, is_plan_id, plan_file, plan_id, private_file};
use crate::search::storage::SavedStorage;
use crate::search::{SearchLimits, SearchVerdict};
use rkyv::{Archive, Deserialize, Serialize};
use spill::{Codec, Disk, Error, FileName, FileSegment, PartitionWorker, Result, SavedRun};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// One process goes on for so many times the states of a level that is not thin, before it is asked again who goes on.
const THIN_LEVELS: u64 = 16;

/// No more files of levels can be named.
const FILES_MAX: usize = u16::MAX as usize;

/// One process goes on where it has more levels in memory: each task of a merge would have all of them open.
const LEVELS_MAX: u32 = 1 << 14;

/// So often it is planned again where what was written has been swept by somebody who has begun to go on alone.
const SWEPT_MAX: u32 = 20;

/// And after so long: sweeping is over then.
pub(super) const SWEEPING: Duration = Duration::from_millis(100);

/// What the tasks of a plan do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub enum TaskPhase {
    /// They expand parts of the last level.
    Expand,
    /// They make the next level of the candidates.
    Settle,
    /// They make one run of some.
    Merge,
}

impl TaskPhase {
    /// As commands and files call it.
    pub fn name(self) -> &'static str {
        PHASES[self as usize]
    }
}

/// What a task takes of a level.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub enum TaskRange {
    /// States by their numbers in the level.
    States {
        /// The first.
        from: u64,
        /// Behind the last.
        until: u64,
    },
    /// Keys, as the codec has them in memory.
    Keys {
        /// The least, if there is one.
        low: Option<Vec<u8>>,
        /// What is above all, if something is.
        high: Option<Vec<u8>>,
    },
}

/// Tasks that can be done side by side.
#[derive(Clone, Debug, PartialEq, Archive, Serialize, Deserialize)]
pub struct TaskPlan {
    /// The hash of the manifest that it is of.
    base: [u8; 32],
    /// What the tasks do.
    pub phase: TaskPhase,
    /// The last level.
    pub level: u32,
    /// Of tasks that expand, the first state of each, and behind the last; of a level, in key order.
    pub(super) states: Vec<u64>,
    /// Of tasks that take ranges of keys, the keys between them, as the codec has them in memory.
    pub(super) borders: Vec<Vec<u8>>,
    /// Of tasks that merge, which runs: the number of the first of them; they are the last ones.
    pub(super) runs_from: u32,
    /// When it was made, in seconds since 1970.
    begun: f64,
    /// Which of those of its name it is: where one was swept, another may be made.
    nonce: u64,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum NextWork {
    /// The tasks of a plan.
    Tasks(TaskPlan),
    /// One process is to go on, until there are so many states in all, or to the end.
    Search(Option<u64>),
    /// Nothing: there is a verdict.
    Ended(SearchVerdict),
}

/// How a search is to be shared out.
#[derive(Clone, Copy, Debug)]
pub struct SharingOptions {
    /// So many tasks, at most.
    pub tasks: u32,
    /// Levels of fewer states are thin.
    pub thin: u64,
}

impl SharingOptions {
    /// So many states one process visits before the search is shared out.
    pub fn first_states(self) -> u64 {
        THIN_LEVELS * self.thin
    }
}

/// Why a search cannot be shared out, if it cannot.
pub fn sharing_obstacle(model: &dyn StateSpace, storage: &SavedStorage) -> Option<&'static str> {
    if matches!(storage, SavedStorage::Comback(_)) {
        return Some("states are stored as hashes and steps back (--store comback)");
    }
    if model.capabilities().postponing.is_some() {
        return Some("steps are put off (--por-proviso levels)");
    }
    if model.capabilities().sleep_sets.is_some() {
        return Some("steps are asleep (--por sleep)");
    }
    model.capabilities().dominance.map(|_| "some states stand for others (--reduce dominate)")
}

/// The manifest in `disk`, and its hash.
pub fn current(disk: &dyn Disk) -> Result<(SavedSearch, [u8; 32])> {
    load_hashed(disk, MANIFEST, SavedSearch::load)
}

impl TaskPlan {
    /// What is to be done in a directory, by a plan that is written there if none is.
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
            // Somebody may have committed meanwhile, and removed what this rests on; or goes on alone, and sweeps what he does
            // not know.
            let is_swept = next.as_ref().is_err_and(Error::is_not_found) && left > 0;
            if next.is_ok() || hash(disk, MANIFEST)? == base && !is_swept {
                return next;
            }
            left -= u32::from(is_swept);
            std::thread::sleep(SWEEPING);
        }
    }

    /// The plan of this name in a directory, if there is one and it is of the manifest that is there.
    pub fn load(disk: &dyn Disk, id: &str) -> Result<Option<(TaskPlan, SavedSearch)>> {
        let Some(plan) = TaskPlan::load_named(disk, id)? else { return Ok(None) };
        let (saved, base) = current(disk)?;
        if plan.base != base {
            return Ok(None);
        }
        plan.check(id, &saved)?;
        Ok(Some((plan, saved)))
    }

    /// The plan of this name, of whatever manifest.
    fn load_named(disk: &dyn Disk, id: &str) -> Result<Option<TaskPlan>> {
        if !is_plan_id(id) {
            // No plan is called so, and it may be a path.
            return Ok(None);
        }
        if_exists(spill::load_value(disk, &plan_file(id), FORMAT))
    }

    /// Refuses a plan of the current manifest that no process has made: a copy under another name, or one that does not take each
    /// state, or each key, once.
    fn check(&self, id: &str, saved: &SavedSearch) -> Result<()> {
        let what = match (self.id() == id, self.fits(saved)) {
            (true, true) => return Ok(()),
            (false, _) => format!("it is the plan {}", self.id()),
            (true, false) => "its tasks do not cover the level exactly once".to_owned(),
        };
        Err(Error::corrupt(plan_file(id), 0, what))
    }

    /// Whether its tasks cover what the manifest says is to be done, exactly once.
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
                TaskPhase::Expand => of_states() && has_names(open.logs.len()),
                TaskPhase::Settle => {
                    of_keys() && open.expanded == frontier && has_names(levels.shards.len())
                }
                TaskPhase::Merge => {
                    of_keys() && (self.runs_from as usize) < saved.store.runs.len() && has_names(0)
                }
            }
    }

    /// Whether it is the current one of a directory still.
    pub(super) fn is_current(&self, disk: &dyn Disk) -> Result<bool> {
        Ok(TaskPlan::load_named(disk, &self.id())?.as_ref() == Some(self)
            && hash(disk, MANIFEST)? == self.base)
    }

    /// What it is called: like the manifest it is of, and what is done.
    pub fn id(&self) -> String {
        plan_id(self.level, self.phase as usize, &self.base)
    }

    /// What tells it from any other one.
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

    /// What a task takes.
    pub(super) fn range(&self, task: u32) -> TaskRange {
        let task = task as usize;
        match self.phase {
            TaskPhase::Expand => {
                TaskRange::States { from: self.states[task], until: self.states[task + 1] }
            }
            TaskPhase::Settle | TaskPhase::Merge => {
                let border = |at: usize| self.borders.get(at).cloned();
                TaskRange::Keys { low: task.checked_sub(1).and_then(border), high: border(task) }
            }
        }
    }

    /// The file that a task writes: behind those that there are already.
    pub(super) fn output(&self, saved: &SavedSearch, task: u32) -> FileName {
        let behind = |files: usize| (files + task as usize) as u16;
        match self.phase {
            TaskPhase::Expand => {
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

    /// The number of its tasks.
    pub fn tasks(&self) -> u32 {
        match self.phase {
            TaskPhase::Expand => self.states.len().saturating_sub(1) as u32,
            TaskPhase::Settle | TaskPhase::Merge => self.borders.len() as u32 + 1,
        }
    }

    /// How long ago it was made, as far as clocks agree.
    pub(super) fn age(&self) -> f64 {
        (now() - self.begun).max(0.0)
    }

    /// The file that it is in.
    pub(super) fn file(&self) -> String {
        plan_file(&self.id())
    }

    /// What a file is called while this process writes it.
    pub(super) fn own(&self, name: &str) -> String {
        private_file(name, &self.id(), attempt())
    }

    /// Whether a file was being written for one of its tasks.
    pub(super) fn is_own(&self, name: &str) -> bool {
        files::is_private_of(name, &self.id())
    }

    /// This one, or the one that somebody has written before for the same manifest.
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

/// A number that no other process comes to, nor this one at another time, whichever machine it is on.
fn attempt() -> u64 {
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    hasher.write_u64(now().to_bits());
    hasher.finish()
}

/// Seconds since 1970.
fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs_f64()
}

/// What is known when it is planned.
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
        if open.candidates.is_empty() || self.ends(&outcome.findings) {
            // It comes to a verdict, or to the next level if what was found ends nothing.
            return Ok(NextWork::Search(Some(states)));
        }
        Ok(NextWork::Tasks(match self.runs_in_memory() {
            Some(from) => self.merge(from)?,
            None => self.settle()?,
        }))
    }

    /// Whether what was found ends the search.
    fn ends(&self, findings: &Findings) -> bool {
        let SearchLimits { checks, stop_on_violation, .. } = self.limits;
        *stop_on_violation && checks.any_selected(self.model, findings)
            || self.limits.are_answered(self.model, findings)
    }

    /// The number of the first of the last runs of which one is not twice as large as all behind it, if they are to be merged.
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

    /// The number of the first run that one process had in memory and that is no level, which would be there as it lies.
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

    /// Tasks that take ranges of the keys of these pieces.
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
    /// Where its files are read, and what is written beside them.
    pub(super) fn apart<'a>(&self, disk: &'a dyn Disk, codec: &'a Codec) -> PartitionWorker<'a> {
        PartitionWorker { disk, whole_width: self.width as usize, codec }
    }

    /// Where the keys of a run are: in files of its own, or in those of its levels.
    pub(super) fn pieces_of(&self, run: &SavedRun) -> Vec<FileSegment> {
        match run.pieces.is_empty() {
            false => run.pieces.clone(),
            true => {
                let levels = run.first as usize..=run.last as usize;
                levels.flat_map(|it| self.store.levels.level(it)).collect()
            }
        }
    }

    /// Where the keys of the runs from one on are.
    pub(super) fn pieces_from(&self, from: u32) -> Vec<FileSegment> {
        let runs = &self.store.runs[from as usize..];
        runs.iter().flat_map(|it| self.pieces_of(it)).collect()
    }

    /// The first level of a run, and the last of all levels: what a run of it and those behind it is of.
    pub(super) fn levels_from(&self, from: u32) -> (u32, u32) {
        (self.store.runs[from as usize].first, self.store.levels.len() as u32 - 1)
    }
}
