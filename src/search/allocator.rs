//! Keeping freed memory out of the resident set.
//!
//! The memory budget bounds what is resident, and the search allocates and frees large buffers of
//! ever different sizes. glibc maps large blocks separately and gives them back when freed, but
//! raises the size that counts as large whenever one is freed, up to 32 MiB; from then on freed
//! buffers stay in its heaps. On an 11.8 M state search at 64 MiB that was 20 MiB. Setting the
//! threshold keeps it where it is.

/// Blocks of at least this many bytes are mapped separately.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const MAPPED_BYTES_MIN: i32 = 256 << 10;

/// Returns what is free to the system. Building a model, and compiling it above all, leaves much.
pub fn return_free_blocks() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it only looks for pages without blocks in use.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Makes the allocator return large blocks to the system as soon as they are freed.
pub fn return_large_blocks() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: mallopt only changes parameters of the allocator, and is called before any other
    // thread exists. A refusal changes nothing.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, MAPPED_BYTES_MIN);
        libc::mallopt(libc::M_TRIM_THRESHOLD, MAPPED_BYTES_MIN);
    }
}
