//! Best-first search by a distance to a violation (Edelkamp, Lafuente and Leue, "Directed explicit model checking with
//! HSF-SPIN", 2001).
//!
//! The search expands the nearest known state first. Ties are broken at random, so each search takes another way. If
//! there are several distances, the searches use them in turn. A search ends when its states fill their memory.

use super::fingerprints::{FingerprintSet, InsertionResult, fingerprint};
use super::state_tree::{StateOrigin, StateTree};
use super::target::{HuntFinding, TargetDistance};
use super::worker::{HuntStrategy, HuntWorker, TurnEnd};
use spill::Result;
use spillway_model::MeasuredDistance;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The part of a thread's memory for the set of visited states, and for the states themselves.
const MEMORY_SHARE: u64 = 8;

/// Bytes of a state beyond its own: its number of the state before, and its entry in the queue.
const STATE_OVERHEAD: usize = 4 + size_of::<QueueEntry>();

/// A state that is not yet expanded: its distance, a random number, its number.
type QueueEntry = Reverse<(u32, u32, u32)>;

/// Best-first searches.
pub struct BestFirst {
    /// The number of the search, which selects its distance.
    number: usize,
    visited: FingerprintSet,
    queue: BinaryHeap<QueueEntry>,
    known: StateTree,
    states_max: usize,
}

impl BestFirst {
    /// Creates the searches of a thread with this memory, for states of `width` bytes.
    pub fn new(bytes: u64, width: usize) -> BestFirst {
        let states_max = (bytes / MEMORY_SHARE) as usize / (width + STATE_OVERHEAD);
        BestFirst {
            number: 0,
            visited: FingerprintSet::new(bytes / MEMORY_SHARE),
            queue: BinaryHeap::new(),
            known: StateTree::new(width),
            states_max: states_max.clamp(1, StateTree::STATES_MAX),
        }
    }

    /// Searches by the distance of the current number.
    fn search(&mut self, worker: &mut HuntWorker) -> Result<Option<HuntFinding>> {
        self.visited.clear();
        self.queue.clear();
        self.known.clear();
        for number in 0..worker.starts() {
            self.add(worker.start(number), StateOrigin::START, 0, worker);
        }
        let width = worker.width();
        let mut state = Vec::new();
        while let Some(Reverse((_, _, number))) = self.queue.pop() {
            if worker.is_over() || self.known.len() >= self.states_max {
                return Ok(None);
            }
            state.clear();
            state.extend_from_slice(self.known.state(number));
            let found = worker.expand(&state)?;
            worker.note_depth(self.known.depth(number));
            if let Some(check) = found {
                let states = self.known.path_to(number);
                return Ok(Some(HuntFinding::Violation { check, states }));
            }
            let successors = std::mem::take(&mut worker.successors);
            let count = (successors.len() / width) as u32;
            let origin = self.known.origin_after(number);
            for next in successors.chunks_exact(width) {
                self.add(next, origin, count, worker);
            }
            worker.successors = successors;
        }
        Ok(None)
    }

    /// Adds a state unless it is known. `siblings` is the number of successors of the state before it.
    fn add(&mut self, state: &[u8], origin: StateOrigin, siblings: u32, worker: &mut HuntWorker) {
        if self.visited.insert(fingerprint(state)) == InsertionResult::Known
            || self.known.len() >= self.states_max
        {
            return;
        }
        let distances = &worker.target().distances;
        let distance = match &distances[self.number % distances.len()] {
            TargetDistance::Successors => siblings,
            TargetDistance::Function(distance) => {
                let MeasuredDistance { distance, evaluated } = distance(state);
                worker.add_work(evaluated);
                distance
            }
        };
        let number = self.known.add(state, origin);
        self.queue.push(Reverse((distance, worker.random.next_number() as u32, number)));
    }
}

impl HuntStrategy for BestFirst {
    /// Searches until the turn ends or there is a finding.
    fn take_turn(&mut self, worker: &mut HuntWorker) -> Result<TurnEnd> {
        while worker.begin_walk() {
            if let Some(found) = self.search(worker)? {
                return Ok(TurnEnd::Found(found));
            }
            self.number += 1;
        }
        Ok(TurnEnd::Nothing)
    }
}
