//! The region: the states that can lie on accepting cycles, in key order, cut into shards.
//!
//! A state's *rank* is its place in it. Sweeps read it from the front to the back: to expand states of a set, and to find
//! out which states their successors are.

use super::ProductAcceptance;
use super::region_keys::RegionKeys;
use crate::model::StateSpace;
use crate::search::SearchControl;
use spill::{
    Candidates, Disk, FileName, FileSegment, KeyMerge, Result, Segment, SegmentWriter, batch_keys,
};
use std::sync::Arc;

/// A region, open, and what is asked of its states.
pub(super) struct CycleRegion<'a> {
    pub(super) model: &'a dyn StateSpace,
    pub(super) accepting: ProductAcceptance<'a>,
    pub(super) disk: Arc<dyn Disk>,
    pub(super) control: &'a SearchControl,
    /// What the states are in the shards.
    pub(super) keys: RegionKeys,
    pub(super) shards: Vec<Segment>,
}

impl CycleRegion<'_> {
    /// A layer of a round, open: of whole states.
    pub(super) fn layer(&self, layer: &[FileSegment]) -> Result<Vec<Segment>> {
        open(layer, &*self.disk, self.keys.whole())
    }

    /// Several.
    pub(super) fn layers(&self, layers: &[Vec<FileSegment>]) -> Result<Vec<Vec<Segment>>> {
        open_layers(layers, &*self.disk, self.keys.whole())
    }
}

/// The fewest states of a shard, where there is more than one.
const SHARD_MIN: u64 = 256 << 10;

/// About the most shards.
const SHARDS: u64 = 32;

/// How the region is cut: the most states of a shard, of so many states in all.
pub(in crate::search) fn shard_states(states: u64) -> u64 {
    states.div_ceil(SHARDS).max(SHARD_MIN)
}

/// How a region is written.
pub(in crate::search) struct RegionLayout<'k> {
    /// What its states are in it.
    pub(in crate::search) keys: &'k RegionKeys,
    /// The most states of a shard.
    pub(in crate::search) shard_states: u64,
}

/// Writes those of `runs` that are wanted, such as what can lie on accepting cycles.
/// Nothing if told to stop. The file is flushed, but not synced.
pub(in crate::search) fn build(
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

/// Layers of a round, of states of so many bytes, open.
pub(super) fn open_layers(
    layers: &[Vec<FileSegment>],
    disk: &dyn Disk,
    width: usize,
) -> Result<Vec<Vec<Segment>>> {
    layers.iter().map(|layer| open(layer, disk, width)).collect()
}

/// Pieces with keys of so many bytes, open.
pub(in crate::search) fn open(
    pieces: &[FileSegment],
    disk: &dyn Disk,
    width: usize,
) -> Result<Vec<Segment>> {
    pieces.iter().map(|piece| piece.open(disk, width)).collect()
}
