//! The memory of a search: from the requested budget to a plan.
//!
//! Compilation takes what the budget has left while nothing else runs. The memory that is resident afterwards cannot
//! be shared out. So a budget is tried, not computed.

use super::{Error, RunLimits, TextModel};
use crate::exec::{ExecutionMode, Executor, Interp};
use crate::search::memory_plan::BudgetTooSmall;
use crate::search::{MemoryPlan, cores, return_free_blocks};

const MIB: u64 = 1 << 20;

/// Added to the peak memory of reading a model in messages, since the peak varies.
const PEAK_SLACK_MIB: u64 = 2;

/// The maximum number of minimal budgets that are tried before one is named in the message.
const MINIMA_TRIED: u32 = 3;

/// Bytes that stay free while a model is compiled, since the memory of compilation is an estimate.
const BESIDE_COMPILING: u64 = 8 << 20;

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

    /// Makes the model executable. No other part of a search may have begun.
    pub fn executor<'m>(&self, model: &'m Interp) -> Executor<'m> {
        return_free_blocks();
        let room = self.memory.saturating_sub(MemoryPlan::resident() + BESIDE_COMPILING);
        Executor::with_limits(model, self.exec, room, self.counts)
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

    /// Returns the memory plan for a model from a text. `stored_width` is the width of a stored state in bytes. The
    /// error names the smallest sufficient budget. That budget is found by trial, since compilation takes what a
    /// budget has left.
    pub fn plan(&self, model: &TextModel, stored_width: usize) -> Result<MemoryPlan, Error> {
        let share = |memory| {
            let shared = SearchBudget { memory, ..*self }.share_out(stored_width);
            beside_reading(shared, memory, reading_peak(model))
        };
        let BudgetTooSmall { budget, mut minimum } = match share(self.memory) {
            Ok(plan) => return Ok(plan),
            Err(error) => error,
        };
        for _ in 0..MINIMA_TRIED {
            let _compiled = SearchBudget { memory: minimum, ..*self }.executor(&model.interp);
            match share(minimum) {
                Ok(_) => break,
                Err(error) => minimum = error.minimum.max(minimum + MIB),
            }
        }
        Err(Error::Memory(BudgetTooSmall { budget, minimum }))
    }

    /// Returns the memory plan for a model that is a Rust type.
    pub fn plan_for_rust(&self, stored_width: usize) -> Result<MemoryPlan, Error> {
        self.share_out(stored_width).map_err(Error::Memory)
    }
}

/// Returns the number of threads that reconstruct a counterexample: the number of cores, or fewer if memory is short.
pub fn threads_to_trace(memory: u64, width: usize) -> usize {
    return_free_blocks();
    MemoryPlan::threads_to_trace(memory, MemoryPlan::resident(), cores(), width)
}

/// Returns the peak memory in bytes: that of reading and compiling the model, or that of writing its text to the
/// search directory, which needs two more copies.
fn reading_peak(model: &TextModel) -> u64 {
    let text: usize = model.sources.iter().map(|file| file.text.len()).sum();
    MemoryPlan::peak_resident().max(MemoryPlan::resident() + 2 * text as u64)
}

/// Checks a divided budget against the peak memory of reading the model. A budget below that peak is rejected.
fn beside_reading(
    shared: Result<MemoryPlan, BudgetTooSmall>,
    budget: u64,
    taken: u64,
) -> Result<MemoryPlan, BudgetTooSmall> {
    let read = match taken <= budget {
        true => 0,
        false => (taken.div_ceil(MIB) + PEAK_SLACK_MIB) * MIB,
    };
    match shared {
        Ok(plan) if read == 0 => Ok(plan),
        Ok(_) => Err(BudgetTooSmall { budget, minimum: read }),
        Err(error) => {
            let minimum = error.minimum.max(read).div_ceil(MIB) * MIB;
            Err(BudgetTooSmall { minimum, ..error })
        }
    }
}
