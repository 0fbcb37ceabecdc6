//! Random walks with restarts (West, "Protocol validation by random state exploration", 1986).
//!
//! A walk takes one transition at a time and avoids the states that it has visited. It ends in a state without
//! successors, in a state whose successors were all visited by the walk, or at a limit of depth. The limit doubles after
//! several walks have reached it.
//!
//! A *uniform* walk takes each successor with about the same probability. A *guided* walk prefers transitions of a rare
//! class and states that no guided walk of the thread has visited, as fuzzers prefer new coverage. The class of a
//! transition is the set of bits that it changes, so it needs no knowledge of actions.

use super::fingerprints::{FingerprintSet, InsertionResult, difference_class, fingerprint};
use super::path_index::PathIndex;
use super::target::HuntFinding;
use super::worker::{HuntStrategy, HuntWorker, TurnEnd};
use spill::Result;

/// The first limit of depth.
pub const DEPTH_FIRST: usize = 128;

/// The largest limit of depth.
pub const DEPTH_MAX: usize = 1 << 20;

/// The number of walks that reach the limit before it doubles.
pub const WALKS_AT_LIMIT: u32 = 4;

/// The number of classes of transitions, a power of two.
pub const CLASSES: usize = 1 << 16;

/// The weight of a successor whose class was never taken.
const WEIGHT_MAX: u64 = 1 << 16;

/// The factor of the weight of a new state.
pub const WEIGHT_OF_NEW: u64 = 4;

/// The part of a thread's memory for the set of visited states of guided walks.
const GUIDE_SHARE: u64 = 8;

/// The limit of depth of successive walks.
struct AdaptiveDepth {
    limit: usize,
    reached: u32,
}

impl AdaptiveDepth {
    /// Records that a walk reached the limit.
    fn reach(&mut self) {
        self.reached += 1;
        if self.reached >= WALKS_AT_LIMIT {
            (self.limit, self.reached) = ((2 * self.limit).min(DEPTH_MAX), 0);
        }
    }
}

/// The preference of guided walks: how often each class was taken, and the visited states.
struct WalkGuide {
    taken: Vec<u32>,
    visited: FingerprintSet,
    weights: Vec<u64>,
}

impl WalkGuide {
    fn new(bytes: u64) -> WalkGuide {
        let visited = FingerprintSet::new(bytes / GUIDE_SHARE);
        WalkGuide { taken: vec![0; CLASSES], visited, weights: Vec::new() }
    }

    fn class(from: &[u8], to: &[u8]) -> usize {
        difference_class(from, to) as usize % CLASSES
    }

    /// Chooses a successor that is not on the path, with a probability by its weight.
    fn choose(&mut self, state: &[u8], path: &PathIndex, worker: &mut HuntWorker) -> Option<usize> {
        self.weights.clear();
        let mut all = 0;
        for next in worker.successors.chunks_exact(worker.width()) {
            let fingerprint = fingerprint(next);
            if path.position(fingerprint).is_none() {
                let taken = self.taken[WalkGuide::class(state, next)];
                let weight = WEIGHT_MAX / (1 + u64::from(taken)) + 1;
                let is_new = !self.visited.contains(fingerprint);
                all += weight * if is_new { WEIGHT_OF_NEW } else { 1 };
            }
            self.weights.push(all);
        }
        if all == 0 {
            return None;
        }
        let drawn = worker.random.next_number() % all;
        Some(self.weights.partition_point(|&end| end <= drawn))
    }

    /// Records that a step was taken.
    fn note(&mut self, from: &[u8], to: &[u8]) {
        let taken = &mut self.taken[WalkGuide::class(from, to)];
        *taken = taken.saturating_add(1);
        let _: InsertionResult = self.visited.insert(fingerprint(to));
    }
}

/// Random walks, uniform or guided.
pub struct RandomWalks {
    depth: AdaptiveDepth,
    guide: Option<WalkGuide>,
    path: PathIndex,
    choices: Vec<u32>,
    state: Vec<u8>,
    next: Vec<u8>,
}

impl RandomWalks {
    /// Creates uniform walks.
    pub fn uniform() -> RandomWalks {
        RandomWalks {
            depth: AdaptiveDepth { limit: DEPTH_FIRST, reached: 0 },
            guide: None,
            path: PathIndex::default(),
            choices: Vec::new(),
            state: Vec::new(),
            next: Vec::new(),
        }
    }

    /// Creates guided walks of a thread with this memory.
    pub fn guided(bytes: u64) -> RandomWalks {
        RandomWalks { guide: Some(WalkGuide::new(bytes)), ..RandomWalks::uniform() }
    }

    fn walk(&mut self, worker: &mut HuntWorker) -> Result<Option<HuntFinding>> {
        self.path.clear();
        self.choices.clear();
        let start = worker.random.below(worker.starts());
        self.state.clear();
        self.state.extend_from_slice(worker.start(start));
        loop {
            let is_accepting = worker.target().accepts(&self.state);
            self.path.push(fingerprint(&self.state), is_accepting);
            worker.note_depth(self.choices.len());
            if let Some(check) = worker.expand(&self.state)? {
                let states = worker.follow(start, &self.choices)?;
                return Ok(Some(HuntFinding::Violation { check, states }));
            }
            if worker.is_over() {
                return Ok(None);
            }
            if worker.target().is_of_runs()
                && let Some(run) = self.closed_run(start, worker)?
            {
                return Ok(Some(run));
            }
            if self.choices.len() >= self.depth.limit {
                self.depth.reach();
                return Ok(None);
            }
            let Some(choice) = self.choose(worker) else { return Ok(None) };
            self.take(choice, worker);
        }
    }

    /// Chooses a successor that is not on the path.
    fn choose(&mut self, worker: &mut HuntWorker) -> Option<usize> {
        if let Some(guide) = &mut self.guide {
            return guide.choose(&self.state, &self.path, worker);
        }
        let all = worker.successors.len() / worker.width();
        let first = worker.random.below(all.max(1));
        let mut others = (first..all).chain(0..first.min(all));
        others.find(|&it| self.path.position(fingerprint(worker.successor(it))).is_none())
    }

    fn take(&mut self, choice: usize, worker: &HuntWorker) {
        self.next.clear();
        self.next.extend_from_slice(worker.successor(choice));
        if let Some(guide) = &mut self.guide {
            guide.note(&self.state, &self.next);
        }
        std::mem::swap(&mut self.state, &mut self.next);
        self.choices.push(choice as u32);
    }

    /// Returns the run of a step back to the path that passes an accepting state, if there is one.
    fn closed_run(&self, start: usize, worker: &HuntWorker) -> Result<Option<HuntFinding>> {
        for next in worker.successors.chunks_exact(worker.width()) {
            let back = self.path.position(fingerprint(next));
            if let Some(back) = back.filter(|&back| self.path.accepts_from(back)) {
                let states = worker.follow(start, &self.choices)?;
                if let Some(run) = worker.run_along(states, back)? {
                    return Ok(Some(run));
                }
            }
        }
        Ok(None)
    }
}

impl HuntStrategy for RandomWalks {
    /// Walks until the turn ends or a walk has a finding.
    fn take_turn(&mut self, worker: &mut HuntWorker) -> Result<TurnEnd> {
        while worker.begin_walk() {
            if let Some(found) = self.walk(worker)? {
                return Ok(TurnEnd::Found(found));
            }
        }
        Ok(TurnEnd::Nothing)
    }
}
