//! Buffers for work that several threads do at the same time.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The free buffers. Their number is at most the largest number used at once.
#[derive(Debug)]
pub struct BufferPool<T>(Mutex<Vec<T>>);

impl<T> Default for BufferPool<T> {
    fn default() -> Self {
        BufferPool(Mutex::default())
    }
}

impl<T> BufferPool<T> {
    /// Calls `run` with a free or a new buffer.
    pub fn with<R>(&self, make: impl FnOnce() -> T, run: impl FnOnce(&mut T) -> R) -> R {
        let mut buffer = self.take().unwrap_or_else(make);
        let result = run(&mut buffer);
        self.put(buffer);
        result
    }

    /// Takes a free buffer, if there is one.
    pub fn take(&self) -> Option<T> {
        self.free().pop()
    }

    /// Adds a free buffer.
    pub fn put(&self, buffer: T) {
        self.free().push(buffer);
    }

    /// Removes the free buffers.
    pub fn clear(&self) {
        self.free().clear();
    }

    fn free(&self) -> MutexGuard<'_, Vec<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
