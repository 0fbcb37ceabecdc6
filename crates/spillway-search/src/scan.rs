//! A scan of all stored states of a search, in no particular order.

use super::trace::{StoredLevels, TraceFinder};
use spill::{BlockDecoder, Result, Segment};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Visits every state on disk. Each thread creates an accumulator with `new` and passes it with each of its states to
/// `look`. Returns the accumulators, or nothing if stopped.
pub fn scan_states<T: Send>(
    finder: &TraceFinder<'_>,
    levels: StoredLevels<'_>,
    new: impl Fn() -> T,
    look: impl Fn(&mut T, &[u8]) + Sync,
) -> Result<Option<Vec<T>>> {
    let width = finder.model.width();
    // The states of levels may be followed by values.
    let whole = width + levels.bytes_behind(finder.model);
    let room = || (new(), BlockDecoder::new(whole), Vec::new());
    let mut rooms: Vec<_> = (0..finder.threads.max(1)).map(|_| room()).collect();
    for level in 0..levels.levels.len() {
        let segments = levels.open(finder.model, level)?;
        let of = |segment| (0..Segment::blocks(segment)).map(move |block| (segment, block));
        let blocks: Vec<(&Segment, usize)> = segments.iter().flat_map(of).collect();
        let useful = blocks.len().clamp(1, rooms.len());
        let next = AtomicUsize::new(0);
        spill::map_parallel(rooms[..useful].iter_mut().collect(), |_, room: &mut _| {
            let (found, decoder, states): &mut (T, BlockDecoder, Vec<u8>) = room;
            while let Some((segment, block)) = blocks.get(next.fetch_add(1, Ordering::Relaxed)) {
                if finder.control.should_stop() {
                    break;
                }
                segment.decode(*block, decoder, states)?;
                segment.release(*block..block + 1);
                states.chunks_exact(whole).for_each(|it| look(found, &it[..width]));
            }
            Ok(())
        })?;
        if finder.control.should_stop() {
            return Ok(None);
        }
    }
    Ok(Some(rooms.into_iter().map(|it| it.0).collect()))
}
