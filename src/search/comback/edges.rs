//! The back-edge table: by which successor of which parent a state was found.
//!
//! A level's back-edges are a sorted segment of tags; a state's number is the level's first number
//! plus the position of its tag. Reading ascending numbers decodes each block once.

use super::tagged_model::{BackEdge, untag};
use spill::{BlockDecoder, Codec, Disk, Error, LevelFormat, Result, SavedLevels, Segment};

use super::TAG;

/// Levels that are open at a time: a way that is followed alone goes through many.
const OPEN_MAX: usize = 32;

/// Where levels begin, and the levels read last.
#[derive(Default)]
pub(super) struct BackEdgeTable {
    /// The first number of each level, and the number after the last one.
    first: Vec<u64>,
    open: Vec<OpenEdgeLevel>,
    /// Which of these is closed next.
    oldest: usize,
}

struct OpenEdgeLevel {
    level: usize,
    segments: Vec<Segment>,
    /// Ascending by their first positions.
    blocks: Vec<BlockPosition>,
    /// The block decoded, by its position in `blocks`.
    decoded: Option<usize>,
    decoder: BlockDecoder,
    tags: Vec<u8>,
}

/// Where a block of a level is.
#[derive(Clone, Copy)]
struct BlockPosition {
    /// Its segment.
    segment: usize,
    /// Its number there.
    block: usize,
    /// The position in the level of the first key in it.
    first: u64,
}

impl BackEdgeTable {
    /// Those of a log of levels.
    pub(super) fn of(levels: &SavedLevels) -> BackEdgeTable {
        let mut edges = BackEdgeTable::default();
        levels.keys_by_level().for_each(|keys| edges.push(keys));
        edges
    }

    /// Takes note of a new level of so many states.
    pub(super) fn push(&mut self, states: u64) {
        let next = self.next();
        if self.first.is_empty() {
            self.first.push(0);
        }
        self.first.push(next + states);
    }

    /// The number that comes next.
    pub(super) fn next(&self) -> u64 {
        self.first.last().copied().unwrap_or(0)
    }

    /// The level of the state `number`.
    pub(super) fn level(&self, number: u64) -> usize {
        self.first.partition_point(|&first| first <= number) - 1
    }

    /// The first number of a level.
    pub(super) fn first(&self, level: usize) -> u64 {
        self.first[level]
    }

    /// The parent's number and the index of the state `number`, which is of `level`; of an initial state
    /// the two numbers that tell which it is.
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
            // An initial state comes from none.
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

    /// Keeps a level open, in the place of the oldest if there are too many; where it is.
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
        Ok(untag(&self.tags[start..start + TAG]))
    }
}
