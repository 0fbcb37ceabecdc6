//! How large a sample is in an order.
//!
//! Most bits of a state are the same throughout a sample. What varies nearly always fits an
//! integer, sorts like the whole, and is quickly brought into another order: a mask and two shifts
//! for each group. The states are made from it again once sorted, so that what is measured is what
//! the store would write.

use super::bits::{BitWord, WideInteger, or_bits, read_bits, runs};
use crate::ir::Layout;
use crate::ir::layout::GroupId;
use spill::{BlockEncoder, block_keys_max};
use std::ops::Range;

/// The bits in which the states of a sample differ.
pub(super) struct VaryingBits {
    groups: Vec<GroupShape>,
    bits: u32,
    width: usize,
}

/// What varies of a group.
struct GroupShape {
    /// All its bits.
    all: u32,
    /// The runs of its bits that vary, counted from the group's first.
    runs: Vec<Range<u32>>,
    /// How many bits vary.
    bits: u32,
    /// The lowest of them in the integer that holds what varies.
    lowest: u32,
}

/// Bits that vary, and where they are.
struct BitRun {
    /// The lowest of them in the integer that holds what varies.
    lowest: u32,
    /// How many.
    bits: u32,
    /// The first of them in the state.
    at: u32,
}

/// Bits that travel together from one integer that holds what varies to another.
struct BitMove {
    /// The lowest of them, there.
    from: u32,
    /// The lowest of them, here.
    to: u32,
    /// How many.
    bits: u32,
}

impl VaryingBits {
    /// The bits that vary in `states`, of which there are some; absent if there are too many.
    pub(super) fn of(layout: &Layout, states: &[&[u8]]) -> Option<VaryingBits> {
        let width = layout.bytes;
        let first = states.iter().find_map(|states| states.get(..width))?;
        let mut differs = vec![0u8; width];
        for state in states.iter().flat_map(|states| states.chunks_exact(width)) {
            let bytes = differs.iter_mut().zip(state).zip(first);
            bytes.for_each(|((differs, byte), first)| *differs |= byte ^ first);
        }
        let shape = |group| {
            let extent = layout.extent(group);
            let all = extent.len() as u32;
            let varies = |at: &u32| {
                let bit = extent.start + at;
                differs[(bit / 8) as usize] & 0x80 >> (bit % 8) != 0
            };
            let runs = runs((0..all).filter(varies));
            let bits = runs.iter().map(|run| run.len() as u32).sum();
            GroupShape { all, runs, bits, lowest: 0 }
        };
        let mut groups: Vec<GroupShape> = layout.groups.keys().map(shape).collect();
        let mut bits = 0;
        for group in groups.iter_mut().rev() {
            group.lowest = bits;
            bits += group.bits;
        }
        (bits <= WideInteger::BITS).then_some(VaryingBits { groups, bits, width })
    }

    /// How much work a state is, roughly in nanoseconds: the words of each run moved, and bytes.
    pub(super) fn work(&self) -> usize {
        let runs: usize = self.groups.iter().map(|group| group.runs.len()).sum();
        runs * self.bits.div_ceil(u64::BITS) as usize + self.width
    }

    fn shapes(&self, order: &[GroupId]) -> impl Iterator<Item = &GroupShape> {
        order.iter().map(|group| &self.groups[group.0 as usize])
    }

    /// The runs that vary, as key order has them.
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

    /// How the bits travel to `order`. What stays side by side goes together.
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

/// A set of states of which only the bits that vary are kept, in declared order.
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
    /// Keeps of `states`, whose groups are in `declared` order, what varies.
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

    /// The bytes that a sorted run of these states takes with its groups in `order`.
    pub(super) fn encoded(&self, order: &[GroupId]) -> usize {
        let states = match &self.keys {
            PackedKeys::Narrow(keys) => rearrange(self.varying, order, keys),
            PackedKeys::Wide(keys) => rearrange(self.varying, order, keys),
            PackedKeys::Double(keys) => rearrange(self.varying, order, keys),
        };
        encoded(self.varying.width, &states)
    }
}

/// What varies of each state.
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

/// The states of `keys`, sorted, with their groups in `order` and 0 where nothing varies.
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

/// The bytes that sorted `states` take as blocks.
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
