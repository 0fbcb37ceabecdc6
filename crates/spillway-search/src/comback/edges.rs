//! The table of back-edges: the parent of each state, and the index of the state among the parent's successors.
//!
//! The back-edges of a level are a sorted segment of tags. The number of a state is the first number of its level plus
//! the position of its tag. Reading ascending numbers decodes each block once.

use spill::{BlockDecoder, Codec, Disk, Error, LevelFormat, Result, SavedLevels, Segment};
use spillway_model::BackEdge;

use super::TAG;

/// The number of levels open at a time. A single path crosses many levels.
const OPEN_MAX: usize = 32;

/// The first numbers of the levels, and the levels read last.
#[derive(Default)]
pub(super) struct BackEdgeTable {
    /// The first number of each level, and the number after the last state.
    first: Vec<u64>,
    open: Vec<OpenEdgeLevel>,
    /// The index of the open level that is closed next.
    oldest: usize,
}

struct OpenEdgeLevel {
    level: usize,
    segments: Vec<Segment>,
    /// Ascending by their first positions.
    blocks: Vec<BlockPosition>,
    /// The decoded block, as an index into `blocks`.
    decoded: Option<usize>,
    decoder: BlockDecoder,
    tags: Vec<u8>,
}

/// The location of a block of a level.
#[derive(Clone, Copy)]
struct BlockPosition {
    /// The index of its segment.
    segment: usize,
    /// Its index in the segment.
    block: usize,
    /// The position in the level of its first key.
    first: u64,
}

impl BackEdgeTable {
    /// Indexes a log of levels.
    pub(super) fn of(levels: &SavedLevels) -> BackEdgeTable {
        let mut edges = BackEdgeTable::default();
        levels.keys_by_level().for_each(|keys| edges.push(keys));
        edges
    }

    /// Appends a level of `states` states.
    pub(super) fn push(&mut self, states: u64) {
        let next = self.next();
        if self.first.is_empty() {
            self.first.push(0);
        }
        self.first.push(next + states);
    }

    /// Returns the next number to assign.
    pub(super) fn next(&self) -> u64 {
        self.first.last().copied().unwrap_or(0)
    }

    /// Returns the level of the state `number`.
    pub(super) fn level(&self, number: u64) -> usize {
        self.first.partition_point(|&first| first <= number) - 1
    }

    /// Returns the first number of a level.
    pub(super) fn first(&self, level: usize) -> u64 {
        self.first[level]
    }

    /// Returns the back-edge of the state `number` of `level`. For an initial state it encodes the position of the
    /// state.
    pub(super) fn get(
        &mut self,
        disk: &dyn Disk,
        levels: &SavedLevels,
        level: usize,
        number: u64,
    ) -> Result<BackEdge> {
        let at = match self.open.iter().position(|open| open.level == level) {
            Some(at) => at,
            None => self.open(OpenEdgeLevel::new(disk, levels, level)?),
        };
        let edge = self.open[at].get(number - self.first[level])?;
        let is_before = match level.checked_sub(1) {
            // An initial state has no parent.
            None => true,
            Some(before) => (self.first[before]..self.first[level]).contains(&edge.parent),
        };
        if !is_before {
            let what =
                format!("state {number} of level {level} cannot come from state {}", edge.parent);
            return Err(Error::corrupt("levels", 0, what));
        }
        Ok(edge)
    }

    /// Keeps a level open, and replaces the oldest one if there are too many. Returns its index.
    fn open(&mut self, level: OpenEdgeLevel) -> usize {
        if self.open.len() < OPEN_MAX {
            self.open.push(level);
            return self.open.len() - 1;
        }
        let at = self.oldest;
        self.open[at] = level;
        self.oldest = (at + 1) % OPEN_MAX;
        at
    }
}

impl OpenEdgeLevel {
    fn new(disk: &dyn Disk, levels: &SavedLevels, level: usize) -> Result<OpenEdgeLevel> {
        let format = LevelFormat { width: TAG, value_bytes: 0, codec: &Codec::Gaps };
        let segments = levels.open(disk, format, level)?;
        let (mut blocks, mut position) = (Vec::new(), 0);
        for (segment, keys) in segments.iter().enumerate() {
            for block in 0..keys.blocks() {
                blocks.push(BlockPosition { segment, block, first: position });
                position += keys.block_keys(block) as u64;
            }
        }
        let (decoder, tags) = (BlockDecoder::new(TAG), Vec::new());
        Ok(OpenEdgeLevel { level, segments, blocks, decoded: None, decoder, tags })
    }

    fn get(&mut self, position: u64) -> Result<BackEdge> {
        let at = self.blocks.partition_point(|it| it.first <= position) - 1;
        let BlockPosition { segment, block, first } = self.blocks[at];
        if self.decoded != Some(at) {
            self.decoded = None;
            self.segments[segment].decode(block, &mut self.decoder, &mut self.tags)?;
            self.segments[segment].release(block..block + 1);
            self.decoded = Some(at);
        }
        let start = (position - first) as usize * TAG;
        Ok(BackEdge::of_bytes(&self.tags[start..start + TAG]))
    }
}
