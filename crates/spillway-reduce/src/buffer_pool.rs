//! Buffers for work that several threads do at the same time.

use std::sync::{Mutex, PoisonError};

/// The free buffers. Their number is at most the largest number used at once.
pub(super) struct BufferPool<T>(Mutex<Vec<T>>);

impl<T> Default for BufferPool<T> {
    fn default() -> Self {
        BufferPool(Mutex::default())
    }
}

impl<T> BufferPool<T> {
    /// Calls `run` with a free or a new buffer.
    pub fn with<R>(&self, make: impl FnOnce() -> T, run: impl FnOnce(&mut T) -> R) -> R {
        let free = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let room = free().pop();
        let mut room = room.unwrap_or_else(make);
        let result = run(&mut room);
        free().push(room);
        result
    }
}
