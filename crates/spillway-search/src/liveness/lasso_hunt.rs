//! Hunts for a violating run within a search in memory.
//!
//! Nested depth-first search in one order of successors may leave the part of the states with accepting cycles to the
//! end. A hunt dives in other orders and walks at random, so it often closes a cycle soon (Grosu and Smolka, "Monte
//! Carlo model checking", 2005).

use super::nested_dfs::ProbeLimits;
use super::shortest_lasso::{AcceptingRuns, shortest};
use crate::SearchControl;
use crate::hunt::{HuntBounds, HuntFinding, HuntProgress, HuntTarget, hunt};
use crate::lasso::Lasso;
use spill::Result;
use spillway_model::{CheckSelection, StateSpace};

/// The most states for shortening a run.
const SHORTEN_STATES: u64 = 50_000;

/// The divisor of the memory of the search that yields the memory of a hunt.
const MEMORY_SHARE: u64 = 4;

/// The hunts for a run of a system that visits accepting states infinitely often.
pub struct LassoHunts<'h> {
    /// The system.
    pub model: &'h dyn StateSpace,
    /// The accepting states.
    pub accepts: &'h (dyn Fn(&[u8]) -> bool + Sync),
    /// The control that stops the hunts.
    pub control: &'h SearchControl,
}

/// A run that a hunt found.
pub struct HuntedRun {
    /// The run, shortened.
    pub lasso: Lasso,
    /// The name of the strategy.
    pub strategy: &'static str,
}

impl LassoHunts<'_> {
    /// Hunts once, with about this number of transitions. The seed distinguishes hunts.
    ///
    /// # Errors
    ///
    /// If the model fails while a run is shortened.
    pub fn hunt(
        &self,
        seed: u64,
        transitions: u64,
        limits: ProbeLimits,
    ) -> Result<Option<HuntedRun>> {
        let &LassoHunts { model, accepts, control } = self;
        let (width, bytes) = (model.width(), limits.bytes / MEMORY_SHARE);
        let bounds = HuntBounds { seed, transitions, bytes, width };
        let (Some(options), None) = (bounds.options(), model.capabilities().growing) else {
            return Ok(None);
        };
        let target = HuntTarget {
            model,
            checks: CheckSelection::NONE,
            accepts: Some(accepts),
            distances: Vec::new(),
        };
        // The search itself meets an error of the model, unless it finds a run before.
        let Ok(mut outcome) = hunt(&target, &options, control, &HuntProgress::default()) else {
            return Ok(None);
        };
        let Some(HuntFinding::Run(lasso)) = outcome.finding.take() else { return Ok(None) };
        let runs = AcceptingRuns { model, accepts, decides: None };
        let limits = ProbeLimits { states: limits.states.min(SHORTEN_STATES), ..limits };
        let shorter = shortest(runs, lasso, limits, control)?;
        let strategy = outcome.found_by.map_or("", |it| it.strategy);
        Ok(Some(HuntedRun { lasso: shorter.lasso, strategy }))
    }
}
