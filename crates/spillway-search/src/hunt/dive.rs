//! Depth-first dives with a bounded set of visited states, each in another order of successors.
//!
//! A dive visits the states depth-first from all initial states. It notes visited states by fingerprints alone, in
//! bounded memory, so it may miss states. A dive that misses nothing knowingly, and meets no limit, has exhausted the
//! states.
//!
//! The order of the successors differs from dive to dive, as in swarm verification. It is the order of generation, the
//! reverse, the order by transition class, or a random order. A dive draws the order of the classes once, and a random
//! order in each state.
//!
//! There are two series of dives, with a set each. A *long* dive continues in later turns, so it meets each violation
//! that a depth-first search of all states meets, unless its memory is too small. *Short* dives begin anew in each turn.

use super::fingerprints::{FingerprintSet, InsertionResult, difference_class, fingerprint};
use super::path_index::PathIndex;
use super::target::HuntFinding;
use super::worker::{HuntStrategy, HuntWorker, TurnEnd};
use spill::Result;
use spillway_base::random::mix;

/// The first limit of depth. It doubles after a dive that reached it.
pub const DEPTH_FIRST: usize = 10_000;

/// The limit of depth of a long dive.
pub const DEPTH_LONG: usize = 100_000;

/// The largest limit of depth.
pub const DEPTH_MAX: usize = 1 << 20;

/// The least bytes of a thread with long dives: those of two sets, and of their paths.
const BYTES_FOR_LONG: u64 = 12 << 20;

/// The part of a turn that a long dive takes.
const LONG_PART: (u64, u64) = (2, 3);

/// The number of orders.
const ORDERS: u64 = 4;

/// The entries of a set for each that replaced another one, when a dive ends.
const ENTRIES_FOR_REPLACED: u64 = 4;

/// An order of successors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SuccessorOrder {
    /// As the model generates them.
    Generated,
    /// Reversed.
    Reversed,
    /// By the class of the transition, in an order that the seed determines.
    ByClass(u64),
    /// In a random order in each state.
    Shuffled,
}

impl SuccessorOrder {
    /// Returns the order of a dive.
    fn of_dive(number: u64, seed: u64) -> SuccessorOrder {
        match number % ORDERS {
            0 => SuccessorOrder::Generated,
            1 => SuccessorOrder::ByClass(seed),
            2 => SuccessorOrder::Reversed,
            _ => SuccessorOrder::Shuffled,
        }
    }
}

/// A state on the path, whose successors are in the arena from `begin` on.
struct DiveFrame {
    begin: usize,
    /// The position of the next successor in the order of visits.
    next: usize,
    count: usize,
}

/// How far a dive came.
enum DiveEnd {
    /// The turn ended before it.
    Suspended,
    /// It has visited all states that its limits allow.
    Complete,
    /// It has a finding.
    Found(HuntFinding),
}

/// The memory of a dive in bytes.
#[derive(Clone, Copy)]
struct DiveMemory {
    /// For the set of visited states.
    visited: u64,
    /// For the path: its states, and their successors.
    path: u64,
}

/// A dive, which may be suspended.
struct SuspendableDive {
    order: SuccessorOrder,
    depth_limit: usize,
    /// The number of the initial state that begins next, and of those that have not begun.
    next_start: usize,
    starts_left: usize,
    visited: FingerprintSet,
    /// The number of visited states that replaced another one in the set.
    replaced: u64,
    /// The states on the path, if runs are hunted.
    path: PathIndex,
    frames: Vec<DiveFrame>,
    /// The successors of the states on the path, in the order of visits.
    arena: Vec<u8>,
    /// The states on the path.
    states: Vec<u8>,
    path_bytes_max: usize,
    keys: Vec<(u64, u32)>,
    /// Whether the dive missed states.
    is_partial: bool,
}

impl SuspendableDive {
    fn new(memory: DiveMemory, depth_limit: usize) -> SuspendableDive {
        SuspendableDive {
            order: SuccessorOrder::Generated,
            depth_limit,
            next_start: 0,
            starts_left: 0,
            visited: FingerprintSet::new(memory.visited),
            replaced: 0,
            path: PathIndex::default(),
            frames: Vec::new(),
            arena: Vec::new(),
            states: Vec::new(),
            path_bytes_max: memory.path as usize,
            keys: Vec::new(),
            is_partial: false,
        }
    }

    /// Begins a dive in an order.
    fn begin(&mut self, order: SuccessorOrder, worker: &mut HuntWorker) {
        self.order = order;
        self.visited.clear();
        self.replaced = 0;
        self.is_partial = !worker.has_all_starts();
        (self.starts_left, self.next_start) =
            (worker.starts(), worker.random.below(worker.starts()));
        self.path.clear();
        self.frames.clear();
        self.arena.clear();
        self.states.clear();
    }

    /// Continues the dive until the turn ends.
    fn run_turn(&mut self, worker: &mut HuntWorker) -> Result<DiveEnd> {
        let mut state = Vec::new();
        while !worker.is_over() {
            state.clear();
            match self.frames.last_mut() {
                Some(frame) if frame.next == frame.count => {
                    self.leave(worker.width());
                    continue;
                }
                Some(frame) => {
                    let at = frame.begin + frame.next * worker.width();
                    frame.next += 1;
                    state.extend_from_slice(&self.arena[at..at + worker.width()]);
                }
                None if self.starts_left == 0 => return Ok(DiveEnd::Complete),
                None => {
                    state.extend_from_slice(worker.start(self.next_start));
                    self.starts_left -= 1;
                    self.next_start = (self.next_start + 1) % worker.starts();
                }
            }
            if let Some(found) = self.enter(&state, worker)? {
                return Ok(DiveEnd::Found(found));
            }
            if self.replaced * ENTRIES_FOR_REPLACED > self.visited.entries() {
                return Ok(DiveEnd::Complete);
            }
        }
        Ok(DiveEnd::Suspended)
    }

    /// Visits a state unless it was visited before. Returns the finding in it.
    fn enter(&mut self, state: &[u8], worker: &mut HuntWorker) -> Result<Option<HuntFinding>> {
        let fingerprint = fingerprint(state);
        if worker.target().is_of_runs()
            && let Some(back) = self.path.position(fingerprint)
            && self.path.accepts_from(back)
        {
            return worker.run_along(self.states_of_path(worker.width()), back);
        }
        if self.frames.len() >= self.depth_limit || self.path_bytes() >= self.path_bytes_max {
            self.is_partial |= !self.visited.contains(fingerprint);
            return Ok(None);
        }
        match self.visited.insert(fingerprint) {
            InsertionResult::Known => return Ok(None),
            InsertionResult::New => {}
            InsertionResult::Replacing => {
                self.is_partial = true;
                self.replaced += 1;
            }
        }
        if worker.target().is_of_runs() {
            self.path.push(fingerprint, worker.target().accepts(state));
        }
        self.states.extend_from_slice(state);
        let found = worker.expand(state)?;
        worker.note_depth(self.frames.len());
        if let Some(check) = found {
            let states = self.states_of_path(worker.width());
            return Ok(Some(HuntFinding::Violation { check, states }));
        }
        let begin = self.arena.len();
        self.append(state, worker);
        let count = (self.arena.len() - begin) / worker.width();
        self.frames.push(DiveFrame { begin, next: 0, count });
        Ok(None)
    }

    /// Returns the bytes of the path.
    fn path_bytes(&self) -> usize {
        self.arena.len() + self.states.len() + self.frames.len() * size_of::<DiveFrame>()
    }

    /// Leaves the last state of the path.
    fn leave(&mut self, width: usize) {
        if let Some(frame) = self.frames.pop() {
            self.arena.truncate(frame.begin);
            self.states.truncate(self.frames.len() * width);
            self.path.pop();
        }
    }

    /// Appends the successors of a state to the arena in the order of the dive. Visited ones are left out, unless a run
    /// may close there.
    fn append(&mut self, state: &[u8], worker: &mut HuntWorker) {
        let all = 0..(worker.successors.len() / worker.width()) as u32;
        let is_of_runs = worker.target().is_of_runs();
        self.keys.clear();
        for it in all {
            let next = worker.successor(it as usize);
            if !is_of_runs && self.visited.contains(fingerprint(next)) {
                continue;
            }
            let key = match self.order {
                SuccessorOrder::Generated | SuccessorOrder::Reversed => 0,
                SuccessorOrder::ByClass(seed) => mix(seed ^ difference_class(state, next)),
                SuccessorOrder::Shuffled => worker.random.next_number(),
            };
            self.keys.push((key, it));
        }
        match self.order {
            SuccessorOrder::Generated => {}
            SuccessorOrder::Reversed => self.keys.reverse(),
            SuccessorOrder::ByClass(_) | SuccessorOrder::Shuffled => self.keys.sort_unstable(),
        }
        for &(_, it) in &self.keys {
            self.arena.extend_from_slice(worker.successor(it as usize));
        }
    }

    fn states_of_path(&self, width: usize) -> Vec<Vec<u8>> {
        self.states.chunks_exact(width).map(<[u8]>::to_vec).collect()
    }
}

/// Dives one after another.
struct DiveSeries {
    dive: SuspendableDive,
    /// The number of the next dive, which selects its order.
    number: u64,
    /// Whether a suspended dive continues in the next turn.
    is_long: bool,
    is_suspended: bool,
}

impl DiveSeries {
    /// Creates the dives from this number on. Each begins anew in each turn.
    fn short(memory: DiveMemory, number: u64) -> DiveSeries {
        let dive = SuspendableDive::new(memory, DEPTH_FIRST);
        DiveSeries { dive, number, is_long: false, is_suspended: false }
    }

    /// Creates the dives from this number on. Each continues in later turns.
    fn long(memory: DiveMemory, number: u64) -> DiveSeries {
        let dive = SuspendableDive::new(memory, DEPTH_LONG);
        DiveSeries { dive, number, is_long: true, is_suspended: false }
    }

    /// Dives until the part of the turn ends, or a dive has a finding or exhausts the states.
    fn take_part(&mut self, worker: &mut HuntWorker) -> Result<TurnEnd> {
        self.is_suspended &= self.is_long;
        loop {
            if !self.is_suspended {
                if !worker.begin_walk() {
                    return Ok(TurnEnd::Nothing);
                }
                let order = SuccessorOrder::of_dive(self.number, worker.random.next_number());
                self.number += 1;
                self.dive.begin(order, worker);
            }
            self.is_suspended = true;
            match self.dive.run_turn(worker)? {
                DiveEnd::Suspended => return Ok(TurnEnd::Nothing),
                DiveEnd::Found(found) => return Ok(TurnEnd::Found(found)),
                DiveEnd::Complete => self.is_suspended = false,
            }
            // Runs may cross states that were left before.
            if !self.dive.is_partial && !worker.target().is_of_runs() {
                return Ok(TurnEnd::Exhausted);
            }
            if self.dive.is_partial {
                self.dive.depth_limit = (2 * self.dive.depth_limit).min(DEPTH_MAX);
            }
        }
    }
}

/// Depth-first dives.
pub struct DepthFirstDives {
    /// Long dives, if the memory suffices.
    long: Option<DiveSeries>,
    short: DiveSeries,
}

impl DepthFirstDives {
    /// Creates the dives of a thread.
    pub fn new(worker: &HuntWorker) -> DepthFirstDives {
        let (bytes, first) = (worker.bytes, worker.thread() as u64 * (ORDERS / 2));
        if bytes < BYTES_FOR_LONG {
            let memory = DiveMemory { visited: bytes / 4, path: bytes / 4 };
            return DepthFirstDives { long: None, short: DiveSeries::short(memory, first) };
        }
        let long = DiveMemory { visited: bytes / 4, path: bytes / 8 };
        let short = DiveMemory { visited: bytes / 16, path: bytes / 16 };
        DepthFirstDives {
            long: Some(DiveSeries::long(long, first)),
            short: DiveSeries::short(short, first + 1),
        }
    }
}

impl HuntStrategy for DepthFirstDives {
    fn take_turn(&mut self, worker: &mut HuntWorker) -> Result<TurnEnd> {
        if let Some(long) = &mut self.long {
            worker.limit_to_part(LONG_PART.0, LONG_PART.1);
            let ended = long.take_part(worker)?;
            worker.limit_to_turn();
            if ended != TurnEnd::Nothing {
                return Ok(ended);
            }
        }
        self.short.take_part(worker)
    }
}
