//! The gaps of a block: a dictionary of repeated gaps, one byte for each gap, and literals.
//!
//! See `block/mod.rs` for the format.

use super::defect::BlockDefect;
use super::header::{BlockHeader, CODE_GAPS, ENTRIES_MAX, KeyCoding};
use crate::keys::{KeyInteger, KeySqueezer};

/// The code of a literal, unless it is the number of an entry.
const LITERAL: u8 = 255;
/// The number of slots of the table of gaps, at least twice the number of gaps.
const SLOTS: usize = 8192;
/// The same for a block of few keys: each segment has its own table, and for a thin level, creating the table should
/// not take longer than filling it.
const SOME_SLOTS: usize = 1024;
const FEW_SLOTS: usize = 128;
/// The value of a slot without a gap.
const NONE: u16 = u16::MAX;

/// Writes the gaps of one block after another.
#[derive(Debug, Default)]
pub(super) struct GapWriter<I> {
    /// A hash table of the different gaps by their numbers, with linear probing, at most half full. It contains only
    /// numbers, so it stays in the cache.
    slots: Vec<u16>,
    /// The different gaps of the block.
    different: Vec<I>,
    /// The number of each gap of the block among the different ones.
    numbers: Vec<u16>,
    /// The code byte of each different gap.
    codes: Vec<u8>,
    /// Gaps without an entry, in the order of the keys.
    literals: Vec<I>,
}

impl<I: KeyInteger> GapWriter<I> {
    /// Appends codes, dictionary and literals of the ascending `keys` to `raw`.
    pub(super) fn write(
        &mut self,
        squeeze: &KeySqueezer,
        keys: &[u8],
        raw: &mut Vec<u8>,
    ) -> KeyCoding {
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
            self.literals.extend(gaps.map(|&number| self.different[number as usize]));
        }
        write_planes(&dictionary, gap_bytes, raw);
        write_planes(&self.literals, gap_bytes, raw);
        KeyCoding { code: CODE_GAPS, entries: dictionary.len(), gap_bytes }
    }

    /// Numbers the gaps between `keys`, with `SLOTS` slots of the table. Returns the union of their bits.
    fn number<const SLOTS: usize>(&mut self, squeeze: &KeySqueezer, keys: &[u8]) -> I {
        self.slots.clear();
        self.slots.resize(SLOTS, NONE);
        self.different.clear();
        // Existing content is overwritten, so it need not be cleared.
        self.numbers.resize(keys.len() / squeeze.width() - 1, 0);
        let GapWriter { slots, different, numbers, .. } = self;
        let slots: &mut [u16; SLOTS] =
            slots.first_chunk_mut().expect("the table was just made this large");
        let (first, rest) = keys.split_at(squeeze.width());
        let (one, mut all, mut before) = (I::from_low(1), I::ZERO, I::ZERO);
        squeeze.squeeze(first, |first| before = first);
        let mut numbers = numbers.iter_mut();
        squeeze.squeeze(rest, |value: I| {
            let gap = value.sub(before).sub(one);
            before = value;
            all = all.or(gap);
            let mut at = slot_of::<I, SLOTS>(gap);
            let number = loop {
                let slot = &mut slots[at];
                match different.get(*slot as usize) {
                    Some(&other) if other == gap => break *slot,
                    Some(_) => at = (at + 1) % SLOTS,
                    None => {
                        *slot = different.len() as u16;
                        different.push(gap);
                        break *slot;
                    }
                }
            };
            if let Some(it) = numbers.next() {
                *it = number;
            }
        });
        all
    }

    /// Chooses the entries of the dictionary, ascending, and the codes of all different gaps.
    fn dictionary(&mut self) -> Vec<I> {
        let mut chosen: Vec<(I, u16)> = self.different.iter().copied().zip(0u16..).collect();
        if chosen.len() > ENTRIES_MAX {
            let mut counts = vec![0u32; chosen.len()];
            self.numbers.iter().for_each(|&number| counts[number as usize] += 1);
            let count = |number: u16| counts[number as usize];
            // A gap that occurs once takes as much space as a literal.
            chosen.retain(|&(_, number)| count(number) > 1);
            let most = ENTRIES_MAX - 1;
            if chosen.len() > most {
                let by_count = |&(gap, number): &(I, u16)| (std::cmp::Reverse(count(number)), gap);
                chosen.select_nth_unstable_by_key(most, by_count);
                chosen.truncate(most);
            }
        }
        chosen.sort_unstable();
        self.codes.clear();
        self.codes.resize(self.different.len(), LITERAL);
        for (code, &(_, number)) in chosen.iter().enumerate() {
            self.codes[number as usize] = code as u8;
        }
        chosen.into_iter().map(|(gap, _)| gap).collect()
    }
}

/// Returns the first slot at which a gap is searched.
#[inline(always)]
fn slot_of<I: KeyInteger, const SLOTS: usize>(gap: I) -> usize {
    (gap.mix() >> (64 - SLOTS.trailing_zeros())) as usize
}

fn write_planes<I: KeyInteger>(numbers: &[I], bytes: usize, raw: &mut Vec<u8>) {
    for plane in 0..bytes as u32 {
        raw.extend(numbers.iter().map(|number| number.shr(8 * plane).low() as u8));
    }
}

/// Reads one number from planes.
fn plane_number<I: KeyInteger>(planes: &[u8], count: usize, bytes: usize, index: usize) -> I {
    (0..bytes).fold(I::ZERO, |number, plane| {
        let byte = I::from_low(planes[plane * count + index].into());
        number.or(byte.shl(8 * plane as u32))
    })
}

/// Returns the number of literals among `codes`. Fails unless all codes are entries or literals, and that many
/// literals are there.
fn count_literals(codes: &[u8], coding: KeyCoding, literals: &[u8]) -> Result<usize, BlockDefect> {
    let KeyCoding { entries, gap_bytes, .. } = coding;
    // With the maximum number of entries, each byte is the number of an entry.
    let count = match u8::try_from(entries) {
        Err(_) => 0,
        Ok(entries) => {
            // Without an early exit, and on bytes only, so that many are tested in one step.
            let stray = |code: u8| u8::from((code >= entries) & (code != LITERAL));
            if codes.iter().fold(0, |any, &code| any | stray(code)) != 0 {
                return Err(BlockDefect::ForeignGap);
            }
            // A byte can count the literals of this number of codes.
            let chunks = codes.chunks(u8::MAX.into());
            let in_chunk =
                |codes: &[u8]| -> u8 { codes.iter().map(|&code| u8::from(code == LITERAL)).sum() };
            chunks.map(|codes| usize::from(in_chunk(codes))).sum()
        }
    };
    if literals.len() != count * gap_bytes {
        return Err(BlockDefect::LiteralCount);
    }
    Ok(count)
}

/// Returns the key difference of each entry: one more than the stored gap.
#[inline]
fn differences<I: KeyInteger>(dictionary: &[u8], coding: KeyCoding) -> [I; ENTRIES_MAX] {
    let KeyCoding { entries, gap_bytes, .. } = coding;
    let mut table = [I::ZERO; ENTRIES_MAX];
    for (index, gap) in table[..entries].iter_mut().enumerate() {
        *gap = plane_number::<I>(dictionary, entries, gap_bytes, index).add(I::from_low(1));
    }
    table
}

/// Decodes the squeezed keys of a block with this header; `gaps` contains at least the codes and the dictionary.
pub(super) fn sum_gaps<I: KeyInteger>(
    squeeze: &KeySqueezer,
    first: &[u8],
    gaps: &[u8],
    header: &BlockHeader,
    values: &mut Vec<I>,
) -> Result<(), BlockDefect> {
    let BlockHeader { count, coding, .. } = *header;
    let KeyCoding { entries, gap_bytes, .. } = coding;
    let (codes, planes) = gaps.split_at(count - 1);
    let (dictionary, literals) = planes.split_at(entries * gap_bytes);
    let literal_count = count_literals(codes, coding, literals)?;
    let table = differences::<I>(dictionary, coding);
    // Existing content is overwritten, so it need not be cleared.
    values.resize(count, I::ZERO);
    squeeze.squeeze(first, |first| values[0] = first);
    let literals = LiteralReader { planes: literals, count: literal_count, gap_bytes, used: 0 };
    // If `small`, the sum of a block's gaps cannot overflow.
    let small = (8 * gap_bytes as u32).max(squeeze.bits()) + u16::BITS < I::BITS;
    let ascending = match (small, literal_count) {
        (true, 0) => sum::<I, false, false>(&table, codes, literals, values),
        (true, _) => sum::<I, false, true>(&table, codes, literals, values),
        (false, 0) => sum::<I, true, false>(&table, codes, literals, values),
        (false, _) => sum::<I, true, true>(&table, codes, literals, values),
    };
    if !ascending || values[count - 1].length() > squeeze.bits() {
        return Err(BlockDefect::WideKeys);
    }
    Ok(())
}

/// Fills `values`, whose first element exists, with one more for each code. If `CHECKED`, returns whether no sum
/// overflowed. If there are no `LITERALS`, all codes are entries.
fn sum<I: KeyInteger, const CHECKED: bool, const LITERALS: bool>(
    table: &[I; ENTRIES_MAX],
    codes: &[u8],
    mut literals: LiteralReader,
    values: &mut [I],
) -> bool {
    let Some((&mut first, rest)) = values.split_first_mut() else { return true };
    // In registers, not in memory, from one key to the next.
    let (mut value, mut wrapped) = (first, false);
    for (&code, slot) in codes.iter().zip(rest) {
        let literal = LITERALS && code == LITERAL;
        let difference = if literal { literals.next() } else { table[usize::from(code)] };
        let next = value.add(difference);
        if CHECKED {
            wrapped |= next <= value;
        }
        value = next;
        *slot = next;
    }
    !wrapped
}

/// The literals of a block, one after another.
struct LiteralReader<'a> {
    planes: &'a [u8],
    count: usize,
    gap_bytes: usize,
    used: usize,
}

impl LiteralReader<'_> {
    /// Returns the key difference of the next literal.
    fn next<I: KeyInteger>(&mut self) -> I {
        let gap = plane_number::<I>(self.planes, self.count, self.gap_bytes, self.used);
        self.used += 1;
        gap.add(I::from_low(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decodes bytes as the gaps of keys of eight bytes after the key 1.
    fn decode(
        entries: usize,
        codes: &[u8],
        dictionary: &[u8],
        literals: &[u8],
    ) -> Result<Vec<u64>, BlockDefect> {
        let coding = KeyCoding { code: CODE_GAPS, entries, gap_bytes: 1 };
        let header =
            BlockHeader { count: codes.len() + 1, coding, compressed: false, raw_length: 0 };
        let (first, mut values) = (1u64.to_be_bytes(), vec![7; 3]);
        let squeeze = KeySqueezer::new(&first, &0x1fff_u64.to_be_bytes());
        let gaps = [codes, dictionary, literals].concat();
        sum_gaps(&squeeze, &first, &gaps, &header, &mut values).map(|()| values)
    }

    #[test]
    fn codes_refer_to_existing_entries_or_literals() {
        let many: Vec<u8> = (0..=255).collect();
        assert_eq!(decode(2, &[1, 0, 255, 1], &[2, 4], &[9]), Ok(vec![1, 6, 9, 19, 24]));
        assert_eq!(decode(255, &[254, 255, 0], &many[..255], &[3]), Ok(vec![1, 256, 260, 261]));
        assert_eq!(decode(256, &[255, 0], &many, &[]), Ok(vec![1, 257, 258]));
        assert_eq!(decode(0, &[255; 3], &[], &[1, 2, 3]), Ok(vec![1, 3, 6, 10]));
        // More literals than a byte can count.
        let values = decode(1, &[255; 700], &[0], &[2; 700]).unwrap();
        assert!(values.windows(2).all(|pair| pair[1] == pair[0] + 3));
        assert!(decode(1, &[255; 700], &[0], &[2; 699]).is_err());
        assert!(decode(1, &[255; 768], &[0], &[]).is_err());
        for (entries, codes, literals) in
            [(2, [2, 0], 0), (2, [254, 0], 0), (0, [0, 255], 1), (2, [255, 255], 1), (2, [0, 1], 1)]
        {
            assert!(decode(entries, &codes, &many[..entries], &many[..literals]).is_err());
        }
        // 13 bits are not enough.
        assert!(decode(1, &[0; 40], &[255], &[]).is_err());
    }
}
