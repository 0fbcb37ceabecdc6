//! A cycle that is fair to all processes, built of paths from one state back to it.
//!
//! All states of the set are reachable from that state. The layers of a round give their distances. So a path to the
//! nearest step that is fair to a process can be read from the layers. The path back is that of another round, from the
//! target of the step. If a path contains steps that are fair to other processes, later paths need not visit these.

use super::marks::{MarksIndex, OUT, ShardMarks};
use super::region::CycleRegion;
use super::region_keys::place;
use super::saved_cycles::{FairCyclePath, FairStepWitness};
use super::{TraceFinder, contradiction};
use crate::model_failure;
use spill::{BlockDecoder, FileSegment, Result};
use spillway_model::{FairSteps, ProcessSet, collect_fair, fair_records};

/// A set, and the layers of a round that reached all its states.
pub(super) struct FairCycleBuilder<'a> {
    pub(super) region: &'a CycleRegion<'a>,
    pub(super) fair: &'a dyn FairSteps,
    pub(super) marks: &'a [ShardMarks],
    /// The state at which the round and the cycle begin.
    pub(super) target: &'a [u8],
    pub(super) layers: &'a [Vec<FileSegment>],
}

impl FairCycleBuilder<'_> {
    /// Returns a process to which no step of the cycle is fair so far. An empty cycle has such a process unless there
    /// are no processes.
    pub(super) fn unserved_process(&self, walk: &FairCyclePath) -> Option<usize> {
        let missing = self.unserved_processes(walk);
        (0..self.fair.processes()).find(|&process| missing.contains(process))
    }

    fn unserved_processes(&self, walk: &FairCyclePath) -> ProcessSet {
        let sets = walk.fair_to.iter().map(|it| ProcessSet::from_bytes(it));
        sets.fold(ProcessSet::first(self.fair.processes()), |left, set| left.without(set))
    }

    /// Returns the nearest step within the set that is fair to a process. Returns nothing if there is none or if the
    /// control stops the search.
    pub(super) fn witness(&self, process: usize) -> Result<Option<FairStepWitness>> {
        let CycleRegion { accepting, control, keys, .. } = self.region;
        let mut members = SetMembership::new(self)?;
        // A state that left the set after that round has no step within the set: its successors left with it.
        let leaving = |layer: Option<u32>, from: &[u8], members: &mut SetMembership| {
            let component = (accepting.component)(from);
            for (to, set) in self.steps(from)? {
                let is_inside = (accepting.component)(&to) == component;
                if set.contains(process) && is_inside && members.has(&to)? {
                    let (from, process) = (from.to_vec(), process as u32);
                    return Ok(Some(FairStepWitness { layer, from, to, process }));
                }
            }
            Ok(None)
        };
        if let Some(found) = leaving(None, self.target, &mut members)? {
            return Ok(Some(found));
        }
        let (mut decoder, mut states) = (BlockDecoder::new(keys.whole()), Vec::new());
        for (number, layer) in self.layers.iter().enumerate() {
            for segment in self.region.layer(layer)? {
                for block in 0..segment.blocks() {
                    if control.should_stop() {
                        return Ok(None);
                    }
                    segment.decode(block, &mut decoder, &mut states)?;
                    segment.release(block..block + 1);
                    for state in states.chunks_exact(keys.whole()) {
                        let found = leaving(Some(number as u32), state, &mut members)?;
                        if found.is_some() {
                            return Ok(found);
                        }
                    }
                }
            }
        }
        Ok(None)
    }

    /// Returns the steps from a state, each with the processes to which it is fair.
    fn steps(&self, state: &[u8]) -> Result<Vec<(Vec<u8>, ProcessSet)>> {
        let mut records = Vec::new();
        let _ = collect_fair(self.fair, state, &mut records).map_err(model_failure)?;
        Ok(fair_records(&records, state.len()).map(|(to, set)| (to.to_vec(), set)).collect())
    }

    /// Adds the path to the next step of the cycle, the step, and the path back. Returns false if stopped.
    pub(super) fn extend_cycle(
        &self,
        walk: &mut FairCyclePath,
        finder: &TraceFinder,
    ) -> Result<bool> {
        let Some(witness) = &walk.witness else { return Ok(true) };
        let mut way = vec![self.target.to_vec()];
        if let Some(layer) = witness.layer {
            let before = self.region.layers(&self.layers[..layer as usize])?;
            let Some(there) = finder.path_through(&before, &witness.from)? else {
                return Ok(false);
            };
            way.extend(there);
            way.push(witness.from.clone());
        }
        if witness.to != self.target {
            // The last layer contains the first state again.
            let back = &walk.layers[..walk.layers.len().saturating_sub(1)];
            let back = self.region.layers(back)?;
            let Some(back) = finder.path_through(&back, self.target)? else { return Ok(false) };
            way.push(witness.to.clone());
            way.extend(back);
        }
        let after = way.iter().skip(1).map(Vec::as_slice).chain([self.target]);
        let after: Vec<&[u8]> = after.collect();
        for (from, to) in way.iter().zip(after) {
            let missing = self.unserved_processes(walk);
            let brings = |set: &ProcessSet| missing.count() - missing.without(*set).count();
            let steps = self.steps(from)?.into_iter().filter(|(state, _)| state == to);
            let best = steps.map(|(_, set)| set).max_by_key(brings);
            let best =
                best.ok_or_else(|| contradiction("a step of the cycle is not a transition"))?;
            walk.states.push(from.clone());
            walk.fair_to.push(best.to_bytes().to_vec());
        }
        Ok(true)
    }
}

/// Tests membership of states in a set.
struct SetMembership<'a> {
    region: &'a CycleRegion<'a>,
    marks: Vec<MarksIndex>,
    decoder: BlockDecoder,
    /// The shard and block that are decoded, their keys and their numbers.
    at: Option<(usize, usize)>,
    held: Vec<u8>,
    codes: Vec<u8>,
    /// A buffer for a key.
    key: Vec<u8>,
}

impl<'a> SetMembership<'a> {
    fn new(walking: &FairCycleBuilder<'a>) -> Result<SetMembership<'a>> {
        let region = walking.region;
        let marks = region.shards.iter().zip(walking.marks).map(|(segment, marks)| {
            let blocks = (0..segment.blocks()).map(|block| segment.block_keys(block));
            MarksIndex::new(marks.read(&*region.disk)?, blocks)
        });
        let (marks, decoder) =
            (marks.collect::<Result<_>>()?, BlockDecoder::new(region.keys.width()));
        let (held, codes, key) = (Vec::new(), Vec::new(), Vec::new());
        Ok(SetMembership { region, marks, decoder, at: None, held, codes, key })
    }

    fn has(&mut self, state: &[u8]) -> Result<bool> {
        let mut key = std::mem::take(&mut self.key);
        let found = self.region.keys.project(state, &mut key).and_then(|()| self.has_key(&key));
        self.key = key;
        found
    }

    fn has_key(&mut self, key: &[u8]) -> Result<bool> {
        let after = self.region.shards.partition_point(|it| &*it.first_key(0) <= key);
        let Some(shard) = after.checked_sub(1) else { return Ok(false) };
        let segment = &self.region.shards[shard];
        let block = segment.find(key);
        if self.at != Some((shard, block)) {
            self.at = None;
            segment.decode(block, &mut self.decoder, &mut self.held)?;
            segment.release(block..block + 1);
            let chunk = self.marks[shard].chunk(block, segment.block_keys(block))?;
            chunk.read(&mut self.codes);
            self.at = Some((shard, block));
        }
        Ok(place(&self.held, key).is_some_and(|at| self.codes[at] != OUT))
    }
}
