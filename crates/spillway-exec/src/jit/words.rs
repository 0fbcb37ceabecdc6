//! Words and bits: the units of compiled code.
//!
//! The bits of a state are numbered from the most significant bit of its first byte, so a word is eight bytes in
//! big-endian order. The words of the frames of bodies follow those of the state.

use cranelift_codegen::ir::Value;
use spillway_ir::Layout;
use spillway_ir::layout::ScalarCell;
use std::ops::Range;

/// Bits of a word.
pub(super) const WORD_BITS: u32 = 64;

/// The number of bits that one load can read from any bit offset.
pub(super) const CHUNK_BITS: u32 = 57;

/// The position of bits: `bit + dynamic`, where `dynamic` is at most `slack`.
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
    /// The position of its bits.
    pub at: BitOffset,
    /// The encoding of its value.
    pub cell: ScalarCell,
}

/// The words of compiled code: those of the state, then those of the frames of bodies.
pub(super) struct WordLayout {
    /// The number of words of a state.
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

    /// Returns the number of all words.
    pub fn words(&self) -> usize {
        self.state_words + self.frame_words
    }

    /// Returns the position of a bit of a frame.
    pub fn of_frame(&self, bit: u32) -> BitOffset {
        BitOffset::fixed(bit - self.frames + self.state_words as u32 * WORD_BITS)
    }
}

/// Returns the words that contain bits.
pub(super) fn in_words(bits: &Range<u32>) -> Range<usize> {
    (bits.start / WORD_BITS) as usize..bits.end.div_ceil(WORD_BITS) as usize
}

/// Returns a mask of the lowest `bits` bits.
pub(super) fn mask(bits: u32) -> i64 {
    match bits {
        0 => 0,
        _ => (u64::MAX >> (64 - bits)) as i64,
    }
}
