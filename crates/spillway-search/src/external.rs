//! The external search: breadth-first and exact, in bounded memory.
//!
//! ```text
//! level 0 = the initial states
//! repeat: candidates = successors of the last level      (expand: sorted runs)
//!         next level = candidates minus all levels       (settle: merge and subtract)
//! until the next level is empty
//! ```
//!
//! If the model postpones transitions, a round also re-expands states of the previous round by their postponed
//! transitions: the states none of whose successors was new (`external/reexpansion.rs`).
//!
//! Delayed duplicate detection for breadth-first search is by Munagala and Ranade (1999). Stern and Dill (1998) applied
//! it to model checking, and Korf (2003) to large disks. Here both the candidates and the store are sorted runs. A
//! level is a *set*, so levels, counts and counterexamples do not depend on threads, timing, memory or interruptions.

mod checkpointing;
mod growth;
mod level_hunt;
mod midway;
mod reexpansion;

use super::checkpoint::{DiskFigures, SavedHunts};
use super::comback::TaggedModel;
use super::control::{SearchPhase, SearchProgress};
use super::events::CompletedLevels;
use super::expand::{
    ExpansionPass, ExpansionWorker, InitialStates, LevelExpansion, RANK, exceptional_bits, expand,
};
use super::projection::{self, ConversionWork};
use super::sleep_store::SleepSetModel;
use super::storage::check_views;
use super::view_store::{QueuedLevel, ViewedLevel, ViewedModel};
use super::visited::VisitedStore;
use super::{MemoryPlan, SearchControl, SearchLimits, SearchOutcome, SearchVerdict, StateStorage};
use checkpointing::{CheckpointClock, sweep};
use growth::EncodingJournal;
pub use growth::GrowthError;
use midway::MidwayQuestion;
use reexpansion::PostponedWork;
use spill::{
    Candidates, Codec, Disk, Error, FileName, FileSegment, Frontier, LevelLog, MeteredDisk, Result,
    SettleOutcome, ValueSpec, WIDTH_MAX,
};
use spillway_model::{ActionCounts, ExpansionOutcome, Findings, PostponingStateSpace, StateSpace};
use std::sync::Arc;

/// A search in a directory, between two of its steps.
pub struct ExternalSearch<'a> {
    model: &'a dyn StateSpace,
    limits: SearchLimits,
    /// The greatest number of expanded levels.
    levels_max: Option<u64>,
    /// Decides whether a violation ends the search, if not every violation does.
    concludes: Option<Box<ConclusionPredicate<'a>>>,
    /// Decides at the end of each level whether the findings suffice.
    is_enough: Option<Box<StopPredicate<'a>>>,
    plan: MemoryPlan,
    storage: StateStorage,
    /// The searched system, if its states carry tags or values.
    carrying: Option<Box<dyn StateSpace + 'a>>,
    /// The values that follow states, if there are any.
    values: Option<ValueSpec>,
    /// The searched system, if it postpones transitions.
    postpones: Option<&'a dyn PostponingStateSpace>,
    disk: Arc<MeteredDisk>,
    control: &'a SearchControl,
    store: VisitedStore<'a>,
    workers: Vec<ExpansionWorker>,
    /// The outcome of the completed levels. Its counter of re-expanded states is that of all levels.
    whole_levels: ExpansionOutcome,
    open: CurrentLevel,
    conversions: ConversionWork,
    postponed: PostponedWork,
    /// The journal of the encoding, if it grows.
    journal: EncodingJournal,
    /// The hunts between levels.
    hunts: SavedHunts,
    /// The question whether to abandon the search, until it is asked.
    midway: Option<MidwayQuestion<'a>>,
    verdict: SearchVerdict,
    /// The number of states of all levels.
    states: u64,
    /// Files that the manifest names but that are no longer needed.
    stale: Vec<FileName>,
    clock: CheckpointClock,
    seconds_before: f64,
    disk_before: DiskFigures,
}

/// Decides whether the findings end a search.
pub type ConclusionPredicate<'a> = dyn Fn(&Findings) -> Result<bool> + 'a;

/// Decides whether a search stops with the findings.
pub type StopPredicate<'a> = dyn Fn(&Findings) -> bool + 'a;

/// The last level and the progress of its expansion and re-expansion.
#[derive(Default)]
struct CurrentLevel {
    expanded: u64,
    /// Whether the level is expanded and led to no new states, so that only re-expansion is left.
    exhausted: bool,
    outcome: ExpansionOutcome,
    /// Candidate runs of earlier sessions, from a checkpoint.
    restored: Vec<FileSegment>,
    /// The files of the restored runs.
    restored_files: Vec<FileName>,
    /// Whether the manifest names candidate runs of this level.
    in_manifest: bool,
    /// Runs of states without an encoding of earlier sessions, from a checkpoint.
    unencoded: Vec<FileSegment>,
    /// The files of these runs to which no worker appends.
    unencoded_files: Vec<FileName>,
    /// Whether the manifest names runs of states without an encoding.
    unencoded_in_manifest: bool,
}

/// A level in the order in which it is expanded.
struct LevelInOrder {
    frontier: Frontier,
    codec: Codec,
    /// The file to remove when the level is expanded, if there is one.
    file: Option<FileName>,
}

/// The outcome of a level.
enum LevelOutcome {
    /// There is a next level.
    Settled,
    /// There is none, or a violation ends the search.
    Finished,
    /// The control stopped the search.
    Stopped,
}

/// The resources of a search.
#[derive(Clone)]
pub struct SearchResources<'a> {
    /// The search directory.
    pub disk: Arc<MeteredDisk>,
    /// The memory and the threads.
    pub plan: MemoryPlan,
    /// Shows the progress of the search and stops it.
    pub control: &'a SearchControl,
}

impl<'a> ExternalSearch<'a> {
    /// Begins a new search. Removes orphan files of keys, which a search may leave if it is killed before its first
    /// checkpoint.
    pub fn begin(
        model: &'a dyn StateSpace,
        resources: SearchResources<'a>,
        limits: SearchLimits,
    ) -> Result<Self> {
        Self::begin_stored(model, resources, limits, StateStorage::default())
    }

    /// [`begin`](ExternalSearch::begin) with another storage of states.
    pub fn begin_stored(
        model: &'a dyn StateSpace,
        resources: SearchResources<'a>,
        limits: SearchLimits,
        storage: StateStorage,
    ) -> Result<Self> {
        sweep(&*resources.disk, None)?;
        resources.control.begin(0, 0, 0);
        check_storage(model, &storage)?;
        let journal = EncodingJournal::restore(model, &*resources.disk, None)?;
        Ok(Self { journal, ..Self::new(model, resources, limits, storage) })
    }

    fn new(
        model: &'a dyn StateSpace,
        resources: SearchResources<'a>,
        limits: SearchLimits,
        storage: StateStorage,
    ) -> Self {
        let SearchResources { disk, plan, control } = resources;
        let shared: Arc<dyn Disk> = disk.clone();
        let postpones =
            model.capabilities().postponing.filter(|_| has_room_for_obligations(model, &storage));
        let plan = plan.of_search(model, &storage).for_hunts(limits.hunts);
        let viewed = ViewedModel::of(model);
        let awake = storage.sleep_set_model(model);
        let values = viewed.as_ref().map(ViewedModel::values);
        let values = values.or(awake.as_ref().map(SleepSetModel::values));
        let store = VisitedStore::new(model, shared.clone(), &plan, &storage, values.clone());
        let values = values.or(storage.values());
        let carrying: Option<Box<dyn StateSpace + 'a>> = match storage {
            StateStorage::Sorted(_) => match viewed {
                Some(viewed) => Some(Box::new(viewed)),
                None => awake.map(|awake| Box::new(awake) as _),
            },
            StateStorage::Comback(_) => Some(Box::new(TaggedModel { model })),
        };
        let whole = carrying.as_ref().map_or(model.width(), |it| it.width());
        let workers = ExpansionWorker::crew(&plan, whole, values.as_ref(), store.codec(), &shared);
        Self {
            model,
            limits,
            levels_max: None,
            concludes: None,
            is_enough: None,
            plan,
            storage,
            carrying,
            values,
            postpones,
            disk,
            control,
            store,
            workers,
            whole_levels: ExpansionOutcome::default(),
            open: CurrentLevel::default(),
            conversions: ConversionWork::default(),
            postponed: PostponedWork::default(),
            journal: EncodingJournal::default(),
            hunts: SavedHunts::default(),
            midway: None,
            verdict: SearchVerdict::Incomplete,
            states: 0,
            stale: Vec::new(),
            clock: CheckpointClock::new(),
            seconds_before: 0.0,
            disk_before: DiskFigures::default(),
        }
    }

    /// Stops the search when this number of levels is expanded or reached.
    pub fn with_max_levels(self, levels: u64) -> Self {
        ExternalSearch { levels_max: Some(levels), ..self }
    }

    /// Ends the search with a violation only if `concludes` returns true for the findings.
    pub fn with_conclusion(self, concludes: impl Fn(&Findings) -> Result<bool> + 'a) -> Self {
        ExternalSearch { concludes: Some(Box::new(concludes)), ..self }
    }

    /// Stops the search at the end of the first level for which `is_enough` returns true for the findings.
    pub fn with_stop_predicate(self, is_enough: impl Fn(&Findings) -> bool + 'a) -> Self {
        ExternalSearch { is_enough: Some(Box::new(is_enough)), ..self }
    }

    /// Searches until there is a verdict or the control stops it. In both cases the directory then holds a checkpoint
    /// of all progress.
    ///
    /// After an error the last checkpoint remains. If the disk is full, the files written since then are removed, if
    /// possible.
    pub fn run(&mut self) -> Result<SearchOutcome> {
        let searched = self.search();
        if let Err(Error::Full { .. }) = &searched {
            // Only if the disk is full: after other errors the manifest may be less durable than it seems. The error
            // that ended the search is the one to report. The next resume removes orphan files again.
            let _ = self.sweep_uncommitted();
        }
        searched
    }

    fn search(&mut self) -> Result<SearchOutcome> {
        if self.store.levels().is_empty() {
            let settled = self.settle_initial()?;
            self.checkpoint()?;
            if !settled {
                return Ok(self.outcome());
            }
        }
        self.show_progress();
        while self.verdict == SearchVerdict::Incomplete {
            match self.level()? {
                LevelOutcome::Stopped => break,
                LevelOutcome::Finished => self.finish(),
                // After an interruption, the search asks again from its last checkpoint.
                LevelOutcome::Settled if self.is_abandoned()? => return Ok(self.outcome()),
                LevelOutcome::Settled if self.reached_max_states() => break,
                LevelOutcome::Settled if self.hunt_if_due()? => self.finish(),
                LevelOutcome::Settled => self.checkpoint_if_due()?,
            }
        }
        self.store.sort_small_levels(self.plan.threads)?;
        self.checkpoint()?;
        Ok(self.outcome())
    }

    /// Returns the outcome so far.
    pub fn outcome(&self) -> SearchOutcome {
        let levels = self.store.levels();
        let findings = self.all_findings();
        let mut action_counts = self.whole_levels.action_counts.clone();
        action_counts.merge(self.open.outcome.action_counts.clone());
        let mut outcome = SearchOutcome {
            verdict: self.verdict,
            levels: levels_keys(levels).collect(),
            counters: self.whole_levels.counters + self.open.outcome.counters,
            findings: findings.without_tags(self.storage.tag_bytes(self.model)),
            action_counts,
            hunted: None,
        };
        self.hunts.add_to(&mut outcome);
        outcome
    }

    /// Returns the searched system.
    fn searched(&self) -> &dyn StateSpace {
        self.carrying.as_deref().unwrap_or(self.model)
    }

    /// Returns the bytes of a searched state.
    fn width(&self) -> usize {
        self.searched().width()
    }

    /// Returns the levels and the visited store.
    pub fn store(&self) -> &VisitedStore<'a> {
        &self.store
    }

    /// Returns the seconds of searching, earlier sessions included.
    pub fn seconds(&self) -> f64 {
        self.seconds_before + self.clock.started.elapsed().as_secs_f64()
    }

    /// Returns the use of the disk, earlier sessions included.
    pub fn disk_figures(&self) -> DiskFigures {
        let (before, now) = (self.disk_before, self.disk.usage());
        DiskFigures {
            peak: before.peak.max(now.peak),
            written: before.written + now.written,
            read: before.read + now.read,
        }
    }

    /// Makes the initial states the first level. One worker collects them as candidates. Returns false if stopped; then
    /// they are dropped, and a resumed search without levels repeats this.
    fn settle_initial(&mut self) -> Result<bool> {
        self.whole_levels.findings = Findings::default();
        self.whole_levels.counters.initial = 0;
        let settled =
            self.collect_initial()? && matches!(self.settle_level()?, SettleOutcome::New(_));
        if !settled {
            self.open = CurrentLevel::default();
        }
        self.close_level()?;
        self.states = levels_keys(self.store.levels()).sum();
        Ok(settled)
    }

    /// Collects the initial states with one worker, and chooses the codec for them. Returns false if stopped.
    fn collect_initial(&mut self) -> Result<bool> {
        self.enter(SearchPhase::Beginning);
        let (width, level) = (self.width(), self.level_number());
        let behind = self.values.as_ref().map(ValueSpec::bytes);
        let behind =
            behind.or(self.model.capabilities().dominance.map(|it| it.bytes())).unwrap_or(0);
        let mut differing = projection::DifferingBits::new(width, behind);
        let all = self.plan.buffer as usize * 2 * (self.workers.len() - 1);
        let model = self.carrying.as_deref().unwrap_or(self.model);
        let Some(worker) = self.workers.first_mut() else { return Ok(false) };
        // The other workers are idle.
        worker.grow_buffer(all);
        let found = worker.start(model, level, self.control, &mut |keys| differing.note(keys))?;
        let Some(InitialStates { findings, generated }) = found else { return Ok(false) };
        self.open.outcome.findings = findings;
        self.open.outcome.counters.initial = generated;
        self.grow_encoding(&mut |keys| differing.note(keys))?;
        if let Some(codec) = differing.codec(&self.storage) {
            self.change_codec(codec)?;
        }
        Ok(true)
    }

    /// Changes the codec of the store and of the workers.
    fn change_codec(&mut self, codec: Codec) -> Result<()> {
        self.conversions.add(self.states);
        let level = self.level_number();
        for worker in &mut self.workers {
            worker.change_codec(&codec, level)?;
        }
        self.store.change_codec(&codec, self.plan.threads)
    }

    /// Returns a codec that represents all candidates, if the store's codec does not.
    fn wider_codec(&self) -> Option<Codec> {
        let exceptional = exceptional_bits(&self.workers)?;
        let widening = self.conversions.widening(self.states);
        Some(projection::widen_codec(self.store.codec(), &exceptional, widening))
    }

    /// Expands the last level, re-expands states, and settles the next level.
    fn level(&mut self) -> Result<LevelOutcome> {
        if self.store.levels().is_empty() {
            return Ok(LevelOutcome::Finished);
        }
        if !self.find_reexpansions()? {
            return Ok(LevelOutcome::Stopped);
        }
        if self.open.exhausted && !self.postponed.has_reexpansions() {
            return Ok(LevelOutcome::Finished);
        }
        if !self.expand_level()? {
            return Ok(LevelOutcome::Stopped);
        }
        let (level, states) = (self.level_number().into(), self.last_level_states());
        let transitions = self.open.outcome.counters.transitions;
        self.control.progress.record_levels(CompletedLevels {
            first: level,
            last: level,
            states,
            transitions,
        });
        if self.limits.stop_on_violation && self.is_violated() && self.is_concluded()? {
            return Ok(LevelOutcome::Finished);
        }
        if self.is_answered() {
            return Ok(LevelOutcome::Finished);
        }
        let is_deep = self.levels_max.is_some_and(|max| u64::from(self.level_number()) + 1 >= max);
        if is_deep || self.is_enough.as_ref().is_some_and(|it| it(&self.all_findings())) {
            return Ok(LevelOutcome::Stopped);
        }
        self.grow_encoding(&mut |_| {})?;
        if let Some(codec) = self.wider_codec() {
            self.change_codec(codec)?;
        }
        let SettleOutcome::New(states) = self.settle_level()? else {
            return Ok(LevelOutcome::Stopped);
        };
        self.states += states;
        self.close_level()?;
        self.open.exhausted = states == 0 && self.postponed.is_due();
        if self.open.exhausted {
            self.open.expanded = self.last_level_states();
        }
        self.show_progress();
        Ok(if states > 0 || self.open.exhausted {
            LevelOutcome::Settled
        } else {
            LevelOutcome::Finished
        })
    }

    /// Expands the remaining states of the level and re-expands states, with checkpoints. Returns false if stopped.
    fn expand_level(&mut self) -> Result<bool> {
        let ExternalSearch { store, workers, .. } = self;
        let mut spare = 0;
        let frontier = store.frontier(|bytes| {
            spare = bytes / workers.len();
            workers.iter_mut().for_each(|worker| worker.grow_buffer(spare));
        })?;
        let codec = self.store.frontier_codec().clone();
        let states = frontier.keys(codec.key_width(self.width()));
        let level = LevelInOrder { frontier, codec, file: None };
        let Some(LevelInOrder { frontier, codec, file }) = self.in_order(level, spare)? else {
            return Ok(false);
        };
        self.enter(SearchPhase::Expanding);
        let is_expanded = self.reexpand()? && self.expand_states(&frontier, &codec, states)?;
        file.map_or(Ok(()), |it| self.disk.remove(&it.to_string()))?;
        Ok(is_expanded)
    }

    /// Puts a level in the order in which its states are expanded: with views, in that of a queue. `spare` is what each
    /// worker's buffer may have beyond its share. Returns nothing if stopped.
    fn in_order(&mut self, level: LevelInOrder, spare: usize) -> Result<Option<LevelInOrder>> {
        if self.model.capabilities().views.is_none() {
            return Ok(Some(level));
        }
        let level = ViewedLevel {
            number: self.level_number(),
            width: self.width(),
            states: &level.frontier,
            codec: &level.codec,
            limit: self.plan.buffer as usize * self.workers.len(),
        };
        if !level.is_small() {
            // The candidate buffers are empty, and the level is sorted in their memory.
            self.workers.iter_mut().for_each(ExpansionWorker::release_buffer);
        }
        let queued = level.queue(&*self.disk, &|| self.control.should_stop())?;
        self.workers.iter_mut().for_each(|worker| worker.grow_buffer(spare));
        Ok(queued.map(|QueuedLevel { states, file }| LevelInOrder {
            frontier: states,
            codec: Codec::Gaps,
            file,
        }))
    }

    /// Expands the remaining states of a level, with checkpoints. Returns false if stopped.
    fn expand_states(&mut self, frontier: &Frontier, codec: &Codec, states: u64) -> Result<bool> {
        while self.open.expanded < states && !self.has_ended_within_level() {
            let level = LevelExpansion {
                number: self.level_number(),
                last: self.level_number(),
                steps: self.postpones.map_or(ExpansionPass::All, ExpansionPass::First),
                frontier,
                codec,
                expanded: self.open.expanded,
                until: u64::MAX,
                ending: self.ends_within_level().then_some(self.limits.checks),
            };
            self.open.expanded = self.expand(&level)?;
            if self.control.should_stop() {
                return Ok(false);
            }
            if self.open.expanded < states && !self.has_ended_within_level() {
                self.checkpoint()?;
            }
        }
        Ok(true)
    }

    /// Expands states of a level until the next pause. Returns the number of expanded states of the level.
    fn expand(&mut self, level: &LevelExpansion) -> Result<u64> {
        let (last, every) = (self.clock.last, self.control.checkpoint_every);
        let pause = || self.control.should_stop() || last.elapsed() >= every;
        let model = self.carrying.as_deref().unwrap_or(self.model);
        let done = expand(model, level, &mut self.workers, self.control, &pause)?;
        let (states, mut outcome) = (done.states, done.outcome);
        if !self.limits.coverage {
            outcome.action_counts = ActionCounts::default();
        }
        self.open.outcome += outcome;
        Ok(states)
    }

    fn settle_level(&mut self) -> Result<SettleOutcome> {
        self.enter(SearchPhase::Settling);
        let threads = self.plan.threads;
        let (width, codec) = (self.width(), self.store.codec().clone());
        let mut segments = Vec::new();
        for worker in &mut self.workers {
            worker.flush()?;
            for piece in worker.pieces() {
                segments.push(piece.open(&*self.disk, width)?.with_codec(&codec));
            }
        }
        for piece in &self.open.restored {
            segments.push(piece.open(&*self.disk, width)?.with_codec(&codec));
        }
        let slices = self.workers.iter().map(ExpansionWorker::sorted).collect();
        let candidates = Candidates { slices, segments };
        let control = self.control;
        self.store.settle(&candidates, threads, &|| control.should_stop())
    }

    /// Adds the outcome of the expanded level to that of the search, and drops its candidates.
    fn close_level(&mut self) -> Result<()> {
        self.drop_unencoded()?;
        let open = std::mem::take(&mut self.open);
        self.whole_levels += open.outcome;
        let files = self.workers.iter_mut().filter_map(ExpansionWorker::clear);
        let files: Vec<FileName> = files.chain(open.restored_files).collect();
        self.discard(files, open.in_manifest)?;
        self.close_reexpansion()
    }

    /// Removes files, at once or when the manifest no longer names them.
    fn discard(&mut self, files: Vec<FileName>, in_manifest: bool) -> Result<()> {
        match in_manifest {
            true => self.stale.extend(files),
            false => files.iter().try_for_each(|file| self.disk.remove(&file.to_string()))?,
        }
        Ok(())
    }

    /// Decides the verdict. The candidates of the last level are dropped.
    fn finish(&mut self) {
        for worker in &mut self.workers {
            self.stale.extend(worker.clear());
        }
        self.stale.append(&mut self.open.restored_files);
        self.open.restored.clear();
        self.forget_unencoded();
        if std::mem::take(&mut self.open.exhausted) {
            self.open.expanded = 0;
        }
        self.forget_postponed();
        // The search has found a violation or visited all states.
        let at_end = self.limits.checks.violated_at_end(self.model, &self.outcome());
        self.verdict = match self.is_violated() || !at_end.is_empty() {
            true => SearchVerdict::Violated,
            false => SearchVerdict::Verified,
        };
    }

    /// Returns whether the first violated state of a level ends the search.
    fn ends_within_level(&self) -> bool {
        let SearchLimits { stop_on_violation, stop_within_level, .. } = self.limits;
        // Other conditions for the end apply to whole levels.
        stop_on_violation && stop_within_level && self.concludes.is_none()
    }

    /// Returns whether a violated state within the level has ended the search.
    fn has_ended_within_level(&self) -> bool {
        self.ends_within_level() && self.is_violated()
    }

    fn is_violated(&self) -> bool {
        let checks = self.limits.checks;
        self.hunts.found.is_some()
            || checks.any_selected(self.model, &self.whole_levels.findings)
            || checks.any_selected(self.model, &self.open.outcome.findings)
    }

    /// Returns whether the findings end the search.
    fn is_concluded(&self) -> Result<bool> {
        let Some(concludes) = &self.concludes else { return Ok(true) };
        concludes(&self.all_findings())
    }

    /// Returns whether all checks of states have a result.
    fn is_answered(&self) -> bool {
        self.limits.stop_when_answered && self.limits.are_answered(self.model, &self.all_findings())
    }

    /// Returns all findings, those of the current level included.
    fn all_findings(&self) -> Findings {
        let mut findings = self.whole_levels.findings.clone();
        findings.merge(self.open.outcome.findings.clone());
        findings
    }

    fn reached_max_states(&self) -> bool {
        self.limits.max_states.is_some_and(|max| self.states >= max)
    }

    fn level_number(&self) -> u32 {
        self.store.levels().len().saturating_sub(1) as u32
    }

    fn last_level_states(&self) -> u64 {
        self.store.levels().last_keys()
    }

    /// Shows a phase in the progress. Returns the previous phase.
    fn enter(&self, phase: SearchPhase) -> SearchPhase {
        self.control.progress.enter(phase)
    }

    fn show_progress(&self) {
        let progress = &self.control.progress;
        SearchProgress::set(&progress.level, u64::from(self.level_number()));
        SearchProgress::set(&progress.frontier, self.last_level_states());
        SearchProgress::set(&progress.expanded, self.open.expanded);
        SearchProgress::set(&progress.states, self.states);
    }
}

impl MemoryPlan {
    /// Adds memory for obligations to the plan of a search, if the system postpones transitions and the storage allows
    /// it, and for an encoding that grows.
    pub fn of_search(self, model: &dyn StateSpace, storage: &StateStorage) -> MemoryPlan {
        let owes =
            model.capabilities().postponing.is_some() && has_room_for_obligations(model, storage);
        let plan = if owes { self.for_obligations() } else { self };
        if model.capabilities().growing.is_some() { plan.for_growth() } else { plan }
    }
}

/// Returns whether a search of the system with this storage can postpone transitions.
pub fn has_room_for_obligations(model: &dyn StateSpace, storage: &StateStorage) -> bool {
    match storage {
        // An obligation is a key with a rank.
        StateStorage::Sorted(_) => model.width() + RANK <= WIDTH_MAX,
        StateStorage::Comback(_) => false,
    }
}

/// Rejects a storage that a system does not allow.
fn check_storage(model: &dyn StateSpace, storage: &StateStorage) -> Result<()> {
    check_growth(model).map_err(GrowthError::into_error)?;
    check_views(model, storage).map_err(|it| Error::Source { reason: it.into() })
}

/// Rejects a search of a system whose encoding grows if another capability cannot wait for encodings.
fn check_growth(model: &dyn StateSpace) -> std::result::Result<(), GrowthError> {
    let capabilities = model.capabilities();
    if capabilities.growing.is_none() {
        return Ok(());
    }
    let unsupported = [
        (capabilities.postponing.is_some(), "postponing transitions"),
        (capabilities.sleep_sets.is_some(), "sleep sets"),
        (capabilities.dominance.is_some(), "dominance"),
    ];
    match unsupported.into_iter().find(|it| it.0) {
        Some((_, part)) => Err(GrowthError::Unsupported(part)),
        None => Ok(()),
    }
}

/// Returns the number of states of each level.
fn levels_keys(levels: &LevelLog) -> impl Iterator<Item = u64> {
    levels.saved().keys_by_level()
}
