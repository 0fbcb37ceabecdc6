//! Delayed duplicate detection with rebuilt states.
//!
//! The merged candidates are processed in chunks that fit their share of memory. The store does not change before the
//! last chunk is done, so settling can be abandoned between two chunks and repeated.

use super::table::{HashQuery, HashSuspect};
use super::tagged_model::{TAG, tag, tags};
use super::{CombackFrontier, CombackStore};
use crate::tagged_runs::TaggedRuns;
use spill::{
    Candidates, FileName, FileSegment, KeyMerge, KeySource, Result, SegmentSource, SegmentWriter,
    SettleOutcome, SliceSource, batch_keys, drain, hash,
};
use std::sync::Arc;

/// Bytes of a chunk for each candidate beyond its state: tag, hash, and whether it is known.
const CANDIDATE_BYTES: usize = 40;

/// Distinct candidates in memory.
#[derive(Default)]
pub(super) struct CandidateChunk {
    states: Vec<u8>,
    tags: Vec<[u8; TAG]>,
    known: Vec<bool>,
}

impl CombackStore<'_> {
    /// Makes the new candidates the next level, if there are any. Polls `stop` to be interrupted.
    pub fn settle(
        &mut self,
        candidates: &Candidates,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<SettleOutcome> {
        let width = self.form.width() + TAG;
        let most = (self.share.chunk / 2 / (width + CANDIDATE_BYTES)).max(1);
        let name = FileName::Fresh { level: self.levels.len() as u32 };
        let mut fresh = TaggedRuns::new(width, self.share.frontier / 4, name);
        let mut merge = KeyMerge::new(width, sources(width, candidates)).with_values(Some(&tags()));
        let (mut chunk, mut batch) = (std::mem::take(&mut self.chunk), Vec::new());
        chunk.clear();
        loop {
            merge.next(&mut batch, most.min(batch_keys(width)))?;
            if chunk.tags.len() >= most || batch.is_empty() {
                self.sift(&mut chunk, &mut fresh)?;
            }
            if batch.is_empty() {
                break;
            }
            if stop() {
                fresh.discard(&*self.disk)?;
                return Ok(SettleOutcome::Stopped);
            }
            chunk.push_all(width, &batch);
        }
        self.chunk = chunk;
        let states = self.number(&mut fresh)?;
        fresh.discard(&*self.disk)?;
        Ok(SettleOutcome::New(states))
    }

    /// Adds the new candidates of a chunk to `fresh`, and empties the chunk.
    fn sift(&mut self, chunk: &mut CandidateChunk, fresh: &mut TaggedRuns) -> Result<()> {
        let (width, mut room) = (self.form.width(), Vec::new());
        let states = chunk.states.chunks_exact(width).zip(0..);
        let query = |(state, candidate)| {
            let hash = hash(self.form.lift(state, &mut room));
            HashQuery { hash, candidate }
        };
        let mut queries: Vec<HashQuery> = states.map(query).collect();
        queries.sort_unstable();
        self.mark_known(chunk, &queries)?;
        let CandidateChunk { states, tags, known, .. } = &*chunk;
        for ((state, tag), _) in
            states.chunks_exact(width).zip(tags).zip(known).filter(|(_, known)| !**known)
        {
            fresh.push(tag, state, &*self.disk)?;
        }
        chunk.clear();
        Ok(())
    }

    /// Marks the candidates that are states of the store.
    fn mark_known(&mut self, chunk: &mut CandidateChunk, queries: &[HashQuery]) -> Result<()> {
        let most = (self.share.chunk / 2 / size_of::<HashSuspect>()).max(1);
        let mut suspects = Vec::new();
        let (mut start, mut size) = (0, queries.len());
        while start < queries.len() {
            let end = queries.len().min(start + size.max(1));
            suspects.clear();
            // The suspects of a single hash are taken together, however many they are.
            let most = if end - start == 1 { usize::MAX } else { most };
            if !self.table.find(&queries[start..end], most, &mut suspects)? {
                size = (end - start) / 2;
                continue;
            }
            self.compare(chunk, &mut suspects)?;
            start = end;
        }
        Ok(())
    }

    /// Rebuilds the suspects and marks the candidates that are equal to one of their suspects.
    fn compare(&mut self, chunk: &mut CandidateChunk, suspects: &mut [HashSuspect]) -> Result<()> {
        suspects.sort_unstable();
        self.rebuilt.suspects += suspects.len() as u64;
        let width = self.form.width();
        let mut numbers: Vec<u64> = suspects.iter().map(|it| it.number).collect();
        numbers.dedup();
        let groups: Vec<&[HashSuspect]> =
            suspects.chunk_by(|one, next| one.number == next.number).collect();
        let CandidateChunk { states, known, .. } = chunk;
        self.rebuild(&numbers, &mut |at, state| {
            for suspect in groups[at] {
                let candidate = suspect.candidate as usize;
                known[candidate] |= &states[candidate * width..][..width] == state;
            }
        })
    }

    /// Numbers the new states in the order of their tags and makes them the last level.
    fn number(&mut self, fresh: &mut TaggedRuns) -> Result<u64> {
        let count = fresh.count();
        if count == 0 {
            return Ok(0);
        }
        let width = self.form.width() + TAG;
        let level = self.levels.len() as u32;
        let first = self.edges.next();
        let in_memory = count as usize * width <= self.share.frontier / 4;
        let name = FileName::Frontier { level };
        let create = || self.disk.create(&name.to_string());
        let mut file = (!in_memory).then(create).transpose()?;
        let form = &self.form;
        let mut frontier = file.as_mut().map(|file| {
            SegmentWriter::new(self.model.width() + TAG, &mut **file).with_codec(&form.numbered)
        });
        let mut growing = self.table.begin(level);
        let (mut kept, mut keys, mut tags) = (Vec::new(), Vec::new(), Vec::new());
        let mut room = Vec::new();
        let mut merge = fresh.merge(&*self.disk)?;
        let mut next = first;
        let (table, cache) = (&self.table, &mut self.cache);
        let edges = self.levels.shards(1, 0)?[0].write(TAG, |edges| {
            drain(&mut merge, |batch| {
                keys.clear();
                tags.clear();
                for key in batch.chunks_exact(width) {
                    let (edge, state) = key.split_at(TAG);
                    tags.extend_from_slice(edge);
                    keys.extend_from_slice(&tag(next, 0)?);
                    keys.extend_from_slice(state);
                    let state = form.lift(state, &mut room);
                    table.add(&mut growing, hash(state), next)?;
                    cache.offer(next, level as usize, state);
                    next += 1;
                }
                edges.push(&tags)?;
                match &mut frontier {
                    Some(frontier) => frontier.push(&keys)?,
                    None => kept.extend_from_slice(&keys),
                }
                Ok(())
            })
        })?;
        let at = frontier.map(SegmentWriter::finish).transpose()?;
        if let Some(file) = &mut file {
            file.sync()?;
        }
        self.replace_frontier(
            in_memory.then_some(kept),
            at.map(|at| FileSegment { file: name, at }),
        );
        self.table.end(growing)?;
        self.levels.push([edges])?;
        self.edges.push(count);
        self.cache.grow(self.edges.next());
        Ok(count)
    }

    /// Replaces the last level. The files of the previous one become garbage.
    fn replace_frontier(&mut self, keys: Option<Vec<u8>>, piece: Option<FileSegment>) {
        self.garbage.extend(self.frontier.pieces.drain(..).map(|piece| piece.file));
        let pieces = piece.into_iter().collect();
        self.frontier = CombackFrontier { keys: keys.map(Arc::new), pieces };
    }
}

fn sources<'a>(width: usize, candidates: &Candidates<'a>) -> Vec<Box<dyn KeySource + 'a>> {
    let slices = candidates.slices.iter();
    let slices = slices.map(|keys| Box::new(SliceSource::new(width, keys, None, None)) as _);
    let segments = candidates.segments.iter().cloned();
    slices.chain(segments.map(|it| Box::new(SegmentSource::new(it, None, None)) as _)).collect()
}

impl CandidateChunk {
    /// Removes all candidates.
    fn clear(&mut self) {
        self.states.clear();
        self.tags.clear();
        self.known.clear();
    }

    /// Adds candidates, whose states are distinct and differ from the earlier ones.
    fn push_all(&mut self, width: usize, candidates: &[u8]) {
        for key in candidates.chunks_exact(width) {
            let (state, tag) = key.split_at(width - TAG);
            self.states.extend_from_slice(state);
            self.tags.push(tag.try_into().expect("a tag has its length"));
            self.known.push(false);
        }
    }
}
