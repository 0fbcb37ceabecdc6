//! A shortest run that violates a property.
//!
//! One that goes on for ever and passes an accepting state again and again is a way to where it begins to repeat, and a loop; it takes as
//! many steps as both together, which is how many states it has. One that comes to a state from which every run will do takes as many steps
//! as lead there. Of the states that a run shorter than the known one can be at, and the steps between them, a graph is kept. For each
//! accepting state on a cycle its distances to and from others are found, breadth-first. At any state that it comes to and that comes to it a run
//! can begin to repeat: it has as many states as the way there, the way on to the accepting state and the way back have steps. What is found bounds
//! what comes after (Hansen and Kervinen 2006, "Minimal counterexamples in O(n log n) memory and O(n^2) time").
//!
//! Where there is no room for all of these states, the graph has the nearest: a run that is found in it is one, and a shortest
//! one if each that is shorter had room.

use super::bounded_graph::{BoundedGraph, DistanceMap};
use super::nested_dfs::{ProbeLimits, ProbeVerdict, probe_continuation};
use crate::model::StateSpace;
use crate::search::SearchControl;
use crate::search::lasso::Lasso;
use spill::Result;

/// Something that is so of some states.
type StatePredicate<'a> = dyn Fn(&[u8]) -> bool + 'a;

/// The runs that are looked for.
#[derive(Clone, Copy)]
pub struct AcceptingRuns<'a> {
    /// Through this model.
    pub model: &'a dyn StateSpace,
    /// They pass a state that is so again and again.
    pub accepts: &'a StatePredicate<'a>,
    /// Whether every run that goes on from a state will do; nothing where that is so of none.
    pub decides: Option<&'a StatePredicate<'a>>,
}

impl AcceptingRuns<'_> {
    /// How many steps one takes: to where every run will do, or to where it begins to repeat and round its loop.
    pub fn steps_of(&self, run: &Lasso) -> usize {
        run.states.iter().position(|it| self.is_decided(it)).unwrap_or(run.states.len())
    }

    fn is_decided(&self, state: &[u8]) -> bool {
        self.decides.is_some_and(|decides| decides(state))
    }

    /// How far away the last state of a run of fewer than so many steps can be, before its loop or where it is decided.
    fn reach(&self, steps: usize) -> usize {
        steps.saturating_sub(if self.decides.is_some() { 1 } else { 2 })
    }
}

/// A run, and what is known of shorter ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShorterRun {
    /// The run.
    pub lasso: Lasso,
    /// The steps that the known one takes.
    pub below: usize,
    /// The steps that this one takes.
    pub steps: usize,
    /// The states that were looked at.
    pub states: u64,
    /// Whether there is no shorter one.
    pub is_shortest: bool,
}

/// Looks for the shortest of some runs, of which `found` is one, within what may be kept and until told to stop.
pub fn shortest(
    runs: AcceptingRuns<'_>,
    found: Lasso,
    limits: ProbeLimits,
    control: &SearchControl,
) -> Result<ShorterRun> {
    let below = runs.steps_of(&found);
    let graph = BoundedGraph::explore_within(runs.reach(below), runs.model, limits, control)?;
    let states = graph.states.len() as u64;
    let best = BestCandidate { steps: below, run: BestRun::Known, is_open: false };
    let best = graph.shortest_run(best, runs, control)?;
    let is_shortest = !best.is_open && best.steps <= graph.whole.saturating_add(1);
    let steps = best.steps;
    let lasso = match best.run {
        BestRun::Known => found,
        BestRun::Loop { start, turn } => graph.lasso(start, turn),
        BestRun::Decided { at, behind } => graph.prepend_path(at, behind),
    };
    Ok(ShorterRun { lasso, below, steps, states, is_shortest })
}

/// The shortest run so far.
struct BestCandidate {
    steps: usize,
    run: BestRun,
    /// Whether something was not looked at to the end.
    is_open: bool,
}

/// Which run that is.
enum BestRun {
    /// The one that was known.
    Known,
    /// One that begins to repeat at a state, by a loop through an accepting one.
    Loop { start: u32, turn: u32 },
    /// One by way of a state from which every run will do.
    Decided { at: u32, behind: Lasso },
}

impl BoundedGraph {
    /// The shortest run in the graph.
    fn shortest_run(
        &self,
        mut best: BestCandidate,
        runs: AcceptingRuns<'_>,
        control: &SearchControl,
    ) -> Result<BestCandidate> {
        let states = self.states.len();
        let component = self.components();
        let depth = |at: u32| self.depths[at as usize] as usize;
        let (mut from, mut to) = (DistanceMap::new(states), DistanceMap::new(states));
        // Those that are near come first, so that the bound falls early.
        for turn in 0..states as u32 {
            if depth(turn) >= best.steps {
                break;
            }
            if control.should_stop() {
                return Ok(BestCandidate { is_open: true, ..best });
            }
            let state = &self.states[turn as usize];
            if runs.is_decided(state) {
                match probe_continuation(state, runs.model, runs.accepts, control)? {
                    ProbeVerdict::Found(behind) => {
                        let run = BestRun::Decided { at: turn, behind };
                        // What comes later is no nearer, and what comes earlier was looked at.
                        return Ok(BestCandidate { steps: depth(turn), run, ..best });
                    }
                    ProbeVerdict::None => {}
                    ProbeVerdict::Open => best.is_open = true,
                }
            }
            let stays = |at: u32| component[at as usize] == component[turn as usize];
            let on_cycle = || self.ahead.of(turn).iter().any(|&next| stays(next));
            if depth(turn) + 1 < best.steps && (runs.accepts)(state) && on_cycle() {
                // What goes by a state that is let in has at least so many states.
                let steps = best.steps;
                from.fill(turn, &self.ahead, |at, there| stays(at) && depth(turn) + there < steps);
                to.fill(turn, &self.back, |at, there| stays(at) && depth(at) + there + 1 < steps);
                self.shorten(turn, &from, &to, &mut best);
            }
        }
        Ok(best)
    }

    /// Takes a loop through `turn` if it makes a run shorter.
    fn shorten(&self, turn: u32, from: &DistanceMap, to: &DistanceMap, best: &mut BestCandidate) {
        if let Some((steps, start)) = self.shortest_lasso_through(turn, from, to)
            && steps < best.steps
        {
            (best.steps, best.run) = (steps, BestRun::Loop { start, turn });
        }
    }
}
