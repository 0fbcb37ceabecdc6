//! What an analysis may take before a search begins.
//!
//! Analyses decide which reductions a search uses, and a model gets the same reductions on every machine. So the
//! limits of an analysis are counts: of units of work, and of bytes. An analysis that exceeds a limit ends, and its
//! reduction is reported as not applied, with the reason.
//!
//! No clock decides about a reduction. A clock or a signal stops the whole check, through a [`AnalysisSupervisor`]. Then each
//! analysis ends at its next unit of work, and its result is dropped.

use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::fmt;

/// The units of work of one analysis. A unit takes some nanoseconds: a visit of an element of a set or a list.
pub const WORK_MAX: u64 = 1 << 30;

/// An analysis gets this part of the memory budget, as a divisor.
const MEMORY_SHARE: u64 = 4;

/// An analysis gets no more bytes than this, however large the memory budget is. A search that goes on repeats its
/// analyses with this share, so that they come to the same in whatever memory budget it goes on.
const BYTES_MAX: u64 = 256 << 20;

/// An analysis gets at least so many bytes.
const BYTES_MIN: u64 = 4 << 20;

/// The supervisor is asked again after this much work.
const SUPERVISOR_INTERVAL: u64 = 1 << 12;

/// Watches over analyses from outside.
pub trait AnalysisSupervisor {
    /// Whether the whole check is to stop. Clocks and signals are behind this.
    fn should_stop(&self) -> bool;

    /// Notes which analysis begins, for a display of progress.
    fn analysis_started(&self, _analysis: &str) {}
}

/// The supervisor of an analysis that nobody stops.
struct NoSupervisor;

impl AnalysisSupervisor for NoSupervisor {
    fn should_stop(&self) -> bool {
        false
    }
}

/// Why an analysis ended before it had a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BudgetExceeded {
    /// The whole check is to stop.
    Stopped,
    /// The analysis did all the work that it may do.
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

/// What one analysis may still take. Each analysis gets a [new](AnalysisBudget::for_analysis) one, so that no analysis
/// depends on which others there are.
pub struct AnalysisBudget<'s> {
    supervisor: &'s dyn AnalysisSupervisor,
    work_max: u64,
    bytes_max: u64,
    /// The work done.
    work: Cell<u64>,
    /// After this much work the supervisor is asked.
    asks_at: Cell<u64>,
    /// The bytes held.
    bytes: Cell<u64>,
}

impl<'s> AnalysisBudget<'s> {
    /// The budget of an analysis in a check with so much memory.
    pub fn new(memory: u64, supervisor: &'s dyn AnalysisSupervisor) -> AnalysisBudget<'s> {
        let bytes_max = (memory / MEMORY_SHARE).clamp(BYTES_MIN, BYTES_MAX);
        AnalysisBudget::of(supervisor, WORK_MAX, bytes_max)
    }

    /// The largest budget that there is, with nobody to stop the analysis. For what was analysed before: a search that
    /// goes on has the reductions that it began with.
    pub fn largest() -> AnalysisBudget<'static> {
        AnalysisBudget::of(&NoSupervisor, WORK_MAX, BYTES_MAX)
    }

    /// The largest budget that there is.
    pub fn largest_watched(supervisor: &'s dyn AnalysisSupervisor) -> AnalysisBudget<'s> {
        AnalysisBudget::of(supervisor, WORK_MAX, BYTES_MAX)
    }

    fn of(
        supervisor: &'s dyn AnalysisSupervisor,
        work_max: u64,
        bytes_max: u64,
    ) -> AnalysisBudget<'s> {
        // The first unit of work asks, too.
        let [work, asks_at, bytes] = [0, 0, 0].map(Cell::new);
        AnalysisBudget { supervisor, work_max, bytes_max, work, asks_at, bytes }
    }

    /// The same budget, none of it used, for an analysis that begins now.
    pub fn for_analysis(&self, analysis: &str) -> AnalysisBudget<'s> {
        self.supervisor.analysis_started(analysis);
        AnalysisBudget::of(self.supervisor, self.work_max, self.bytes_max)
    }

    /// The same budget with these limits.
    pub fn with_limits(&self, work_max: u64, bytes_max: u64) -> AnalysisBudget<'s> {
        AnalysisBudget::of(self.supervisor, work_max, bytes_max)
    }

    /// Notes work that the analysis does now.
    #[inline]
    pub fn work(&self, units: u64) -> Result<(), BudgetExceeded> {
        let work = self.work.get().saturating_add(units);
        self.work.set(work);
        match work >= self.asks_at.get() {
            true => self.ask(work),
            false => Ok(()),
        }
    }

    /// Asks the supervisor, after so much work.
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

    /// Notes that the analysis holds so many bytes more.
    pub fn hold(&self, bytes: usize) -> Result<(), BudgetExceeded> {
        let bytes = self.bytes.get().saturating_add(bytes as u64);
        self.bytes.set(bytes);
        match bytes > self.bytes_max {
            true => Err(BudgetExceeded::Memory(self.bytes_max)),
            false => Ok(()),
        }
    }

    /// Notes that the analysis gave back so many of the bytes that it held.
    pub fn release(&self, bytes: usize) {
        self.bytes.set(self.bytes.get().saturating_sub(bytes as u64));
    }

    /// Whether the whole check is to stop.
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
