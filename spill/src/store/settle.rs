//! Delayed duplicate detection: which candidates of a level are new.
//!
//! The sorted candidate runs of a level are merged into one ascending stream without repeats, and
//! every run of the visited store is subtracted from it, batch by batch, each batch small enough
//! for the cache. What is left is the next level. The key space is cut into ranges of like work,
//! each settled by a thread of its own.
//!
//! Settling changes nothing until it ends, so it can be abandoned at any batch and done again.

use super::known::StoreSubtract;
use super::levels::{Lane, Piece};
use super::{Frontier, Store};
use crate::disk::Result;
use crate::runs::{KeyRange, Merge, batch_keys, in_parallel, sources, split, threads_for};
use crate::segments::Segment;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// The candidates of a level: sorted runs in memory and on disk, repeats among them.
#[derive(Default)]
pub struct Candidates<'a> {
    /// Runs in memory, each ascending without repeats.
    pub slices: Vec<&'a [u8]>,
    /// Runs on disk.
    pub segments: Vec<Segment>,
}

/// What came of settling a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// The candidates that were new, now the last level; 0 if there is no further level.
    New(u64),
    /// It was told to stop; nothing has changed.
    Stopped,
}

impl Store {
    /// Subtracts the store from `candidates` and makes the rest the next level, if there is a
    /// rest. Asks `stop` now and then whether to give up.
    pub fn settle(
        &mut self,
        candidates: &Candidates,
        threads: usize,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<Settled> {
        let (whole, width) = (self.whole, self.width);
        let boundaries = self.next_level_boundaries(threads)?;
        let ranges = KeyRange::cut(&boundaries);
        let kept = Kept { bytes: AtomicUsize::new(0), most: self.last_level_bytes_max() };
        let (young, old) = (self.young.as_slice(), self.old.as_slice());
        let filter = self.filter.filter();
        let store = || StoreSubtract::new(width, young, filter, old);
        let lanes = self.levels.lanes(ranges.len())?;
        let items: Vec<_> = lanes.iter_mut().zip(ranges).collect();
        // When one range fails, the others have no reason to go on.
        let failed = AtomicBool::new(false);
        let stop = || stop() || failed.load(Relaxed);
        let settled = in_parallel(items, |_, (lane, range)| {
            settle_range((whole, width), candidates, store(), range, lane, (&kept, &stop))
                .inspect_err(|_| failed.store(true, Relaxed))
        })?;
        let Some(parts) = settled.into_iter().collect::<Option<Vec<Part>>>() else {
            return Ok(Settled::Stopped);
        };
        self.filter.judge(parts.iter().map(|part| part.looked_up).sum());
        if parts.iter().all(|part| part.piece.at.keys == 0) {
            return Ok(Settled::New(0));
        }
        let new = self.levels.push(parts.iter().map(|part| part.piece));
        let kept = parts.into_iter().map(|part| part.kept).collect::<Option<Vec<_>>>();
        self.take_last_level(kept.map(join), threads)?;
        Ok(Settled::New(new))
    }

    /// Cuts the key space for `threads` threads. The last level serves as the sample of the next:
    /// unlike the candidate runs, it is the same whatever interrupted the search, and so are the
    /// pieces.
    fn next_level_boundaries(&mut self, threads: usize) -> Result<Vec<Vec<u8>>> {
        let Some(last) = self.levels.len().checked_sub(1) else { return Ok(Vec::new()) };
        let wanted = threads_for(self.levels.keys(last), threads);
        if wanted == 1 {
            return Ok(Vec::new());
        }
        Ok(match self.frontier()? {
            Frontier::Raw(keys) => split(self.width, &[&keys], &[], wanted),
            Frontier::Encoded(segments) => split(self.width, &[], &segments, wanted),
        })
    }
}

/// The new keys of one range.
struct Part {
    piece: Piece,
    /// The keys themselves, if they are few enough to keep.
    kept: Option<Vec<u8>>,
    /// Candidates that were in old runs; with a filter, that it let pass to them.
    looked_up: u64,
}

/// How much of a level is kept in memory, by all ranges together.
struct Kept {
    bytes: AtomicUsize,
    most: usize,
}

impl Kept {
    /// Whether so many bytes more may be kept.
    fn has_room(&self, bytes: usize) -> bool {
        self.bytes.fetch_add(bytes, Relaxed) + bytes <= self.most
    }
}

/// Joins the keys of ascending ranges, each going as soon as it is copied.
fn join(parts: Vec<Vec<u8>>) -> Vec<u8> {
    let length: usize = parts.iter().map(Vec::len).sum();
    let joined = parts.into_iter().reduce(|mut all: Vec<u8>, part| {
        all.reserve_exact(length - all.len());
        all.extend_from_slice(&part);
        all
    });
    joined.unwrap_or_default()
}

/// Settles one range of keys, keeping the new ones in memory if there is room; nothing if told to
/// stop.
fn settle_range(
    (whole, width): (usize, usize),
    candidates: &Candidates,
    mut store: StoreSubtract,
    range: KeyRange,
    lane: &mut Lane,
    (room, stop): (&Kept, &(dyn Fn() -> bool + Sync)),
) -> Result<Option<Part>> {
    let mut merge =
        Merge::new(width, sources(width, &candidates.slices, &candidates.segments, range));
    let mut batch = Vec::new();
    let mut stopped = false;
    let mut kept = Some(Vec::new());
    let piece = lane.write(whole, |level| {
        loop {
            merge.next(&mut batch, batch_keys(width))?;
            stopped = stop();
            if batch.is_empty() || stopped {
                return Ok(());
            }
            store.subtract(&mut batch)?;
            level.push(&batch)?;
            kept = kept.take().filter(|_| room.has_room(batch.len()));
            kept.iter_mut().for_each(|kept| kept.extend_from_slice(&batch));
        }
    })?;
    let looked_up = store.looked_up;
    Ok((!stopped).then_some(Part { piece, kept, looked_up }))
}
