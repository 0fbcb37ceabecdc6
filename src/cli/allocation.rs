//! The handling of memory exhaustion.
//!
//! A failed allocation would abort the process without a message. This allocator wraps the system's allocator. It
//! prints a message and ends the process with the exit code of a stopped search. The last checkpoint is valid, as
//! after any kill.

use super::failure::STOPPED;
use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator. If it has no memory, the process ends with a message.
pub struct ExitingAllocator;

const MESSAGE: &str = "error: out of memory\n  help: raise the limit of the system (`ulimit -v`), or lower --memory \
    or --threads; `spillway resume` resumes a search that has a checkpoint\n";

#[inline]
fn ensure_allocated(block: *mut u8) -> *mut u8 {
    if block.is_null() {
        end();
    }
    block
}

/// Ends the process. Allocates no memory and runs no other code.
#[cold]
fn end() -> ! {
    // SAFETY: the message has the given length. The result of the write is irrelevant.
    unsafe { libc::write(libc::STDERR_FILENO, MESSAGE.as_ptr().cast(), MESSAGE.len()) };
    // SAFETY: this ends the process; nothing runs after it.
    unsafe { libc::_exit(i32::from(STOPPED)) }
}

// SAFETY: every call is passed unchanged to the system's allocator, and its result is returned.
unsafe impl GlobalAlloc for ExitingAllocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the same contract.
        ensure_allocated(unsafe { System.alloc(layout) })
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        ensure_allocated(unsafe { System.alloc_zeroed(layout) })
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: as above.
        ensure_allocated(unsafe { System.realloc(block, layout, bytes) })
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }
}
