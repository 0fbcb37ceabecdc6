//! The search for violating runs in memory: depth-first, then near the start, then depth-first up to the limits.
//!
//! A short depth-first search decides most small products and finds violations that many runs have. But if a model can
//! count for long, depth-first search follows one long path first, and finds a cycle of two steps near the start last.
//! So the nearest states are searched before depth-first search continues. The time for a cycle among them depends only
//! on their number.
//!
//! A search with hunts also [hunts](super::lasso_hunt): after the short depth-first search, and at the end.

use super::bounded_graph::{BoundedGraph, DistanceMap};
use super::lasso_hunt::{HuntedRun, LassoHunts};
use super::nested_dfs::{ProbeLimits, ProbeResult, ProbeVerdict, probe as probe_depth_first};
use crate::SearchControl;
use crate::lasso::Lasso;
use spill::Result;
use spillway_model::StateSpace;

/// The number of states that the first depth-first search visits.
const FIRST_STATES: u64 = 50_000;

/// The divisor of the limit on states for the search near the start.
const NEAR_SHARE: u64 = 4;

/// The transitions of the hunt after the first depth-first search.
const FIRST_HUNT: u64 = 100_000;

/// Searches for a cycle through a state that `accepts`, until the control stops it.
pub fn probe(
    model: &dyn StateSpace,
    accepts: &dyn Fn(&[u8]) -> bool,
    limits: ProbeLimits,
    control: &SearchControl,
) -> Result<ProbeResult> {
    StagedSearch { model, accepts, limits, control, hunts: None }.run()
}

/// Searches in the same way, with hunts between the stages.
pub fn probe_with_hunts(
    model: &dyn StateSpace,
    accepts: &(dyn Fn(&[u8]) -> bool + Sync),
    limits: ProbeLimits,
    control: &SearchControl,
) -> Result<ProbeResult> {
    let hunts = Some(LassoHunts { model, accepts, control });
    StagedSearch { model, accepts, limits, control, hunts }.run()
}

/// A search in stages.
struct StagedSearch<'a> {
    model: &'a dyn StateSpace,
    accepts: &'a dyn Fn(&[u8]) -> bool,
    limits: ProbeLimits,
    control: &'a SearchControl,
    hunts: Option<LassoHunts<'a>>,
}

impl StagedSearch<'_> {
    fn run(&self) -> Result<ProbeResult> {
        let limits = self.limits;
        // If transitions are omitted, most states are deep, and depth-first search enforces the weakest cycle proviso.
        let first_states = match self.model.capabilities().cycle_proviso {
            None => FIRST_STATES,
            Some(_) => limits.states / NEAR_SHARE,
        };
        let states = limits.states.min(first_states);
        let first = self.depth_first(states)?;
        let is_all = first.found != ProbeVerdict::Open || states == limits.states;
        if is_all || self.control.is_stopped() {
            return Ok(first);
        }
        if let Some(found) = self.hunt(1, FIRST_HUNT, &first)? {
            return Ok(found);
        }
        let near = ProbeLimits { states: limits.states / NEAR_SHARE, ..limits };
        let near = probe_near(self.model, self.accepts, near, self.control)?;
        if near.found != ProbeVerdict::Open {
            return Ok(near);
        }
        let last = self.depth_first(limits.states)?;
        if last.found != ProbeVerdict::Open || self.control.is_stopped() {
            return Ok(last);
        }
        Ok(self.hunt(2, limits.states, &last)?.unwrap_or(last))
    }

    fn depth_first(&self, states: u64) -> Result<ProbeResult> {
        let limits = ProbeLimits { states, ..self.limits };
        probe_depth_first(self.model, self.accepts, limits, self.control)
    }

    /// Hunts, if the search has hunts, after a search with the result `before`.
    fn hunt(
        &self,
        seed: u64,
        transitions: u64,
        before: &ProbeResult,
    ) -> Result<Option<ProbeResult>> {
        let Some(hunts) = &self.hunts else { return Ok(None) };
        let Some(HuntedRun { lasso, strategy }) = hunts.hunt(seed, transitions, self.limits)?
        else {
            return Ok(None);
        };
        let found = ProbeVerdict::Found(lasso);
        Ok(Some(ProbeResult { found, strategy: Some(strategy.to_owned()), ..before.clone() }))
    }
}

/// Searches the states near to the start in the same way.
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
    let states = states.len() as u64;
    Ok(ProbeResult { found, states, transitions, faults, strategy: None })
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
