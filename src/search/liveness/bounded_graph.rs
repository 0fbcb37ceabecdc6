//! The states that are near to the initial ones, and the steps between them, as a graph in memory.
//!
//! States are met breadth-first, level by level, until there is no room for more. So what the graph has is all that a run of
//! some number of states can be at, and runs, loops and distances are looked for in it without asking the model again.

use super::nested_dfs::{ProbeLimits, faults};
use crate::ir::components::components_along;
use crate::model::{StateSpace, SuccessorSink};
use crate::search::SearchControl;
use crate::search::lasso::Lasso;
use crate::search::model_failure;
use spill::Result;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::rc::Rc;

/// What a state takes beside its own bytes, at most: its entry in the table, which may just have doubled, and where it lies;
/// later its component and distances.
const STATE_BYTES: u64 = 192;

/// What a step takes, forwards and backwards.
const EDGE_BYTES: u64 = 16;

/// Steps, by the state that they lead from, or to.
pub(super) struct AdjacencyLists {
    /// Where those of each state begin, and where the last ones end.
    begin: Vec<usize>,
    other: Vec<u32>,
}

impl AdjacencyLists {
    pub(super) fn of(&self, state: u32) -> &[u32] {
        &self.other[self.begin[state as usize]..self.begin[state as usize + 1]]
    }

    /// One of those of a state.
    fn get(&self, state: usize, at: usize) -> Option<usize> {
        self.of(state as u32).get(at).map(|&it| it as usize)
    }

    /// The same steps, by where they lead.
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

/// The states near the initial ones, in the order in which they were met.
pub(super) struct BoundedGraph {
    pub(super) states: Vec<Rc<[u8]>>,
    /// How many steps away each is.
    pub(super) depths: Vec<u32>,
    pub(super) ahead: AdjacencyLists,
    pub(super) back: AdjacencyLists,
    /// Each run of at most so many steps is in it, if it goes no further than states were to be.
    pub(super) whole: usize,
    /// Whether all states that can be come to are, with all their steps.
    pub(super) is_all: bool,
    /// Steps of its states.
    pub(super) transitions: u64,
    /// Steps that ended in errors.
    pub(super) faults: u64,
}

/// The states that were met while a graph is built.
#[derive(Default)]
struct StateNumbering {
    numbers: HashMap<Rc<[u8]>, u32>,
    states: Vec<Rc<[u8]>>,
    depths: Vec<u32>,
}

impl StateNumbering {
    /// Numbers states that are so many steps away; leaves out those not met before, if these are.
    fn number(&mut self, states: &[u8], width: usize, depth: Option<u32>, into: &mut Vec<u32>) {
        for state in states.chunks_exact(width) {
            let next = self.states.len() as u32;
            match (self.numbers.entry(Rc::from(state)), depth) {
                (Entry::Occupied(known), _) => into.push(*known.get()),
                (Entry::Vacant(new), Some(depth)) => {
                    self.states.push(new.key().clone());
                    self.depths.push(depth);
                    into.push(*new.insert(next));
                }
                (Entry::Vacant(_), None) => {}
            }
        }
    }
}

impl BoundedGraph {
    /// The states that are at most so many steps away, or the nearest of them: as many as there is room and time for.
    pub(super) fn explore_within(
        steps: usize,
        model: &dyn StateSpace,
        limits: ProbeLimits,
        control: &SearchControl,
    ) -> Result<BoundedGraph> {
        let (width, mut buffer, mut met) = (model.width(), Vec::new(), StateNumbering::default());
        let begun = SuccessorSink::collect(width, &mut buffer, |out| model.initial(out))
            .map_err(model_failure)?;
        met.number(&buffer, width, Some(0), &mut Vec::new());
        let (mut transitions, mut faulty) = (0, faults(&begun));
        let (mut begin, mut other) = (Vec::new(), Vec::new());
        let mut whole = usize::MAX;
        while let Some(state) = met.states.get(begin.len()).cloned() {
            let depth = met.depths[begin.len()];
            let states = met.states.len() as u64;
            let bytes = states * (width as u64 + STATE_BYTES) + other.len() as u64 * EDGE_BYTES;
            let is_full = states > limits.states.min(u32::MAX.into()) || bytes > limits.bytes;
            if is_full || control.should_stop() {
                // Nearer ones are there with all their steps.
                whole = depth as usize;
                break;
            }
            begin.push(other.len());
            buffer.clear();
            let expanded =
                SuccessorSink::collect(width, &mut buffer, |out| model.expand(&state, out))
                    .map_err(model_failure)?;
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

    /// The component of steps that each state is in.
    pub(super) fn components(&self) -> Vec<usize> {
        let ahead = |from, at| self.ahead.get(from, at);
        components_along(self.states.len(), &ahead, &|to, at| self.back.get(to, at))
    }

    /// The fewest steps of a run with a loop through `turn`, to and from which so many steps are, and where it begins to repeat.
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

    /// The run that begins to repeat at `start`, by a loop through `turn`.
    pub(super) fn lasso(&self, start: u32, turn: u32) -> Lasso {
        let states = self.states.len();
        let (mut from, mut to) = (DistanceMap::new(states), DistanceMap::new(states));
        from.fill(turn, &self.ahead, |_, _| true);
        to.fill(turn, &self.back, |_, _| true);
        let mut way = self.path_to(start);
        let back = way.len() - 1;
        // From `start` to `turn`, and back to before `start`.
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

    /// The run by way of a state, and behind it as another that begins there.
    pub(super) fn prepend_path(&self, at: u32, behind: Lasso) -> Lasso {
        let mut states = self.states_of(&self.path_to(at));
        let back = states.len() - 1 + behind.back;
        states.extend(behind.states.into_iter().skip(1));
        Lasso { states, back, fair_to: Vec::new() }
    }

    /// A shortest way to a state, an initial one first.
    fn path_to(&self, at: u32) -> Vec<u32> {
        let mut way = descend(at, &self.back, &|at| Some(self.depths[at as usize]));
        way.reverse();
        way
    }

    fn states_of(&self, way: &[u32]) -> Vec<Vec<u8>> {
        way.iter().map(|&at| self.states[at as usize].to_vec()).collect()
    }
}

/// From a state along steps, each to one that is nearer, down to distance 0.
fn descend(from: u32, steps: &AdjacencyLists, distance: &dyn Fn(u32) -> Option<u32>) -> Vec<u32> {
    let nearer = |at: &u32| {
        let here = distance(*at)?;
        steps.of(*at).iter().copied().find(|&next| distance(next).is_some_and(|it| it + 1 == here))
    };
    std::iter::successors(Some(from), nearer).collect()
}

/// How far some states are from one.
pub(super) struct DistanceMap {
    /// Of each state, or `u32::MAX`.
    all: Vec<u32>,
    /// Those of which it is known, nearest first.
    met: Vec<u32>,
}

impl DistanceMap {
    pub(super) fn new(states: usize) -> DistanceMap {
        DistanceMap { all: vec![u32::MAX; states], met: Vec::new() }
    }

    pub(super) fn of(&self, state: u32) -> Option<u32> {
        Some(self.all[state as usize]).filter(|&it| it != u32::MAX)
    }

    /// Makes them those from `start`, along steps to states that, so far away, are let in.
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
