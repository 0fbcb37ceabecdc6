//! The states that a search reached, in key order, and their predecessors.
//!
//! A state's *rank* is its index in that order. The ranks of each shard begin at a multiple of 64, so that threads
//! write the sets of different shards to different words. Every state is expanded once. Its successors, each with the
//! rank of the state, are sorted like the candidates of the level loop, and merged with the states. So the predecessors
//! of each state are in order.

use super::predecessor_lists::{PredecessorLists, PredecessorListsWriter};
use super::state_set::StateSet;
use crate::expand::{ObligationBuffer, RANK};
use crate::liveness::owcty::region_keys::{RegionKeys, first_from};
use crate::liveness::owcty::{inconsistent_successors, region};
use crate::model_failure;
use crate::{MemoryPlan, SearchControl};
use spill::{
    BlockDecoder, Candidates, Disk, Error, FileSegment, KeyMerge, Result, Segment, Store,
    WIDTH_MAX, batch_keys, map_parallel,
};
use spillway_model::{StateSpace, SuccessorSink};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// All states that a search reached, and their predecessors.
pub(super) struct PredecessorGraph<'a> {
    model: &'a dyn StateSpace,
    disk: Arc<dyn Disk>,
    pub(super) control: &'a SearchControl,
    threads: usize,
    keys: RegionKeys,
    shards: Vec<Segment>,
    /// The first rank of each shard, and the end of the last.
    firsts: Vec<u64>,
    /// The ranks that are states.
    pub(super) all: StateSet,
    /// The states without successors.
    pub(super) dead: StateSet,
    /// The initial states.
    pub(super) initial: Vec<u64>,
    /// The predecessors of the states of each shard.
    pub(super) lists: Vec<PredecessorLists>,
}

/// The states of a store, written in key order.
pub(super) struct StateShards {
    pieces: Vec<FileSegment>,
    keys: RegionKeys,
}

impl StateShards {
    /// Writes the states of `store`. Returns nothing if stopped. The store is not needed afterwards.
    pub(super) fn of(
        store: &Store,
        model: &dyn StateSpace,
        disk: &dyn Disk,
        control: &SearchControl,
        shard_states: Option<u64>,
    ) -> Result<Option<StateShards>> {
        let states = store.levels().saved().keys_by_level().sum();
        let shard_states = shard_states.unwrap_or_else(|| region::shard_states(states));
        let keys = RegionKeys::of(model.width(), store.codec());
        let stop = || control.should_stop();
        let all = |_: &[u8]| true;
        let layout = region::RegionLayout { keys: &keys, shard_states };
        let pieces = region::build(&store.runs(), layout, &all, disk, &stop)?;
        Ok(pieces.map(|pieces| StateShards { pieces, keys }))
    }
}

/// The states of a block and buffers for their successors.
#[derive(Default)]
struct GraphBlock {
    /// The index of its first state in its shard.
    first: u64,
    keys: Vec<u8>,
    states: Vec<u8>,
    successors: Vec<u8>,
    projected: Vec<u8>,
}

impl<'a> PredecessorGraph<'a> {
    /// Builds the graph of a model whose states were gathered. Returns nothing if stopped.
    pub(super) fn build(
        model: &'a dyn StateSpace,
        gathered: StateShards,
        disk: Arc<dyn Disk>,
        plan: &MemoryPlan,
        control: &'a SearchControl,
    ) -> Result<Option<PredecessorGraph<'a>>> {
        let StateShards { pieces, keys } = gathered;
        if keys.width() + RANK > WIDTH_MAX {
            let what = format!("states of {} bytes are too long for the evaluation", keys.width());
            return Err(Error::Limit { what });
        }
        let shards = region::open(&pieces, &*disk, keys.width())?;
        let mut firsts = vec![0];
        for shard in &shards {
            let last = firsts.last().copied().unwrap_or(0);
            firsts.push((last + shard.keys()).next_multiple_of(64));
        }
        let ranks = firsts.last().copied().unwrap_or(0);
        let mut all = StateSet::none(ranks);
        for (shard, first) in shards.iter().zip(&firsts) {
            (0..shard.keys()).for_each(|it| all.insert(first + it));
        }
        let threads = plan.threads.max(1);
        let (dead, initial, lists) = (StateSet::none(ranks), Vec::new(), Vec::new());
        let mut graph = PredecessorGraph {
            model,
            disk,
            control,
            threads,
            keys,
            shards,
            firsts,
            all,
            dead,
            initial,
            lists,
        };
        let all = plan.young + plan.filter + 2 * plan.buffer * threads as u64;
        let share = (all / 2 / threads as u64) as usize;
        let width = graph.keys.width();
        let owed =
            (0..threads as u16).map(|it| ObligationBuffer::new(it, width, share, &graph.disk));
        let mut owed: Vec<ObligationBuffer> = owed.collect();
        let is_whole = graph.expand(&mut owed).and_then(|whole| match whole {
            true => graph.merge(&mut owed),
            false => Ok(false),
        });
        let mut files = owed.iter_mut().filter_map(ObligationBuffer::clear);
        files.try_for_each(|file| graph.disk.remove(&file.to_string()))?;
        if !is_whole? {
            return Ok(None);
        }
        graph.initial = graph.find_initial()?;
        Ok(Some(graph))
    }

    /// Returns the end of the last rank.
    pub(super) fn ranks(&self) -> u64 {
        self.firsts.last().copied().unwrap_or(0)
    }

    /// Splits a set into the words of each shard.
    fn by_shard<'s>(&self, set: &'s mut StateSet) -> Vec<&'s mut [u64]> {
        let mut rest = &mut set.0[..];
        let words = self.firsts.windows(2).map(|it| ((it[1] - it[0]) / 64) as usize);
        let mut parts = Vec::new();
        for count in words {
            let (own, behind) = std::mem::take(&mut rest).split_at_mut(count);
            parts.push(own);
            rest = behind;
        }
        parts
    }

    /// Passes each block of each shard to `work`. Shards run in parallel, each with its element of `parts`. Returns
    /// false if stopped.
    fn each_block<P: Send, T: Send>(
        &self,
        parts: Vec<P>,
        rooms: Vec<T>,
        work: impl Fn(usize, &mut GraphBlock, &mut P, &mut T) -> Result<()> + Sync,
    ) -> Result<bool> {
        let parts: Vec<std::sync::Mutex<P>> = parts.into_iter().map(Into::into).collect();
        let next = AtomicUsize::new(0);
        let done = map_parallel(rooms, |_, mut room| {
            let _heeding = self.control.heed();
            let (mut decoder, mut block) =
                (BlockDecoder::new(self.keys.width()), GraphBlock::default());
            loop {
                let shard = next.fetch_add(1, Relaxed);
                let Some(segment) = self.shards.get(shard) else { return Ok(true) };
                // Only this thread uses the shard.
                let mut part = parts[shard].lock().unwrap_or_else(|it| it.into_inner());
                block.first = 0;
                for at in 0..segment.blocks() {
                    if self.control.should_stop() {
                        next.store(self.shards.len(), Relaxed);
                        return Ok(false);
                    }
                    segment.decode(at, &mut decoder, &mut block.keys)?;
                    segment.release(at..at + 1);
                    self.keys.lift(&block.keys, &mut block.states);
                    work(shard, &mut block, &mut part, &mut room)?;
                    block.first += segment.block_keys(at) as u64;
                }
            }
        });
        Ok(done?.into_iter().all(|it| it) && !self.control.is_stopped())
    }

    /// Buffers the successors of every state, and collects the states without successors. Returns false if stopped.
    fn expand(&mut self, owed: &mut [ObligationBuffer]) -> Result<bool> {
        let mut dead = StateSet::none(self.ranks());
        let (whole, width) = (self.keys.whole(), self.keys.width());
        let rooms: Vec<&mut ObligationBuffer> = owed.iter_mut().collect();
        let parts = self.by_shard(&mut dead);
        let done = self.each_block(parts, rooms, |shard, block, dead, owed| {
            let GraphBlock { first, states, successors, projected, .. } = block;
            for (state, number) in states.chunks_exact(whole).zip(*first..) {
                successors.clear();
                let run = |out: &mut SuccessorSink| self.model.expand(state, out);
                let _ = SuccessorSink::collect(whole, successors, run).map_err(model_failure)?;
                if self.control.is_stopped() {
                    return Ok(());
                }
                if successors.is_empty() {
                    dead[(number / 64) as usize] |= 1 << (number % 64);
                }
                self.keys.project(successors, projected)?;
                let rank = self.firsts[shard] + number;
                projected
                    .chunks_exact(width)
                    .try_for_each(|it| owed.add_obligation(1, rank, it))?;
            }
            Ok(())
        })?;
        owed.iter_mut().for_each(ObligationBuffer::sort);
        self.dead = dead;
        Ok(done)
    }

    /// Writes the predecessors of every state. Returns false if stopped.
    fn merge(&mut self, owed: &mut [ObligationBuffer]) -> Result<bool> {
        owed.iter_mut().try_for_each(ObligationBuffer::flush)?;
        let record = self.keys.width() + RANK;
        let pieces = owed.iter().flat_map(ObligationBuffer::pieces);
        let segments =
            pieces.map(|piece| piece.open(&*self.disk, record)).collect::<Result<_>>()?;
        let slices = owed.iter().map(ObligationBuffer::sorted).collect();
        let records = Candidates { slices, segments };
        let next = AtomicUsize::new(0);
        let workers = vec![(); self.threads.min(self.shards.len()).max(1)];
        let written = map_parallel(workers, |_, ()| {
            let mut written = Vec::new();
            loop {
                let shard = next.fetch_add(1, Relaxed);
                if shard >= self.shards.len() {
                    return Ok(Some(written));
                }
                match self.merge_shard(shard, &records) {
                    Ok(Some(lists)) => written.push((shard, lists)),
                    other => {
                        next.store(self.shards.len(), Relaxed);
                        return other.map(|_| None);
                    }
                }
            }
        })?;
        let Some(written) = written.into_iter().collect::<Option<Vec<_>>>() else {
            return Ok(false);
        };
        let mut written: Vec<(usize, PredecessorLists)> = written.into_iter().flatten().collect();
        written.sort_by_key(|(shard, _)| *shard);
        self.lists = written.into_iter().map(|it| it.1).collect();
        Ok(true)
    }

    fn merge_shard(&self, shard: usize, records: &Candidates) -> Result<Option<PredecessorLists>> {
        let (segment, width) = (&self.shards[shard], self.keys.width());
        let low = (shard > 0).then(|| segment.first_key(0).to_vec());
        let high = self.shards.get(shard + 1).map(|next| next.first_key(0).to_vec());
        let mut records = PredecessorRecords::new(records, width, [low, high]);
        let mut writer = PredecessorListsWriter::create(&*self.disk, shard as u16)?;
        let (mut decoder, mut keys) = (BlockDecoder::new(width), Vec::new());
        let mut first = self.firsts[shard];
        for block in 0..segment.blocks() {
            if self.control.should_stop() {
                return Ok(None);
            }
            segment.decode(block, &mut decoder, &mut keys)?;
            segment.release(block..block + 1);
            let (mut at, count) = (0, keys.len() / width);
            while let Some((key, rank)) = records.peek()? {
                let next = first_from(&keys, at, key);
                if next == count {
                    break;
                }
                if keys[next * width..][..width] != *key {
                    return Err(inconsistent_successors());
                }
                at = next;
                writer.push(first + at as u64, rank)?;
                records.advance();
            }
            first += count as u64;
        }
        match records.peek()? {
            None => writer.finish(&*self.disk).map(Some),
            Some(_) => Err(inconsistent_successors()),
        }
    }

    /// Returns the ranks of the initial states.
    fn find_initial(&self) -> Result<Vec<u64>> {
        let (mut states, mut keys) = (Vec::new(), Vec::new());
        let run = |out: &mut SuccessorSink| self.model.initial(out);
        let _ =
            SuccessorSink::collect(self.keys.whole(), &mut states, run).map_err(model_failure)?;
        self.keys.project(&states, &mut keys)?;
        let (mut decoder, mut held) = (BlockDecoder::new(self.keys.width()), Vec::new());
        let mut ranks = Vec::new();
        for key in keys.chunks_exact(self.keys.width()) {
            let after = self.shards.partition_point(|it| &*it.first_key(0) <= key);
            let shard = after.checked_sub(1).ok_or_else(inconsistent_successors)?;
            let segment = &self.shards[shard];
            let block = segment.find(key);
            segment.decode(block, &mut decoder, &mut held)?;
            let at = crate::liveness::owcty::region_keys::place(&held, key)
                .ok_or_else(inconsistent_successors)?;
            let before: usize = (0..block).map(|it| segment.block_keys(it)).sum();
            ranks.push(self.firsts[shard] + (before + at) as u64);
        }
        Ok(ranks)
    }

    /// Returns the states that satisfy each of the conditions, or nothing if stopped.
    pub(super) fn satisfying(
        &self,
        conditions: &[usize],
        judge: &(dyn Fn(&[u8], usize) -> Result<bool> + Sync),
    ) -> Result<Option<Vec<StateSet>>> {
        let mut sets = vec![StateSet::none(self.ranks()); conditions.len()];
        let mut parts: Vec<Vec<&mut [u64]>> = self.shards.iter().map(|_| Vec::new()).collect();
        for set in &mut sets {
            let words = self.by_shard(set);
            parts.iter_mut().zip(words).for_each(|(parts, words)| parts.push(words));
        }
        let whole = self.keys.whole();
        let rooms = vec![(); self.threads];
        let done = self.each_block(parts, rooms, |_, block, sets, ()| {
            for (state, number) in block.states.chunks_exact(whole).zip(block.first..) {
                for (set, condition) in sets.iter_mut().zip(conditions) {
                    let bit = u64::from(judge(state, *condition)?) << (number % 64);
                    set[(number / 64) as usize] |= bit;
                }
            }
            Ok(())
        })?;
        Ok(done.then_some(sets))
    }

    /// Removes the files.
    pub(super) fn remove(self) -> Result<()> {
        let PredecessorGraph { disk, lists, shards, .. } = self;
        let names: Vec<String> = lists.iter().map(|it| it.name().to_owned()).collect();
        drop((lists, shards));
        names.iter().try_for_each(|it| disk.remove(it))?;
        disk.remove(&spill::FileName::Region.to_string())
    }
}

/// The successors in a range of keys, each with the rank of a predecessor, in ascending order.
struct PredecessorRecords<'a> {
    merge: KeyMerge<'a>,
    width: usize,
    batch: Vec<u8>,
    /// The number of bytes of the batch that are consumed.
    at: usize,
}

impl<'a> PredecessorRecords<'a> {
    fn new(
        records: &Candidates<'a>,
        width: usize,
        bounds: [Option<Vec<u8>>; 2],
    ) -> PredecessorRecords<'a> {
        // The least record of a successor has rank 0.
        let [low, high] = bounds.map(|bound| bound.map(|it| [it.as_slice(), &[0; RANK]].concat()));
        let record = width + RANK;
        let merge = KeyMerge::new(record, records.sources(record, low.as_deref(), high.as_deref()));
        PredecessorRecords { merge, width, batch: Vec::new(), at: 0 }
    }

    /// Returns the next record, if there is one.
    fn peek(&mut self) -> Result<Option<(&[u8], u64)>> {
        let record = self.width + RANK;
        if self.at == self.batch.len() {
            self.merge.next(&mut self.batch, batch_keys(record))?;
            self.at = 0;
        }
        Ok(self.batch.get(self.at..self.at + record).map(|it| {
            let (key, rank) = it.split_at(self.width);
            (key, rank.iter().fold(0, |rank, byte| rank << 8 | u64::from(*byte)))
        }))
    }

    /// Consumes the record.
    fn advance(&mut self) {
        self.at += self.width + RANK;
    }
}
