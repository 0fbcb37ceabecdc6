//! Keeping freed memory out of the resident set.
//!
//! The memory budget bounds what is resident, and the search allocates and frees large buffers of
//! ever different sizes. glibc maps large blocks separately and gives them back when freed, but
//! raises the size that counts as large whenever one is freed, up to 32 MiB; from then on freed
//! buffers stay in its heaps. On an 11.8 M state search at 64 MiB that was 20 MiB. Setting the
//! threshold keeps it where it is.
//!
//! But a page that is given back has to be asked for again, half a microsecond a kilobyte, and threads
//! live no longer than a part of a level. So heaps keep what a thread's decoders, encoders and batches
//! take, and with more memory larger blocks.

use super::memory_plan::cores;

/// Of the budget, what the heaps of all threads keep together, as a divisor.
const KEPT_SHARE: u64 = 32;

/// A thread's buffers: so many bytes are kept of them by each heap, and as much is set aside for a thread twice over,
const BUFFERS: u64 = 2 << 20;

/// as long as all heaps together keep at most this part, as a divisor,
const BUFFERS_SHARE: u64 = 6;

/// of what the budget has beyond so many bytes, with which some searches just begin.
const BUDGET_LEAST: u64 = 32 << 20;

/// This much is kept in any case.
const KEPT_MIN: u64 = 256 << 10;

/// Blocks are mapped separately from this part of what a heap keeps on, as a divisor,
const MAPPED_SHARE: u64 = 4;

/// but from so many bytes on at least,
const MAPPED_MIN: u64 = 256 << 10;

/// and from so many on in any case, the most that glibc allows.
const MAPPED_MAX: u64 = 32 << 20;

/// Returns what is free to the system. Building a model, and compiling it above all, leaves much.
pub fn return_free_blocks() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it only looks for pages without blocks in use.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Makes the allocator return large blocks to the system as soon as they are freed, in a process that may
/// hold `budget` bytes resident, and returns what is free. To be called before there are threads, again if the budget changes.
pub fn return_large_blocks(budget: u64) {
    let threads = cores() as u64;
    let shared = budget / KEPT_SHARE / threads;
    let buffers = budget.saturating_sub(BUDGET_LEAST) / BUFFERS_SHARE / (threads + 1);
    let kept = shared.max(buffers.clamp(KEPT_MIN, BUFFERS)).min(i32::MAX as u64);
    let mapped = (shared / MAPPED_SHARE).clamp(MAPPED_MIN, MAPPED_MAX);
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: mallopt only changes parameters of the allocator, and is called before any other
    // thread exists. A refusal changes nothing.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, mapped as i32);
        libc::mallopt(libc::M_TRIM_THRESHOLD, kept as i32);
    }
    // With a larger budget more may have been kept.
    return_free_blocks();
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    let _ = (mapped, kept);
}
