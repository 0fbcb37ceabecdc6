//! A request to stop, and how work deep inside a system sees it.
//!
//! Expanding one state can take long: it may have millions of successors, or an orbit that is slow to canonicalise. An
//! engine that begins such work has its thread *heed* a request meanwhile. Loops deep inside call [`is_requested`] now and
//! then, and return early. The results of abandoned work are incomplete and may be wrong, so the engine drops all of them:
//! after the work has returned, the engine checks whether the request has been made.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

thread_local! {
    /// The request that this thread heeds.
    static HEEDED: RefCell<Option<StopRequest>> = const { RefCell::new(None) };
}

/// A request to stop, made at most once and never taken back.
#[derive(Clone, Debug, Default)]
pub struct StopRequest {
    asked: Arc<AtomicBool>,
}

impl StopRequest {
    /// Makes the request.
    pub fn request(&self) {
        self.asked.store(true, Ordering::Relaxed);
    }

    /// Whether it has been made.
    pub fn is_requested(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// The flag that makes the request when it is set, for a signal handler.
    pub fn flag(&self) -> Arc<AtomicBool> {
        self.asked.clone()
    }

    /// Makes this thread heed the request, in place of any other, while the result lives.
    #[must_use = "it is heeded for as long as this lives"]
    pub fn enter_scope(&self) -> StopScope {
        StopScope { before: HEEDED.replace(Some(self.clone())) }
    }
}

/// While this lives, its thread heeds a request.
#[derive(Debug)]
pub struct StopScope {
    /// The request that it heeded before.
    before: Option<StopRequest>,
}

impl Drop for StopScope {
    fn drop(&mut self) {
        HEEDED.set(self.before.take());
    }
}

/// Whether the request that this thread heeds has been made; false if it heeds none. Takes a few nanoseconds.
pub fn is_requested() -> bool {
    HEEDED.with_borrow(|stop| stop.as_ref().is_some_and(StopRequest::is_requested))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_heeds_one_request_at_a_time() {
        let (outer, inner) = (StopRequest::default(), StopRequest::default());
        outer.request();
        assert!(!is_requested());
        let heeding = outer.enter_scope();
        assert!(is_requested());
        {
            let _inner = inner.enter_scope();
            assert!(!is_requested());
            inner.request();
            assert!(is_requested());
        }
        assert!(std::thread::spawn(is_requested).join().is_ok_and(|asked| !asked));
        drop(heeding);
        assert!(!is_requested());
    }
}
