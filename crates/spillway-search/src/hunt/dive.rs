//! Depth-first dives with a bounded set of visited states, each in another order of successors.
//!
//! A dive visits the states depth-first from all initial states. It notes visited states by fingerprints alone, in
//! bounded memory, so it may miss states. A dive that misses nothing knowingly, and meets no limit, has exhausted the
//! states.
//!
//! The order of the successors differs from dive to dive, as in swarm verification. It is the order of generation, the
//! reverse, the order by transition class, or a random order. A dive draws the order of the classes once, and a random
//! order in each state.

use super::fingerprints::{FingerprintSet, InsertionResult, difference_class, fingerprint};
use super::path_index::PathIndex;
use super::target::HuntFinding;
use super::worker::{HuntStrategy, HuntWorker, TurnEnd};
use spill::Result;
use spillway_base::random::mix;

/// The first limit of depth. It doubles after a dive that reached it.
pub const DEPTH_FIRST: usize = 10_000;

/// The largest limit of depth.
pub const DEPTH_MAX: usize = 1 << 20;

/// The part of a thread's memory for the set of visited states, and for the states on the path with their successors.
const MEMORY_SHARE: u64 = 4;

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
        match number % 4 {
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

/// Depth-first dives.
pub struct DepthFirstDives {
    depth_limit: usize,
    number: u64,
    visited: FingerprintSet,
    path: PathIndex,
    frames: Vec<DiveFrame>,
    /// The successors of the states on the path, in the order of visits.
    arena: Vec<u8>,
    arena_max: usize,
    /// The states on the path.
    states: Vec<u8>,
    keys: Vec<(u64, u32)>,
    /// Whether the dive missed states.
    is_partial: bool,
}

impl DepthFirstDives {
    /// Creates the dives of a thread with this memory.
    pub fn new(bytes: u64) -> DepthFirstDives {
        DepthFirstDives {
            depth_limit: DEPTH_FIRST,
            number: 0,
            visited: FingerprintSet::new(bytes / MEMORY_SHARE),
            path: PathIndex::default(),
            frames: Vec::new(),
            arena: Vec::new(),
            arena_max: (bytes / MEMORY_SHARE) as usize,
            states: Vec::new(),
            keys: Vec::new(),
            is_partial: false,
        }
    }

    /// Dives once. Nothing is found if a limit ends the dive, or if it may have missed states.
    fn dive(&mut self, worker: &mut HuntWorker) -> Result<TurnEnd> {
        let order = SuccessorOrder::of_dive(self.number, worker.random.next_number());
        self.number += 1;
        self.visited.clear();
        self.is_partial = !worker.has_all_starts();
        let (starts, first) = (worker.starts(), worker.random.below(worker.starts()));
        for start in (first..starts).chain(0..first) {
            self.path.clear();
            self.frames.clear();
            self.arena.clear();
            self.states.clear();
            if let Some(found) = self.dive_from(worker.start(start), order, worker)? {
                return Ok(TurnEnd::Found(found));
            }
            if worker.is_over() {
                return Ok(TurnEnd::Nothing);
            }
        }
        if self.is_partial {
            self.depth_limit = (2 * self.depth_limit).min(DEPTH_MAX);
        }
        // Runs may cross states that were left before.
        let is_all = !self.is_partial && !worker.target().is_of_runs();
        Ok(if is_all { TurnEnd::Exhausted } else { TurnEnd::Nothing })
    }

    fn dive_from(
        &mut self,
        start: &[u8],
        order: SuccessorOrder,
        worker: &mut HuntWorker,
    ) -> Result<Option<HuntFinding>> {
        let mut state = start.to_vec();
        if let Some(found) = self.enter(&state, order, worker)? {
            return Ok(Some(found));
        }
        while let Some(frame) = self.frames.last_mut() {
            if worker.is_over() {
                return Ok(None);
            }
            if frame.next == frame.count {
                self.leave(worker.width());
                continue;
            }
            let at = frame.begin + frame.next * worker.width();
            frame.next += 1;
            state.clear();
            state.extend_from_slice(&self.arena[at..at + worker.width()]);
            if let Some(found) = self.enter(&state, order, worker)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Visits a state unless it was visited before. Returns the finding in it.
    fn enter(
        &mut self,
        state: &[u8],
        order: SuccessorOrder,
        worker: &mut HuntWorker,
    ) -> Result<Option<HuntFinding>> {
        let fingerprint = fingerprint(state);
        if worker.target().is_of_runs()
            && let Some(back) = self.path.position(fingerprint)
            && self.path.accepts_from(back)
        {
            return worker.run_along(self.states_of_path(worker.width()), back);
        }
        if self.frames.len() >= self.depth_limit || self.arena.len() >= self.arena_max {
            self.is_partial |= !self.visited.contains(fingerprint);
            return Ok(None);
        }
        match self.visited.insert(fingerprint) {
            InsertionResult::Known => return Ok(None),
            InsertionResult::New => {}
            InsertionResult::Replacing => self.is_partial = true,
        }
        self.path.push(fingerprint, worker.target().accepts(state));
        self.states.extend_from_slice(state);
        let found = worker.expand(state)?;
        worker.note_depth(self.frames.len());
        if let Some(check) = found {
            let states = self.states_of_path(worker.width());
            return Ok(Some(HuntFinding::Violation { check, states }));
        }
        let begin = self.arena.len();
        self.append(state, order, worker);
        let count = (self.arena.len() - begin) / worker.width();
        self.frames.push(DiveFrame { begin, next: 0, count });
        Ok(None)
    }

    /// Leaves the last state of the path.
    fn leave(&mut self, width: usize) {
        if let Some(frame) = self.frames.pop() {
            self.arena.truncate(frame.begin);
            self.states.truncate(self.frames.len() * width);
            self.path.pop();
        }
    }

    /// Appends the successors of a state to the arena in an order.
    fn append(&mut self, state: &[u8], order: SuccessorOrder, worker: &mut HuntWorker) {
        let width = worker.width();
        let all = (worker.successors.len() / width) as u32;
        self.keys.clear();
        match order {
            SuccessorOrder::Generated => {
                self.arena.extend_from_slice(&worker.successors);
                return;
            }
            SuccessorOrder::Reversed => self.keys.extend((0..all).rev().map(|it| (0, it))),
            SuccessorOrder::ByClass(seed) => {
                let next = |it: u32| worker.successor(it as usize);
                let key = |it| (mix(seed ^ difference_class(state, next(it))), it);
                self.keys.extend((0..all).map(key));
                self.keys.sort_unstable();
            }
            SuccessorOrder::Shuffled => {
                let random = &mut worker.random;
                self.keys.extend((0..all).map(|it| (random.next_number(), it)));
                self.keys.sort_unstable();
            }
        }
        for &(_, it) in &self.keys {
            self.arena.extend_from_slice(worker.successor(it as usize));
        }
    }

    fn states_of_path(&self, width: usize) -> Vec<Vec<u8>> {
        self.states.chunks_exact(width).map(<[u8]>::to_vec).collect()
    }
}

impl HuntStrategy for DepthFirstDives {
    /// Dives until the turn ends, or a dive has a finding or exhausts the states.
    fn take_turn(&mut self, worker: &mut HuntWorker) -> Result<TurnEnd> {
        while worker.begin_walk() {
            match self.dive(worker)? {
                TurnEnd::Nothing => {}
                ended => return Ok(ended),
            }
        }
        Ok(TurnEnd::Nothing)
    }
}
