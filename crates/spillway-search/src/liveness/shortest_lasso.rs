//! The search for a shortest counterexample (Hansen and Kervinen 2006, "Minimal counterexamples in O(n log n) memory
//! and O(n^2) time").
//!
//! The length of an infinite run is that of its stem and its cycle together, which is its number of states. If every
//! continuation violates the property from some state on, the length is the number of steps to that state. The search
//! stores a graph of the states that a run shorter than the known one can visit. For each accepting state on a cycle,
//! breadth-first search gives its distances to and from other states. The cycle of a run can begin at any state that is
//! reachable from the accepting state and reaches it. The length of the run is then the sum of the depth of that state
//! and the distances to the accepting state and back. The best run found bounds the remaining search.
//!
//! If not all these states fit, the graph contains the nearest ones. A run in it is then a counterexample. It is a
//! shortest one if every shorter run would have fit.

use super::bounded_graph::{BoundedGraph, DistanceMap};
use super::continuation::AcceptingContinuations;
use super::nested_dfs::{ProbeLimits, ProbeVerdict};
use crate::SearchControl;
use crate::lasso::Lasso;
use spill::Result;
use spillway_model::StateSpace;

/// A predicate on states.
type StatePredicate<'a> = dyn Fn(&[u8]) -> bool + 'a;

/// The violating runs.
#[derive(Clone, Copy)]
pub struct AcceptingRuns<'a> {
    /// The transition system of the runs.
    pub model: &'a dyn StateSpace,
    /// The states that violating runs pass infinitely often.
    pub accepts: &'a StatePredicate<'a>,
    /// The states from which every infinite run is violating, if there are any.
    pub decides: Option<&'a StatePredicate<'a>>,
}

impl AcceptingRuns<'_> {
    /// Returns the length of a run: the steps to a state of `decides`, or the steps of stem and cycle.
    pub fn steps_of(&self, run: &Lasso) -> usize {
        run.states.iter().position(|it| self.is_decided(it)).unwrap_or(run.states.len())
    }

    fn is_decided(&self, state: &[u8]) -> bool {
        self.decides.is_some_and(|decides| decides(state))
    }

    /// Returns the greatest depth that a run of fewer than `steps` steps can reach, up to its cycle or decided state.
    fn reach(&self, steps: usize) -> usize {
        steps.saturating_sub(if self.decides.is_some() { 1 } else { 2 })
    }
}

/// A run, and the result of the search for a shorter one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShorterRun {
    /// The run.
    pub lasso: Lasso,
    /// The number of steps of the known run.
    pub below: usize,
    /// The number of steps of this run.
    pub steps: usize,
    /// The number of explored states.
    pub states: u64,
    /// Whether there is no shorter run.
    pub is_shortest: bool,
}

/// Searches for a shortest violating run, given the run `found`, within the limits and until the control stops it.
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
    /// Whether the search was incomplete somewhere.
    is_open: bool,
}

/// A candidate for the shortest run.
enum BestRun {
    /// The known run.
    Known,
    /// A run whose cycle begins at `start` and passes the accepting state `turn`.
    Loop { start: u32, turn: u32 },
    /// A run through a state from which every continuation is violating.
    Decided { at: u32, behind: Lasso },
}

impl BoundedGraph {
    /// Returns the shortest run in the graph.
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
        // States of small depth come first, so that the bound decreases early.
        for turn in 0..states as u32 {
            if depth(turn) >= best.steps {
                break;
            }
            if control.should_stop() {
                return Ok(BestCandidate { is_open: true, ..best });
            }
            let state = &self.states[turn as usize];
            if runs.is_decided(state) {
                let AcceptingRuns { model, accepts, .. } = runs;
                let continuations = AcceptingContinuations { model, accepts, fair: None };
                match continuations.find_near(state, control)? {
                    ProbeVerdict::Found(behind) => {
                        let run = BestRun::Decided { at: turn, behind };
                        // Later states are not nearer, and earlier ones were searched.
                        return Ok(BestCandidate { steps: depth(turn), run, ..best });
                    }
                    ProbeVerdict::None => {}
                    ProbeVerdict::Open => best.is_open = true,
                }
            }
            let stays = |at: u32| component[at as usize] == component[turn as usize];
            let on_cycle = || self.ahead.of(turn).iter().any(|&next| stays(next));
            if depth(turn) + 1 < best.steps && (runs.accepts)(state) && on_cycle() {
                // A run through an accepted state has at least this many states.
                let steps = best.steps;
                from.fill(turn, &self.ahead, |at, there| stays(at) && depth(turn) + there < steps);
                to.fill(turn, &self.back, |at, there| stays(at) && depth(at) + there + 1 < steps);
                self.shorten(turn, &from, &to, &mut best);
            }
        }
        Ok(best)
    }

    /// Replaces the best run by one with a cycle through `turn`, if that is shorter.
    fn shorten(&self, turn: u32, from: &DistanceMap, to: &DistanceMap, best: &mut BestCandidate) {
        if let Some((steps, start)) = self.shortest_lasso_through(turn, from, to)
            && steps < best.steps
        {
            (best.steps, best.run) = (steps, BestRun::Loop { start, turn });
        }
    }
}
