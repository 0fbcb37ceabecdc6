//! Memory budgets of searches in test programs.

use spillway::search::MemoryPlan;

/// Returns a budget in bytes that leaves a search `mib` MiB. A budget bounds the whole process, and other tests run in
/// it at the same time: their memory is added. It depends on the number of cores and on the allocator.
pub fn memory_beside_tests(mib: u64) -> u64 {
    MemoryPlan::resident() + (mib << 20)
}
