//! Best-first search by a distance to a violation (Edelkamp, Lafuente and Leue, "Directed explicit model checking with
//! HSF-SPIN", 2001).
//!
//! The search expands the nearest known state first. Ties are broken at random, so each search takes another way. If
//! there are several distances, the searches use them in turn. A search ends when its states fill their memory.

use super::fingerprints::{FingerprintSet, Insertion, fingerprint};
use super::target::{Distance, HuntFinding};
use super::worker::HuntWorker;
use spill::Result;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The part of a thread's memory for the set of visited states, and for the states themselves.
const MEMORY_SHARE: u64 = 8;

/// Bytes of a state beyond its own: its number of the state before, and its entry in the queue.
const STATE_OVERHEAD: usize = 4 + size_of::<QueueEntry>();

/// The mark of a state without a state before it.
const NONE: u32 = u32::MAX;

/// A state that is not yet expanded: its distance, a random number, its number.
type QueueEntry = Reverse<(u32, u32, u32)>;

/// Best-first searches.
pub struct BestFirst {
    number: usize,
    visited: FingerprintSet,
    queue: BinaryHeap<QueueEntry>,
    /// The known states, concatenated.
    states: Vec<u8>,
    /// For each known state, the number of the state before it on its path, and the number of steps to it.
    before: Vec<(u32, u32)>,
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
            states: Vec::new(),
            before: Vec::new(),
            states_max: states_max.clamp(1, NONE as usize),
        }
    }

    /// Searches until the turn ends or there is a finding.
    ///
    /// # Errors
    ///
    /// If the model fails.
    pub fn run(&mut self, worker: &mut HuntWorker) -> Result<Option<HuntFinding>> {
        while worker.begin_walk() {
            let distances = &worker.target().distances;
            let distance = &distances[self.number % distances.len()];
            self.number += 1;
            if let Some(found) = self.search(distance, worker)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    fn search(
        &mut self,
        distance: &Distance<'_>,
        worker: &mut HuntWorker,
    ) -> Result<Option<HuntFinding>> {
        self.visited.clear();
        self.queue.clear();
        self.states.clear();
        self.before.clear();
        for start in 0..worker.starts() {
            self.add(
                worker.start(start),
                (NONE, 0),
                measure(distance, worker.start(start), 0),
                worker,
            );
        }
        let width = worker.width();
        let mut state = Vec::new();
        while let Some(Reverse((_, _, number))) = self.queue.pop() {
            if worker.is_over() || self.before.len() >= self.states_max {
                return Ok(None);
            }
            state.clear();
            state.extend_from_slice(&self.states[number as usize * width..][..width]);
            let found = worker.expand(&state)?;
            let depth = self.before[number as usize].1;
            worker.note_depth(depth as usize);
            if let Some(check) = found {
                let states = self.path_to(number, width);
                return Ok(Some(HuntFinding::Violation { check, states }));
            }
            let successors = std::mem::take(&mut worker.successors);
            let count = (successors.len() / width) as u32;
            for next in successors.chunks_exact(width) {
                self.add(next, (number, depth + 1), measure(distance, next, count), worker);
            }
            worker.successors = successors;
        }
        Ok(None)
    }

    /// Adds a state unless it is known.
    fn add(&mut self, state: &[u8], before: (u32, u32), distance: u32, worker: &mut HuntWorker) {
        if self.visited.insert(fingerprint(state)) == Insertion::Known
            || self.before.len() >= self.states_max
        {
            return;
        }
        let number = self.before.len() as u32;
        self.before.push(before);
        self.states.extend_from_slice(state);
        self.queue.push(Reverse((distance, worker.random.next_number() as u32, number)));
    }

    fn path_to(&self, number: u32, width: usize) -> Vec<Vec<u8>> {
        let before = |&it: &u32| Some(self.before[it as usize].0).filter(|&it| it != NONE);
        let path = std::iter::successors(Some(number), before);
        let state = |it: u32| self.states[it as usize * width..][..width].to_vec();
        let mut states: Vec<Vec<u8>> = path.map(state).collect();
        states.reverse();
        states
    }
}

/// Returns the distance of a state that has `siblings` states beside it as successors of one state.
fn measure(distance: &Distance<'_>, state: &[u8], siblings: u32) -> u32 {
    match distance {
        Distance::Successors => siblings,
        Distance::Function(distance) => distance(state),
    }
}
