//! Accepting cycles among states on disk: One-Way-Catch-Them-Young (Fisler, Fraer, Kamhi, Vardi and Yang, "Is there a
//! best symbolic cycle-detection algorithm?", 2001; on disk: Barnat, Brim and Simecek, "I/O efficient accepting cycle
//! detection", 2007).
//!
//! ```text
//! set = the states in components of the automaton that have accepting cycles   (the region)
//! repeat: trim:  remove the states without a predecessor in the set
//!         reach: remove the states that are not reachable from accepting states of the set
//! until nothing changes
//! ```
//!
//! There is an accepting cycle if and only if states are left. If every cycle of the automaton's components is
//! accepting, trimming once is enough. Trimming counts predecessors. Each state of the set is expanded once to count,
//! and once more when it leaves, since its successors then lose a predecessor. A state with more predecessors than can
//! be counted stays. It is counted again when no other state leaves.
//!
//! A remaining state has predecessors in the set, but need not lie on a cycle. So a *round* starts at an accepting
//! state of the lowest level and explores the set breadth-first until it reaches that state again. If it does not, the
//! state and all visited states leave the set. The remaining states keep all their predecessors, so the set is not
//! empty. No state is expanded in two rounds.
//!
//! Under weak fairness (`spillway-model/src/fairness.rs`) a cycle also needs, for each process, a step that is fair to it. So
//! *reach* runs in turn for accepting states and for the fair steps of each process, until one whole turn removes
//! nothing. Consider a component of the remaining states without incoming steps. It has an accepting state and a fair
//! step for each process. A round then explores all reachable states. If it does not visit the whole set, the visited
//! states leave. Otherwise the first state, and all states that lead back to it, are in the only such component. The
//! cycle is then built of paths from the first state to the nearest step that is still needed, and back. If a round
//! from the target of such a step does not return, the target and all visited states leave the set (`fair_cycle.rs`).
//!
//! The state of the algorithm is a small number for each state. Sweeps read and write these numbers sequentially in
//! files (`marks.rs`). Only the successors that are being sorted are in memory. A search can stop at the end of each
//! sweep.

mod fair_cycle;
mod found_lasso;
mod marks;
pub(crate) mod region;
pub(crate) mod region_keys;
mod saved_cycles;
mod sweep;
mod target_picker;

pub use saved_cycles::{CYCLES, CycleGoal, RoundNumbers, STAGES, SavedCycleSearch};
pub use sweep::SweepKind;

use super::nested_dfs::ProbeVerdict;
use crate::checkpoint::SavedSearch;
use crate::control::{SearchPhase, SearchProgress};
use crate::expand::{ObligationBuffer, RANK};
use crate::orphan_files::remove_orphan_files;
use crate::trace::{StoredLevels, TraceFinder};
use crate::{MemoryPlan, SearchControl};
use fair_cycle::FairCycleBuilder;
use marks::{MarkCounts, ShardMarks};
use region::CycleRegion;
use region::RegionLayout;
pub use region::StateVisitor;
use region_keys::RegionKeys;
use saved_cycles::{CycleOperation, FairCyclePath};
use spill::{Codec, Disk, Error, FileName, FileSegment, Result, SavedLevels, Store, WIDTH_MAX};
use spillway_model::{FairSteps, StateSpace};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};
use sweep::{CycleRequirement, RegionSweep, SweepBuffers, SweptShard};
use target_picker::TargetPicker;

/// The least time between two checkpoints at ends of sweeps.
const CHECKPOINT_MIN: Duration = Duration::from_secs(1);

/// Returns the component of the automaton that a state of a product belongs to.
pub type ComponentOf<'a> = dyn Fn(&[u8]) -> Option<usize> + Sync + 'a;

/// The acceptance condition of a product.
pub struct ProductAcceptance<'a> {
    /// The component of the automaton that a state is in, if the component has accepting cycles.
    pub component: &'a ComponentOf<'a>,
    /// Whether a state is accepting.
    pub accepts: &'a (dyn Fn(&[u8]) -> bool + Sync),
    /// Whether all cycles in these components are accepting.
    pub is_weak: bool,
}

impl<'a> ProductAcceptance<'a> {
    /// Accepts all cycles within components.
    pub fn of_all_cycles(component: &'a ComponentOf<'a>) -> ProductAcceptance<'a> {
        ProductAcceptance { component, accepts: &|_| true, is_weak: true }
    }
}

/// A product that is searched for cycles.
pub struct AcceptingProduct<'a> {
    /// Its states and steps.
    pub model: &'a dyn StateSpace,
    /// Its acceptance condition.
    pub acceptance: ProductAcceptance<'a>,
}

/// How a region is written.
#[derive(Clone, Copy, Debug)]
pub struct RegionOptions {
    /// The goal of the search in the region.
    pub goal: CycleGoal,
    /// The round, if the search enforces the cycle proviso.
    pub round: Option<RoundNumbers>,
    /// The most states of a shard; none for the default size.
    pub shard_states: Option<u64>,
    /// The seconds of earlier searches among the reached states.
    pub seconds: f64,
}

impl RegionOptions {
    /// A search for an accepting cycle.
    pub const ACCEPTANCE: RegionOptions = RegionOptions {
        goal: CycleGoal::Acceptance,
        round: None,
        shard_states: None,
        seconds: 0.0,
    };
}

/// The content of the directory of a cycle search.
pub struct CycleCheckpoint {
    /// The reached states.
    pub reached: ReachedStates,
    /// The progress of the cycle search.
    pub saved: SavedCycleSearch,
}

/// The location of the reached states.
pub struct ReachedStates {
    levels: SavedLevels,
    /// The number of reached states.
    states: u64,
    codec: Codec,
    files: BTreeSet<FileName>,
}

impl ReachedStates {
    /// Returns the states that a search had reached at its last checkpoint.
    pub fn of(saved: &SavedSearch) -> Result<ReachedStates> {
        let (levels, codec) = (saved.store.levels.clone(), saved.codec()?);
        let states = levels.keys_by_level().sum();
        Ok(ReachedStates { levels, states, codec, files: saved.files().collect() })
    }

    /// Returns their levels on this disk.
    fn stored_levels<'s>(&'s self, disk: &'s dyn Disk) -> StoredLevels<'s> {
        StoredLevels { disk, levels: &self.levels, codec: &self.codec }
    }
}

/// A search for accepting cycles in the directory of a search that has reached all states.
pub struct CycleSearch<'a> {
    region: CycleRegion<'a>,
    /// Computes the processes to which steps are fair, in checks under fairness.
    fair: Option<&'a dyn FairSteps>,
    plan: MemoryPlan,
    reached: ReachedStates,
    saved: SavedCycleSearch,
    owed: Vec<ObligationBuffer>,
    rooms: Vec<SweepBuffers>,
    /// The search stops after this number of sweeps.
    sweeps_max: Option<u32>,
    /// Files that the manifest names.
    named: BTreeSet<FileName>,
    /// Files that are not durable yet, and their lengths.
    fresh: Vec<(FileName, u64)>,
    /// Files that the manifest names but that are no longer needed.
    stale: Vec<FileName>,
    begun: Instant,
    seconds_before: f64,
    last_checkpoint: Instant,
}

impl<'a> CycleSearch<'a> {
    /// Writes the region of the states in `store`. Returns nothing if stopped. The store is not needed afterwards.
    pub fn gather(
        store: &Store,
        product: &AcceptingProduct<'_>,
        disk: &dyn Disk,
        control: &SearchControl,
        options: RegionOptions,
    ) -> Result<Option<SavedCycleSearch>> {
        let RegionOptions { goal, round, shard_states, seconds } = options;
        control.progress.enter(SearchPhase::Gathering);
        let levels = store.levels();
        let states = levels.saved().keys_by_level().sum();
        let shard_states = shard_states.unwrap_or_else(|| region::shard_states(states));
        let keys = RegionKeys::of(product.model.width(), store.codec());
        let stop = || control.should_stop();
        let is_wanted = |state: &[u8]| (product.acceptance.component)(state).is_some();
        let layout = RegionLayout { keys: &keys, shard_states };
        let region = region::build(&store.runs(), layout, &is_wanted, disk, &stop)?;
        let Some(region) = region else {
            return Ok(None);
        };
        let marks: Vec<ShardMarks> =
            region.iter().map(|piece| ShardMarks::all(piece.at.keys)).collect();
        let next = if region.is_empty() {
            CycleOperation::None
        } else {
            CycleOperation::Sweep(SweepKind::Count)
        };
        let saved = SavedCycleSearch {
            digest: product.model.digest(),
            goal,
            round,
            region,
            marks,
            next,
            sweeps: 0,
            seeded: 0,
            demand: 0,
            settled: 0,
            target: None,
            layers: Vec::new(),
            returned: false,
            walk: None,
            seconds,
        };
        if let Some((file, length)) = saved.region.last().map(length) {
            make_durable(disk, file, length)?;
        }
        saved.commit(disk)?;
        Ok(Some(saved))
    }

    /// Resumes from a checkpoint.
    pub fn resume(
        product: AcceptingProduct<'a>,
        disk: Arc<dyn Disk>,
        checkpoint: CycleCheckpoint,
        plan: MemoryPlan,
        control: &'a SearchControl,
    ) -> Result<CycleSearch<'a>> {
        let AcceptingProduct { model, acceptance: accepting } = product;
        let CycleCheckpoint { reached, saved } = checkpoint;
        if saved.digest != model.digest() {
            return Err(Error::corrupt(saved_cycles::CYCLES, 0, "it belongs to another model"));
        }
        let keys = RegionKeys::of(model.width(), &reached.codec);
        let width = keys.width();
        if width + RANK > WIDTH_MAX {
            let most = WIDTH_MAX - RANK;
            let what = format!(
                "states of {width} bytes are too long: cycles can be detected with states of at most {most}"
            );
            return Err(Error::Limit { what });
        }
        let named: BTreeSet<FileName> = saved.files().collect();
        remove_orphan_keys(&*disk, &named, &reached.files)?;
        let shards = region::open(&saved.region, &*disk, width)?;
        let threads = plan.threads.max(1);
        let all = plan.young + plan.filter + 2 * plan.buffer * threads as u64;
        let share = (all / 2 / threads as u64) as usize;
        let owed =
            (0..threads as u16).map(|number| ObligationBuffer::new(number, width, share, &disk));
        let now = Instant::now();
        Ok(CycleSearch {
            owed: owed.collect(),
            rooms: (0..threads).map(|_| SweepBuffers::new(width)).collect(),
            region: CycleRegion { model, accepting, disk, control, keys, shards },
            seconds_before: saved.seconds,
            fair: None,
            plan,
            reached,
            saved,
            sweeps_max: None,
            named,
            fresh: Vec::new(),
            stale: Vec::new(),
            begun: now,
            last_checkpoint: now,
        })
    }

    /// Searches for a cycle that is fair to all processes.
    pub fn with_fairness(self, fair: &'a dyn FairSteps) -> Self {
        CycleSearch { fair: Some(fair).filter(|it| it.processes() > 0), ..self }
    }

    /// Stops the search after this number of sweeps.
    pub fn with_max_sweeps(self, sweeps: u32) -> Self {
        CycleSearch { sweeps_max: Some(sweeps), ..self }
    }

    /// Visits the states that the search has left, until `visit` breaks off. Returns false if stopped.
    pub fn visit_remaining(&self, visit: &mut StateVisitor<'_>) -> Result<bool> {
        self.region.visit_members(&self.saved.marks, visit)
    }

    /// Returns the progress of the search.
    pub fn saved(&self) -> &SavedCycleSearch {
        &self.saved
    }

    /// Searches for an accepting cycle until there is a verdict or the control stops it. In both cases, and after
    /// errors, the directory holds the work up to the last checkpoint.
    pub fn run(&mut self) -> Result<ProbeVerdict> {
        let searched = self.search();
        if let Err(Error::Full { .. }) = &searched {
            // Free the space of a full disk. The error that ended the search is the one to report.
            let named =
                SavedCycleSearch::load(&*self.region.disk).map(|saved| saved.files().collect());
            let _ = named
                .and_then(|it| remove_orphan_keys(&*self.region.disk, &it, &self.reached.files));
        }
        searched
    }

    fn search(&mut self) -> Result<ProbeVerdict> {
        let found = loop {
            self.show_progress();
            let goes_on = match self.saved.next {
                CycleOperation::None | CycleOperation::Found | CycleOperation::Remaining => {
                    self.region.control.progress.enter(SearchPhase::Tracing);
                    break self.saved.probe_verdict(&self.reached, &self.finder())?;
                }
                _ if self.sweeps_max.is_some_and(|max| self.saved.sweeps >= max) => false,
                CycleOperation::Pick => self.pick()?,
                CycleOperation::Walk => self.walk()?,
                CycleOperation::Sweep(turn) => self.sweep(turn)?,
            };
            if !goes_on || self.region.control.should_stop() {
                break ProbeVerdict::Open;
            }
            let is_due = self.last_checkpoint.elapsed() >= CHECKPOINT_MIN;
            if is_due {
                self.checkpoint()?;
            }
        };
        self.checkpoint()?;
        Ok(found)
    }

    /// Runs one sweep and chooses the next operation. Returns false if stopped.
    fn sweep(&mut self, turn: SweepKind) -> Result<bool> {
        let key_of = |state: Option<&[u8]>| {
            let mut key = Vec::new();
            let known = state.filter(|_| matches!(turn, SweepKind::Round | SweepKind::Peel));
            known.map(|it| self.region.keys.project(it, &mut key).map(|()| key)).transpose()
        };
        let target = self.saved.target.as_ref().map(|it| it.state.as_slice());
        let (begin, layers) = match &self.saved.walk {
            None => (target, &self.saved.layers),
            Some(walk) => (walk.witness.as_ref().map(|it| it.to.as_slice()), &walk.layers),
        };
        let begins = turn == SweepKind::Round && layers.is_empty();
        let (begin, target) = (key_of(begin)?, key_of(target)?);
        let sweep = RegionSweep {
            region: &self.region,
            marks: &self.saved.marks,
            turn,
            demand: self.demand(),
            number: self.saved.sweeps + 1,
            begin: begin.as_deref(),
            target: target.as_deref(),
            begins,
        };
        let Some(swept) = sweep.run(&mut self.owed, &mut self.rooms)? else { return Ok(false) };
        self.saved.sweeps += 1;
        let returned = self.adopt_sweep(turn, swept)?;
        let mut counts = MarkCounts::default();
        self.saved.marks.iter().for_each(|it| counts.add(it.counts));
        self.saved.next = self.next_operation(turn, counts, returned)?;
        Ok(true)
    }

    /// Replaces the numbers and layers by those of a sweep. Returns whether the round reached its target.
    fn adopt_sweep(&mut self, turn: SweepKind, swept: Vec<SweptShard>) -> Result<bool> {
        let mut returned = false;
        let mut layer: Vec<FileSegment> = Vec::new();
        for (at, shard) in swept.into_iter().enumerate() {
            returned |= shard.returned;
            self.fresh.extend(shard.layer.last().map(length));
            layer.extend(shard.layer);
            let before = std::mem::replace(&mut self.saved.marks[at], shard.marks).file;
            if before != shard.marks.file {
                self.fresh.extend(shard.marks.file);
                before.map_or(Ok(()), |(file, _)| self.discard(file))?;
            }
        }
        match &mut self.saved.walk {
            _ if turn != SweepKind::Round => {}
            None => {
                self.saved.returned |= returned;
                self.saved.layers.push(layer);
            }
            Some(walk) => walk.layers.push(layer),
        }
        Ok(returned)
    }

    /// Returns the operation that follows a sweep.
    fn next_operation(
        &mut self,
        turn: SweepKind,
        counts: MarkCounts,
        returned: bool,
    ) -> Result<CycleOperation> {
        let MarkCounts { members, pending, many } = counts;
        Ok(match turn {
            SweepKind::Peel if members == 0 => {
                return Err(contradiction("no state is left of what has an accepting cycle"));
            }
            _ if members == 0 => CycleOperation::None,
            SweepKind::Count | SweepKind::Drop if pending > 0 => {
                CycleOperation::Sweep(SweepKind::Drop)
            }
            SweepKind::Drop if many > 0 => CycleOperation::Sweep(SweepKind::Count),
            SweepKind::Count | SweepKind::Drop if self.saved.goal == CycleGoal::Proviso => {
                CycleOperation::Remaining
            }
            SweepKind::Count | SweepKind::Drop if self.demands() == 0 => {
                CycleOperation::Sweep(SweepKind::Forget)
            }
            SweepKind::Count | SweepKind::Drop => {
                self.saved.seeded = members;
                CycleOperation::Sweep(SweepKind::Seed)
            }
            SweepKind::Seed | SweepKind::Grow if pending > 0 => {
                CycleOperation::Sweep(SweepKind::Grow)
            }
            SweepKind::Seed | SweepKind::Grow => CycleOperation::Sweep(SweepKind::Reached),
            SweepKind::Reached => self.after_reaching(members),
            SweepKind::Forget | SweepKind::Peel => {
                self.forget_layers()?;
                if self.saved.walk.is_some() { CycleOperation::Walk } else { CycleOperation::Pick }
            }
            SweepKind::Round if returned && self.fair.is_none() => CycleOperation::Found,
            SweepKind::Round if returned && self.saved.walk.is_some() => CycleOperation::Walk,
            SweepKind::Round if pending > 0 => CycleOperation::Sweep(SweepKind::Round),
            SweepKind::Round if self.is_all_reached(members) => {
                self.saved.walk = Some(FairCyclePath::default());
                CycleOperation::Sweep(SweepKind::Forget)
            }
            SweepKind::Round => CycleOperation::Sweep(SweepKind::Peel),
        })
    }

    /// Returns the number of requirements of a cycle: accepting states, unless every cycle has one, and the processes.
    fn demands(&self) -> u32 {
        let processes = self.fair.map_or(0, |it| it.processes() as u32);
        u32::from(!self.region.accepting.is_weak) + processes
    }

    /// Returns the requirement whose reachability is computed.
    fn demand(&self) -> CycleRequirement<'a> {
        let process = self.saved.demand.checked_sub(u32::from(!self.region.accepting.is_weak));
        match (self.fair, process) {
            (Some(fair), Some(process)) => CycleRequirement::FairTo(fair, process as usize),
            _ => CycleRequirement::Accepting,
        }
    }

    /// Returns the operation that follows the removal of states not reached from a requirement.
    fn after_reaching(&mut self, members: u64) -> CycleOperation {
        let took_out = members < self.saved.seeded;
        self.saved.settled = if took_out { 0 } else { self.saved.settled + 1 };
        self.saved.seeded = members;
        if self.saved.settled == self.demands() {
            return CycleOperation::Pick;
        }
        self.saved.demand = (self.saved.demand + 1) % self.demands();
        // If states left, others may have lost their predecessors, so these are counted again first.
        CycleOperation::Sweep(if took_out { SweepKind::Count } else { SweepKind::Seed })
    }

    /// Returns whether the round at which a fair cycle begins reached all `members` states of the set.
    fn is_all_reached(&self, members: u64) -> bool {
        let reached: u64 = self.saved.layers.iter().flatten().map(|it| it.at.keys).sum();
        let is_first = self.fair.is_some() && self.saved.walk.is_none();
        is_first && self.saved.returned && reached == members
    }

    /// Drops the layers of the last round. While a fair cycle is built, this is the round back to its first state.
    fn forget_layers(&mut self) -> Result<()> {
        let layers = match &mut self.saved.walk {
            Some(walk) => {
                walk.witness = None;
                std::mem::take(&mut walk.layers)
            }
            None => {
                self.saved.returned = false;
                std::mem::take(&mut self.saved.layers)
            }
        };
        let files: BTreeSet<FileName> = layers.iter().flatten().map(|it| it.file).collect();
        files.into_iter().try_for_each(|file| self.discard(file))
    }

    /// Chooses the state at which a round begins. Returns false if stopped.
    fn pick(&mut self) -> Result<bool> {
        let picking = TargetPicker {
            region: &self.region,
            marks: &self.saved.marks,
            levels: self.reached.stored_levels(&*self.region.disk),
            from: self.saved.target.as_ref().map_or(0, |it| it.level),
        };
        let name = FileName::Layer { sweep: self.saved.sweeps, shard: u16::MAX };
        let Some(target) = picking.first(name)? else {
            return match self.region.control.is_stopped() {
                true => Ok(false),
                false => Err(contradiction("no accepting state is left where there must be one")),
            };
        };
        self.saved.target = Some(target);
        self.saved.next = CycleOperation::Sweep(SweepKind::Round);
        Ok(true)
    }

    /// Extends a fair cycle: adds the next step that it needs and the path back, or searches for such a step. Returns
    /// false if stopped.
    fn walk(&mut self) -> Result<bool> {
        let (Some(target), Some(walk), Some(fair)) =
            (&self.saved.target, &self.saved.walk, self.fair)
        else {
            return Err(contradiction("a loop is put together that nobody asked for"));
        };
        let walking = FairCycleBuilder {
            region: &self.region,
            fair,
            marks: &self.saved.marks,
            target: &target.state,
            layers: &self.saved.layers,
        };
        if walk.witness.is_some() {
            let (mut walk, returned) = (walk.clone(), !walk.layers.is_empty());
            if !walking.extend_cycle(&mut walk, &self.finder())? {
                return Ok(false);
            }
            self.saved.walk = Some(walk);
            self.forget_layers()?;
            self.saved.next = if returned {
                CycleOperation::Sweep(SweepKind::Forget)
            } else {
                CycleOperation::Walk
            };
            return Ok(true);
        }
        let Some(process) = walking.unserved_process(walk) else {
            self.saved.next = CycleOperation::Found;
            return Ok(true);
        };
        let Some(witness) = walking.witness(process)? else {
            return match self.region.control.is_stopped() {
                true => Ok(false),
                false => Err(contradiction("no step is left that is fair to a process")),
            };
        };
        let is_back = witness.to == target.state;
        self.saved.walk = Some(FairCyclePath { witness: Some(witness), ..walk.clone() });
        self.saved.next =
            if is_back { CycleOperation::Walk } else { CycleOperation::Sweep(SweepKind::Round) };
        Ok(true)
    }

    fn finder(&self) -> TraceFinder<'_> {
        TraceFinder {
            model: self.region.model,
            disk: &*self.region.disk,
            threads: self.plan.threads,
            control: self.region.control,
            folder: None,
        }
    }

    /// Removes a file, at once or when the manifest no longer names it.
    fn discard(&mut self, file: FileName) -> Result<()> {
        self.fresh.retain(|(fresh, _)| *fresh != file);
        if self.named.contains(&file) {
            self.stale.push(file);
            return Ok(());
        }
        self.region.disk.remove(&file.to_string())
    }

    /// Makes the progress durable.
    fn checkpoint(&mut self) -> Result<()> {
        let before = self.region.control.progress.enter(SearchPhase::Saving);
        for (file, length) in self.fresh.drain(..) {
            make_durable(&*self.region.disk, file, length)?;
        }
        self.saved.seconds = self.seconds();
        self.saved.commit(&*self.region.disk)?;
        self.named = self.saved.files().collect();
        self.stale.drain(..).try_for_each(|file| self.region.disk.remove(&file.to_string()))?;
        self.last_checkpoint = Instant::now();
        SearchProgress::add(&self.region.control.progress.checkpoints, 1);
        self.region.control.progress.enter(before);
        Ok(())
    }

    /// Returns the seconds of sweeping, earlier sessions included.
    pub fn seconds(&self) -> f64 {
        self.seconds_before + self.begun.elapsed().as_secs_f64()
    }

    fn show_progress(&self) {
        let progress = &self.region.control.progress;
        progress.enter(SearchPhase::Sweeping);
        SearchProgress::set(&progress.states, self.reached.states);
        SearchProgress::set(&progress.sweep, u64::from(self.saved.sweeps) + 1);
        SearchProgress::set(&progress.set, self.saved.members());
        SearchProgress::set(&progress.stage, self.saved.stage());
    }
}

/// Returns the file of a segment and its length up to the end of the segment.
fn length(piece: &FileSegment) -> (FileName, u64) {
    (piece.file, piece.at.offset + piece.at.length)
}

fn make_durable(disk: &dyn Disk, file: FileName, length: u64) -> Result<()> {
    disk.append_at(&file.to_string(), length)?.sync()
}

/// Returns the error of a model that generates other successors than before.
pub(crate) fn inconsistent_successors() -> Error {
    contradiction("a state has other successors than before")
}

fn contradiction(what: &str) -> Error {
    Error::Source { reason: what.into() }
}

/// Removes the orphan files of keys.
fn remove_orphan_keys(
    disk: &dyn Disk,
    named: &BTreeSet<FileName>,
    reached: &BTreeSet<FileName>,
) -> Result<()> {
    let known: BTreeSet<String> = named.union(reached).map(FileName::to_string).collect();
    remove_orphan_files(disk, |name| known.contains(name))
}
