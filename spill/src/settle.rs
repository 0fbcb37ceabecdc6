//! Delayed duplicate detection: which candidates of a level are new.
//!
//! The sorted candidate runs of a level are merged into one ascending stream without repeats, and
//! every run of the visited store is subtracted from it, batch by batch, each batch small enough
//! for the cache. What is left is the next level. The key space is cut into ranges of like work,
//! each settled by a thread of its own.
//!
//! Settling changes nothing until it ends, so it can be abandoned at any batch and done again.

use crate::levels::Lane;
use crate::store::{BATCH_KEYS, KeyRange, OldRun, StoreSubtract, YoungRun, in_parallel, parts, sources};
use crate::{Frontier, Merge, Piece, Result, Segment, Store, split};

/// The candidates of a level: sorted runs in memory and on disk, repeats among them.
#[derive(Default)]
pub struct Candidates<'a> {
    /// Runs in memory, each ascending without repeats.
    pub slices: Vec<&'a [u8]>,
    /// Runs on disk.
    pub segments: Vec<Segment>,
}

impl Candidates<'_> {
    /// The number of candidates, repeats among runs included.
    pub fn keys(&self, width: usize) -> u64 {
        let in_memory: usize = self.slices.iter().map(|keys| keys.len() / width).sum();
        in_memory as u64 + self.segments.iter().map(Segment::keys).sum::<u64>()
    }
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
        let width = self.width;
        let boundaries = self.next_level_boundaries(threads)?;
        let ranges = KeyRange::cut(&boundaries);
        let (young, old) = (self.young.as_slice(), self.old.as_slice());
        let lanes = self.levels.lanes(ranges.len())?;
        let items: Vec<_> = lanes.iter_mut().zip(ranges).collect();
        let pieces = in_parallel(items, |_, (lane, range)| {
            settle_range(width, candidates, young, old, range, lane, stop)
        })?;
        let Some(pieces) = pieces.into_iter().collect::<Option<Vec<Piece>>>() else {
            return Ok(Settled::Stopped);
        };
        if pieces.iter().all(|piece| piece.at.keys == 0) {
            return Ok(Settled::New(0));
        }
        let new = self.levels.push(pieces);
        self.take_last_level(threads)?;
        Ok(Settled::New(new))
    }

    /// Cuts the key space for `threads` threads. The last level serves as the sample of the next:
    /// unlike the candidate runs, it is the same whatever interrupted the search, and so are the
    /// pieces.
    fn next_level_boundaries(&mut self, threads: usize) -> Result<Vec<Vec<u8>>> {
        let Some(last) = self.levels.len().checked_sub(1) else { return Ok(Vec::new()) };
        let wanted = parts(self.levels.keys(last), threads);
        Ok(match self.frontier()? {
            _ if wanted == 1 => Vec::new(),
            Frontier::Raw(keys) => split(self.width, &[&keys], &[], wanted),
            Frontier::Encoded(segments) => split(self.width, &[], &segments, wanted),
        })
    }
}

/// Settles one range of keys to a piece, or nothing if told to stop.
fn settle_range(
    width: usize,
    candidates: &Candidates,
    young: &[YoungRun],
    old: &[OldRun],
    range: KeyRange,
    lane: &mut Lane,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Option<Piece>> {
    let mut merge =
        Merge::new(width, sources(width, &candidates.slices, &candidates.segments, range));
    let mut store = StoreSubtract::new(width, young, old);
    let mut batch = Vec::new();
    let mut stopped = false;
    let piece = lane.write(width, |level| {
        loop {
            merge.next(&mut batch, BATCH_KEYS)?;
            stopped = stop();
            if batch.is_empty() || stopped {
                return Ok(());
            }
            store.subtract(&mut batch)?;
            level.push(&batch)?;
        }
    })?;
    Ok((!stopped).then_some(piece))
}
