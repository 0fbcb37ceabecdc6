//! Parallel work on several ranges of keys.
//!
//! Threads live as long as the call that starts them, so they can borrow from the caller. An error or a panic of a
//! thread is passed to the caller.

use crate::disk::{Error, Result};
use std::thread::Builder;

/// The minimum number of keys for each thread.
const KEYS_PER_THREAD_MIN: u64 = 32 * 1024;

/// Returns the number of threads worth using for this many keys.
pub(crate) fn threads_for(keys: u64, threads: usize) -> usize {
    ((keys / KEYS_PER_THREAD_MIN) as usize).clamp(1, threads.max(1))
}

/// Runs `work` on every item, each in its own thread, the last one in the calling thread.
pub fn map_parallel<I: Send, T: Send>(
    items: Vec<I>,
    work: impl Fn(usize, I) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let mut items: Vec<(usize, I)> = items.into_iter().enumerate().collect();
    let Some((last, item)) = items.pop() else { return Ok(Vec::new()) };
    std::thread::scope(|scope| {
        let work = &work;
        let spawn = |(at, item)| {
            let spawned = Builder::new().spawn_scoped(scope, move || work(at, item));
            spawned.map_err(|error| Error::io("start a thread of", "the search", error))
        };
        let others = items.into_iter().map(spawn).collect::<Result<Vec<_>>>()?;
        let own = work(last, item);
        let mut results = Vec::new();
        for thread in others {
            results.push(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        }
        results.push(own?);
        Ok(results)
    })
}
