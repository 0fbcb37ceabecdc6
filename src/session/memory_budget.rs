//! The memory of a search: from the requested budget to a plan.
//!
//! Compilation takes what the budget has left while nothing else runs. The memory that is resident afterwards cannot
//! be shared out. So a budget is tried, not computed.

use super::{Error, RunLimits};
use crate::model::ExecutionMode;
use crate::search::memory_plan::BudgetTooSmall;
use crate::search::{MemoryPlan, cores, return_free_blocks};

/// The budget of a search and how its model is executed.
#[derive(Clone, Copy, Debug)]
pub struct SearchBudget {
    /// The most bytes that the process may hold resident.
    pub memory: u64,
    /// The number of threads. The default is the number of cores, or fewer if memory is short.
    pub threads: Option<u16>,
    /// How a model that can be compiled is executed.
    pub exec: ExecutionMode,
    /// Whether the search is resumed. A budget that was sufficient to begin is sufficient to resume.
    pub goes_on: bool,
    /// Whether compiled code counts executions of actions.
    pub counts: bool,
}

impl SearchBudget {
    /// Returns the budget of a session that begins or resumes a search. Executions of actions are not counted.
    pub fn of(limits: &RunLimits, goes_on: bool) -> SearchBudget {
        let RunLimits { memory, threads, exec, .. } = *limits;
        SearchBudget { memory, threads, exec, goes_on, counts: false }
    }

    /// Divides the budget for a search of states of `width` bytes. A budget with which the search could begin but
    /// perhaps not resume later is rejected.
    pub fn share_out(&self, width: usize) -> Result<MemoryPlan, BudgetTooSmall> {
        return_free_blocks();
        let base = MemoryPlan::resident();
        if !self.goes_on {
            self.share_out_beside(base + MemoryPlan::resuming(base), width)?;
        }
        self.share_out_beside(base, width)
    }

    fn share_out_beside(&self, base: u64, width: usize) -> Result<MemoryPlan, BudgetTooSmall> {
        match self.threads {
            Some(threads) => MemoryPlan::new(self.memory, base, threads.into(), width),
            None => MemoryPlan::with_most_threads(self.memory, base, cores(), width),
        }
    }

    /// Returns the memory plan for a model that is neither compiled nor reduced.
    pub fn plan_without_text(&self, stored_width: usize) -> Result<MemoryPlan, Error> {
        self.share_out(stored_width).map_err(Error::Memory)
    }
}

/// Returns the number of threads that reconstruct a counterexample: the number of cores, or fewer if memory is short.
pub fn threads_to_trace(memory: u64, width: usize) -> usize {
    return_free_blocks();
    MemoryPlan::threads_to_trace(memory, MemoryPlan::resident(), cores(), width)
}
