//! The encoded size of a sample in an order.
//!
//! Most bits of a state are constant in a sample. The varying bits nearly always fit an integer, which sorts like the
//! state. A new order needs a mask and two shifts for each group. The sorted states are rebuilt from these integers, so
//! the measured size is that of the blocks that the store would write.

use super::bits::{BitWord, WideInteger, or_bits, read_bits, runs};
use spill::{BlockEncoder, block_keys_max};
use spillway_model::{GroupId, KeyGroups};
use std::ops::Range;

/// The bits in which the states of a sample differ.
pub(super) struct VaryingBits {
    groups: Vec<GroupShape>,
    bits: u32,
    width: usize,
}

/// The varying bits of a group.
struct GroupShape {
    /// The number of its bits.
    all: u32,
    /// The runs of its varying bits, counted from the group's first bit.
    runs: Vec<Range<u32>>,
    /// The number of varying bits.
    bits: u32,
    /// The position of the lowest one in the packed integer.
    lowest: u32,
}

/// Adjacent varying bits and their position.
struct BitRun {
    /// The position of the lowest one in the packed integer.
    lowest: u32,
    /// The number of bits.
    bits: u32,
    /// The position of the first one in the state.
    at: u32,
}

/// Bits that move together from one packed integer to another.
struct BitMove {
    /// The lowest position in the source.
    from: u32,
    /// The lowest position in the target.
    to: u32,
    /// The number of bits.
    bits: u32,
}

impl VaryingBits {
    /// Returns the varying bits of `states`, which are not empty; `None` if they are too many.
    pub(super) fn of(groups: &KeyGroups, states: &[&[u8]]) -> Option<VaryingBits> {
        let width = groups.width;
        let first = states.iter().find_map(|states| states.get(..width))?;
        let mut differs = vec![0u8; width];
        for state in states.iter().flat_map(|states| states.chunks_exact(width)) {
            let bytes = differs.iter_mut().zip(state).zip(first);
            bytes.for_each(|((differs, byte), first)| *differs |= byte ^ first);
        }
        let shape = |extent: &Range<u32>| {
            let all = extent.len() as u32;
            let varies = |at: &u32| {
                let bit = extent.start + at;
                differs[(bit / 8) as usize] & 0x80 >> (bit % 8) != 0
            };
            let runs = runs((0..all).filter(varies));
            let bits = runs.iter().map(|run| run.len() as u32).sum();
            GroupShape { all, runs, bits, lowest: 0 }
        };
        let mut groups: Vec<GroupShape> = groups.extents.iter().map(shape).collect();
        let mut bits = 0;
        for group in groups.iter_mut().rev() {
            group.lowest = bits;
            bits += group.bits;
        }
        (bits <= WideInteger::BITS).then_some(VaryingBits { groups, bits, width })
    }

    /// Returns the work for each state, roughly in nanoseconds: the words of each moved run, and the bytes.
    pub(super) fn work(&self) -> usize {
        let runs: usize = self.groups.iter().map(|group| group.runs.len()).sum();
        runs * self.bits.div_ceil(u64::BITS) as usize + self.width
    }

    fn shapes(&self, order: &[GroupId]) -> impl Iterator<Item = &GroupShape> {
        order.iter().map(|group| &self.groups[group.0 as usize])
    }

    /// Returns the runs of varying bits in key order.
    fn places(&self, order: &[GroupId]) -> Vec<BitRun> {
        let (mut begin, mut lowest) = (0, self.bits);
        let mut places = Vec::new();
        for shape in self.shapes(order) {
            for run in &shape.runs {
                let bits = run.len() as u32;
                lowest -= bits;
                places.push(BitRun { lowest, bits, at: begin + run.start });
            }
            begin += shape.all;
        }
        places
    }

    /// Returns the moves of bits to `order`. Bits that stay adjacent move together.
    fn moves(&self, order: &[GroupId]) -> Vec<BitMove> {
        let mut moves: Vec<BitMove> = Vec::new();
        let mut lowest = self.bits;
        for shape in self.shapes(order).filter(|shape| shape.bits > 0) {
            lowest -= shape.bits;
            match moves.last_mut() {
                Some(last) if last.from == shape.lowest + shape.bits => {
                    let bits = last.bits + shape.bits;
                    *last = BitMove { from: shape.lowest, to: lowest, bits };
                }
                _ => moves.push(BitMove { from: shape.lowest, to: lowest, bits: shape.bits }),
            }
        }
        moves
    }
}

/// The varying bits of a set of states, in declared order.
pub(super) struct PackedSample<'a> {
    varying: &'a VaryingBits,
    keys: PackedKeys,
}

enum PackedKeys {
    Narrow(Vec<u64>),
    Wide(Vec<u128>),
    Double(Vec<WideInteger>),
}

impl<'a> PackedSample<'a> {
    /// Packs `states`, whose groups are in `declared` order.
    pub(super) fn new(
        varying: &'a VaryingBits,
        declared: &[GroupId],
        states: &[u8],
    ) -> PackedSample<'a> {
        let keys = match varying.bits {
            0..=64 => PackedKeys::Narrow(gather(varying, declared, states)),
            65..=128 => PackedKeys::Wide(gather(varying, declared, states)),
            _ => PackedKeys::Double(gather(varying, declared, states)),
        };
        PackedSample { varying, keys }
    }

    /// Returns the bytes of a sorted run of these states with their groups in `order`.
    pub(super) fn encoded(&self, order: &[GroupId]) -> usize {
        let states = match &self.keys {
            PackedKeys::Narrow(keys) => rearrange(self.varying, order, keys),
            PackedKeys::Wide(keys) => rearrange(self.varying, order, keys),
            PackedKeys::Double(keys) => rearrange(self.varying, order, keys),
        };
        encoded(self.varying.width, &states)
    }
}

/// Returns the varying bits of each state.
fn gather<W: BitWord>(varying: &VaryingBits, declared: &[GroupId], states: &[u8]) -> Vec<W> {
    let places = varying.places(declared);
    let mut padded = vec![0; varying.width + 8];
    let states = states.chunks_exact(varying.width).map(|state| {
        padded[..state.len()].copy_from_slice(state);
        let part = |it: &BitRun| W::from(read_bits(&padded, it.at, it.bits)) << it.lowest;
        let parts = places.iter().map(part);
        parts.fold(W::from(0), |key, part| key | part)
    });
    states.collect()
}

/// Returns the states of `keys`, sorted, with their groups in `order` and with 0 for constant bits.
fn rearrange<W: BitWord>(varying: &VaryingBits, order: &[GroupId], keys: &[W]) -> Vec<u8> {
    let moves: Vec<(u32, u32, W)> =
        (varying.moves(order).into_iter()).map(|it| (it.from, it.to, W::ones(it.bits))).collect();
    let moved = keys.iter().map(|&key| {
        let parts = moves.iter().map(|&(from, to, mask)| (key >> from & mask) << to);
        parts.fold(W::from(0), |key, part| key | part)
    });
    let mut keys: Vec<W> = moved.collect();
    keys.sort_unstable();
    let places = varying.places(order);
    let mut states = vec![0; keys.len() * varying.width + 8];
    for (number, &key) in keys.iter().enumerate() {
        let state = &mut states[number * varying.width..];
        for &BitRun { lowest, bits, at } in &places {
            or_bits(state, at, bits, (key >> lowest).low());
        }
    }
    states.truncate(keys.len() * varying.width);
    states
}

/// Returns the bytes of sorted `states` as blocks.
pub(super) fn encoded(width: usize, states: &[u8]) -> usize {
    let (mut encoder, mut out) = (BlockEncoder::new(width), Vec::new());
    let blocks = states.chunks(block_keys_max(width) * width);
    let bytes = blocks.map(|block| {
        out.clear();
        encoder.encode(block, &mut out);
        out.len()
    });
    bytes.sum()
}
