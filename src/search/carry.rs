//! Which states of a level are to be expanded again: those that owe steps, and none of whose successors
//! is new.
//!
//! Obligations, which ascend by successor, are joined with the new states. What is known of a state is two
//! bits, at its rank: whether it has obligations, and whether one of its successors is new. Both only ever
//! get set, so what comes of it depends neither on the order of the obligations nor on who joins which.
//! Where a level has more states than there is memory for, one range of ranks is taken after the other,
//! and obligations are read as often.

use super::expand::RANK;
use spill::{
    Candidates, Decoder, Error, Merge, Result, Segment, SegmentSource, SliceSource, Source,
    batch_keys, in_parallel, split,
};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// Fewer obligations than this are not worth a second thread.
const RECORDS_PER_THREAD_MIN: u64 = 64 << 10;

/// Ranks of a word of bits.
const WORD: u64 = u64::BITS as u64;

/// The obligations of a level, and what they are joined with.
pub struct Join<'a> {
    /// Bytes of a state.
    pub width: usize,
    /// Sorted runs of obligations.
    pub obligations: Candidates<'a>,
    /// The states whose ranks they have, ascending.
    pub level: &'a [Segment],
    /// The new states, ascending.
    pub new: &'a [Segment],
    /// How many threads join.
    pub threads: usize,
    /// Whether to give up.
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

impl Join<'_> {
    /// Bytes of the bits of so many states.
    pub fn bytes(states: u64) -> usize {
        2 * (states.div_ceil(WORD) * WORD / 8) as usize
    }

    /// Gives the states that are to be expanded again to `carry`, ascending, in batches, some of which may
    /// have none; in `room` bytes, or some more if those are very few. False if told to stop.
    pub fn carried(&self, room: usize, carry: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<bool> {
        let states = self.states();
        let at_once = (room as u64 / 2 / (WORD / 8)).max(1) * WORD;
        let ranges = self.ranges();
        let mut first = 0;
        while first < states {
            let marks = Marks::new(first..states.min(first.saturating_add(at_once)));
            // When one range fails, the others have no reason to go on.
            let failed = AtomicBool::new(false);
            let stop = || (self.stop)() || failed.load(Relaxed);
            let ended = in_parallel(ranges.iter().collect(), |_, range| {
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

    /// Bytes of an obligation.
    fn record(&self) -> usize {
        self.width + RANK
    }

    /// Ranges of successors that have about as many obligations.
    fn ranges(&self) -> Vec<Successors> {
        let Candidates { slices, segments } = &self.obligations;
        let in_memory: usize = slices.iter().map(|slice| slice.len() / self.record()).sum();
        let records = in_memory as u64 + segments.iter().map(Segment::keys).sum::<u64>();
        let wanted = ((records / RECORDS_PER_THREAD_MIN) as usize).clamp(1, self.threads.max(1));
        let mut bounds = split(self.record(), slices, segments, wanted);
        bounds.iter_mut().for_each(|bound| bound.truncate(self.width));
        bounds.dedup();
        let bound = |at: usize| bounds.get(at).cloned();
        let range =
            |at: usize| Successors { low: at.checked_sub(1).and_then(bound), high: bound(at) };
        (0..=bounds.len()).map(range).collect()
    }

    /// Notes what the obligations of a range say; false if told to stop.
    fn mark(&self, range: &Successors, marks: &Marks, stop: &dyn Fn() -> bool) -> Result<bool> {
        let [low, high] = [&range.low, &range.high].map(|bound| {
            // The least obligation of a successor has rank 0.
            bound.as_ref().map(|bound| [bound.as_slice(), &[0; RANK]].concat())
        });
        let owed = sources(self.record(), &self.obligations, low.as_deref(), high.as_deref());
        let mut owed = Merge::new(self.record(), owed);
        let mut new = New::of(self, range);
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

    /// Gives the marked states that are to be expanded again to `carry`; false if told to stop.
    fn pick(&self, marks: &Marks, carry: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<bool> {
        let mut first = 0;
        let (mut decoder, mut states, mut picked) =
            (Decoder::new(self.width), Vec::new(), Vec::new());
        for segment in self.level {
            for block in 0..segment.blocks() {
                let ranks = first..first + segment.keys_in(block) as u64;
                first = ranks.end;
                if !marks.carries_any(&ranks) {
                    continue;
                }
                if (self.stop)() {
                    return Ok(false);
                }
                segment.decode(block, &mut decoder, &mut states)?;
                segment.release(block..block + 1);
                picked.clear();
                for (rank, state) in ranks.zip(states.chunks_exact(self.width)) {
                    if marks.carries(rank) {
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
struct Successors {
    low: Option<Vec<u8>>,
    /// The least beyond it.
    high: Option<Vec<u8>>,
}

/// One source for each run, restricted to a range.
fn sources<'a>(
    width: usize,
    runs: &Candidates<'a>,
    low: Option<&[u8]>,
    high: Option<&[u8]>,
) -> Vec<Box<dyn Source + 'a>> {
    let mut sources: Vec<Box<dyn Source + 'a>> = Vec::new();
    for slice in &runs.slices {
        sources.push(Box::new(SliceSource::new(width, slice, low, high)));
    }
    for segment in &runs.segments {
        sources.push(Box::new(SegmentSource::new(segment.clone(), low, high)));
    }
    sources
}

/// The new states of a range, asked for in ascending order.
struct New {
    merge: Merge<'static>,
    /// Those in hand.
    states: Vec<u8>,
    /// Bytes of these that are less than what is asked for.
    at: usize,
}

impl New {
    fn of(join: &Join, Successors { low, high }: &Successors) -> New {
        let runs = Candidates { slices: Vec::new(), segments: join.new.to_vec() };
        let sources = sources(join.width, &runs, low.as_deref(), high.as_deref());
        New { merge: Merge::new(join.width, sources), states: Vec::new(), at: 0 }
    }

    /// Whether a state, not less than those asked for before, is new.
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

/// What is known of the states of a range of ranks.
struct Marks {
    /// Begins with a word.
    ranks: Range<u64>,
    /// Whether a state has obligations.
    owing: Vec<AtomicU64>,
    /// Whether one of its successors is new.
    discharged: Vec<AtomicU64>,
}

impl Marks {
    fn new(ranks: Range<u64>) -> Marks {
        let words = (ranks.end - ranks.start).div_ceil(WORD);
        let none = || (0..words).map(|_| AtomicU64::new(0)).collect();
        Marks { ranks, owing: none(), discharged: none() }
    }

    /// The word and the bit of a rank, if it is one of these.
    fn place(&self, rank: u64) -> Option<(usize, u64)> {
        let at = rank.checked_sub(self.ranks.start).filter(|_| rank < self.ranks.end)?;
        Some(((at / WORD) as usize, 1 << (at % WORD)))
    }

    /// A state owes steps; whether the successor that says so is new.
    fn note(&self, rank: u64, is_new: bool) {
        let Some((word, bit)) = self.place(rank) else { return };
        let words = if is_new { &self.discharged } else { &self.owing };
        words[word].fetch_or(bit, Relaxed);
    }

    /// Whether a state is to be expanded again.
    fn carries(&self, rank: u64) -> bool {
        self.place(rank).is_some_and(|(word, bit)| {
            self.owing[word].load(Relaxed) & !self.discharged[word].load(Relaxed) & bit != 0
        })
    }

    /// Whether one of these is.
    fn carries_any(&self, ranks: &Range<u64>) -> bool {
        let (first, end) = (ranks.start.max(self.ranks.start), ranks.end.min(self.ranks.end));
        (first..end).any(|rank| self.carries(rank))
    }
}
