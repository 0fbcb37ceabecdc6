//! Runs that violate a property, looked for in memory: depth-first, then near the start, then depth-first as far as there is room.
//!
//! Depth-first few states decide most small products, and find what many runs come to. But where a model can count for long,
//! it goes down one long way first, and a loop of two steps beside the start may be met last of all. So before it is let go on,
//! the states that are near are looked at, all of them: a cycle among these is found in time that grows with their number alone.

use super::bounded_graph::{BoundedGraph, DistanceMap};
use super::nested_dfs::{ProbeLimits, ProbeResult, ProbeVerdict, probe as probe_depth_first};
use crate::model::StateSpace;
use crate::search::SearchControl;
use crate::search::lasso::Lasso;
use spill::Result;

/// Depth-first so many states are looked at before those that are near.
const FIRST_STATES: u64 = 50_000;

/// Which part of the states that may be kept is kept of those that are near.
const NEAR_SHARE: u64 = 4;

/// Looks for a cycle of a model through a state that `accepts`, until told to stop.
pub fn probe(
    model: &dyn StateSpace,
    accepts: &dyn Fn(&[u8]) -> bool,
    limits: ProbeLimits,
    control: &SearchControl,
) -> Result<ProbeResult> {
    let states = limits.states.min(FIRST_STATES);
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

/// The same among the states that are near.
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
    /// A run through the accepting state on a cycle that is nearest.
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
