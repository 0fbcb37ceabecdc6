//! The join of obligations: it finds the states of a level that have postponed transitions and no new successor.
//!
//! Obligations ascend by successor and are joined with the new states. Each state has two bits, at its rank: whether it
//! has obligations, and whether one of its successors is new. Bits are only set, so the result does not depend on the
//! order of the obligations or on the threads. If the bits of a level do not fit in memory, ranges of ranks are
//! processed one after another, and the obligations are read once for each range.

use super::expand::RANK;
use spill::{
    BlockDecoder, Candidates, Error, KeyMerge, Result, Segment, batch_keys, map_parallel, split,
};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// The number of obligations for each thread, at least.
const RECORDS_PER_THREAD_MIN: u64 = 32 << 10;

/// Ranks of a word of bits.
const WORD: u64 = u64::BITS as u64;

/// The input of a join.
pub struct ObligationJoin<'a> {
    /// Bytes of a state.
    pub width: usize,
    /// Sorted runs of obligations.
    pub obligations: Candidates<'a>,
    /// The states of the obligations' ranks, ascending.
    pub level: &'a [Segment],
    /// The new states, ascending.
    pub new: &'a [Segment],
    /// The number of threads.
    pub threads: usize,
    /// Returns whether to stop.
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

impl ObligationJoin<'_> {
    /// Returns the bytes of the bits of `states` states.
    pub fn bytes(states: u64) -> usize {
        2 * (states.div_ceil(WORD) * WORD / 8) as usize
    }

    /// Passes the states to re-expand to `carry`, ascending, in batches that may be empty. Uses `room` bytes, or
    /// slightly more if that is very little. Returns false if stopped.
    pub fn visit_reexpanded(
        &self,
        room: usize,
        carry: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<bool> {
        let states = self.states();
        let at_once = (room as u64 / 2 / (WORD / 8)).max(1) * WORD;
        let ranges = self.ranges();
        let mut first = 0;
        while first < states {
            let marks = ObligationMarks::new(first..states.min(first.saturating_add(at_once)));
            // If one range fails, the others stop.
            let failed = AtomicBool::new(false);
            let stop = || (self.stop)() || failed.load(Relaxed);
            let ended = map_parallel(ranges.iter().collect(), |_, range| {
                self.mark(range, &marks, &stop).inspect_err(|_| failed.store(true, Relaxed))
            })?;
            if ended.contains(&false) || !self.pick(&marks, carry)? {
                return Ok(false);
            }
            first = marks.ranks.end;
        }
        Ok(true)
    }

    fn states(&self) -> u64 {
        self.level.iter().map(Segment::keys).sum()
    }

    /// Returns the bytes of an obligation.
    fn record(&self) -> usize {
        self.width + RANK
    }

    /// Returns ranges of successors with about the same number of obligations.
    fn ranges(&self) -> Vec<SuccessorRange> {
        let Candidates { slices, segments } = &self.obligations;
        let in_memory: usize = slices.iter().map(|slice| slice.len() / self.record()).sum();
        let records = in_memory as u64 + segments.iter().map(Segment::keys).sum::<u64>();
        let wanted = ((records / RECORDS_PER_THREAD_MIN) as usize).clamp(1, self.threads.max(1));
        let mut bounds = split(self.record(), slices, segments, wanted);
        bounds.iter_mut().for_each(|bound| bound.truncate(self.width));
        bounds.dedup();
        let bound = |at: usize| bounds.get(at).cloned();
        let range =
            |at: usize| SuccessorRange { low: at.checked_sub(1).and_then(bound), high: bound(at) };
        (0..=bounds.len()).map(range).collect()
    }

    /// Sets the bits for the obligations of a range. Returns false if stopped.
    fn mark(
        &self,
        range: &SuccessorRange,
        marks: &ObligationMarks,
        stop: &dyn Fn() -> bool,
    ) -> Result<bool> {
        let [low, high] = [&range.low, &range.high].map(|bound| {
            // The least obligation of a successor has rank 0.
            bound.as_ref().map(|bound| [bound.as_slice(), &[0; RANK]].concat())
        });
        let owed = self.obligations.sources(self.record(), low.as_deref(), high.as_deref());
        let mut owed = KeyMerge::new(self.record(), owed);
        let mut new = NewStatesCursor::of(self, range);
        let (states, mut records) = (self.states(), Vec::new());
        loop {
            owed.next(&mut records, batch_keys(self.record()))?;
            if records.is_empty() {
                return Ok(true);
            }
            if stop() {
                return Ok(false);
            }
            for record in records.chunks_exact(self.record()) {
                let (successor, rank) = record.split_at(self.width);
                let rank = rank.iter().fold(0, |rank: u64, &byte| rank << 8 | u64::from(byte));
                let is_new = new.has(successor)?;
                if rank >= states {
                    return Err(Error::corrupt("obligations", 0, "a level has no such rank"));
                }
                marks.note(rank, is_new);
            }
        }
    }

    /// Passes the states to re-expand of the current ranks to `carry`. Returns false if stopped.
    fn pick(
        &self,
        marks: &ObligationMarks,
        carry: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<bool> {
        let mut first = 0;
        let (mut decoder, mut states, mut picked) =
            (BlockDecoder::new(self.width), Vec::new(), Vec::new());
        for segment in self.level {
            for block in 0..segment.blocks() {
                let ranks = first..first + segment.block_keys(block) as u64;
                first = ranks.end;
                if !marks.any_needs_reexpansion(&ranks) {
                    continue;
                }
                if (self.stop)() {
                    return Ok(false);
                }
                segment.decode(block, &mut decoder, &mut states)?;
                segment.release(block..block + 1);
                picked.clear();
                for (rank, state) in ranks.zip(states.chunks_exact(self.width)) {
                    if marks.needs_reexpansion(rank) {
                        picked.extend_from_slice(state);
                    }
                }
                carry(&picked)?;
            }
        }
        Ok(true)
    }
}

/// A range of successors.
struct SuccessorRange {
    low: Option<Vec<u8>>,
    /// The exclusive upper bound.
    high: Option<Vec<u8>>,
}

/// The new states of a range, for queries in ascending order.
struct NewStatesCursor {
    merge: KeyMerge<'static>,
    /// The current batch.
    states: Vec<u8>,
    /// Bytes of the batch before the queried state.
    at: usize,
}

impl NewStatesCursor {
    fn of(join: &ObligationJoin, SuccessorRange { low, high }: &SuccessorRange) -> NewStatesCursor {
        let runs = Candidates { slices: Vec::new(), segments: join.new.to_vec() };
        let sources = runs.sources(join.width, low.as_deref(), high.as_deref());
        NewStatesCursor { merge: KeyMerge::new(join.width, sources), states: Vec::new(), at: 0 }
    }

    /// Returns whether a state is new. Queries must not descend.
    fn has(&mut self, state: &[u8]) -> Result<bool> {
        let width = state.len();
        loop {
            if self.at == self.states.len() {
                self.merge.next(&mut self.states, batch_keys(width))?;
                self.at = 0;
                if self.states.is_empty() {
                    return Ok(false);
                }
            }
            match self.states[self.at..][..width].cmp(state) {
                std::cmp::Ordering::Less => self.at += width,
                order => return Ok(order.is_eq()),
            }
        }
    }
}

/// The bits of the states of a range of ranks.
struct ObligationMarks {
    /// The range begins at a word.
    ranks: Range<u64>,
    /// Whether a state has obligations.
    owing: Vec<AtomicU64>,
    /// Whether one of its successors is new.
    discharged: Vec<AtomicU64>,
}

impl ObligationMarks {
    fn new(ranks: Range<u64>) -> ObligationMarks {
        let words = (ranks.end - ranks.start).div_ceil(WORD);
        let none = || (0..words).map(|_| AtomicU64::new(0)).collect();
        ObligationMarks { ranks, owing: none(), discharged: none() }
    }

    /// Returns the word and the bit of a rank, if it is in the range.
    fn place(&self, rank: u64) -> Option<(usize, u64)> {
        let at = rank.checked_sub(self.ranks.start).filter(|_| rank < self.ranks.end)?;
        Some(((at / WORD) as usize, 1 << (at % WORD)))
    }

    /// Records an obligation of a state; `is_new` is whether its successor is new.
    fn note(&self, rank: u64, is_new: bool) {
        let Some((word, bit)) = self.place(rank) else { return };
        let words = if is_new { &self.discharged } else { &self.owing };
        words[word].fetch_or(bit, Relaxed);
    }

    /// Returns whether a state must be re-expanded.
    fn needs_reexpansion(&self, rank: u64) -> bool {
        self.place(rank).is_some_and(|(word, bit)| {
            self.owing[word].load(Relaxed) & !self.discharged[word].load(Relaxed) & bit != 0
        })
    }

    /// Returns whether one of the states must be re-expanded.
    fn any_needs_reexpansion(&self, ranks: &Range<u64>) -> bool {
        let (first, end) = (ranks.start.max(self.ranks.start), ranks.end.min(self.ranks.end));
        (first..end).any(|rank| self.needs_reexpansion(rank))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spill::{Disk, FaultDisk, SegmentWriter, sort_dedup};
    use spillway_base::random::scramble;
    use std::collections::BTreeSet;

    /// Bytes of a state.
    const WIDTH: usize = 4;

    fn sorted(width: usize, mut keys: Vec<u8>) -> Vec<u8> {
        sort_dedup(width, &mut keys, &mut Vec::new());
        keys
    }

    /// Writes ascending keys to several segments.
    fn segments(name: &str, width: usize, keys: &[u8], pieces: usize) -> Vec<Segment> {
        let disk = FaultDisk::new();
        let mut file = disk.create(name).unwrap();
        let piece = keys.len() / width / pieces * width;
        let refs: Vec<_> = (0..pieces)
            .map(|at| {
                let end = if at + 1 == pieces { keys.len() } else { (at + 1) * piece };
                let mut writer = SegmentWriter::new(width, &mut *file);
                writer.push(&keys[at * piece..end]).unwrap();
                writer.finish().unwrap()
            })
            .collect();
        file.flush().unwrap();
        refs.into_iter().map(|at| Segment::open(&disk, name, at, width).unwrap()).collect()
    }

    /// Many obligations, in memory and on disk, for several threads, in one pass and in ranges of ranks.
    #[test]
    fn states_with_obligations_and_no_new_successor_are_re_expanded() {
        let state = |number: u64| (scramble(number) as u32 >> 8).to_be_bytes();
        let level = sorted(WIDTH, (0..20_000).flat_map(state).collect());
        let new = sorted(WIDTH, (20_000..40_000).flat_map(state).collect());
        let known: BTreeSet<&[u8]> = new.chunks_exact(WIDTH).collect();
        let states = level.len() / WIDTH;
        let (mut has_obligation, mut is_discharged) = (vec![false; states], vec![false; states]);
        let mut runs = [const { Vec::new() }; 4];
        for number in 0..150_000u64 {
            let random = scramble(number ^ 1 << 40);
            let rank = random as usize % states;
            if rank.is_multiple_of(3) {
                continue;
            }
            // Each state has about eight successors, few of them new.
            let is_new = random >> 52 < 300;
            let successor = state(20_000 * u64::from(is_new) + (random >> 20) % 20_000);
            has_obligation[rank] = true;
            is_discharged[rank] |= known.contains(&successor[..]);
            let record = [&successor[..], &(rank as u64).to_be_bytes()[8 - RANK..]].concat();
            runs[number as usize % 4].extend(record);
        }
        let runs = runs.map(|run| sorted(WIDTH + RANK, run));
        let on_disk = runs[2..].iter().flat_map(|run| segments("owed", WIDTH + RANK, run, 1));
        let on_disk: Vec<Segment> = on_disk.collect();
        let expected: Vec<u8> = (0..states)
            .filter(|&rank| has_obligation[rank] && !is_discharged[rank])
            .flat_map(|rank| level[rank * WIDTH..][..WIDTH].to_vec())
            .collect();
        assert!(expected.len() > WIDTH * 1000 && expected.len() < WIDTH * states / 2);
        let (level, new) = (segments("level", WIDTH, &level, 3), segments("new", WIDTH, &new, 2));
        for (threads, room) in
            [(1, ObligationJoin::bytes(states as u64)), (3, 1 << 20), (3, 700), (1, 1)]
        {
            let slices = runs[..2].iter().map(Vec::as_slice).collect();
            let obligations = Candidates { slices, segments: on_disk.clone() };
            let never = || false;
            let (level, new, stop) = (&level[..], &new[..], &never);
            let join = ObligationJoin { width: WIDTH, obligations, level, new, threads, stop };
            assert_eq!(join.ranges().len(), threads);
            let mut re_expanded = Vec::new();
            let whole = join.visit_reexpanded(room, &mut |states| {
                re_expanded.extend_from_slice(states);
                Ok(())
            });
            assert!(whole.unwrap() && re_expanded == expected, "{threads} threads, {room} bytes");
            let always = || true;
            let stopped = ObligationJoin { stop: &always, ..join };
            assert!(!stopped.visit_reexpanded(room, &mut |_| Ok(())).unwrap());
        }
    }
}
