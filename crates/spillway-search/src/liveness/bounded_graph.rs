//! The states nearest to the initial states, and the steps between them, as a graph in memory.
//!
//! States are explored breadth-first until the limit is reached. So the graph contains every run of up to some number
//! of states. Runs, cycles and distances are computed in it without further calls of the model.

use super::nested_dfs::{ProbeLimits, faults};
use super::numbered_states::NumberedStates;
use crate::SearchControl;
use crate::lasso::Lasso;
use crate::{collect_successors, model_failure};
use spill::Result;
use spillway_base::components::components_along;
use spillway_model::{StateSpace, SuccessorSink};

/// Bytes for each state beyond its state vector, at most: its entry in the hash table, which may just have doubled, its
/// number, and later its component and distances.
const STATE_BYTES: u64 = 192;

/// Bytes of a step, forwards and backwards.
const EDGE_BYTES: u64 = 16;

/// Steps, grouped by their source state or by their target state.
pub(super) struct AdjacencyLists {
    /// The index of the first step of each state, and the end of the last group.
    begin: Vec<usize>,
    other: Vec<u32>,
}

impl AdjacencyLists {
    pub(super) fn of(&self, state: u32) -> &[u32] {
        &self.other[self.begin[state as usize]..self.begin[state as usize + 1]]
    }

    /// Returns one of the steps of a state.
    fn get(&self, state: usize, at: usize) -> Option<usize> {
        self.of(state as u32).get(at).map(|&it| it as usize)
    }

    /// Returns the same steps, grouped by their targets.
    fn reversed(&self) -> AdjacencyLists {
        let states = self.begin.len() - 1;
        let mut begin = vec![0; states + 1];
        self.other.iter().for_each(|&to| begin[to as usize + 1] += 1);
        (0..states).for_each(|at| begin[at + 1] += begin[at]);
        let mut next = begin.clone();
        let mut other = vec![0; self.other.len()];
        for from in 0..states as u32 {
            for &to in self.of(from) {
                other[next[to as usize]] = from;
                next[to as usize] += 1;
            }
        }
        AdjacencyLists { begin, other }
    }
}

/// The states near the initial ones, in order of discovery.
pub(super) struct BoundedGraph {
    pub(super) states: NumberedStates,
    /// The depth of each state.
    pub(super) depths: Vec<u32>,
    pub(super) ahead: AdjacencyLists,
    pub(super) back: AdjacencyLists,
    /// Every run of at most this many steps is in the graph, if it stays within the bound on the depth.
    pub(super) whole: usize,
    /// Whether the graph contains all reachable states and all their steps.
    pub(super) is_all: bool,
    /// The number of steps of its states.
    pub(super) transitions: u64,
    /// The number of steps that ended in errors.
    pub(super) faults: u64,
}

/// The states found while a graph is built.
struct StateNumbering {
    states: NumberedStates,
    depths: Vec<u32>,
}

impl StateNumbering {
    /// Numbers the states of a buffer. New states get the given depth; without one they are skipped.
    fn number(&mut self, states: &[u8], width: usize, depth: Option<u32>, into: &mut Vec<u32>) {
        for state in states.chunks_exact(width) {
            match depth {
                None => into.extend(self.states.find(state)),
                Some(depth) => {
                    into.push(self.states.number(state));
                    self.depths.resize(self.states.len(), depth);
                }
            }
        }
    }
}

impl BoundedGraph {
    /// Explores the states that are at most `steps` steps away, or the nearest of them if the limits or the control end
    /// the search.
    pub(super) fn explore_within(
        steps: usize,
        model: &dyn StateSpace,
        limits: ProbeLimits,
        control: &SearchControl,
    ) -> Result<BoundedGraph> {
        let (width, mut buffer) = (model.width(), Vec::new());
        let mut met = StateNumbering { states: NumberedStates::new(width), depths: Vec::new() };
        let begun = SuccessorSink::collect(width, &mut buffer, |out| model.initial(out))
            .map_err(model_failure)?;
        met.number(&buffer, width, Some(0), &mut Vec::new());
        let (mut transitions, mut faulty) = (0, faults(&begun));
        let (mut begin, mut other) = (Vec::new(), Vec::new());
        let mut whole = usize::MAX;
        while let Some(&depth) = met.depths.get(begin.len()) {
            let states = met.states.len() as u64;
            let bytes = states * (width as u64 + STATE_BYTES) + other.len() as u64 * EDGE_BYTES;
            let is_full = states > limits.states.min(u32::MAX.into()) || bytes > limits.bytes;
            if is_full || control.should_stop() {
                // All nearer states have all their steps.
                whole = depth as usize;
                break;
            }
            let expanded = collect_successors(model, &met.states[begin.len()], &mut buffer)?;
            begin.push(other.len());
            transitions += expanded.counters.transitions;
            faulty += faults(&expanded);
            let next = Some(depth + 1).filter(|_| (depth as usize) < steps);
            met.number(&buffer, width, next, &mut other);
        }
        let is_all = whole == usize::MAX && steps == usize::MAX;
        begin.resize(met.states.len() + 1, other.len());
        let StateNumbering { states, depths, .. } = met;
        let ahead = AdjacencyLists { begin, other };
        let back = ahead.reversed();
        Ok(BoundedGraph { states, depths, ahead, back, whole, is_all, transitions, faults: faulty })
    }

    /// Returns the strongly connected component of each state.
    pub(super) fn components(&self) -> Vec<usize> {
        let ahead = |from, at| self.ahead.get(from, at);
        components_along(self.states.len(), &ahead, &|to, at| self.back.get(to, at))
    }

    /// Returns the fewest steps of a run with a cycle through `turn`, given the distances from and to `turn`, and the
    /// state in which its cycle begins.
    pub(super) fn shortest_lasso_through(
        &self,
        turn: u32,
        from: &DistanceMap,
        to: &DistanceMap,
    ) -> Option<(usize, u32)> {
        let round = |start: u32| match start == turn {
            true => self.back.of(turn).iter().filter_map(|&it| from.of(it)).min().map(|it| it + 1),
            false => from.of(start).zip(to.of(start)).map(|(from, to)| from + to),
        };
        let steps = |start: u32| Some((round(start)? + self.depths[start as usize]) as usize);
        let all = from.met.iter().filter_map(|&start| Some((steps(start)?, start)));
        // The first of the shortest.
        all.reduce(|best, next| if next.0 < best.0 { next } else { best })
    }

    /// Returns the run whose cycle begins at `start` and passes `turn`.
    pub(super) fn lasso(&self, start: u32, turn: u32) -> Lasso {
        let states = self.states.len();
        let (mut from, mut to) = (DistanceMap::new(states), DistanceMap::new(states));
        from.fill(turn, &self.ahead, |_, _| true);
        to.fill(turn, &self.back, |_, _| true);
        let mut way = self.path_to(start);
        let back = way.len() - 1;
        // From `start` to `turn`, and back to the predecessor of `start`.
        way.extend(descend(start, &self.ahead, &|at| to.of(at)).into_iter().skip(1));
        let before = self.back.of(start).iter().copied().filter(|&it| from.of(it).is_some());
        let last = before.min_by_key(|&it| from.of(it)).expect("a loop");
        if last != turn {
            let mut home = descend(last, &self.back, &|at| from.of(at));
            home.reverse();
            way.extend(home.into_iter().skip(1));
        }
        Lasso { states: self.states_of(&way), back, fair_to: Vec::new() }
    }

    /// Returns the run that leads to a state and continues like `behind`, which begins there.
    pub(super) fn prepend_path(&self, at: u32, behind: Lasso) -> Lasso {
        let mut states = self.states_of(&self.path_to(at));
        let back = states.len() - 1 + behind.back;
        states.extend(behind.states.into_iter().skip(1));
        Lasso { states, back, fair_to: Vec::new() }
    }

    /// Returns a shortest path to a state, an initial state first.
    fn path_to(&self, at: u32) -> Vec<u32> {
        let mut way = descend(at, &self.back, &|at| Some(self.depths[at as usize]));
        way.reverse();
        way
    }

    fn states_of(&self, way: &[u32]) -> Vec<Vec<u8>> {
        way.iter().map(|&at| self.states[at as usize].to_vec()).collect()
    }
}

/// Follows steps from a state to states of smaller distance, down to distance 0.
fn descend(from: u32, steps: &AdjacencyLists, distance: &dyn Fn(u32) -> Option<u32>) -> Vec<u32> {
    let nearer = |at: &u32| {
        let here = distance(*at)?;
        steps.of(*at).iter().copied().find(|&next| distance(next).is_some_and(|it| it + 1 == here))
    };
    std::iter::successors(Some(from), nearer).collect()
}

/// The distances of some states from one state.
pub(super) struct DistanceMap {
    /// The distance of each state, or `u32::MAX`.
    all: Vec<u32>,
    /// The states of known distance, nearest first.
    met: Vec<u32>,
}

impl DistanceMap {
    pub(super) fn new(states: usize) -> DistanceMap {
        DistanceMap { all: vec![u32::MAX; states], met: Vec::new() }
    }

    pub(super) fn of(&self, state: u32) -> Option<u32> {
        Some(self.all[state as usize]).filter(|&it| it != u32::MAX)
    }

    /// Computes the distances from `start` along steps to states that `lets_in` accepts at their distance.
    pub(super) fn fill(
        &mut self,
        start: u32,
        steps: &AdjacencyLists,
        lets_in: impl Fn(u32, usize) -> bool,
    ) {
        self.met.drain(..).for_each(|it| self.all[it as usize] = u32::MAX);
        self.all[start as usize] = 0;
        self.met.push(start);
        let mut next = 0;
        while let Some(&at) = self.met.get(next) {
            next += 1;
            let there = self.all[at as usize] + 1;
            for &to in steps.of(at) {
                if self.all[to as usize] == u32::MAX && lets_in(to, there as usize) {
                    self.all[to as usize] = there;
                    self.met.push(to);
                }
            }
        }
    }
}
