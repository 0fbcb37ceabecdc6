//! The search Spillway exists for: breadth-first, exact, in bounded memory.
//!
//! ```text
//! level 0 = the initial states
//! repeat: candidates = successors of the last level      (expand: sorted runs)
//!         next level = candidates minus all levels       (settle: merge and subtract)
//! until the next level is empty
//! ```
//!
//! Delayed duplicate detection for breadth-first search is Munagala and Ranade's (1999), brought
//! to model checking by Stern and Dill (1998) and to large disks by Korf (2003); here both the
//! candidates and the store are sorted runs. A level is a *set*, so levels, counts and
//! counterexamples do not depend on threads, timing, memory or interruptions.

use super::checkpoint::{DiskFigures, Saved, SavedLevel, restore_findings, save_findings};
use super::comback::Tagged;
use super::control::Progress;
use super::expand::{Level, Worker, expand};
use super::plan::Plan;
use super::project;
use super::visited::Visited;
use super::{Control, Limits, Outcome, Storage, Verdict};
use crate::exec::{Expansion, Findings, Model};
use spill::{
    Candidates, Codec, Disk, Error, FileName, Levels, Metered, Piece, Result, SavedStore, Settled,
};
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The least time between two checkpoints at ends of levels.
const LEVEL_CHECKPOINT_MIN: Duration = Duration::from_secs(1);

/// Checkpoints at ends of levels may take this part of the time, as a divisor.
const CHECKPOINT_SHARE: u32 = 50;

/// A search in a directory, between two steps of it.
pub struct Search<'a> {
    model: &'a dyn Model,
    limits: Limits,
    plan: Plan,
    storage: Storage,
    /// The model as it is searched, if its states carry tags.
    tagged: Option<Tagged<'a>>,
    disk: Arc<Metered>,
    control: &'a Control,
    store: Visited<'a>,
    workers: Vec<Worker>,
    /// Of the levels expanded whole.
    transitions: u64,
    findings: Findings,
    open: OpenLevel,
    verdict: Verdict,
    /// Found in all levels.
    states: u64,
    /// Candidate files that the manifest mentions and that the search no longer needs.
    stale: Vec<FileName>,
    clock: CheckpointClock,
    seconds_before: f64,
    disk_before: DiskFigures,
}

/// The last level, as far as it has been expanded.
#[derive(Default)]
struct OpenLevel {
    expanded: u64,
    transitions: u64,
    findings: Findings,
    /// Candidate runs of earlier sittings, from a checkpoint.
    restored: Vec<Piece>,
    /// The files those runs are in.
    restored_files: Vec<FileName>,
    /// Whether the manifest mentions candidate runs of this level.
    in_manifest: bool,
}

/// When checkpoints were made, and what they cost.
struct CheckpointClock {
    started: Instant,
    last: Instant,
    cost: Duration,
}

/// Why a level was left.
enum Left {
    /// There is a next one.
    Settled,
    /// There is none, or a violation ends the search.
    Finished,
    /// The search was told to stop.
    Stopped,
}

impl<'a> Search<'a> {
    /// A new search. Files of keys that lie in the directory, from a search that was killed before
    /// its first checkpoint, are removed.
    pub fn begin(
        model: &'a dyn Model,
        disk: Arc<Metered>,
        plan: Plan,
        limits: Limits,
        control: &'a Control,
    ) -> Result<Self> {
        Self::begin_stored(model, disk, plan, limits, control, Storage::default())
    }

    /// [`begin`](Search::begin), with states stored in another way.
    pub fn begin_stored(
        model: &'a dyn Model,
        disk: Arc<Metered>,
        plan: Plan,
        limits: Limits,
        control: &'a Control,
        storage: Storage,
    ) -> Result<Self> {
        sweep(&*disk, &SavedStore::default(), &[], &[])?;
        Ok(Self::new(model, disk, plan, limits, control, storage))
    }

    fn new(
        model: &'a dyn Model,
        disk: Arc<Metered>,
        plan: Plan,
        limits: Limits,
        control: &'a Control,
        storage: Storage,
    ) -> Self {
        let shared: Arc<dyn Disk> = disk.clone();
        let tagged = match storage {
            Storage::Sorted(_) => None,
            Storage::Comback(_) => Some(Tagged { model }),
        };
        let tag = storage.saved().tag_bytes();
        let store = Visited::new(model, shared.clone(), &plan, &storage);
        let workers = Worker::crew(&plan, (model.width() + tag, tag), store.codec(), &shared);
        Self {
            model,
            limits,
            plan,
            storage,
            tagged,
            disk,
            control,
            store,
            workers,
            transitions: 0,
            findings: Findings::default(),
            open: OpenLevel::default(),
            verdict: Verdict::Incomplete,
            states: 0,
            stale: Vec::new(),
            clock: CheckpointClock::new(),
            seconds_before: 0.0,
            disk_before: DiskFigures::default(),
        }
    }

    /// The search that `saved` left in `disk`. Whatever the manifest does not mention is swept.
    pub fn resume(
        model: &'a dyn Model,
        disk: Arc<Metered>,
        saved: Saved,
        plan: Plan,
        limits: Limits,
        control: &'a Control,
    ) -> Result<Self> {
        saved.check_model(model)?;
        let storage = saved.storage()?;
        sweep(&*disk, &saved.store, &saved.frontier.pieces, &saved.open.candidates)?;
        let mut search = Search::new(model, disk.clone(), plan, limits, control, storage);
        search.transitions = saved.transitions;
        search.findings = restore_findings(&saved.findings)?;
        search.verdict = saved.outcome()?.verdict;
        search.seconds_before = saved.seconds;
        search.disk_before = saved.disk;
        search.store = Visited::restore(model, disk, &plan, &search.storage, &saved)?;
        search.states = levels_keys(search.store.levels()).sum();
        search.reopen(saved.open)?;
        Ok(search)
    }

    fn reopen(&mut self, saved: SavedLevel) -> Result<()> {
        let level = self.level_number();
        for (lane, &length) in saved.logs.iter().enumerate().filter(|(_, length)| **length > 0) {
            match self.workers.get_mut(lane) {
                Some(worker) => worker.restore(level, length)?,
                None => {
                    let file = FileName::Candidates { level, lane: lane as u16 };
                    self.open.restored_files.push(file);
                }
            }
        }
        self.open.expanded = saved.expanded;
        self.open.transitions = saved.transitions;
        self.open.findings = restore_findings(&saved.findings)?;
        self.open.in_manifest = !saved.candidates.is_empty();
        self.open.restored = saved.candidates;
        Ok(())
    }

    /// Searches to the end, or until told to stop; either way the directory then holds a
    /// checkpoint of all that was done.
    ///
    /// On an error the last checkpoint stands; a full disk is not left full, as far as what was
    /// written since can be removed.
    pub fn run(&mut self) -> Result<Outcome> {
        let searched = self.search();
        if let Err(Error::Full { .. }) = &searched {
            // Only a full disk: after other errors the manifest need not be as durable as it seems.
            // The error that ended the search is the one to tell; the next resume sweeps again.
            let _ = self.sweep_uncommitted();
        }
        searched
    }

    /// Removes what was written since the last checkpoint, as far as it has files of its own.
    fn sweep_uncommitted(&self) -> Result<()> {
        match Saved::load(&*self.disk) {
            Ok(saved) => {
                let (frontier, candidates) = (&saved.frontier.pieces, &saved.open.candidates);
                sweep(&*self.disk, &saved.store, frontier, candidates)
            }
            Err(Error::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {
                sweep(&*self.disk, &SavedStore::default(), &[], &[])
            }
            Err(error) => Err(error),
        }
    }

    fn search(&mut self) -> Result<Outcome> {
        if self.store.levels().is_empty() {
            self.settle_initial()?;
            self.checkpoint()?;
        }
        self.show_progress();
        while self.verdict == Verdict::Incomplete {
            match self.level()? {
                Left::Stopped => break,
                Left::Finished => self.finish(),
                Left::Settled if self.reached_max_states() => break,
                Left::Settled => self.checkpoint_if_due()?,
            }
        }
        self.checkpoint()?;
        Ok(self.outcome())
    }

    /// What has been found so far.
    pub fn outcome(&self) -> Outcome {
        let levels = self.store.levels();
        let mut findings = self.findings.clone();
        findings.merge(self.open.findings.clone());
        Outcome {
            verdict: self.verdict,
            levels: levels_keys(levels).collect(),
            transitions: self.transitions + self.open.transitions,
            findings: findings.without_tags(self.width() - self.model.width()),
        }
    }

    /// The model as it is searched.
    fn searched(&self) -> &dyn Model {
        self.tagged.as_ref().map_or(self.model, |tagged| tagged)
    }

    /// Bytes of a state as it is searched.
    fn width(&self) -> usize {
        self.searched().width()
    }

    /// The levels and the visited store.
    pub fn store(&self) -> &Visited<'a> {
        &self.store
    }

    /// Seconds of searching, earlier sittings included.
    pub fn seconds(&self) -> f64 {
        self.seconds_before + self.clock.started.elapsed().as_secs_f64()
    }

    /// What was asked of the disk, in earlier sittings and in this.
    pub fn disk_figures(&self) -> DiskFigures {
        let (before, now) = (self.disk_before, self.disk.usage());
        DiskFigures {
            peak: before.peak.max(now.peak),
            written: before.written + now.written,
            read: before.read + now.read,
        }
    }

    fn settle_initial(&mut self) -> Result<()> {
        let mut buffer = Vec::new();
        let mut never = |_: &mut Vec<u8>| Ok(());
        let width = self.width();
        let mut expansion = Expansion::new(width, &mut buffer, usize::MAX, &mut never);
        self.searched().initial(&mut expansion);
        let (_, findings) = expansion.finish()?;
        // A search without levels that is resumed comes here again.
        self.findings = findings;
        spill::sort_dedup(width, &mut buffer, &mut Vec::new());
        if let Some(codec) = project::first(&self.storage, width, &buffer) {
            self.change_codec(codec)?;
        }
        let buffer = self.store.codec().adopt(&Codec::Gaps, width, &buffer);
        let candidates = Candidates { slices: vec![&buffer], segments: Vec::new() };
        if let Settled::New(states) = self.store.settle(&candidates, 1, &|| false)? {
            self.states += states;
        }
        Ok(())
    }

    /// Has the store and the workers read and write with another codec.
    fn change_codec(&mut self, codec: Codec) -> Result<()> {
        let level = self.level_number();
        for worker in &mut self.workers {
            worker.change_codec(&codec, level)?;
        }
        self.store.change_codec(&codec, self.plan.threads)?;
        if let Storage::Sorted(old) = &mut self.storage {
            *old = codec;
        }
        Ok(())
    }

    /// The codec that knows all candidates, if the store's does not.
    fn wider_codec(&self) -> Option<Codec> {
        let strange = self.workers.iter().filter_map(Worker::strange_bits);
        let strange = strange
            .reduce(|one, other| one.iter().zip(other).map(|(one, other)| one | other).collect())?;
        let known = strange.iter().all(|&bits| bits == 0);
        (!known).then(|| project::wider(self.store.codec(), &strange))
    }

    /// Expands the last level and settles the next.
    fn level(&mut self) -> Result<Left> {
        if self.store.levels().is_empty() {
            return Ok(Left::Finished);
        }
        if !self.expand_level()? {
            return Ok(Left::Stopped);
        }
        if self.limits.stop_on_violation && self.is_violated() {
            return Ok(Left::Finished);
        }
        if let Some(codec) = self.wider_codec() {
            self.change_codec(codec)?;
        }
        let Settled::New(states) = self.settle_level()? else { return Ok(Left::Stopped) };
        self.states += states;
        self.close_level()?;
        self.show_progress();
        Ok(if states == 0 { Left::Finished } else { Left::Settled })
    }

    /// Expands what is left of the level, with checkpoints; false if told to stop.
    fn expand_level(&mut self) -> Result<bool> {
        let Search { store, workers, .. } = self;
        let frontier = store.frontier(|spare| {
            let spare = spare / workers.len();
            workers.iter_mut().for_each(|worker| worker.borrow(spare));
        })?;
        let codec = self.store.codec().clone();
        let states = frontier.keys(codec.key_width(self.width()));
        while self.open.expanded < states {
            let (last, every) = (self.clock.last, self.control.checkpoint_every);
            let pause = || self.control.should_stop() || last.elapsed() >= every;
            let level = Level {
                number: self.level_number(),
                frontier: &frontier,
                codec: &codec,
                expanded: self.open.expanded,
            };
            let model = self.tagged.as_ref().map_or(self.model, |tagged| tagged as &dyn Model);
            let done = expand(model, &level, &mut self.workers, self.control, &pause)?;
            self.open.expanded = done.states;
            self.open.transitions += done.transitions;
            self.open.findings.merge(done.findings);
            if self.control.should_stop() {
                return Ok(false);
            }
            if self.open.expanded < states {
                self.checkpoint()?;
            }
        }
        Ok(true)
    }

    fn settle_level(&mut self) -> Result<Settled> {
        let threads = self.plan.threads;
        let (width, codec) = (self.width(), self.store.codec().clone());
        let mut segments = Vec::new();
        for worker in &mut self.workers {
            worker.flush()?;
            for piece in worker.pieces() {
                segments.push(piece.open(&*self.disk, width)?.coded(&codec));
            }
        }
        for piece in &self.open.restored {
            segments.push(piece.open(&*self.disk, width)?.coded(&codec));
        }
        let slices = self.workers.iter().map(Worker::sorted).collect();
        let candidates = Candidates { slices, segments };
        let control = self.control;
        self.store.settle(&candidates, threads, &|| control.should_stop())
    }

    /// Adds the expanded level's tallies to the search's and forgets its candidates.
    fn close_level(&mut self) -> Result<()> {
        let open = std::mem::take(&mut self.open);
        self.transitions += open.transitions;
        self.findings.merge(open.findings);
        let files = self.workers.iter_mut().filter_map(Worker::clear);
        let files: Vec<FileName> = files.chain(open.restored_files).collect();
        match open.in_manifest {
            true => self.stale.extend(files),
            false => files.iter().try_for_each(|file| self.disk.remove(&file.to_string()))?,
        }
        Ok(())
    }

    /// Decides the verdict. The candidates of a level that ends the search are of no more use.
    fn finish(&mut self) {
        for worker in &mut self.workers {
            self.stale.extend(worker.clear());
        }
        self.stale.append(&mut self.open.restored_files);
        self.open.restored.clear();
        self.verdict = match self.is_violated() {
            true => Verdict::Violated,
            false => Verdict::Verified,
        };
    }

    fn is_violated(&self) -> bool {
        let checks = self.limits.checks;
        checks.any_selected(self.model, &self.findings)
            || checks.any_selected(self.model, &self.open.findings)
    }

    fn reached_max_states(&self) -> bool {
        self.limits.max_states.is_some_and(|max| self.states >= max)
    }

    fn level_number(&self) -> u32 {
        self.store.levels().len().saturating_sub(1) as u32
    }

    fn checkpoint_if_due(&mut self) -> Result<()> {
        let wait = LEVEL_CHECKPOINT_MIN.max(self.clock.cost * CHECKPOINT_SHARE);
        let wait = wait.min(self.control.checkpoint_every);
        if self.clock.last.elapsed() >= wait { self.checkpoint() } else { Ok(()) }
    }

    /// Makes all that was done durable.
    fn checkpoint(&mut self) -> Result<()> {
        let begun = Instant::now();
        let level = self.level_number();
        for worker in &mut self.workers {
            worker.save(level)?;
        }
        self.store.sync()?;
        let saved = self.saved();
        self.open.in_manifest = !saved.open.candidates.is_empty();
        saved.commit(&*self.disk)?;
        self.store.sweep()?;
        self.stale.drain(..).try_for_each(|file| self.disk.remove(&file.to_string()))?;
        self.clock.last = Instant::now();
        self.clock.cost = begun.elapsed();
        Progress::add(&self.control.progress.checkpoints, 1);
        Ok(())
    }

    fn saved(&self) -> Saved {
        let mut candidates = self.open.restored.clone();
        for worker in &self.workers {
            candidates.extend(worker.pieces());
        }
        let (store, frontier) = self.store.saved();
        Saved {
            digest: self.model.digest(),
            width: self.width() as u32,
            storage: self.wider_codec().map_or(self.storage.clone(), Storage::Sorted).saved(),
            store,
            frontier,
            transitions: self.transitions,
            findings: save_findings(&self.findings),
            open: SavedLevel {
                expanded: self.open.expanded,
                transitions: self.open.transitions,
                findings: save_findings(&self.open.findings),
                candidates,
                logs: self.logs(),
            },
            verdict: match self.verdict {
                Verdict::Incomplete => 0,
                Verdict::Verified => 1,
                Verdict::Violated => 2,
            },
            seconds: self.seconds(),
            disk: self.disk_figures(),
            peak_rss_bytes: Plan::peak_resident(),
            plan: self.plan,
        }
    }

    /// The length of each lane's file of candidate runs, lanes of earlier sittings included.
    fn logs(&self) -> Vec<u64> {
        let mut logs: Vec<u64> =
            self.workers.iter().map(|worker| worker.log_length().unwrap_or(0)).collect();
        for piece in &self.open.restored {
            if let FileName::Candidates { lane, .. } = piece.file {
                let lane = usize::from(lane);
                logs.resize(logs.len().max(lane + 1), 0);
                logs[lane] = logs[lane].max(piece.at.offset + piece.at.length);
            }
        }
        logs
    }

    fn show_progress(&self) {
        let levels = self.store.levels();
        let progress = &self.control.progress;
        let last = if levels.is_empty() { 0 } else { levels.keys(levels.len() - 1) };
        Progress::set(&progress.level, u64::from(self.level_number()));
        Progress::set(&progress.frontier, last);
        Progress::set(&progress.expanded, self.open.expanded);
        Progress::set(&progress.states, self.states);
    }
}

impl CheckpointClock {
    fn new() -> Self {
        let now = Instant::now();
        Self { started: now, last: now, cost: Duration::ZERO }
    }
}

/// The number of states of each level.
fn levels_keys(levels: &Levels) -> impl Iterator<Item = u64> {
    (0..levels.len()).map(|level| levels.keys(level))
}

/// Removes every file of keys that none of `store`, `frontier` and `candidates` mentions, which the
/// manifest in `disk` does.
///
/// First the manifest's name is made durable: if the process was killed in the middle of a commit,
/// it may not be, and a loss of power could then undo the renaming but not the removals. It would
/// leave the manifest before this one, without files that it mentions.
fn sweep(
    disk: &dyn Disk,
    store: &SavedStore,
    frontier: &[Piece],
    candidates: &[Piece],
) -> Result<()> {
    disk.sync_dir()?;
    let mut known: Vec<String> = Vec::new();
    known.extend(
        (0..store.levels.lanes.len())
            .map(|lane| FileName::Levels { lane: lane as u16 }.to_string()),
    );
    let pieces = store.runs.iter().flat_map(|run| &run.pieces);
    let pieces = pieces.chain(frontier).chain(candidates);
    known.extend(pieces.map(|piece| piece.file.to_string()));
    known.sort_unstable();
    for (name, _) in disk.list()? {
        let temporary = name.ends_with(".new");
        if temporary || FileName::is_one(&name) && known.binary_search(&name).is_err() {
            disk.remove(&name)?;
        }
    }
    Ok(())
}
