//! The gaps of a block: a dictionary of those that occur again, a byte for each, and literals.
//!
//! See `block/mod.rs` for what the bytes mean.

use super::header::{CODE_GAPS, Checked, Coding, ENTRIES_MAX, Header};
use crate::keys::{Int, Squeeze};

/// The number that stands for a literal, where it is not that of an entry.
const LITERAL: u8 = 255;
/// Slots of the table in which equal gaps meet, at least twice as many as there are gaps.
const SLOTS: usize = 8192;
/// The same where a block has few keys: each segment has a table of its own, and that of a thin level should not take longer to
/// make than to fill.
const SOME_SLOTS: usize = 1024;
const FEW_SLOTS: usize = 128;
/// A gap's number in the table of different gaps, where it has none yet.
const NONE: u16 = u16::MAX;

/// Writes the gaps of one block after another.
#[derive(Debug, Default)]
pub(super) struct Gaps<I> {
    /// A hash table of the different gaps, with linear probing, at most half full.
    slots: Vec<Slot<I>>,
    /// The number of the block in hand, so that the table need not be cleared for each.
    stamp: u32,
    /// The different gaps of the block, and how often each occurs.
    different: Vec<(I, u32)>,
    /// For each gap of the block, its number among the different ones.
    numbers: Vec<u16>,
    /// For each different gap the byte that stands for it.
    codes: Vec<u8>,
    /// Gaps that are no entries, in the order of the keys.
    literals: Vec<I>,
}

#[derive(Clone, Copy, Debug)]
struct Slot<I> {
    gap: I,
    /// The block that the rest is of; of another one's the slot counts as empty.
    stamp: u32,
    /// The gap's index among the different ones.
    number: u16,
}

impl<I: Int> Gaps<I> {
    /// Appends codes, dictionary and literals of the ascending `keys` to `raw`.
    pub(super) fn write(&mut self, squeeze: &Squeeze, keys: &[u8], raw: &mut Vec<u8>) -> Coding {
        let count = keys.len() / squeeze.width();
        let all = if 2 * count <= FEW_SLOTS {
            self.number::<FEW_SLOTS>(squeeze, keys)
        } else if 2 * count <= SOME_SLOTS {
            self.number::<SOME_SLOTS>(squeeze, keys)
        } else {
            self.number::<SLOTS>(squeeze, keys)
        };
        let gap_bytes = all.length().div_ceil(8).max(1) as usize;
        let dictionary = self.dictionary();
        self.literals.clear();
        raw.extend(self.numbers.iter().map(|&number| self.codes[number as usize]));
        if dictionary.len() < self.different.len() {
            let literal = |number: &&u16| self.codes[**number as usize] == LITERAL;
            let gaps = self.numbers.iter().filter(literal);
            self.literals.extend(gaps.map(|&number| self.different[number as usize].0));
        }
        write_planes(&dictionary, gap_bytes, raw);
        write_planes(&self.literals, gap_bytes, raw);
        Coding { code: CODE_GAPS, entries: dictionary.len(), gap_bytes }
    }

    /// Numbers the gaps between `keys`, by so many slots of the table; all bits that occur in them.
    fn number<const SLOTS: usize>(&mut self, squeeze: &Squeeze, keys: &[u8]) -> I {
        if self.slots.len() < SLOTS {
            self.slots.resize(SLOTS, Slot { gap: I::ZERO, stamp: 0, number: NONE });
        }
        self.stamp = self.stamp.wrapping_add(1);
        if self.stamp == 0 {
            // After 2^32 blocks, stamps of old could be taken for new.
            self.slots.fill(Slot { gap: I::ZERO, stamp: 0, number: NONE });
            self.stamp = 1;
        }
        self.different.clear();
        self.numbers.clear();
        let Gaps { slots, stamp, different, numbers, .. } = self;
        let slots: &mut [Slot<I>; SLOTS] =
            slots.first_chunk_mut().expect("the table was just made this large");
        let one = I::from_low(1);
        let (mut last, mut all) = (None, I::ZERO);
        squeeze.squeeze(keys, |value: I| {
            let Some(before) = last.replace(value) else { return };
            let gap = value.sub(before).sub(one);
            all = all.or(gap);
            let mut at = slot_of::<I, SLOTS>(gap);
            let number = loop {
                let slot = &mut slots[at];
                if slot.stamp != *stamp {
                    let number = different.len() as u16;
                    different.push((gap, 0));
                    *slot = Slot { gap, stamp: *stamp, number };
                    break number;
                }
                if slot.gap == gap {
                    break slot.number;
                }
                at = (at + 1) % SLOTS;
            };
            different[number as usize].1 += 1;
            numbers.push(number);
        });
        all
    }

    /// Chooses the entries of the dictionary, ascending, and the codes of all different gaps.
    fn dictionary(&mut self) -> Vec<I> {
        let mut chosen: Vec<(I, u32, u16)> = (0u16..)
            .zip(&self.different)
            .map(|(number, &(gap, count))| (gap, count, number))
            .collect();
        if chosen.len() > ENTRIES_MAX {
            // A gap that occurs once is as short as a literal.
            chosen.retain(|&(_, count, _)| count > 1);
            let most = ENTRIES_MAX - 1;
            if chosen.len() > most {
                let by_count = |&(gap, count, _): &(I, u32, u16)| (std::cmp::Reverse(count), gap);
                chosen.select_nth_unstable_by_key(most, by_count);
                chosen.truncate(most);
            }
        }
        chosen.sort_unstable();
        self.codes.clear();
        self.codes.resize(self.different.len(), LITERAL);
        for (code, &(_, _, number)) in chosen.iter().enumerate() {
            self.codes[number as usize] = code as u8;
        }
        chosen.into_iter().map(|(gap, _, _)| gap).collect()
    }
}

/// Where the table is searched for a gap first.
#[inline(always)]
fn slot_of<I: Int, const SLOTS: usize>(gap: I) -> usize {
    (gap.mix() >> (64 - SLOTS.trailing_zeros())) as usize
}

fn write_planes<I: Int>(numbers: &[I], bytes: usize, raw: &mut Vec<u8>) {
    for plane in 0..bytes as u32 {
        raw.extend(numbers.iter().map(|number| number.shr(8 * plane).low() as u8));
    }
}

/// How many codes there are before the first literal, or all if there is none.
fn literal_at(codes: &[u8]) -> usize {
    let (words, tail) = codes.as_chunks::<8>();
    let before = words.iter().take_while(|word| !word.contains(&LITERAL)).count();
    let rest = words.get(before).map_or(tail, |word| word.as_slice());
    8 * before + rest.iter().take_while(|&&code| code != LITERAL).count()
}

/// One number of planes.
fn plane_number<I: Int>(planes: &[u8], count: usize, bytes: usize, index: usize) -> I {
    (0..bytes).fold(I::ZERO, |number, plane| {
        let byte = I::from_low(planes[plane * count + index].into());
        number.or(byte.shl(8 * plane as u32))
    })
}

/// The number of literals among `codes`, if all are entries or literals, and that many are there.
fn count_literals(codes: &[u8], coding: Coding, literals: &[u8]) -> Checked<usize> {
    let Coding { entries, gap_bytes, .. } = coding;
    let literal = |code: u8| code == LITERAL && entries < ENTRIES_MAX;
    // Without an early end, so that many are looked at in one step.
    let stray = |code: u8| usize::from(code) >= entries && !literal(code);
    if codes.iter().fold(false, |any, &code| any | stray(code)) {
        return Err("a gap is not in its dictionary".into());
    }
    let count = codes.iter().filter(|&&code| literal(code)).count();
    if literals.len() != count * gap_bytes {
        return Err("it has too few literals or too many".into());
    }
    Ok(count)
}

/// For each entry the difference of keys that it stands for: one more than the gap that is stored.
#[inline]
fn differences<I: Int>(dictionary: &[u8], coding: Coding) -> [I; ENTRIES_MAX] {
    let Coding { entries, gap_bytes, .. } = coding;
    let mut table = [I::ZERO; ENTRIES_MAX];
    for (index, gap) in table[..entries].iter_mut().enumerate() {
        *gap = plane_number::<I>(dictionary, entries, gap_bytes, index).add(I::from_low(1));
    }
    table
}

/// Decodes the squeezed keys of a block with this header; `gaps` has room for the codes and the
/// dictionary at least.
pub(super) fn sum_gaps<I: Int>(
    squeeze: &Squeeze,
    first: &[u8],
    gaps: &[u8],
    header: &Header,
    values: &mut Vec<I>,
) -> Checked<()> {
    let Header { count, coding, .. } = *header;
    let Coding { entries, gap_bytes, .. } = coding;
    let (codes, planes) = gaps.split_at(count - 1);
    let (dictionary, literals) = planes.split_at(entries * gap_bytes);
    let literal_count = count_literals(codes, coding, literals)?;
    let table = differences::<I>(dictionary, coding);
    let one = I::from_low(1);
    let mut value = I::ZERO;
    squeeze.squeeze(first, |first| value = first);
    values.clear();
    values.push(value);
    let mut wrapped = false;
    // So many gaps of so few bits cannot overflow.
    let small = (8 * gap_bytes as u32).max(squeeze.bits()) + u16::BITS < I::BITS;
    let mut rest = codes;
    for used in 0..=literal_count {
        // All of them, if no literal is left.
        let entries = if used < literal_count { literal_at(rest) } else { rest.len() };
        let (run, behind) = rest.split_at(entries);
        if small {
            values.extend(run.iter().map(|&code| {
                value = value.add(table[usize::from(code)]);
                value
            }));
        } else {
            values.extend(run.iter().map(|&code| {
                let next = value.add(table[usize::from(code)]);
                wrapped |= next <= value;
                value = next;
                next
            }));
        }
        if used < literal_count {
            let gap = plane_number::<I>(literals, literal_count, gap_bytes, used);
            let next = value.add(gap.add(one));
            wrapped |= next <= value;
            value = next;
            values.push(next);
            rest = &behind[1..];
        }
    }
    if wrapped || value.length() > squeeze.bits() {
        return Err("its keys exceed their width".into());
    }
    Ok(())
}
