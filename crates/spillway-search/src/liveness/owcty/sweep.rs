//! A sweep: expands states of a set, sorts their successors, and merges these with the region.
//!
//! Each successor is stored with the rank of its predecessor (an obligation, as in the level loop), so that duplicates
//! from one state count once. Successors and region are both in ascending order. So the numbers of the states are read
//! and written sequentially, one shard at a time, each by a thread.

use super::inconsistent_successors;
use super::marks::{IN, MANY, MarkCounts, MarksWriter, OUT, ShardMarks};
use super::region::CycleRegion;
use super::region_keys::{RegionKeys, first_from};
use crate::expand::{ObligationBuffer, RANK};
use crate::model_failure;
use rkyv::{Archive, Deserialize, Serialize};
use spill::{
    AppendFile, BlockDecoder, Candidates, Disk, FileName, FileSegment, KeyMerge, Result,
    SegmentWriter, batch_keys, map_parallel,
};
use spillway_model::{FairSteps, SuccessorSink, collect_fair, fair_records};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The number of states that are reached and not yet expanded.
const REACHED: u8 = 2;

/// The number of states that are reached and expanded.
const DONE: u8 = 3;

/// Bytes of a segment of a layer, approximately.
const LAYER_BYTES: usize = 1 << 20;

/// The kind of a sweep: the states of the set that it expands, and the new numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub enum SweepKind {
    /// Counts the predecessors of each state; the number 1 means none.
    Count,
    /// Removes the states without predecessors, and decrements the counts of their successors.
    Drop,
    /// Starts *reach* at accepting states, or at steps that are fair to a process.
    Seed,
    /// Continues *reach* from the states reached last.
    Grow,
    /// Keeps the reached states in the set and removes the others.
    Reached,
    /// Resets the numbers of the states of the set.
    Forget,
    /// Explores from one state until the target is reached.
    Round,
    /// Removes the states that the round reached, and its first state.
    Peel,
}

impl SweepKind {
    /// Returns the number of states that the next sweep expands.
    fn pending(self) -> Option<u8> {
        match self {
            SweepKind::Count | SweepKind::Drop => Some(IN),
            SweepKind::Seed | SweepKind::Grow | SweepKind::Round => Some(REACHED),
            SweepKind::Reached | SweepKind::Forget | SweepKind::Peel => None,
        }
    }

    /// Returns whether states with these counts change their numbers even if no step leads to them.
    fn changes(self, counts: MarkCounts) -> bool {
        match self {
            SweepKind::Drop | SweepKind::Grow | SweepKind::Round => counts.pending > 0,
            _ => counts.members > 0,
        }
    }

    /// Returns whether the sweep expands some states, given their counts.
    fn expands(self, counts: MarkCounts) -> bool {
        match self {
            SweepKind::Count | SweepKind::Seed => counts.members > 0,
            SweepKind::Drop | SweepKind::Grow | SweepKind::Round => counts.pending > 0,
            SweepKind::Reached | SweepKind::Forget | SweepKind::Peel => false,
        }
    }

    /// Returns the new number of a state to which `hits` expanded states lead.
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
            // This sweep expands accepting states by all their steps.
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

/// The buffers of a thread.
pub(super) struct SweepBuffers {
    decoder: BlockDecoder,
    /// The keys of a block.
    block: Vec<u8>,
    codes: Vec<u8>,
    hits: Vec<u32>,
    expanded: StateExpansion,
}

/// A state, its successors, and their keys.
#[derive(Default)]
struct StateExpansion {
    state: Vec<u8>,
    /// The successors with the processes to which the steps are fair, if fairness is needed.
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

/// The input of a sweep.
pub(super) struct RegionSweep<'a> {
    pub(super) region: &'a CycleRegion<'a>,
    pub(super) marks: &'a [ShardMarks],
    pub(super) turn: SweepKind,
    /// The requirement from which *reach* starts.
    pub(super) demand: CycleRequirement<'a>,
    /// The number of the sweep, from 1.
    pub(super) number: u32,
    /// The key of the state at which a round begins.
    pub(super) begin: Option<&'a [u8]>,
    /// The key of the state that the round must reach.
    pub(super) target: Option<&'a [u8]>,
    /// Whether this is the first sweep of the round.
    pub(super) begins: bool,
}

/// A requirement of accepting cycles.
#[derive(Clone, Copy)]
pub(super) enum CycleRequirement<'a> {
    /// An accepting state.
    Accepting,
    /// A step that is fair to a process.
    FairTo(&'a dyn FairSteps, usize),
}

/// The result of a sweep for a shard.
pub(super) struct SweptShard {
    pub(super) marks: ShardMarks,
    /// The states that a round reached.
    pub(super) layer: Vec<FileSegment>,
    /// Whether the round reached its target.
    pub(super) returned: bool,
}

impl RegionSweep<'_> {
    fn width(&self) -> usize {
        self.region.keys.width()
    }

    /// Returns the bytes of a successor and a rank.
    fn record(&self) -> usize {
        self.width() + RANK
    }

    /// Expands and merges. Returns the result for each shard, or nothing if stopped. The obligation buffers are empty
    /// before and after.
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

    /// Buffers the successors of the states that the sweep expands. Returns false if stopped.
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

    /// Returns whether the sweep expands the states with this number, or the accepting ones of them.
    fn is_expanded(&self, code: u8) -> bool {
        match self.turn {
            SweepKind::Count | SweepKind::Seed => code != OUT,
            turn => turn.pending() == Some(code),
        }
    }

    /// Returns whether *reach* starts at a state, by all or by some of its steps.
    fn is_seed(&self, state: &[u8]) -> bool {
        match self.demand {
            CycleRequirement::Accepting => (self.region.accepting.accepts)(state),
            CycleRequirement::FairTo(..) => true,
        }
    }

    /// Returns whether the sweep that starts *reach* expands the state by all its steps. `state` is a buffer.
    fn is_whole_seed(&self, key: &[u8], state: &mut Vec<u8>) -> bool {
        match self.demand {
            CycleRequirement::FairTo(..) => false,
            CycleRequirement::Accepting => {
                self.region.keys.lift(key, state);
                self.is_seed(state)
            }
        }
    }

    /// Replaces `successors` by those of the state, or by those of the steps that meet the requirement.
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

    /// Buffers the successors of a state that can lie on an accepting cycle with it. Returns false if stopped.
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
        // If only reachability matters, equal successors of several states become one record.
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

/// A block of a shard during a sweep.
struct SweptBlock<'b> {
    /// The keys of its states; empty if they are not needed.
    keys: &'b [u8],
    /// The number of each state.
    codes: &'b mut [u8],
    /// The number of expanded steps that lead to each state.
    hits: &'b [u32],
}

/// The keys of the successors in a shard, in ascending order.
struct SuccessorArrivals<'a> {
    merge: KeyMerge<'a>,
    /// Bytes of a key.
    width: usize,
    batch: Vec<u8>,
    /// The number of bytes of the batch that are consumed.
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

    /// Returns the next successor, if there is one.
    fn peek(&mut self) -> Result<Option<&[u8]>> {
        if self.at == self.batch.len() {
            self.merge.next(&mut self.batch, batch_keys(self.width + RANK))?;
            self.at = 0;
        }
        Ok(self.batch.get(self.at..self.at + self.width))
    }

    /// Counts the successors equal to each of `keys`, up to the first successor that is not less than `end`.
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

/// The states of a shard that a sweep of a round reaches, in ascending order.
struct LayerWriter<'a> {
    disk: &'a dyn Disk,
    /// Converts keys to states; the files contain states.
    keys: &'a RegionKeys,
    target: Option<&'a [u8]>,
    name: FileName,
    /// The buffered keys, and a buffer for their states.
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

    /// Writes the buffered states as a segment.
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

    /// Returns the segments, and whether the target is among them.
    fn finish(mut self) -> Result<(Vec<FileSegment>, bool)> {
        if !self.held.is_empty() {
            self.write()?;
        }
        self.file.iter_mut().try_for_each(|file| file.flush())?;
        Ok((self.pieces, self.returned))
    }
}
