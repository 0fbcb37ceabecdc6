//! The memory of a search, from what is asked for to a plan.
//!
//! Compiling takes what the budget leaves when nothing else has begun; what is resident then is not there
//! to be shared out. So a budget is tried, not computed.

use super::{Error, RunLimits, TextModel};
use crate::exec::{ExecutionMode, Executor, Interp};
use crate::search::memory_plan::BudgetTooSmall;
use crate::search::{MemoryPlan, cores, return_free_blocks};

const MIB: u64 = 1 << 20;

/// Added to what reading a model took where that is told, as it is never quite the same.
const PEAK_SLACK_MIB: u64 = 2;

/// How often a least budget is tried and found too small, too, before one is named.
const MINIMA_TRIED: u32 = 3;

/// Kept free while a model is compiled, in bytes: what compiling takes is an estimate.
const BESIDE_COMPILING: u64 = 8 << 20;

/// What a search may take, and how it is to run.
#[derive(Clone, Copy, Debug)]
pub struct SearchBudget {
    /// The most bytes that the process may hold resident.
    pub memory: u64,
    /// The number of threads; by default as many as there are cores and room for.
    pub threads: Option<u16>,
    /// How a model is run that can be compiled.
    pub exec: ExecutionMode,
    /// Whether the search goes on: what was enough for it to begin is enough.
    pub goes_on: bool,
    /// Whether compiled code counts how often each action is taken.
    pub counts: bool,
}

impl SearchBudget {
    /// The budget of a session that begins a search, or goes on with one. Executions of actions are not counted.
    pub fn of(limits: &RunLimits, goes_on: bool) -> SearchBudget {
        let RunLimits { memory, threads, exec, .. } = *limits;
        SearchBudget { memory, threads, exec, goes_on, counts: false }
    }

    /// The model ready to run. Nothing else of a search should have begun.
    pub fn executor<'m>(&self, model: &'m Interp) -> Executor<'m> {
        return_free_blocks();
        let room = self.memory.saturating_sub(MemoryPlan::resident() + BESIDE_COMPILING);
        Executor::with_limits(model, self.exec, room, self.counts)
    }

    /// Shares it out for a search of states of `width` bytes. One that a process could begin in, but perhaps
    /// not go on in later, is refused.
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

    /// The plan of a search of a model that came from a text, when it is compiled, whose states are stored in so many
    /// bytes. Where the budget is too
    /// small, the least that is not is named: compiling takes what a budget leaves, so that is tried.
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

    /// The plan of a search of another model.
    pub fn plan_for_rust(&self, stored_width: usize) -> Result<MemoryPlan, Error> {
        self.share_out(stored_width).map_err(Error::Memory)
    }
}

/// As many threads as there are cores, and as `memory` is enough for, to look for a counterexample.
pub fn threads_to_trace(memory: u64, width: usize) -> usize {
    return_free_blocks();
    MemoryPlan::threads_to_trace(memory, MemoryPlan::resident(), cores(), width)
}

/// The most that reading and compiling the model took, and that writing its text to the search
/// directory will, which takes two copies more; in bytes.
fn reading_peak(model: &TextModel) -> u64 {
    let text: usize = model.sources.iter().map(|file| file.text.len()).sum();
    MemoryPlan::peak_resident().max(MemoryPlan::resident() + 2 * text as u64)
}

/// What came of sharing out a budget; one that reading the model went beyond, to so many bytes, is
/// refused as well.
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
