//! One thread of a hunt: it expands states, makes choices at random, and keeps the limits of its turn.

use super::target::{HuntFinding, HuntTarget};
use crate::lasso::Lasso;
use crate::{SearchControl, collect_successors};
use spill::{Error, Result};
use spillway_base::random::SplitMix64;
use spillway_model::{ActionCounts, Findings, Violation};
use std::ops::AddAssign;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The work between two checks of the clock and of other threads.
const LOOK_AFTER: u64 = 1024;

/// The position of a turn that is later than any.
const NEVER: u64 = u64::MAX;

/// The bits of a position for the number of the thread.
const THREAD_BITS: u32 = 16;

/// Figures of a running hunt that a display may read at any time.
#[derive(Debug, Default)]
pub struct HuntProgress {
    /// The walks begun.
    pub walks: AtomicU64,
    /// The transitions taken or examined.
    pub transitions: AtomicU64,
    /// The number of steps of the longest path.
    pub depth_max: AtomicU64,
    /// The number of actions that were executed.
    pub actions: AtomicU64,
}

impl HuntProgress {
    fn add(counter: &AtomicU64, value: u64) {
        counter.fetch_add(value, Ordering::Relaxed);
    }
}

/// The initial states from which walks start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HuntStarts {
    /// The states, concatenated.
    pub states: Vec<u8>,
    /// Whether the model has no others.
    pub are_all: bool,
}

/// What the threads of a hunt share: when to stop, and the figures. No thread's choices depend on it.
pub struct HuntShared<'h> {
    /// The target.
    pub target: &'h HuntTarget<'h>,
    /// The initial states.
    pub starts: HuntStarts,
    /// The control that stops the hunt.
    pub control: &'h SearchControl,
    /// The figures.
    pub progress: &'h HuntProgress,
    /// The bytes that an encoding of states may gain.
    pub growth_max: u64,
    /// The position of the earliest turn that ended the hunt.
    best: AtomicU64,
    has_failed: AtomicBool,
    is_out_of_memory: AtomicBool,
    executed: Mutex<ActionCounts>,
}

impl<'h> HuntShared<'h> {
    /// Creates the shared state of a hunt.
    pub fn new(
        target: &'h HuntTarget<'h>,
        starts: HuntStarts,
        control: &'h SearchControl,
        progress: &'h HuntProgress,
        growth_max: u64,
    ) -> HuntShared<'h> {
        HuntShared {
            target,
            starts,
            control,
            progress,
            growth_max,
            best: AtomicU64::new(NEVER),
            has_failed: AtomicBool::new(false),
            is_out_of_memory: AtomicBool::new(false),
            executed: Mutex::default(),
        }
    }

    /// Records that the model failed, which ends the hunt on all threads.
    pub fn set_failed(&self) {
        self.has_failed.store(true, Ordering::Relaxed);
    }

    /// Returns whether the encoding of states took all of its memory.
    pub fn is_out_of_memory(&self) -> bool {
        self.is_out_of_memory.load(Ordering::Relaxed)
    }

    /// Records that the hunt ends with the turn at a position.
    pub fn end_at(&self, position: u64) {
        self.best.fetch_min(position, Ordering::Relaxed);
    }

    /// Returns the number of executions of each action so far.
    pub fn executed(&self) -> ActionCounts {
        self.executed.lock().map(|it| it.clone()).unwrap_or_default()
    }

    fn should_stop(&self, position: u64) -> bool {
        let growing = self.target.model.capabilities().growing;
        if growing.is_some_and(|it| it.memory() > self.growth_max) {
            self.is_out_of_memory.store(true, Ordering::Relaxed);
        }
        self.best.load(Ordering::Relaxed) < position
            || self.has_failed.load(Ordering::Relaxed)
            || self.is_out_of_memory()
            || self.control.should_stop()
    }
}

/// The figures of one turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TurnStats {
    /// The walks, dives and searches begun.
    pub walks: u64,
    /// The transitions taken or examined.
    pub transitions: u64,
    /// The number of steps of the longest path.
    pub depth_max: u64,
}

impl AddAssign for TurnStats {
    fn add_assign(&mut self, other: TurnStats) {
        self.walks += other.walks;
        self.transitions += other.transitions;
        self.depth_max = self.depth_max.max(other.depth_max);
    }
}

/// The end of a turn.
#[derive(Debug, PartialEq, Eq)]
pub enum TurnEnd {
    /// Nothing was found.
    Nothing,
    /// All states were visited, as far as fingerprints show.
    Exhausted,
    /// A violation, or a run.
    Found(HuntFinding),
}

/// A strategy of one thread. It keeps what it learnt from turn to turn.
pub trait HuntStrategy {
    /// Takes a turn.
    ///
    /// # Errors
    ///
    /// If the model fails.
    fn take_turn(&mut self, worker: &mut HuntWorker) -> Result<TurnEnd>;
}

/// One thread of a hunt.
pub struct HuntWorker<'h> {
    shared: &'h HuntShared<'h>,
    /// The number of the thread.
    thread: usize,
    /// The bytes of memory for the sets and the states of its strategies.
    pub bytes: u64,
    /// The random numbers of the thread.
    pub random: SplitMix64,
    /// The successors of the state that was expanded last.
    pub successors: Vec<u8>,
    counts: ActionCounts,
    /// Findings that occurred, and whether each counts as a violation.
    known_findings: Vec<(Violation, bool)>,
    /// The walks that may still begin.
    walks_left: u64,
    position: u64,
    turn: TurnStats,
    /// The work of the turn: its transitions, and the evaluations of distances.
    work: u64,
    turn_work_max: u64,
    /// The work at which the current part of the turn ends.
    part_work_max: u64,
    look_at: u64,
    is_stopped: bool,
}

/// The limits of a thread.
#[derive(Clone, Copy, Debug)]
pub struct WorkerLimits {
    /// The number of the thread.
    pub thread: usize,
    /// The seed of its random numbers.
    pub seed: u64,
    /// The most walks.
    pub walks: u64,
    /// The bytes of memory.
    pub bytes: u64,
}

impl<'h> HuntWorker<'h> {
    /// Creates a thread's state.
    pub fn new(shared: &'h HuntShared<'h>, limits: WorkerLimits) -> HuntWorker<'h> {
        let WorkerLimits { thread, seed, walks, bytes } = limits;
        HuntWorker {
            shared,
            thread,
            bytes,
            random: SplitMix64::new(seed),
            successors: Vec::new(),
            counts: ActionCounts::default(),
            known_findings: Vec::new(),
            walks_left: walks,
            position: 0,
            turn: TurnStats::default(),
            work: 0,
            turn_work_max: 0,
            part_work_max: 0,
            look_at: 0,
            is_stopped: false,
        }
    }

    /// Begins turn number `turn` of at most about this work. Returns false if the thread has ended.
    pub fn begin_turn(&mut self, turn: u64, work_max: u64) -> bool {
        self.position = turn << THREAD_BITS | self.thread as u64;
        self.turn = TurnStats::default();
        (self.work, self.look_at) = (0, LOOK_AFTER);
        (self.turn_work_max, self.part_work_max) = (work_max, work_max);
        self.is_stopped |= self.shared.should_stop(self.position);
        !self.is_stopped && self.walks_left > 0
    }

    /// Ends the turn. Returns its figures.
    pub fn end_turn(&mut self) -> TurnStats {
        let progress = self.shared.progress;
        HuntProgress::add(&progress.walks, self.turn.walks);
        HuntProgress::add(&progress.transitions, self.turn.transitions);
        progress.depth_max.fetch_max(self.turn.depth_max, Ordering::Relaxed);
        if let Ok(mut executed) = self.shared.executed.lock() {
            executed.merge(std::mem::take(&mut self.counts));
            progress.actions.store(executed.executed() as u64, Ordering::Relaxed);
        }
        self.turn
    }

    /// Returns the position of the turn in the order of all turns of all threads.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Returns the number of the thread.
    pub fn thread(&self) -> usize {
        self.thread
    }

    /// Returns the work of the turn so far.
    pub fn work(&self) -> u64 {
        self.work
    }

    /// Adds work other than transitions to the turn.
    pub fn add_work(&mut self, work: u64) {
        self.work += work;
    }

    /// Ends the turn for a strategy after a part of its work, given by a numerator and a denominator.
    pub fn limit_to_part(&mut self, part: u64, of: u64) {
        self.part_work_max = self.turn_work_max / of * part;
    }

    /// Goes on with the turn up to its end.
    pub fn limit_to_turn(&mut self) {
        self.part_work_max = self.turn_work_max;
    }

    /// Returns the target of the hunt.
    pub fn target(&self) -> &'h HuntTarget<'h> {
        self.shared.target
    }

    /// Returns the bytes of a state.
    pub fn width(&self) -> usize {
        self.target().model.width()
    }

    /// Begins a walk. Returns false if the turn or the thread has ended.
    pub fn begin_walk(&mut self) -> bool {
        if self.is_over() || self.walks_left == 0 {
            return false;
        }
        self.walks_left -= 1;
        self.turn.walks += 1;
        true
    }

    /// Returns whether the turn has ended, or the current part of it.
    pub fn is_over(&mut self) -> bool {
        if self.work >= self.look_at {
            self.look_at = self.work + LOOK_AFTER;
            self.is_stopped |= self.shared.should_stop(self.position);
        }
        self.is_stopped || self.work >= self.part_work_max
    }

    /// Returns the number of initial states.
    pub fn starts(&self) -> usize {
        self.shared.starts.states.len() / self.width()
    }

    /// Returns whether there are no other initial states.
    pub fn has_all_starts(&self) -> bool {
        self.shared.starts.are_all
    }

    /// Returns an initial state by its number.
    pub fn start(&self, number: usize) -> &'h [u8] {
        &self.shared.starts.states[number * self.width()..][..self.width()]
    }

    /// Returns a successor by its number.
    pub fn successor(&self, number: usize) -> &[u8] {
        &self.successors[number * self.width()..][..self.width()]
    }

    /// Records the number of steps of a path.
    pub fn note_depth(&mut self, depth: usize) {
        self.turn.depth_max = self.turn.depth_max.max(depth as u64);
    }

    /// Replaces the successors by those of a state. Returns the first violation in the state or in a step from it.
    /// There are neither after a request to stop.
    ///
    /// # Errors
    ///
    /// If the model fails.
    pub fn expand(&mut self, state: &[u8]) -> Result<Option<Violation>> {
        let model = self.shared.target.model;
        let collected = collect_successors(model, state, &mut self.successors)?;
        if self.shared.control.is_stopped() {
            self.is_stopped = true;
            self.successors.clear();
            return Ok(None);
        }
        let transitions = collected.counters.transitions.max(1);
        self.turn.transitions += transitions;
        self.work += transitions;
        self.counts.merge(collected.action_counts);
        Ok(self.selected(&collected.findings))
    }

    /// Returns the first finding that counts as a violation.
    fn selected(&mut self, findings: &Findings) -> Option<Violation> {
        findings.iter().map(|it| it.0).find(|&check| self.is_selected(check))
    }

    fn is_selected(&mut self, check: Violation) -> bool {
        if let Some((_, is_selected)) = self.known_findings.iter().find(|it| it.0 == check) {
            return *is_selected;
        }
        let HuntTarget { model, checks, .. } = self.shared.target;
        let is_selected = checks.selects(*model, check);
        self.known_findings.push((check, is_selected));
        is_selected
    }

    /// Returns the states from an initial state along choices among the successors of each.
    ///
    /// # Errors
    ///
    /// If the model fails, or has not the same successors as before.
    pub fn follow(&self, start: usize, choices: &[u32]) -> Result<Vec<Vec<u8>>> {
        let (model, width) = (self.target().model, self.width());
        let (mut states, mut buffer) = (vec![self.start(start).to_vec()], Vec::new());
        for &choice in choices {
            let state = states.last().map_or(&[][..], Vec::as_slice);
            let _ = collect_successors(model, state, &mut buffer)?;
            let next = buffer.chunks_exact(width).nth(choice as usize);
            states.push(next.ok_or_else(changing_successors)?.to_vec());
        }
        Ok(states)
    }

    /// Returns the run whose states end in a step back to the state at a position. `None` if two states only had the
    /// same fingerprint.
    ///
    /// # Errors
    ///
    /// If the model fails.
    pub fn run_along(&self, states: Vec<Vec<u8>>, back: usize) -> Result<Option<HuntFinding>> {
        let (model, width) = (self.target().model, self.width());
        let last = states.last().map_or(&[][..], Vec::as_slice);
        let mut buffer = Vec::new();
        let _ = collect_successors(model, last, &mut buffer)?;
        let closes = buffer.chunks_exact(width).any(|next| next == states[back].as_slice());
        let accepts = states[back..].iter().any(|it| self.target().accepts(it));
        let lasso = Lasso { states, back, fair_to: Vec::new() };
        Ok((closes && accepts).then_some(HuntFinding::Run(lasso)))
    }
}

/// The error of a model that is not a function.
fn changing_successors() -> Error {
    let reason = "a state does not have the successors that it had before";
    Error::Source { reason: reason.into() }
}
