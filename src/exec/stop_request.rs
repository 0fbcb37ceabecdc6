//! A request to stop, and how those at work see it.
//!
//! Expanding one state can take long: it may have millions of successors, or an orbit that is slow to
//! canonicalise. Whoever begins such work has its thread *heed* a request for as long as it goes on;
//! loops deep inside look at [`is_requested`] now and then, and leave early. What an abandoned piece of
//! work has given is incomplete and may be wrong, so whoever began it drops all of it: once the work
//! has returned, a request that has been made by then says so.

use crate::budget::AnalysisSupervisor;
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

    /// What is set to make it, by a signal handler for one.
    pub fn flag(&self) -> Arc<AtomicBool> {
        self.asked.clone()
    }

    /// Has this thread heed the request, in place of any other, while the result lives.
    #[must_use = "it is heeded for as long as this lives"]
    pub fn enter_scope(&self) -> StopScope {
        StopScope { before: HEEDED.replace(Some(self.clone())) }
    }
}

/// For as long as this lives, its thread heeds a request.
#[derive(Debug)]
pub struct StopScope {
    /// What it heeded before.
    before: Option<StopRequest>,
}

impl Drop for StopScope {
    fn drop(&mut self) {
        HEEDED.set(self.before.take());
    }
}

/// Whether the request that this thread heeds, if it heeds one, has been made. Takes some
/// nanoseconds.
pub fn is_requested() -> bool {
    HEEDED.with_borrow(|stop| stop.as_ref().is_some_and(StopRequest::is_requested))
}

/// Stops analyses that are made during other work, where the request that the thread heeds has been made.
#[derive(Clone, Copy, Debug)]
pub struct StopSupervisor;

impl AnalysisSupervisor for StopSupervisor {
    fn should_stop(&self) -> bool {
        is_requested()
    }
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
