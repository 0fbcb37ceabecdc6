//! A request to stop, and its visibility deep inside a system.
//!
//! Expanding one state can take long: it may have millions of successors, or an orbit that is slow to canonicalise. An
//! engine that begins such work makes its thread *heed* a request meanwhile. Loops deep inside call [`is_requested`]
//! regularly and return early. The results of abandoned work are incomplete and may be wrong, so the engine drops all
//! of them: after the work has returned, the engine checks whether the request has been made.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

thread_local! {
    /// The request that this thread heeds.
    static HEEDED: RefCell<Option<StopRequest>> = const { RefCell::new(None) };
}

/// A request to stop. It is made at most once and never withdrawn.
#[derive(Clone, Debug, Default)]
pub struct StopRequest {
    asked: Arc<AtomicBool>,
}

impl StopRequest {
    /// Makes the request.
    pub fn request(&self) {
        self.asked.store(true, Ordering::Relaxed);
    }

    /// Returns whether the request was made.
    pub fn is_requested(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// Returns the flag that makes the request when it is set, for a signal handler.
    pub fn flag(&self) -> Arc<AtomicBool> {
        self.asked.clone()
    }

    /// Makes this thread heed the request, in place of any other, during the lifetime of the result.
    #[must_use = "it is heeded for as long as this lives"]
    pub fn enter_scope(&self) -> StopScope {
        StopScope { before: HEEDED.replace(Some(self.clone())) }
    }
}

/// The scope in which a thread heeds a request.
#[derive(Debug)]
pub struct StopScope {
    /// The request that the thread heeded before.
    before: Option<StopRequest>,
}

impl Drop for StopScope {
    fn drop(&mut self) {
        HEEDED.set(self.before.take());
    }
}

/// Returns whether the request that this thread heeds was made; false if it heeds none. Takes a few nanoseconds.
pub fn is_requested() -> bool {
    HEEDED.with_borrow(|stop| stop.as_ref().is_some_and(StopRequest::is_requested))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_observes_the_innermost_request() {
        let (outer, inner) = (StopRequest::default(), StopRequest::default());
        outer.request();
        assert!(!is_requested());
        let scope = outer.enter_scope();
        assert!(is_requested());
        {
            let _inner = inner.enter_scope();
            assert!(!is_requested());
            inner.request();
            assert!(is_requested());
        }
        assert!(std::thread::spawn(is_requested).join().is_ok_and(|is_stopped| !is_stopped));
        drop(scope);
        assert!(!is_requested());
    }
}
