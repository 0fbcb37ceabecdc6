//! The states of a level, decoded.

use spill::{BlockDecoder, Codec, Frontier, Result, Segment};

/// The number of states that are decoded together.
const BATCH_STATES: usize = 2048;

/// A level, whose states are visited one after another.
pub(crate) struct LevelStates<'l> {
    /// The keys.
    pub frontier: &'l Frontier,
    /// The codec of keys in memory.
    pub codec: &'l Codec,
    /// The bytes of a state.
    pub width: usize,
}

impl LevelStates<'_> {
    /// Passes the level to `take` in pieces, as long as it returns true. Returns whether it was the whole level.
    pub fn visit(&self, take: &mut dyn FnMut(&[u8]) -> Result<bool>) -> Result<bool> {
        let mut whole = Vec::new();
        match self.frontier {
            Frontier::Raw(keys) => {
                for keys in keys.chunks(BATCH_STATES * self.codec.key_width(self.width)) {
                    let states = match self.codec.projection() {
                        None => keys,
                        Some(projection) => {
                            whole.clear();
                            projection.unproject(keys, &mut whole);
                            &whole
                        }
                    };
                    if !take(states)? {
                        return Ok(false);
                    }
                }
            }
            Frontier::Encoded(segments) => {
                let mut decoder = BlockDecoder::new(self.width);
                for segment in segments.iter().map(Segment::unprojected) {
                    for block in 0..segment.blocks() {
                        segment.decode(block, &mut decoder, &mut whole)?;
                        segment.release(block..block + 1);
                        if !take(&whole)? {
                            return Ok(false);
                        }
                    }
                }
            }
        }
        Ok(true)
    }
}
