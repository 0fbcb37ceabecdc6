//! A shortest run that goes on for ever and passes an accepting state again and again.
//!
//! A run is a way to where it begins to repeat, and a loop; it takes as many steps as both together, which is how many states it
//! has. Of the states that a run shorter than the known one can be at, and the steps between them, a graph is kept. For each accepting state on
//! a cycle its distances to and from others are found, breadth-first. At any state that it comes to and that comes to it a run can begin
//! to repeat: it has as many states as the way there, the way on to the accepting state and the way back have steps. What is found bounds what
//! comes after (Hansen and Kervinen 2006, "Minimal counterexamples in O(n log n) memory and O(n^2) time").
//!
//! Where there is no room for all of these states, the graph has the nearest: a run that is found in it is one, and a shortest
//! one if each that is shorter had room.

use super::Control;
use super::lasso::{Lasso, ProbeLimits};
use crate::exec::{Expansion, Model};
use crate::ir::components::components_along;
use spill::Result;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::rc::Rc;

/// What a state takes beside its own bytes, at most: its entry in the table, which may just have doubled, and where it lies;
/// later its component and distances.
const STATE_BYTES: u64 = 192;

/// What a step takes, forwards and backwards.
const EDGE_BYTES: u64 = 16;

/// A run, and what is known of shorter ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shorter {
    /// The run.
    pub lasso: Lasso,
    /// The states that were looked at.
    pub states: u64,
    /// Whether there is no shorter one.
    pub is_shortest: bool,
}

/// Looks for the shortest run through a state that `accepts` again and again, where `found` is one, within what may be kept and until
/// told to stop.
pub fn shortest(
    model: &dyn Model,
    accepts: &dyn Fn(&[u8]) -> bool,
    found: Lasso,
    limits: ProbeLimits,
    control: &Control,
) -> Result<Shorter> {
    let graph = Graph::nearer_than(found.states.len(), model, limits, control)?;
    let states = graph.states.len() as u64;
    let best = Best { length: found.states.len(), turns: None };
    let (best, looked_at_all) = graph.best(best, accepts, control);
    let lasso = best.turns.map_or(found, |turns| graph.lasso(turns));
    Ok(Shorter { lasso, states, is_shortest: looked_at_all && best.length <= graph.whole + 1 })
}

/// Steps, by the state that they lead from, or to.
struct Steps {
    /// Where those of each state begin, and where the last ones end.
    begin: Vec<usize>,
    other: Vec<u32>,
}

impl Steps {
    fn of(&self, state: u32) -> &[u32] {
        &self.other[self.begin[state as usize]..self.begin[state as usize + 1]]
    }

    /// One of those of a state.
    fn get(&self, state: usize, at: usize) -> Option<usize> {
        self.of(state as u32).get(at).map(|&it| it as usize)
    }

    /// The same steps, by where they lead.
    fn reversed(&self) -> Steps {
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
        Steps { begin, other }
    }
}

/// The states near the initial ones, in the order in which they were met.
struct Graph {
    states: Vec<Rc<[u8]>>,
    /// How many steps away each is.
    depths: Vec<u32>,
    ahead: Steps,
    back: Steps,
    /// Each run of at most so many states is in it.
    whole: usize,
}

/// The shortest run so far.
struct Best {
    length: usize,
    /// Where it begins to repeat, and the accepting state of its loop; nothing for the run there was.
    turns: Option<(u32, u32)>,
}

/// The states that were met while a graph is built.
#[derive(Default)]
struct Met {
    numbers: HashMap<Rc<[u8]>, u32>,
    states: Vec<Rc<[u8]>>,
    depths: Vec<u32>,
}

impl Met {
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

impl Graph {
    /// The states that a run of fewer than so many states can be at, or the nearest of them: as many as there is room and
    /// time for.
    fn nearer_than(
        length: usize,
        model: &dyn Model,
        limits: ProbeLimits,
        control: &Control,
    ) -> Result<Graph> {
        let (width, mut buffer, mut met) = (model.width(), Vec::new(), Met::default());
        let _ = Expansion::collect(width, &mut buffer, |out| model.initial(out))?;
        met.number(&buffer, width, Some(0), &mut Vec::new());
        let (mut begin, mut other, mut whole) = (Vec::new(), Vec::new(), length - 1);
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
            // The last state of a shorter run is at most that far away.
            let last = length.saturating_sub(2) as u32;
            buffer.clear();
            let _ = Expansion::collect(width, &mut buffer, |out| model.expand(&state, out))?;
            met.number(&buffer, width, (depth < last).then_some(depth + 1), &mut other);
        }
        begin.resize(met.states.len() + 1, other.len());
        let Met { states, depths, .. } = met;
        let ahead = Steps { begin, other };
        Ok(Graph { states, depths, back: ahead.reversed(), ahead, whole })
    }

    /// The shortest run, and whether there is none shorter in the graph.
    fn best(
        &self,
        mut best: Best,
        accepts: &dyn Fn(&[u8]) -> bool,
        control: &Control,
    ) -> (Best, bool) {
        let states = self.states.len();
        let component =
            components_along(states, &|from, at| self.ahead.get(from, at), &|to, at| {
                self.back.get(to, at)
            });
        let depth = |at: u32| self.depths[at as usize] as usize;
        let (mut from, mut to) = (Distances::new(states), Distances::new(states));
        // Those that are near come first, so that the bound falls early.
        for turn in 0..states as u32 {
            if depth(turn) + 1 >= best.length {
                break;
            }
            if control.should_stop() {
                return (best, false);
            }
            let stays = |at: u32| component[at as usize] == component[turn as usize];
            let on_cycle = || self.ahead.of(turn).iter().any(|&next| stays(next));
            if accepts(&self.states[turn as usize]) && on_cycle() {
                // What goes by a state that is let in has at least so many states.
                let length = best.length;
                from.fill(turn, &self.ahead, |at, there| stays(at) && depth(turn) + there < length);
                to.fill(turn, &self.back, |at, there| stays(at) && depth(at) + there + 1 < length);
                self.shorten(turn, (&from, &to), &mut best);
            }
        }
        (best, true)
    }

    /// Takes a loop through `turn` if it makes a run shorter.
    fn shorten(&self, turn: u32, (from, to): (&Distances, &Distances), best: &mut Best) {
        for &start in &from.met {
            let there = match start == turn {
                true => {
                    self.back.of(turn).iter().filter_map(|&it| from.of(it)).min().map(|it| it + 1)
                }
                false => from.of(start).zip(to.of(start)).map(|(from, to)| from + to),
            };
            let length = there.map(|there| (there + self.depths[start as usize]) as usize);
            if let Some(length) = length.filter(|&length| length < best.length) {
                *best = Best { length, turns: Some((start, turn)) };
            }
        }
    }

    /// The run that begins to repeat at `start`, by a loop through `turn`.
    fn lasso(&self, (start, turn): (u32, u32)) -> Lasso {
        let states = self.states.len();
        let (mut from, mut to) = (Distances::new(states), Distances::new(states));
        from.fill(turn, &self.ahead, |_, _| true);
        to.fill(turn, &self.back, |_, _| true);
        let mut way = descend(start, &self.back, &|at| Some(self.depths[at as usize]));
        way.reverse();
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
        let states = way.into_iter().map(|at| self.states[at as usize].to_vec()).collect();
        Lasso { states, back, fair_to: Vec::new() }
    }
}

/// From a state along steps, each to one that is nearer, down to distance 0.
fn descend(from: u32, steps: &Steps, distance: &dyn Fn(u32) -> Option<u32>) -> Vec<u32> {
    let nearer = |at: &u32| {
        let here = distance(*at)?;
        steps.of(*at).iter().copied().find(|&next| distance(next).is_some_and(|it| it + 1 == here))
    };
    std::iter::successors(Some(from), nearer).collect()
}

/// How far some states are from one.
struct Distances {
    /// Of each state, or `u32::MAX`.
    all: Vec<u32>,
    /// Those of which it is known, nearest first.
    met: Vec<u32>,
}

impl Distances {
    fn new(states: usize) -> Distances {
        Distances { all: vec![u32::MAX; states], met: Vec::new() }
    }

    fn of(&self, state: u32) -> Option<u32> {
        Some(self.all[state as usize]).filter(|&it| it != u32::MAX)
    }

    /// Makes them those from `start`, along steps to states that, so far away, are let in.
    fn fill(&mut self, start: u32, steps: &Steps, lets_in: impl Fn(u32, usize) -> bool) {
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
