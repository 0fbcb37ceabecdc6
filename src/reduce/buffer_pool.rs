//! Room for work that several threads do at the same time.

use std::sync::{Mutex, PoisonError};

/// Room that is free at the moment: as much as was ever needed at once.
pub(super) struct BufferPool<T>(Mutex<Vec<T>>);

impl<T> Default for BufferPool<T> {
    fn default() -> Self {
        BufferPool(Mutex::default())
    }
}

impl<T> BufferPool<T> {
    /// Does something in room that is free, or that is made.
    pub fn with<R>(&self, make: impl FnOnce() -> T, run: impl FnOnce(&mut T) -> R) -> R {
        let free = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let room = free().pop();
        let mut room = room.unwrap_or_else(make);
        let result = run(&mut room);
        free().push(room);
        result
    }
}
