//! The division of the memory budget.
//!
//! `--memory` bounds the resident set of the whole process. The memory in use before the search (code and model) is
//! measured. A reserve is set aside for decoders, encoders and mapped pages. Three eighths of the rest are for the
//! young runs of the visited store. The others are for candidate buffers, each with a sorting buffer of the same size.
//! If levels are thin, and so candidates few, four of these five eighths are for a filter of the store.

use rkyv::{Archive, Deserialize, Serialize};
use spill::StoreBudget;
use std::fmt;

const MIB: u64 = 1 << 20;

/// The reserve in bytes besides that of the threads.
const RESERVE: u64 = 6 * MIB;

/// The reserve for each thread's encoder, compressor, tables, batches and stack, in bytes.
const RESERVE_PER_THREAD: u64 = 4 * MIB + REPRESENTING;

/// The part of it for the table of recent representatives and the buffers to compute one, in bytes.
const REPRESENTING: u64 = MIB / 2;

/// The divisor of the budget that is also reserved: mapped pages and freed blocks that are still resident grow with the
/// search.
const RESERVE_SHARE: u64 = 16;

/// The divisor of the base that, with one MiB more, bounds the difference between two processes with the same model.
/// Measured: up to 1 MiB of 16, 2 of 25.
const RESUMING_SHARE: u64 = 16;

/// The number of decoded blocks of keys that a thread has in memory while it merges.
const BLOCKS_PER_THREAD: u64 = 16;

/// The same number for a thread that searches for a counterexample.
const TRACED_BLOCKS: u64 = 4;

/// The least candidate buffer of a thread, in bytes, without its sorting buffer.
const BUFFER_MIN: u64 = MIB / 16;

/// The least share of the young runs, in bytes.
const YOUNG_MIN: u64 = MIB;

/// The assumed memory of the process if the system does not report it, in bytes.
const BASE_DEFAULT: u64 = 16 * MIB;

/// The shares of the memory, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub struct MemoryPlan {
    /// The whole budget.
    pub budget: u64,
    /// Resident memory before the search: the program and the model.
    pub base: u64,
    /// The reserve for decoders, encoders, batches, stacks and mapped pages.
    pub reserve: u64,
    /// The number of threads.
    pub threads: usize,
    /// The guaranteed size of each thread's candidate buffer, without its sorting buffer.
    pub buffer: u64,
    /// The young runs, with the space to merge them.
    pub young: u64,
    /// A filter of the store if levels are thin; otherwise lent to the candidates.
    pub filter: u64,
    /// Each thread's buffer of obligations, without its sorting buffer; 0 if no transitions are postponed.
    pub obligations: u64,
    /// An encoding that grows, in memory; 0 if it does not grow.
    pub encoding: u64,
    /// Each thread's buffer of states without an encoding; 0 if the encoding does not grow.
    pub unencoded: u64,
}

/// Returns the number of cores that this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// A budget that is too small for the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetTooSmall {
    /// The requested budget in bytes.
    pub budget: u64,
    /// The minimum for this model and number of threads, in bytes.
    pub minimum: u64,
}

impl std::error::Error for BudgetTooSmall {}

impl fmt::Display for BudgetTooSmall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a memory budget of {} is too small: the minimum for this model is {}MiB",
            ByteCount(self.budget),
            self.minimum.div_ceil(MIB)
        )
    }
}

impl MemoryPlan {
    /// Divides `budget` bytes among `threads` threads, for states of `width` bytes, in a process with `base` resident
    /// bytes.
    pub fn new(
        budget: u64,
        base: u64,
        threads: usize,
        width: usize,
    ) -> Result<MemoryPlan, BudgetTooSmall> {
        let blocks = BLOCKS_PER_THREAD * (spill::block_keys_max(width) * width) as u64;
        let fixed = RESERVE + threads as u64 * (RESERVE_PER_THREAD + blocks);
        let buffer_min = BUFFER_MIN.max(64 * width as u64);
        let young_min = YOUNG_MIN.max(256 * width as u64);
        let minimum = base + fixed + (threads as u64 * 2 * buffer_min).max(young_min / 2) * 8;
        let minimum = minimum * RESERVE_SHARE / (RESERVE_SHARE - 1);
        if budget < minimum {
            let minimum = minimum.next_multiple_of(MIB);
            return Err(BudgetTooSmall { budget, minimum });
        }
        let reserve = fixed + budget / RESERVE_SHARE;
        let rest = budget - base - reserve;
        let buffer = rest / 8 / (2 * threads as u64);
        let (young, filter) = (rest * 3 / 8, rest / 2);
        let (obligations, encoding, unencoded) = (0, 0, 0);
        Ok(MemoryPlan {
            budget,
            base,
            reserve,
            threads,
            buffer,
            young,
            filter,
            obligations,
            encoding,
            unencoded,
        })
    }

    /// Adds memory for an encoding that grows: half of the filter. An eighth of it is for states that wait for their
    /// encoding.
    pub fn for_growth(self) -> MemoryPlan {
        match self.encoding {
            0 => {
                let share = self.filter / 2;
                let unencoded = share / 8 / self.threads as u64;
                let (filter, encoding) = (self.filter - share, share - share / 8);
                MemoryPlan { filter, encoding, unencoded, ..self }
            }
            _ => self,
        }
    }

    /// Adds buffers for obligations, for a search that postpones transitions. They are as large as the guaranteed
    /// candidate buffers and are taken from the filter.
    pub fn for_obligations(self) -> MemoryPlan {
        match self.obligations {
            0 => {
                let bytes = 2 * self.buffer * self.threads as u64;
                let filter = self.filter.saturating_sub(bytes);
                MemoryPlan { filter, obligations: self.buffer, ..self }
            }
            _ => self,
        }
    }

    /// Returns the part of the store. Runs and levels on disk up to the size of the budget are not compressed: if the
    /// system's cache of files cannot hold them, there is not enough memory for the search either.
    pub fn shares(&self) -> StoreBudget {
        StoreBudget { young: self.young as usize, filter: self.filter as usize, plain: self.budget }
    }

    /// Returns the plan with the most threads, up to `threads`, that fits `budget`.
    pub fn with_most_threads(
        budget: u64,
        base: u64,
        threads: usize,
        width: usize,
    ) -> Result<MemoryPlan, BudgetTooSmall> {
        let plans =
            (1..=threads.max(1)).rev().map(|count| MemoryPlan::new(budget, base, count, width));
        plans.reduce(Result::or).expect("there is a plan for one thread at least")
    }

    /// Returns the bytes that a process which resumes a search may have resident beyond the `base` bytes of the one
    /// that began it. It reads and compiles the same model, but the layout of blocks differs, and so do the resident
    /// pages of the program.
    pub fn resuming(base: u64) -> u64 {
        MIB + base / RESUMING_SHARE
    }

    /// Returns the number of threads, up to `threads`, that may search for a counterexample in `budget` bytes, of which
    /// `base` are resident. It is at least one, since this takes less than a search.
    pub fn threads_to_trace(budget: u64, base: u64, threads: usize, width: usize) -> usize {
        let blocks = TRACED_BLOCKS * (spill::block_keys_max(width) * width) as u64;
        let free = (budget - budget / RESERVE_SHARE).saturating_sub(base + RESERVE);
        ((free / (RESERVE_PER_THREAD + blocks)) as usize).clamp(1, threads.max(1))
    }

    /// Returns the bytes resident in this process now.
    pub fn resident() -> u64 {
        status_field("VmRSS:").unwrap_or(BASE_DEFAULT)
    }

    /// Returns the greatest resident memory of this process in bytes.
    pub fn peak_resident() -> u64 {
        status_field("VmHWM:").unwrap_or(0)
    }
}

/// Returns a field of `/proc/self/status`, in bytes.
fn status_field(name: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().trim_end_matches("kB").trim().parse::<u64>().ok().map(|kib| kib * 1024)
}

impl fmt::Display for MemoryPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MemoryPlan { budget, base, reserve, threads, buffer, young, filter, .. } = *self;
        let MemoryPlan { obligations, encoding, unencoded, .. } = *self;
        writeln!(f, "memory budget {}", ByteCount(budget))?;
        writeln!(f, "  program and model     {:>10}", ByteCount(base).to_string())?;
        writeln!(f, "  reserve               {:>10}", ByteCount(reserve).to_string())?;
        writeln!(
            f,
            "  candidates            {:>10}  ({threads} x {}, and as much to sort)",
            ByteCount(2 * buffer * threads as u64).to_string(),
            ByteCount(buffer)
        )?;
        if obligations > 0 {
            writeln!(
                f,
                "  obligations           {:>10}  ({threads} x {}, and as much to sort)",
                ByteCount(2 * obligations * threads as u64).to_string(),
                ByteCount(obligations)
            )?;
        }
        if encoding > 0 {
            let waiting = ByteCount(unencoded * threads as u64).to_string();
            writeln!(f, "  encoding              {:>10}", ByteCount(encoding).to_string())?;
            writeln!(f, "  without encoding      {waiting:>10}")?;
        }
        writeln!(f, "  young runs            {:>10}", ByteCount(young).to_string())?;
        write!(f, "  filter                {:>10}  (", ByteCount(filter).to_string())?;
        write!(f, "or candidates, where levels are not thin)")
    }
}

/// A number of bytes for display.
#[derive(Clone, Copy, Debug)]
pub struct ByteCount(pub u64);

impl fmt::Display for ByteCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [("GiB", 1 << 30), ("MiB", MIB), ("KiB", 1 << 10)];
        match units.iter().find(|(_, size)| self.0 >= *size) {
            Some((unit, size)) if self.0.is_multiple_of(*size) => {
                write!(f, "{}{unit}", self.0 / size)
            }
            Some((unit, size)) => write!(f, "{:.1}{unit}", self.0 as f64 / *size as f64),
            None => write!(f, "{}B", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shares_add_up_to_at_most_the_budget() {
        for threads in [1, 2, 16] {
            for budget in [160 * MIB, 200 * MIB, 4096 * MIB] {
                let plan = MemoryPlan::new(budget, 8 * MIB, threads, 10).unwrap();
                for plan in [
                    plan,
                    plan.for_obligations(),
                    plan.for_obligations().for_obligations(),
                    plan.for_growth(),
                    plan.for_growth().for_growth(),
                ] {
                    let shared = plan.base
                        + plan.reserve
                        + plan.young
                        + plan.filter
                        + plan.encoding
                        + (2 * (plan.buffer + plan.obligations) + plan.unencoded) * threads as u64;
                    assert!(shared <= budget && shared + MIB > budget, "{plan}");
                }
            }
        }
    }

    #[test]
    fn little_memory_limits_the_threads() {
        let plan = |budget| MemoryPlan::with_most_threads(budget, 8 * MIB, 16, 10).unwrap();
        assert!((2..16).contains(&plan(64 * MIB).threads));
        assert_eq!(plan(4096 * MIB).threads, 16);
        let least = MemoryPlan::with_most_threads(0, 8 * MIB, 16, 10).unwrap_err().minimum;
        assert_eq!(least, MemoryPlan::new(0, 8 * MIB, 1, 10).unwrap_err().minimum);
    }

    #[test]
    fn the_minimum_is_accepted_and_one_less_is_not() {
        let minimum = MemoryPlan::new(0, 8 * MIB, 2, 10).unwrap_err().minimum;
        assert!(MemoryPlan::new(minimum, 8 * MIB, 2, 10).is_ok());
        assert!(MemoryPlan::new(minimum - MIB, 8 * MIB, 2, 10).is_err());
    }
}
