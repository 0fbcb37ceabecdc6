//! Words and bits: the units that code works in.
//!
//! The bits of a state are numbered from the most significant bit of its first byte, so a word is
//! what eight bytes are in big-endian order. Behind the words of the state are those of the frames of
//! bodies.

use crate::ir::Layout;
use crate::ir::layout::ScalarCell;
use cranelift_codegen::ir::Value;
use std::ops::Range;

/// Bits of a word.
pub(super) const WORD_BITS: u32 = 64;

/// So many bits can be read at any bit by one load.
pub(super) const CHUNK_BITS: u32 = 57;

/// Where bits are: `bit + dynamic`, where `dynamic` is at most `slack`.
#[derive(Clone, Copy, Debug)]
pub(super) struct BitOffset {
    pub bit: u32,
    pub slack: u32,
    pub dynamic: Option<Value>,
}

impl BitOffset {
    pub fn fixed(bit: u32) -> BitOffset {
        BitOffset { bit, slack: 0, dynamic: None }
    }

    pub fn plus(self, bits: u32) -> BitOffset {
        BitOffset { bit: self.bit + bits, ..self }
    }
}

/// A scalar in the packed bits of a state.
#[derive(Clone, Copy)]
pub(super) struct ScalarPlace {
    /// Where its bits are.
    pub at: BitOffset,
    /// How they hold its value.
    pub cell: ScalarCell,
}

/// The words that code works on: those of the state, then those of the frames of bodies.
pub(super) struct WordLayout {
    /// The words of a state.
    pub state_words: usize,
    /// The first bit of the frames in the layout.
    frames: u32,
    frame_words: usize,
}

impl WordLayout {
    pub fn new(layout: &Layout) -> WordLayout {
        let frames = layout.frames.bytes - layout.bytes;
        WordLayout {
            state_words: (layout.bits.div_ceil(WORD_BITS) as usize).max(1),
            frames: layout.bytes as u32 * 8,
            frame_words: frames.div_ceil(8),
        }
    }

    /// All words.
    pub fn words(&self) -> usize {
        self.state_words + self.frame_words
    }

    /// Where a bit of a frame is.
    pub fn of_frame(&self, bit: u32) -> BitOffset {
        BitOffset::fixed(bit - self.frames + self.state_words as u32 * WORD_BITS)
    }
}

/// The words that bits are in.
pub(super) fn in_words(bits: &Range<u32>) -> Range<usize> {
    (bits.start / WORD_BITS) as usize..bits.end.div_ceil(WORD_BITS) as usize
}

/// So many low bits.
pub(super) fn mask(bits: u32) -> i64 {
    match bits {
        0 => 0,
        _ => (u64::MAX >> (64 - bits)) as i64,
    }
}
