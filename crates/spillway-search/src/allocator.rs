//! The configuration of the allocator: it returns freed memory to the system.
//!
//! The memory budget bounds the resident set. The search allocates and frees large buffers of varying sizes. glibc maps
//! large blocks separately and unmaps them when they are freed. But it raises the threshold for large blocks whenever
//! one is freed, up to 32 MiB. From then on freed buffers stay in its heaps: 20 MiB in a search of 11.8 M states at 64
//! MiB. A fixed threshold prevents this.
//!
//! A page that was returned must be requested again, which costs half a microsecond for each kilobyte. Threads live no
//! longer than a part of a level. So heaps keep the size of a thread's decoders, encoders and batches, and larger
//! blocks if there is more memory.

use super::memory_plan::cores;

/// The divisor of the budget that the heaps of all threads keep together.
const KEPT_SHARE: u64 = 32;

/// Bytes of a thread's buffers that each heap keeps, at most.
const BUFFERS: u64 = 2 << 20;

/// The divisor of the budget that bounds these buffers in all heaps together.
const BUFFERS_SHARE: u64 = 6;

/// The part of the budget in bytes that is not available for these buffers. Some searches need it to start.
const BUDGET_LEAST: u64 = 32 << 20;

/// The bytes that each heap keeps at least.
const KEPT_MIN: u64 = 256 << 10;

/// The divisor of a heap's kept bytes from which blocks are mapped separately.
const MAPPED_SHARE: u64 = 4;

/// The least threshold for separate mapping, in bytes.
const MAPPED_MIN: u64 = 256 << 10;

/// The greatest threshold for separate mapping, in bytes, which is glibc's maximum.
const MAPPED_MAX: u64 = 32 << 20;

/// Returns free memory to the system. Compiling a model leaves much of it.
pub fn return_free_blocks() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: `malloc_trim` only releases pages without blocks in use.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Makes the allocator return large blocks to the system when they are freed, in a process with a budget of `budget`
/// resident bytes, and returns free memory. It must be called before there are other threads, and again if the budget
/// changes.
pub fn return_large_blocks(budget: u64) {
    let threads = cores() as u64;
    let shared = budget / KEPT_SHARE / threads;
    let buffers = budget.saturating_sub(BUDGET_LEAST) / BUFFERS_SHARE / (threads + 1);
    let kept = shared.max(buffers.clamp(KEPT_MIN, BUFFERS)).min(i32::MAX as u64);
    let mapped = (shared / MAPPED_SHARE).clamp(MAPPED_MIN, MAPPED_MAX);
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: mallopt only changes parameters of the allocator, and is called before any other thread exists. A failed
    // call changes nothing.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, mapped as i32);
        libc::mallopt(libc::M_TRIM_THRESHOLD, kept as i32);
    }
    // With a larger budget, more may have been kept before.
    return_free_blocks();
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    let _ = (mapped, kept);
}
