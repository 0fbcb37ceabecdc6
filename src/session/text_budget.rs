//! The memory of a search whose model is a text: what reading and compiling it takes.

use super::memory_budget::SearchBudget;
use super::{Error, TextModel};
use crate::exec::{Executor, Interp};
use crate::search::memory_plan::BudgetTooSmall;
use crate::search::{MemoryPlan, return_free_blocks};

const MIB: u64 = 1 << 20;

/// Added to the peak memory of reading a model in messages, since the peak varies.
const PEAK_SLACK_MIB: u64 = 2;

/// The maximum number of minimal budgets that are tried before one is named in the message.
const MINIMA_TRIED: u32 = 3;

/// Bytes that stay free while a model is compiled, since the memory of compilation is an estimate.
const BESIDE_COMPILING: u64 = 8 << 20;

impl SearchBudget {
    /// Makes the model executable. No other part of a search may have begun.
    pub fn executor<'m>(&self, model: &'m Interp) -> Executor<'m> {
        return_free_blocks();
        let room = self.memory.saturating_sub(MemoryPlan::resident() + BESIDE_COMPILING);
        Executor::for_search(model, self.exec, room, self.counts)
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
            let executor = SearchBudget { memory: minimum, ..*self }.executor(&model.interp);
            executor.compile_steps();
            match share(minimum) {
                Ok(_) => break,
                Err(error) => minimum = error.minimum.max(minimum + MIB),
            }
        }
        Err(Error::Memory(BudgetTooSmall { budget, minimum }))
    }
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
