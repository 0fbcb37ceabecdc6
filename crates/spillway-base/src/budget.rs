//! Limits of the analyses before a search begins.
//!
//! Analyses decide which reductions a search uses, and a model gets the same reductions on every machine. So the limits
//! of an analysis are counts: of units of work, and of bytes. An analysis that exceeds a limit ends, and its reduction
//! is reported as not applied, with the reason.
//!
//! No clock decides about a reduction. A clock or a signal stops the whole check, through an [`AnalysisSupervisor`].
//! Then each analysis ends at its next unit of work, and its result is dropped.

use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::fmt;

/// The greatest number of units of work of one analysis. A unit takes some nanoseconds: a visit of an element of a set
/// or a list.
pub const WORK_MAX: u64 = 1 << 30;

/// The divisor of the memory budget that an analysis may use.
const MEMORY_SHARE: u64 = 4;

/// The greatest number of bytes of an analysis, however large the memory budget is. A resumed search repeats its
/// analyses with this limit, so that their results do not depend on its memory budget.
const BYTES_MAX: u64 = 256 << 20;

/// The bytes that an analysis may always use.
const BYTES_MIN: u64 = 4 << 20;

/// The units of work between two calls of the supervisor.
const SUPERVISOR_INTERVAL: u64 = 1 << 12;

/// Supervises analyses from outside.
pub trait AnalysisSupervisor {
    /// Returns whether the whole check must stop, for example because of a clock or a signal.
    fn should_stop(&self) -> bool;

    /// Records the analysis that begins, for a display of progress.
    fn analysis_started(&self, _analysis: &str) {}
}

/// A supervisor that never stops an analysis.
struct NoSupervisor;

impl AnalysisSupervisor for NoSupervisor {
    fn should_stop(&self) -> bool {
        false
    }
}

/// The reason why an analysis ended without a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BudgetExceeded {
    /// The whole check must stop.
    Stopped,
    /// The analysis did the greatest allowed amount of work.
    Work,
    /// The analysis needs more than its share of the memory budget, in bytes.
    Memory(u64),
}

impl std::error::Error for BudgetExceeded {}

impl fmt::Display for BudgetExceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BudgetExceeded::Stopped => f.write_str("the check was stopped before it was analysed"),
            BudgetExceeded::Work => {
                f.write_str("the model is too large: its analysis would take too long")
            }
            BudgetExceeded::Memory(bytes) => write!(
                f,
                "its analysis needs more than its share of the memory budget, {}MiB",
                bytes >> 20
            ),
        }
    }
}

/// The remaining budget of one analysis. Each analysis gets a [new](AnalysisBudget::for_analysis) one, so that analyses
/// do not depend on each other.
pub struct AnalysisBudget<'s> {
    supervisor: &'s dyn AnalysisSupervisor,
    work_max: u64,
    bytes_max: u64,
    /// The work so far.
    work: Cell<u64>,
    /// The amount of work at which the supervisor is called.
    asks_at: Cell<u64>,
    /// The bytes in use.
    bytes: Cell<u64>,
}

impl<'s> AnalysisBudget<'s> {
    /// Creates the budget of an analysis in a check with `memory` bytes.
    pub fn new(memory: u64, supervisor: &'s dyn AnalysisSupervisor) -> AnalysisBudget<'s> {
        let bytes_max = (memory / MEMORY_SHARE).clamp(BYTES_MIN, BYTES_MAX);
        AnalysisBudget::of(supervisor, WORK_MAX, bytes_max)
    }

    /// Creates the largest budget, without a supervisor. It is for repeated analyses: a resumed search has the
    /// reductions that it began with.
    pub fn largest() -> AnalysisBudget<'static> {
        AnalysisBudget::of(&NoSupervisor, WORK_MAX, BYTES_MAX)
    }

    /// Creates the largest budget.
    pub fn largest_watched(supervisor: &'s dyn AnalysisSupervisor) -> AnalysisBudget<'s> {
        AnalysisBudget::of(supervisor, WORK_MAX, BYTES_MAX)
    }

    fn of(
        supervisor: &'s dyn AnalysisSupervisor,
        work_max: u64,
        bytes_max: u64,
    ) -> AnalysisBudget<'s> {
        // The first unit of work calls the supervisor, too.
        let [work, asks_at, bytes] = [0, 0, 0].map(Cell::new);
        AnalysisBudget { supervisor, work_max, bytes_max, work, asks_at, bytes }
    }

    /// Returns an unused copy of the budget for an analysis that begins now.
    pub fn for_analysis(&self, analysis: &str) -> AnalysisBudget<'s> {
        self.supervisor.analysis_started(analysis);
        AnalysisBudget::of(self.supervisor, self.work_max, self.bytes_max)
    }

    /// Returns an unused budget with these limits.
    pub fn with_limits(&self, work_max: u64, bytes_max: u64) -> AnalysisBudget<'s> {
        AnalysisBudget::of(self.supervisor, work_max, bytes_max)
    }

    /// Adds work of the analysis.
    #[inline]
    pub fn work(&self, units: u64) -> Result<(), BudgetExceeded> {
        let work = self.work.get().saturating_add(units);
        self.work.set(work);
        match work >= self.asks_at.get() {
            true => self.ask(work),
            false => Ok(()),
        }
    }

    /// Calls the supervisor.
    #[cold]
    fn ask(&self, work: u64) -> Result<(), BudgetExceeded> {
        if self.supervisor.should_stop() {
            return Err(BudgetExceeded::Stopped);
        }
        if work > self.work_max {
            return Err(BudgetExceeded::Work);
        }
        self.asks_at.set(work.saturating_add(SUPERVISOR_INTERVAL).min(self.work_max + 1));
        Ok(())
    }

    /// Adds bytes that the analysis uses.
    pub fn hold(&self, bytes: usize) -> Result<(), BudgetExceeded> {
        let bytes = self.bytes.get().saturating_add(bytes as u64);
        self.bytes.set(bytes);
        match bytes > self.bytes_max {
            true => Err(BudgetExceeded::Memory(self.bytes_max)),
            false => Ok(()),
        }
    }

    /// Subtracts bytes that the analysis has freed.
    pub fn release(&self, bytes: usize) {
        self.bytes.set(self.bytes.get().saturating_sub(bytes as u64));
    }

    /// Returns whether the whole check must stop.
    pub fn is_stopped(&self) -> bool {
        self.supervisor.should_stop()
    }
}

impl fmt::Debug for AnalysisBudget<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let AnalysisBudget { work_max, bytes_max, work, bytes, .. } = self;
        f.debug_struct("AnalysisBudget")
            .field("work", &(work.get(), work_max))
            .field("bytes", &(bytes.get(), bytes_max))
            .finish_non_exhaustive()
    }
}
