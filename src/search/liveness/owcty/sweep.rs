//! A sweep: states of a set are expanded, their successors sorted, and these merged with the region.
//!
//! A successor comes with the rank of the state that it is one of (an obligation, as the level loop calls such pairs), so
//! that repeats of one state count once. As successors ascend and the region does, what is known of its states is read
//! and written from the front to the back, a shard at a time, each by a thread.

use super::inconsistent_successors;
use super::marks::{IN, MANY, MarkCounts, MarksWriter, OUT, ShardMarks};
use super::region::CycleRegion;
use super::region_keys::{RegionKeys, first_from};
use crate::model::{FairSteps, SuccessorSink, collect_fair, fair_records};
use crate::search::expand::{ObligationBuffer, RANK};
use crate::search::model_failure;
use rkyv::{Archive, Deserialize, Serialize};
use spill::{
    AppendFile, BlockDecoder, Candidates, Disk, FileName, FileSegment, KeyMerge, Result,
    SegmentWriter, batch_keys, map_parallel,
};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The number of states that were come to and are still to be expanded.
const REACHED: u8 = 2;

/// The number of states that were come to and are expanded.
const DONE: u8 = 3;

/// Bytes of a layer's segment, about.
const LAYER_BYTES: usize = 1 << 20;

/// What a sweep does: which states of the set it expands, and what becomes of the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub enum SweepKind {
    /// Counts the predecessors of each state: 1 is none.
    Count,
    /// Takes out the states without predecessors, which then are none of others.
    Drop,
    /// Looks for what comes after accepting states, or after steps that are fair to a process.
    Seed,
    /// Goes on from there.
    Grow,
    /// Leaves what was come to.
    Reached,
    /// Forgets what is known of the states of the set.
    Forget,
    /// Goes on from one state, until it is come to again, or another is.
    Round,
    /// Leaves what was not come to from that state, nor is it.
    Peel,
}

impl SweepKind {
    /// The number of states that the sweep after this one expands.
    fn pending(self) -> Option<u8> {
        match self {
            SweepKind::Count | SweepKind::Drop => Some(IN),
            SweepKind::Seed | SweepKind::Grow | SweepKind::Round => Some(REACHED),
            SweepKind::Reached | SweepKind::Forget | SweepKind::Peel => None,
        }
    }

    /// Whether states of which there are so many get other numbers even if nothing leads to them.
    fn changes(self, counts: MarkCounts) -> bool {
        match self {
            SweepKind::Drop | SweepKind::Grow | SweepKind::Round => counts.pending > 0,
            _ => counts.members > 0,
        }
    }

    /// Whether some of so many states are expanded.
    fn expands(self, counts: MarkCounts) -> bool {
        match self {
            SweepKind::Count | SweepKind::Seed => counts.members > 0,
            SweepKind::Drop | SweepKind::Grow | SweepKind::Round => counts.pending > 0,
            SweepKind::Reached | SweepKind::Forget | SweepKind::Peel => false,
        }
    }

    /// The new number of a state, to which so many of the states expanded lead.
    fn next(self, code: u8, hits: u32, is_seed: &mut dyn FnMut() -> bool) -> Option<u8> {
        let mut reached = || if is_seed() { DONE } else { REACHED };
        Some(match (self, code) {
            (_, OUT) => OUT,
            (SweepKind::Count, _) => hits.saturating_add(u32::from(IN)).min(u32::from(MANY)) as u8,
            (SweepKind::Drop, IN) => OUT,
            (SweepKind::Drop, MANY) => MANY,
            (SweepKind::Drop, _) => {
                let left = u32::from(code).checked_sub(hits).filter(|&it| it >= u32::from(IN));
                return left.map(|it| it as u8);
            }
            // Accepting states are expanded by this sweep, by all their steps.
            (SweepKind::Seed, _) if hits > 0 => reached(),
            (SweepKind::Seed | SweepKind::Forget, _) => IN,
            (SweepKind::Grow, IN) if hits > 0 => reached(),
            (SweepKind::Round, IN) if hits > 0 => REACHED,
            (SweepKind::Grow | SweepKind::Round, REACHED) => DONE,
            (SweepKind::Grow | SweepKind::Round, _) => code,
            (SweepKind::Reached, _) if code >= REACHED => IN,
            (SweepKind::Peel, IN) => IN,
            (SweepKind::Reached | SweepKind::Peel, _) => OUT,
        })
    }
}

/// What a thread works in.
pub(super) struct SweepBuffers {
    decoder: BlockDecoder,
    /// The keys of a block.
    block: Vec<u8>,
    codes: Vec<u8>,
    hits: Vec<u32>,
    expanded: StateExpansion,
}

/// A state, its successors, and the keys of these.
#[derive(Default)]
struct StateExpansion {
    state: Vec<u8>,
    /// Its successors and whom the steps there are fair to, where that is asked.
    records: Vec<u8>,
    successors: Vec<u8>,
    kept: Vec<u8>,
    keys: Vec<u8>,
}

impl SweepBuffers {
    pub(super) fn new(width: usize) -> SweepBuffers {
        let (block, codes, hits) = (Vec::new(), Vec::new(), Vec::new());
        SweepBuffers {
            decoder: BlockDecoder::new(width),
            block,
            codes,
            hits,
            expanded: StateExpansion::default(),
        }
    }
}

/// What a sweep is made with.
pub(super) struct RegionSweep<'a> {
    pub(super) region: &'a CycleRegion<'a>,
    pub(super) marks: &'a [ShardMarks],
    pub(super) turn: SweepKind,
    /// What is come to from is looked for.
    pub(super) demand: CycleRequirement<'a>,
    /// From 1.
    pub(super) number: u32,
    /// The key of the state that a round begins with.
    pub(super) begin: Option<&'a [u8]>,
    /// That of the state that it is to come to.
    pub(super) target: Option<&'a [u8]>,
    /// Whether the round begins.
    pub(super) begins: bool,
}

/// What a cycle must have.
#[derive(Clone, Copy)]
pub(super) enum CycleRequirement<'a> {
    /// An accepting state.
    Accepting,
    /// A step that is fair to a process.
    FairTo(&'a dyn FairSteps, usize),
}

/// What became of a shard.
pub(super) struct SweptShard {
    pub(super) marks: ShardMarks,
    /// The states that a round came to.
    pub(super) layer: Vec<FileSegment>,
    /// Whether the round came to its target.
    pub(super) returned: bool,
}

impl RegionSweep<'_> {
    fn width(&self) -> usize {
        self.region.keys.width()
    }

    /// Bytes of a successor and a rank.
    fn record(&self) -> usize {
        self.width() + RANK
    }

    /// Expands and merges; what became of each shard, or nothing if told to stop. Those who expand have nothing in
    /// hand before, nor after.
    pub(super) fn run(
        &self,
        owed: &mut [ObligationBuffer],
        rooms: &mut [SweepBuffers],
    ) -> Result<Option<Vec<SweptShard>>> {
        let done = self.expand(owed, rooms).and_then(|whole| match whole {
            true => self.merge(owed, rooms),
            false => Ok(None),
        });
        let mut files = owed.iter_mut().filter_map(ObligationBuffer::clear);
        let removed = files.try_for_each(|file| self.region.disk.remove(&file.to_string()));
        let done = done?;
        removed.map(|()| done)
    }

    /// Takes note of the successors of the states that are expanded; false if told to stop.
    fn expand(&self, owed: &mut [ObligationBuffer], rooms: &mut [SweepBuffers]) -> Result<bool> {
        if let Some(begin) = self.begin.filter(|_| self.begins) {
            let whole = self.expand_state(begin, 0, &mut owed[0], &mut rooms[0].expanded);
            owed[0].sort();
            return whole;
        }
        let ranks = self.region.shards.iter().scan(0, |rank, shard| {
            let first = *rank;
            *rank += shard.keys();
            Some(first)
        });
        let ranks: Vec<u64> = ranks.collect();
        let next = AtomicUsize::new(0);
        let done = map_parallel(owed.iter_mut().zip(rooms).collect(), |_, (owed, room)| {
            let _heeding = self.region.control.heed();
            loop {
                let at = next.fetch_add(1, Relaxed);
                let Some(&first) = ranks.get(at) else { break };
                let whole = self.expand_shard(at, first, owed, room);
                if !matches!(whole, Ok(true)) {
                    next.store(ranks.len(), Relaxed);
                    return whole;
                }
            }
            owed.sort();
            Ok(true)
        })?;
        Ok(done.into_iter().all(|whole| whole))
    }

    fn expand_shard(
        &self,
        at: usize,
        first: u64,
        owed: &mut ObligationBuffer,
        room: &mut SweepBuffers,
    ) -> Result<bool> {
        let (segment, marks) = (&self.region.shards[at], &self.marks[at]);
        if !self.turn.expands(marks.counts) {
            return Ok(true);
        }
        let mut rank = first;
        let mut reader = marks.read(&*self.region.disk)?;
        for block in 0..segment.blocks() {
            let states = segment.block_keys(block);
            let chunk = reader.next(states)?;
            if self.turn.expands(chunk.counts()) {
                if self.region.control.should_stop() {
                    return Ok(false);
                }
                let SweepBuffers { decoder, block: keys, codes, expanded, .. } = &mut *room;
                chunk.read(codes);
                segment.decode(block, decoder, keys)?;
                segment.release(block..block + 1);
                let keys = keys.chunks_exact(self.width()).zip(&*codes).zip(rank..);
                for ((key, &code), rank) in keys {
                    if self.is_expanded(code) && !self.expand_state(key, rank, owed, expanded)? {
                        return Ok(false);
                    }
                }
            }
            rank += states as u64;
        }
        Ok(true)
    }

    /// Whether the states of this number are expanded, or of them those that accept.
    fn is_expanded(&self, code: u8) -> bool {
        match self.turn {
            SweepKind::Count | SweepKind::Seed => code != OUT,
            turn => turn.pending() == Some(code),
        }
    }

    /// Whether what comes after a state is looked for, by whatever step; or by some of its steps, where it depends on these.
    fn is_seed(&self, state: &[u8]) -> bool {
        match self.demand {
            CycleRequirement::Accepting => (self.region.accepting.accepts)(state),
            CycleRequirement::FairTo(..) => true,
        }
    }

    /// Whether what a state leads to by all its steps was looked at while seeds were; with room for the state.
    fn is_whole_seed(&self, key: &[u8], state: &mut Vec<u8>) -> bool {
        match self.demand {
            CycleRequirement::FairTo(..) => false,
            CycleRequirement::Accepting => {
                self.region.keys.lift(key, state);
                self.is_seed(state)
            }
        }
    }

    /// Makes `successors` those of the state, or those by steps that count.
    fn successors(&self, expanded: &mut StateExpansion) -> Result<()> {
        let StateExpansion { state, records, successors, .. } = expanded;
        successors.clear();
        match self.demand {
            CycleRequirement::FairTo(fair, process) if self.turn == SweepKind::Seed => {
                let _ = collect_fair(fair, state, records).map_err(model_failure)?;
                let steps = fair_records(records, state.len());
                let steps = steps.filter(|(_, set)| set.contains(process));
                steps.for_each(|(successor, _)| successors.extend_from_slice(successor));
            }
            _ => {
                let run = |out: &mut SuccessorSink| self.region.model.expand(state, out);
                let _ =
                    SuccessorSink::collect(state.len(), successors, run).map_err(model_failure)?;
            }
        }
        Ok(())
    }

    /// Takes note of the successors of a state that can lie on accepting cycles with it; false if told to stop.
    fn expand_state(
        &self,
        key: &[u8],
        rank: u64,
        owed: &mut ObligationBuffer,
        expanded: &mut StateExpansion,
    ) -> Result<bool> {
        let CycleRegion { accepting, control, keys: as_keys, .. } = self.region;
        as_keys.lift(key, &mut expanded.state);
        if self.turn == SweepKind::Seed && !self.is_seed(&expanded.state) {
            return Ok(true);
        }
        self.successors(expanded)?;
        if control.is_stopped() {
            return Ok(false);
        }
        let StateExpansion { state, successors, kept, keys, .. } = expanded;
        let component = (accepting.component)(state);
        // Where it is enough to know that something leads there, successors of several states are one.
        let rank = if matches!(self.turn, SweepKind::Count | SweepKind::Drop) { rank } else { 0 };
        kept.clear();
        let stays = |it: &&[u8]| (accepting.component)(it) == component;
        let staying = successors.chunks_exact(as_keys.whole()).filter(stays);
        staying.for_each(|it| kept.extend_from_slice(it));
        as_keys.project(kept, keys)?;
        keys.chunks_exact(self.width())
            .try_for_each(|it| owed.add_obligation(self.number, rank, it))?;
        Ok(true)
    }

    /// Merges the successors with the region.
    fn merge(
        &self,
        owed: &mut [ObligationBuffer],
        rooms: &mut [SweepBuffers],
    ) -> Result<Option<Vec<SweptShard>>> {
        owed.iter_mut().try_for_each(ObligationBuffer::flush)?;
        let pieces = owed.iter().flat_map(ObligationBuffer::pieces);
        let segments = pieces.map(|piece| piece.open(&*self.region.disk, self.record()));
        let segments = segments.collect::<Result<_>>()?;
        let slices = owed.iter().map(ObligationBuffer::sorted).collect();
        let records = Candidates { slices, segments };
        let next = AtomicUsize::new(0);
        let swept = map_parallel(rooms.iter_mut().collect(), |_, room| {
            let mut swept = Vec::new();
            loop {
                let at = next.fetch_add(1, Relaxed);
                if at >= self.region.shards.len() {
                    return Ok(Some(swept));
                }
                let shard = self.merge_shard(at, &records, room);
                if !matches!(shard, Ok(Some(_))) {
                    next.store(self.region.shards.len(), Relaxed);
                }
                match shard? {
                    None => return Ok(None),
                    Some(shard) => swept.push((at, shard)),
                }
            }
        })?;
        let Some(swept) = swept.into_iter().collect::<Option<Vec<_>>>() else { return Ok(None) };
        let mut swept: Vec<(usize, SweptShard)> = swept.into_iter().flatten().collect();
        swept.sort_by_key(|(at, _)| *at);
        Ok(Some(swept.into_iter().map(|(_, shard)| shard).collect()))
    }

    fn merge_shard(
        &self,
        at: usize,
        records: &Candidates,
        room: &mut SweepBuffers,
    ) -> Result<Option<SweptShard>> {
        let (segment, before) = (&self.region.shards[at], self.marks[at]);
        let low = (at > 0).then(|| segment.first_key(0).to_vec());
        let high = self.region.shards.get(at + 1).map(|next| next.first_key(0).to_vec());
        let mut arrivals = SuccessorArrivals::new(records, self.width(), [low, high]);
        let is_left = !self.turn.changes(before.counts) && arrivals.peek()?.is_none();
        if is_left || before.counts.members == 0 {
            return Ok(Some(SweptShard { marks: before, layer: Vec::new(), returned: false }));
        }
        let (sweep, shard) = (self.number, at as u16);
        let mut reader = before.read(&*self.region.disk)?;
        let mut writer = MarksWriter::create(&*self.region.disk, FileName::Marks { sweep, shard })?;
        let mut layer = LayerWriter::new(self, shard);
        for block in 0..segment.blocks() {
            let chunk = reader.next(segment.block_keys(block))?;
            let next = block + 1;
            let end = (next < segment.blocks()).then(|| segment.first_key(next));
            let arrive =
                arrivals.peek()?.is_some_and(|it| end.as_deref().is_none_or(|end| it < end));
            if !arrive && !self.turn.changes(chunk.counts()) {
                writer.copy(&chunk)?;
                continue;
            }
            if self.region.control.should_stop() {
                return Ok(None);
            }
            let SweepBuffers { decoder, block: keys, codes, hits, expanded } = &mut *room;
            chunk.read(codes);
            if arrive || self.turn == SweepKind::Peel {
                segment.decode(block, decoder, keys)?;
                segment.release(block..block + 1);
            }
            hits.clear();
            hits.resize(codes.len(), 0);
            if arrive {
                arrivals.count(keys, end.as_deref(), hits)?;
            }
            let swept = SweptBlock { keys, codes, hits };
            self.renumber(swept, &mut expanded.state, &mut layer)?;
            writer.push(codes, self.turn.pending())?;
        }
        let (layer, returned) = layer.finish()?;
        Ok(Some(SweptShard { marks: writer.finish()?, layer, returned }))
    }

    /// Gives the states of a block their new numbers.
    fn renumber(
        &self,
        block: SweptBlock<'_>,
        state: &mut Vec<u8>,
        layer: &mut LayerWriter,
    ) -> Result<()> {
        let (width, SweptBlock { keys, codes, hits }) = (self.width(), block);
        for (at, (code, &hits)) in codes.iter_mut().zip(hits).enumerate() {
            let key = || &keys[at * width..][..width];
            let next = self.turn.next(*code, hits, &mut || self.is_whole_seed(key(), state));
            let mut next = next.ok_or_else(inconsistent_successors)?;
            if self.turn == SweepKind::Round && *code == IN && next == REACHED {
                layer.push(key())?;
            }
            if self.turn == SweepKind::Peel && self.begin == Some(key()) {
                next = OUT;
            }
            *code = next;
        }
        Ok(())
    }
}

/// A block of a shard, as a sweep comes by it.
struct SweptBlock<'b> {
    /// The keys of its states; none where they are not needed.
    keys: &'b [u8],
    /// The number that each state has.
    codes: &'b mut [u8],
    /// How many of the steps that are followed lead to each.
    hits: &'b [u32],
}

/// The keys of the successors of a shard, in ascending order.
struct SuccessorArrivals<'a> {
    merge: KeyMerge<'a>,
    /// Bytes of a key.
    width: usize,
    batch: Vec<u8>,
    /// Bytes of these that are used.
    at: usize,
}

impl<'a> SuccessorArrivals<'a> {
    fn new(
        records: &Candidates<'a>,
        width: usize,
        bounds: [Option<Vec<u8>>; 2],
    ) -> SuccessorArrivals<'a> {
        // The least record of a successor has rank 0.
        let [low, high] = bounds.map(|bound| bound.map(|it| [it.as_slice(), &[0; RANK]].concat()));
        let record = width + RANK;
        let merge = KeyMerge::new(record, records.sources(record, low.as_deref(), high.as_deref()));
        SuccessorArrivals { merge, width, batch: Vec::new(), at: 0 }
    }

    /// The next one, if there is one.
    fn peek(&mut self) -> Result<Option<&[u8]>> {
        if self.at == self.batch.len() {
            self.merge.next(&mut self.batch, batch_keys(self.width + RANK))?;
            self.at = 0;
        }
        Ok(self.batch.get(self.at..self.at + self.width))
    }

    /// Counts how often each of `region_keys` arrives, up to the first arrival that is not less than `end`.
    fn count(&mut self, keys: &[u8], end: Option<&[u8]>, hits: &mut [u32]) -> Result<()> {
        let width = self.width;
        let mut at = 0;
        while let Some(arrival) = self.peek()? {
            if end.is_some_and(|end| arrival >= end) {
                break;
            }
            at = first_from(keys, at, arrival);
            if at < hits.len() && keys[at * width..][..width] == *arrival {
                hits[at] += 1;
            }
            self.at += width + RANK;
        }
        Ok(())
    }
}

/// The states of a shard that a sweep of a round comes to, in ascending order.
struct LayerWriter<'a> {
    disk: &'a dyn Disk,
    /// In the files are states.
    keys: &'a RegionKeys,
    target: Option<&'a [u8]>,
    name: FileName,
    /// The keys of those in hand, and room for the states.
    held: Vec<u8>,
    states: Vec<u8>,
    file: Option<Box<dyn AppendFile>>,
    pieces: Vec<FileSegment>,
    returned: bool,
}

impl<'a> LayerWriter<'a> {
    fn new(sweep: &RegionSweep<'a>, shard: u16) -> LayerWriter<'a> {
        let CycleRegion { disk, keys, .. } = sweep.region;
        let (disk, target) = (&**disk, sweep.target);
        let name = FileName::Layer { sweep: sweep.number, shard };
        let (held, states, file, pieces) = (Vec::new(), Vec::new(), None, Vec::new());
        LayerWriter { disk, keys, target, name, held, states, file, pieces, returned: false }
    }

    fn push(&mut self, key: &[u8]) -> Result<()> {
        self.returned |= self.target == Some(key);
        self.held.extend_from_slice(key);
        let bytes = self.held.len() / self.keys.width() * self.keys.whole();
        if bytes > LAYER_BYTES { self.write() } else { Ok(()) }
    }

    /// Writes those in hand as a segment.
    fn write(&mut self) -> Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(self.disk.create(&self.name.to_string())?),
        };
        self.keys.lift(&self.held, &mut self.states);
        let mut writer = SegmentWriter::new(self.keys.whole(), &mut **file);
        writer.push(&self.states)?;
        self.pieces.push(FileSegment { file: self.name, at: writer.finish()? });
        self.held.clear();
        Ok(())
    }

    /// Where they are, and whether the target is among them.
    fn finish(mut self) -> Result<(Vec<FileSegment>, bool)> {
        if !self.held.is_empty() {
            self.write()?;
        }
        self.file.iter_mut().try_for_each(|file| file.flush())?;
        Ok((self.pieces, self.returned))
    }
}
