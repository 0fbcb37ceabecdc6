//! The search for violating runs in memory: depth-first, then near the start, then depth-first up to the limits.
//!
//! A short depth-first search decides most small products and finds violations that many runs have. But if a model can
//! count for long, depth-first search follows one long path first, and finds a cycle of two steps near the start last.
//! So the nearest states are searched before depth-first search continues. The time for a cycle among them depends only
//! on their number.

use super::bounded_graph::{BoundedGraph, DistanceMap};
use super::nested_dfs::{ProbeLimits, ProbeResult, ProbeVerdict, probe as probe_depth_first};
use crate::SearchControl;
use crate::lasso::Lasso;
use spill::Result;
use spillway_model::StateSpace;

/// The number of states that the first depth-first search visits.
const FIRST_STATES: u64 = 50_000;

/// The divisor of the limit on states for the search near the start.
const NEAR_SHARE: u64 = 4;

/// Searches for a cycle through a state that `accepts`, until the control stops it.
pub fn probe(
    model: &dyn StateSpace,
    accepts: &dyn Fn(&[u8]) -> bool,
    limits: ProbeLimits,
    control: &SearchControl,
) -> Result<ProbeResult> {
    // If transitions are omitted, most states are deep, and depth-first search enforces the weakest cycle proviso.
    let first_states = match model.capabilities().cycle_proviso {
        None => FIRST_STATES,
        Some(_) => limits.states / NEAR_SHARE,
    };
    let states = limits.states.min(first_states);
    let first = probe_depth_first(model, accepts, ProbeLimits { states, ..limits }, control)?;
    if first.found != ProbeVerdict::Open || states == limits.states || control.is_stopped() {
        return Ok(first);
    }
    let near = ProbeLimits { states: limits.states / NEAR_SHARE, ..limits };
    let near = probe_near(model, accepts, near, control)?;
    match near.found {
        ProbeVerdict::Open => probe_depth_first(model, accepts, limits, control),
        ProbeVerdict::None | ProbeVerdict::Found(_) => Ok(near),
    }
}

/// Searches the states near the start in the same way.
fn probe_near(
    model: &dyn StateSpace,
    accepts: &dyn Fn(&[u8]) -> bool,
    limits: ProbeLimits,
    control: &SearchControl,
) -> Result<ProbeResult> {
    let graph = BoundedGraph::explore_within(usize::MAX, model, limits, control)?;
    let found = match graph.nearest(accepts) {
        Some(lasso) => ProbeVerdict::Found(lasso),
        None if graph.is_all => ProbeVerdict::None,
        None => ProbeVerdict::Open,
    };
    let BoundedGraph { ref states, transitions, faults, .. } = graph;
    Ok(ProbeResult { found, states: states.len() as u64, transitions, faults })
}

impl BoundedGraph {
    /// Returns a run through the nearest accepting state that lies on a cycle.
    fn nearest(&self, accepts: &dyn Fn(&[u8]) -> bool) -> Option<Lasso> {
        let component = self.components();
        let stays = |at: u32, turn: u32| component[at as usize] == component[turn as usize];
        let on_cycle = |turn: u32| self.ahead.of(turn).iter().any(|&next| stays(next, turn));
        let mut all = 0..self.states.len() as u32;
        let turn = all.find(|&it| on_cycle(it) && accepts(&self.states[it as usize]))?;
        let states = self.states.len();
        let (mut from, mut to) = (DistanceMap::new(states), DistanceMap::new(states));
        from.fill(turn, &self.ahead, |at, _| stays(at, turn));
        to.fill(turn, &self.back, |at, _| stays(at, turn));
        let (_, start) = self.shortest_lasso_through(turn, &from, &to)?;
        Some(self.lasso(start, turn))
    }
}
