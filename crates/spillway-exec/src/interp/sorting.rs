//! Sorting multisets into canonical form, as bits.
//!
//! The positions of a multiset lie side by side in the packed state, with equally many bits each: the presence flag,
//! then the codes of the element. So comparing two positions is comparing bits, with the first bit inverted, since
//! elements come before free positions.

use super::Interp;
use super::multisets::MultisetCells;
use spillway_ir::Layout;
use spillway_ir::layout::CellId;
use std::ops::Range;

/// The number of bits that one load of eight bytes can read from any bit offset.
const CHUNK_BITS: u32 = 57;

/// The minimum size of a state that is sorted in place, in bytes.
const WORD_BYTES: usize = 8;

/// The maximum number of positions of a multiset that is sorted outside the state.
const SORTED_ASIDE: usize = 64;

/// The bits of a multiset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MultisetBits {
    /// The first bit.
    bit: u32,
    /// The number of bits of a position.
    bits: u32,
    /// The number of positions.
    capacity: u32,
}

impl MultisetBits {
    fn new(layout: &Layout, slots: &MultisetCells) -> MultisetBits {
        let MultisetCells { first, capacity, stride } = *slots;
        let cells = slots.cells().map(|at| layout.cells[CellId(at)]);
        let bit = layout.cells[first].bit;
        let bits = cells.clone().take(stride as usize).map(|cell| cell.bits).sum();
        debug_assert_eq!(layout.cells[first].bits, 1, "whether there is an element");
        debug_assert!(
            cells.zip(0..).all(|(cell, at)| {
                let position = &layout.cells[CellId(first.0 + at % stride)];
                cell.bit == position.bit + at / stride * bits && cell.bits == position.bits
            }),
            "all positions are laid out alike"
        );
        MultisetBits { bit, bits, capacity }
    }

    /// Sorts the positions: elements first, the least first.
    fn sort(self, state: &mut [u8]) {
        match self.bits <= CHUNK_BITS {
            _ if self.capacity < 2 => {}
            true => self.sort_narrow(state),
            false => self.sort_wide(state),
        }
    }

    fn sort_narrow(self, state: &mut [u8]) {
        let at = |position: u32| self.bit + position * self.bits;
        let turn = 1 << (self.bits - 1);
        let key = |state: &[u8], position: u32| read(state, at(position), self.bits) ^ turn;
        let mut before = key(state, 0);
        let unsorted = (1..self.capacity).find(|&position| {
            let this = key(state, position);
            std::mem::replace(&mut before, this) > this
        });
        let Some(unsorted) = unsorted else { return };
        if self.capacity as usize > SORTED_ASIDE {
            return self.sort_wide(state);
        }
        let mut keys = [0; SORTED_ASIDE];
        let keys = &mut keys[..self.capacity as usize];
        keys.iter_mut().zip(0..).for_each(|(to, position)| *to = key(state, position));
        // Usually one element is out of place, so insertion is fastest.
        for next in unsorted as usize..keys.len() {
            let this = keys[next];
            let to = keys[..next].iter().rposition(|&it| it <= this).map_or(0, |it| it + 1);
            keys.copy_within(to..next, to + 1);
            keys[to] = this;
        }
        for (&key, position) in keys.iter().zip(0..) {
            write(state, at(position), self.bits, key ^ turn);
        }
    }

    fn sort_wide(self, state: &mut [u8]) {
        for next in 1..self.capacity {
            for later in (1..=next).rev() {
                if self.is_ordered(state, later) {
                    break;
                }
                self.exchange(state, later);
            }
        }
    }

    /// Returns the bits of a position, relative to its first, in chunks.
    fn chunks(self) -> impl Iterator<Item = Range<u32>> {
        let starts = (0..self.bits).step_by(CHUNK_BITS as usize);
        starts.map(move |start| start..self.bits.min(start + CHUNK_BITS))
    }

    /// Returns whether a position may come after the one before it.
    fn is_ordered(self, state: &[u8], later: u32) -> bool {
        let (one, other) = (self.bit + (later - 1) * self.bits, self.bit + later * self.bits);
        for Range { start, end } in self.chunks() {
            let bits = end - start;
            let turn = if start == 0 { 1 << (bits - 1) } else { 0 };
            let before = read(state, one + start, bits) ^ turn;
            let after = read(state, other + start, bits) ^ turn;
            if before != after {
                return before < after;
            }
        }
        true
    }

    /// Swaps a position with the previous one.
    fn exchange(self, state: &mut [u8], later: u32) {
        let (one, other) = (self.bit + (later - 1) * self.bits, self.bit + later * self.bits);
        for Range { start, end } in self.chunks() {
            let bits = end - start;
            let (before, after) =
                (read(state, one + start, bits), read(state, other + start, bits));
            write(state, one + start, bits, after);
            write(state, other + start, bits, before);
        }
    }
}

impl Interp {
    /// Brings every multiset of a state into its canonical form.
    pub fn sort_multisets(&self, state: &mut [u8]) {
        sort(&self.rows, state);
    }

    /// Brings the multisets in a range of [`Interp::multisets`] into canonical form.
    pub fn sort_some_multisets(&self, which: Range<usize>, state: &mut [u8]) {
        sort(&self.rows[which], state);
    }
}

/// Returns the bits of each multiset.
pub(super) fn rows(layout: &Layout, multisets: &[MultisetCells]) -> Vec<MultisetBits> {
    multisets.iter().map(|slots| MultisetBits::new(layout, slots)).collect()
}

/// Brings multisets into canonical form, inner ones before those that contain them.
fn sort(rows: &[MultisetBits], state: &mut [u8]) {
    if state.len() >= WORD_BYTES {
        return rows.iter().for_each(|row| row.sort(state));
    }
    let mut word = [0; WORD_BYTES];
    word[..state.len()].copy_from_slice(state);
    rows.iter().for_each(|row| row.sort(&mut word));
    state.copy_from_slice(&word[..state.len()]);
}

/// Returns the first of the eight bytes that hold the bits from `bit` on, and the offset of `bit` in them.
#[inline]
fn place(state: &[u8], bit: u32) -> (usize, u32) {
    let byte = (bit as usize / 8).min(state.len() - WORD_BYTES);
    (byte, bit - byte as u32 * 8)
}

#[inline]
fn word(state: &[u8], byte: usize) -> u64 {
    u64::from_be_bytes(state[byte..].first_chunk().copied().unwrap_or_default())
}

/// Reads 1 to [`CHUNK_BITS`] bits of a state of at least [`WORD_BYTES`].
#[inline]
fn read(state: &[u8], bit: u32, bits: u32) -> u64 {
    let (byte, into) = place(state, bit);
    (word(state, byte) << into) >> (64 - bits)
}

/// Replaces 1 to [`CHUNK_BITS`] bits of a state of at least [`WORD_BYTES`].
#[inline]
fn write(state: &mut [u8], bit: u32, bits: u32, value: u64) {
    let (byte, into) = place(state, bit);
    let shift = 64 - bits - into;
    let kept = word(state, byte) & !((u64::MAX >> (64 - bits)) << shift);
    let bytes = (kept | value << shift).to_be_bytes();
    state[byte..byte + WORD_BYTES].copy_from_slice(&bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits_of(state: &[u8]) -> Vec<bool> {
        state.iter().flat_map(|byte| (0..8).map(move |at| byte >> (7 - at) & 1 == 1)).collect()
    }

    /// Returns random bytes; in every other call few bits are 1, so that positions are often equal.
    fn bytes(seed: &mut u64, count: usize) -> Vec<u8> {
        let mut next = || {
            *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (*seed >> 56) as u8
        };
        let sparse = next() & 1 == 1;
        (0..count)
            .map(|_| if sparse { next() & next() & next() & next() } else { next() })
            .collect()
    }

    #[test]
    fn positions_are_sorted_and_other_bits_are_unchanged() {
        let mut seed = 1;
        for bits in [1, 2, 7, 8, 13, 28, 56, 57, 58, 64, 100, 114, 115, 200] {
            for capacity in [1, 2, 3, 10, 64, 65] {
                for bit in [0, 1, 7, 8, 21] {
                    let row = MultisetBits { bit, bits, capacity };
                    let end = bit + bits * capacity;
                    for more in [0, 1, 9] {
                        let count = end.div_ceil(8) as usize + more;
                        let mut state = bytes(&mut seed, count);
                        let mut expected = bits_of(&state);
                        let inside = &mut expected[bit as usize..end as usize];
                        let mut positions: Vec<Vec<bool>> =
                            inside.chunks(bits as usize).map(<[bool]>::to_vec).collect();
                        positions.sort_by_key(|it| (!it[0], it.clone()));
                        inside.copy_from_slice(&positions.concat());
                        sort(&[row], &mut state);
                        assert!(bits_of(&state) == expected, "{row:?}, {count} bytes");
                    }
                }
            }
        }
    }
}
