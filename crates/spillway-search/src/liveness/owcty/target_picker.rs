//! The choice of the first accepting state of a set: the least of the lowest level.

use super::marks::ShardMarks;
use super::region::CycleRegion;
use super::region_keys::place;
use super::saved_cycles::RoundTarget;
use crate::trace::StoredLevels;
use spill::{BlockDecoder, FileName, FileSegment, Result, Segment, SegmentWriter};
use std::ops::ControlFlow;

/// A set of states of a region, and the levels of these states.
pub(super) struct TargetPicker<'a> {
    pub(super) region: &'a CycleRegion<'a>,
    pub(super) marks: &'a [ShardMarks],
    pub(super) levels: StoredLevels<'a>,
    /// Lower levels contain no such state.
    pub(super) from: u64,
}

impl TargetPicker<'_> {
    /// Returns the least accepting state of the set in the lowest level that has one. It uses a temporary file of the
    /// given name. Returns nothing if there is none or if stopped.
    pub(super) fn first(&self, name: FileName) -> Result<Option<RoundTarget>> {
        let Some(wanted) = self.wanted(name)? else { return Ok(None) };
        let CycleRegion { disk, keys, .. } = self.region;
        let found = self.lowest_level_target(&wanted.open(&**disk, keys.whole())?);
        disk.remove(&name.to_string())?;
        found
    }

    /// Writes the accepting states of the set as a segment. Returns nothing if stopped.
    fn wanted(&self, name: FileName) -> Result<Option<FileSegment>> {
        let CycleRegion { accepting, disk, keys, .. } = self.region;
        let mut file = disk.create(&name.to_string())?;
        let mut writer = SegmentWriter::new(keys.whole(), &mut *file);
        let mut visit = |state: &[u8]| {
            if (accepting.accepts)(state) {
                writer.push(state)?;
            }
            Ok(ControlFlow::Continue(()))
        };
        if !self.region.visit_members(self.marks, &mut visit)? {
            return Ok(None);
        }
        let at = writer.finish()?;
        file.flush()?;
        Ok(Some(FileSegment { file: name, at }))
    }

    fn lowest_level_target(&self, wanted: &Segment) -> Result<Option<RoundTarget>> {
        let mut found = StateLookup {
            segment: wanted,
            decoder: wanted.decoder(),
            block: None,
            states: Vec::new(),
        };
        let CycleRegion { model, accepting, control, keys, .. } = self.region;
        let whole = keys.whole();
        let (mut decoder, mut states) = (BlockDecoder::new(whole), Vec::new());
        for level in self.from..self.levels.levels.len() as u64 {
            let segments = self.levels.open(*model, level as usize)?;
            for segment in &segments {
                for block in 0..segment.blocks() {
                    if control.should_stop() {
                        return Ok(None);
                    }
                    segment.decode(block, &mut decoder, &mut states)?;
                    segment.release(block..block + 1);
                    for state in states.chunks_exact(whole) {
                        if (accepting.accepts)(state) && found.has(state)? {
                            return Ok(Some(RoundTarget { level, state: state.to_vec() }));
                        }
                    }
                }
            }
        }
        Ok(None)
    }
}

/// Looks up states in a segment.
struct StateLookup<'a> {
    segment: &'a Segment,
    decoder: BlockDecoder,
    /// The decoded block.
    block: Option<usize>,
    states: Vec<u8>,
}

impl StateLookup<'_> {
    fn has(&mut self, state: &[u8]) -> Result<bool> {
        if self.segment.blocks() == 0 {
            return Ok(false);
        }
        let block = self.segment.find(state);
        if self.block != Some(block) {
            self.segment.decode(block, &mut self.decoder, &mut self.states)?;
            self.block = Some(block);
        }
        Ok(place(&self.states, state).is_some())
    }
}
