//! All states that a search has stored, looked at once more, in no order.

use super::sleep_store::SleepSetModel;
use super::trace::TraceFinder;
use spill::{BlockDecoder, Codec, LevelFormat, Result, SavedLevels, Segment};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Looks at every state on disk: each thread makes something with `new` and shows it, by `look`, the states that it comes to.
/// Gives what each thread has then; nothing if told to stop.
pub fn scan_states<T: Send>(
    finder: &TraceFinder<'_>,
    (levels, codec): (&SavedLevels, &Codec),
    new: impl Fn() -> T,
    look: impl Fn(&mut T, &[u8]) + Sync,
) -> Result<Option<Vec<T>>> {
    let width = finder.model.width();
    // The states of levels may have values behind them.
    let value_bytes = SleepSetModel::of(finder.model, codec).map_or(0, |it| it.values().bytes());
    let whole = width + value_bytes;
    let room = || (new(), BlockDecoder::new(whole), Vec::new());
    let mut rooms: Vec<_> = (0..finder.threads.max(1)).map(|_| room()).collect();
    for level in 0..levels.len() {
        let format = LevelFormat { width: whole, value_bytes, codec: &codec.unprojected() };
        let segments = levels.open(finder.disk, format, level)?;
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
