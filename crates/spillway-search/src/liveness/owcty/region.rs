//! The region: the states that can lie on accepting cycles, in key order, divided into shards.
//!
//! A state's *rank* is its index in the region. Sweeps read the region sequentially, to expand the states of a set and
//! to identify their successors.

use super::ProductAcceptance;
use super::marks::{OUT, ShardMarks};
use super::region_keys::RegionKeys;
use crate::SearchControl;
use spill::{
    BlockDecoder, Candidates, Disk, FileName, FileSegment, KeyMerge, Result, Segment,
    SegmentWriter, batch_keys,
};
use spillway_model::StateSpace;
use std::ops::ControlFlow;
use std::sync::Arc;

/// An open region and its acceptance condition.
pub(super) struct CycleRegion<'a> {
    pub(super) model: &'a dyn StateSpace,
    pub(super) accepting: ProductAcceptance<'a>,
    pub(super) disk: Arc<dyn Disk>,
    pub(super) control: &'a SearchControl,
    /// The encoding of states in the shards.
    pub(super) keys: RegionKeys,
    pub(super) shards: Vec<Segment>,
}

/// Visits a state, and may break off.
pub type StateVisitor<'v> = dyn FnMut(&[u8]) -> Result<ControlFlow<()>> + 'v;

impl CycleRegion<'_> {
    /// Visits the states of a set in key order, until `visit` breaks off. Returns false if stopped.
    pub(super) fn visit_members(
        &self,
        marks: &[ShardMarks],
        visit: &mut StateVisitor<'_>,
    ) -> Result<bool> {
        let (mut decoder, mut held) = (BlockDecoder::new(self.keys.width()), Vec::new());
        let (mut states, mut codes) = (Vec::new(), Vec::new());
        for (segment, marks) in self.shards.iter().zip(marks) {
            let mut reader = marks.read(&*self.disk)?;
            for block in 0..segment.blocks() {
                let chunk = reader.next(segment.block_keys(block))?;
                if chunk.counts().members == 0 {
                    continue;
                }
                if self.control.should_stop() {
                    return Ok(false);
                }
                chunk.read(&mut codes);
                segment.decode(block, &mut decoder, &mut held)?;
                segment.release(block..block + 1);
                self.keys.lift(&held, &mut states);
                for (state, &code) in states.chunks_exact(self.keys.whole()).zip(&codes) {
                    if code != OUT && visit(state)?.is_break() {
                        return Ok(true);
                    }
                }
            }
        }
        Ok(true)
    }

    /// Opens a layer of a round. Layers contain whole states.
    pub(super) fn layer(&self, layer: &[FileSegment]) -> Result<Vec<Segment>> {
        open(layer, &*self.disk, self.keys.whole())
    }

    /// Opens several layers.
    pub(super) fn layers(&self, layers: &[Vec<FileSegment>]) -> Result<Vec<Vec<Segment>>> {
        open_layers(layers, &*self.disk, self.keys.whole())
    }
}

/// The fewest states of a shard, if there are several shards.
const SHARD_MIN: u64 = 256 << 10;

/// The most shards, approximately.
const SHARDS: u64 = 32;

/// Returns the most states of a shard, for a given number of states.
pub(crate) fn shard_states(states: u64) -> u64 {
    states.div_ceil(SHARDS).max(SHARD_MIN)
}

/// The layout of a region.
pub(crate) struct RegionLayout<'k> {
    /// The encoding of states.
    pub(crate) keys: &'k RegionKeys,
    /// The most states of a shard.
    pub(crate) shard_states: u64,
}

/// Writes the states of `runs` that are wanted, such as those that can lie on accepting cycles. Returns nothing if
/// stopped. The file is flushed, but not synced.
pub(crate) fn build(
    runs: &Candidates,
    layout: RegionLayout<'_>,
    is_wanted: &dyn Fn(&[u8]) -> bool,
    disk: &dyn Disk,
    stop: &dyn Fn() -> bool,
) -> Result<Option<Vec<FileSegment>>> {
    let RegionLayout { keys, shard_states } = layout;
    let width = keys.width();
    let mut merge = KeyMerge::new(width, runs.sources(width, None, None));
    let (mut batch, mut lifted, mut kept) = (Vec::new(), Vec::new(), Vec::new());
    let mut pieces = Vec::new();
    let mut file = disk.create(&FileName::Region.to_string())?;
    let mut at_end = false;
    while !at_end {
        let mut writer = SegmentWriter::new(width, &mut *file);
        let mut states = 0;
        while states < shard_states && !at_end {
            merge.next(&mut batch, batch_keys(width).min((shard_states - states) as usize))?;
            at_end = batch.is_empty();
            if stop() {
                return Ok(None);
            }
            keys.lift(&batch, &mut lifted);
            kept.clear();
            let both = batch.chunks_exact(width).zip(lifted.chunks_exact(keys.whole()));
            for (key, state) in both {
                if is_wanted(state) {
                    kept.extend_from_slice(key);
                }
            }
            writer.push(&kept)?;
            states += (kept.len() / width) as u64;
        }
        if states > 0 {
            pieces.push(FileSegment { file: FileName::Region, at: writer.finish()? });
        }
    }
    file.flush()?;
    Ok(Some(pieces))
}

/// Opens layers of a round, with states of `width` bytes.
pub(super) fn open_layers(
    layers: &[Vec<FileSegment>],
    disk: &dyn Disk,
    width: usize,
) -> Result<Vec<Vec<Segment>>> {
    layers.iter().map(|layer| open(layer, disk, width)).collect()
}

/// Opens segments with keys of `width` bytes.
pub(crate) fn open(pieces: &[FileSegment], disk: &dyn Disk, width: usize) -> Result<Vec<Segment>> {
    pieces.iter().map(|piece| piece.open(disk, width)).collect()
}
