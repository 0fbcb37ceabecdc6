//! What happens where there is no memory.
//!
//! A failed allocation would abort the process without a word. Here the system's allocator says so
//! first, and ends the process with the code of a search that was stopped: its last checkpoint stands,
//! as after any kill.

use super::failure::STOPPED;
use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator; where that has no memory, the process ends with a message.
pub struct ExitingAllocator;

const MESSAGE: &str = "error: the system gives no more memory\n  \
    help: raise its limit (`ulimit -v`), or give less with --memory or --threads; `spillway resume` \
    goes on with a search that has made a checkpoint\n";

#[inline]
fn ensure_allocated(block: *mut u8) -> *mut u8 {
    if block.is_null() {
        end();
    }
    block
}

/// Needs no memory, and runs nothing else on the way out.
#[cold]
fn end() -> ! {
    // SAFETY: the message is as long as said. Whether it is written makes no difference.
    unsafe { libc::write(libc::STDERR_FILENO, MESSAGE.as_ptr().cast(), MESSAGE.len()) };
    // SAFETY: ends the process; nothing runs after it.
    unsafe { libc::_exit(i32::from(STOPPED)) }
}

// SAFETY: every call goes to the system's allocator as it came, and what that gives is given on.
unsafe impl GlobalAlloc for ExitingAllocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract, which is the same.
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
