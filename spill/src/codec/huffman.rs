//! Static Huffman codes: fixed before the search, so that a key always has the same record.
//!
//! Every byte of a key, a *column*, has its own code or shares one with other columns. Codes are canonical: the
//! lengths determine the code words, shorter words first, then lesser bytes. The words of a key are stored one after
//! another, the first in the lowest bits. Zero bits fill the last byte. The number of words is known and no word is a
//! prefix of another, so records of different keys differ.
//!
//! Where byte 0 has the word `0` and byte 1 the word `10`, the key `01 00 00 01` is `10` `0` `0` `10`, and its record
//! is the byte `11`: the bits from the lowest up.

use super::lengths::{LENGTH_MAX, SYMBOLS, are_complete, lengths};
use byteorder::{ByteOrder, LittleEndian};
use std::collections::BTreeMap;
use std::ops::Range;

/// The number of words that are shifted into 64 bits before a store: with 7 bits left over from before, four of 12
/// bits fit.
const WORDS_PER_STORE: usize = 4;

/// The number of bytes that are read or written at a time.
const STORE_BYTES: usize = 8;

/// The maximum number of codes for the columns of a key.
const CODES_MAX: usize = 64;

/// A word in the lower 16 bits, and its length in the next 8.
type CodeWord = u32;

/// The decoding of the next bits of a record.
#[derive(Clone, Copy, Debug, Default)]
struct DecodeEntry {
    /// The decoded byte.
    byte: u8,
    /// The length of its word in bits.
    bits: u8,
}

/// The number of codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HuffmanTables {
    /// One code for all columns, as in the paper.
    Single,
    /// One code for each column; for wide keys, one for each group of similar columns.
    Columns,
}

/// The frequency of each byte in each column.
#[derive(Clone, Debug)]
pub struct ByteFrequencies {
    counts: Vec<[u64; SYMBOLS]>,
}

/// Codes for keys of some width.
#[derive(Clone, Debug)]
pub struct HuffmanCode {
    /// The code of each column.
    columns: Vec<u16>,
    lengths: Vec<Vec<u8>>,
    /// For each code, the word of each byte.
    words: Vec<[CodeWord; SYMBOLS]>,
    /// For each code, the decoding of each value of the next 12 bits.
    entries: Vec<Box<[DecodeEntry; 1 << LENGTH_MAX]>>,
    /// For each column the words of its code, if there are few columns.
    own: Vec<[CodeWord; SYMBOLS]>,
    record_bytes_max: usize,
}

impl ByteFrequencies {
    /// Creates empty counts for keys of `width` bytes.
    pub fn new(width: usize) -> ByteFrequencies {
        ByteFrequencies { counts: vec![[0; SYMBOLS]; width] }
    }

    /// Counts the bytes of a sample of keys.
    pub fn of_keys(width: usize, keys: &[u8]) -> ByteFrequencies {
        let mut all = ByteFrequencies::new(width);
        for key in keys.chunks_exact(width) {
            for (counts, &byte) in all.counts.iter_mut().zip(key) {
                counts[usize::from(byte)] += 1;
            }
        }
        all
    }

    /// Adds `count` occurrences of `byte` in `column`.
    pub fn add(&mut self, column: usize, byte: u8, count: u64) {
        let counted = &mut self.counts[column][usize::from(byte)];
        *counted = counted.saturating_add(count);
    }
}

impl HuffmanCode {
    /// Creates the optimal codes for these frequencies.
    pub fn train(frequencies: &ByteFrequencies, tables: HuffmanTables) -> HuffmanCode {
        let counts = &frequencies.counts;
        let columns = match tables {
            HuffmanTables::Single => vec![0; counts.len()],
            HuffmanTables::Columns if counts.len() <= CODES_MAX => {
                (0..counts.len() as u16).collect()
            }
            HuffmanTables::Columns => group(counts),
        };
        let codes = columns.iter().max().map_or(0, |&last| usize::from(last) + 1);
        let mut sums = vec![[0u64; SYMBOLS]; codes];
        for (&code, counts) in columns.iter().zip(counts) {
            let sums = sums[usize::from(code)].iter_mut().zip(counts);
            sums.for_each(|(sum, count)| *sum = sum.saturating_add(*count));
        }
        let lengths = sums.iter().map(|counts| lengths(counts).to_vec()).collect();
        HuffmanCode::new(columns, lengths)
    }

    fn new(columns: Vec<u16>, lengths: Vec<Vec<u8>>) -> HuffmanCode {
        let words: Vec<_> = lengths.iter().map(|lengths| canonical(lengths)).collect();
        let entries = words.iter().map(entries).collect();
        let longest =
            |code: &u16| usize::from(*lengths[usize::from(*code)].iter().max().unwrap_or(&0));
        let bits: usize = columns.iter().map(longest).sum();
        let own = match columns.len() {
            0..=CODES_MAX => columns.iter().map(|&code| words[usize::from(code)]).collect(),
            _ => Vec::new(),
        };
        HuffmanCode { columns, words, entries, lengths, own, record_bytes_max: bits.div_ceil(8) }
    }

    /// Returns the code of each column, and the word lengths of each code.
    pub(super) fn saved(&self) -> (Vec<u16>, Vec<Vec<u8>>) {
        (self.columns.clone(), self.lengths.clone())
    }

    pub(super) fn restore(
        width: usize,
        columns: &[u16],
        lengths: &[Vec<u8>],
    ) -> Option<HuffmanCode> {
        let possible = columns.len() == width
            && lengths.len() <= CODES_MAX
            && columns.iter().all(|&code| usize::from(code) < lengths.len())
            && lengths.iter().all(|lengths| are_complete(lengths));
        possible.then(|| HuffmanCode::new(columns.to_vec(), lengths.to_vec()))
    }

    /// Returns the number of codes.
    pub fn codes(&self) -> usize {
        self.lengths.len()
    }

    /// Returns the maximum size of a record in bytes.
    pub fn record_bytes_max(&self) -> usize {
        self.record_bytes_max
    }

    /// Appends the record of `key` to `out`.
    pub fn encode(&self, key: &[u8], out: &mut Vec<u8>) {
        let start = out.len();
        out.resize(start + self.record_bytes_max + STORE_BYTES, 0);
        let length = self.encode_to(key, &mut out[start..]);
        out.truncate(start + length);
    }

    /// Replaces `out` with the records of `keys`, one after another, and `ends` with the end of each.
    pub fn encode_all(&self, keys: &[u8], out: &mut Vec<u8>, ends: &mut Vec<u32>) {
        let width = self.columns.len();
        let count = keys.len() / width;
        out.resize(count * self.record_bytes_max + STORE_BYTES, 0);
        ends.clear();
        ends.reserve(count);
        let mut end = 0;
        for key in keys.chunks_exact(width) {
            end += self.encode_to(key, &mut out[end..]);
            ends.push(end as u32);
        }
        out.truncate(end);
    }

    /// Writes the record of `key`, and up to [`STORE_BYTES`] after it. Returns the length of the record.
    #[inline]
    fn encode_to(&self, key: &[u8], out: &mut [u8]) -> usize {
        let mut packer = CodeWordPacker { filled: 0, bits: 0, end: 0, out };
        if self.own.is_empty() {
            let columns = self.columns.chunks(WORDS_PER_STORE);
            for (bytes, codes) in key.chunks(WORDS_PER_STORE).zip(columns) {
                for (&byte, &code) in bytes.iter().zip(codes) {
                    packer.push(self.words[usize::from(code)][usize::from(byte)]);
                }
                packer.store();
            }
            return packer.finish();
        }
        let (bytes, rest) = key.as_chunks::<WORDS_PER_STORE>();
        let (words, rest_words) = self.own.as_chunks::<WORDS_PER_STORE>();
        for (bytes, words) in bytes.iter().zip(words) {
            for (&byte, words) in bytes.iter().zip(words) {
                packer.push(words[usize::from(byte)]);
            }
            packer.store();
        }
        for (&byte, words) in rest.iter().zip(rest_words) {
            packer.push(words[usize::from(byte)]);
        }
        packer.store();
        packer.finish()
    }

    /// Replaces `key` with the key of `record`; returns false if the record is invalid.
    pub fn decode(&self, record: &[u8], key: &mut [u8]) -> bool {
        self.decode_from(record, 0..record.len(), key)
    }

    /// Does the same as [`decode`](HuffmanCode::decode) for a record among others in `bytes`.
    #[inline]
    pub(crate) fn decode_from(&self, bytes: &[u8], record: Range<usize>, key: &mut [u8]) -> bool {
        let mut bits = 8 * record.start;
        let columns = self.columns.chunks(WORDS_PER_STORE);
        for (bytes_of_key, codes) in key.chunks_mut(WORDS_PER_STORE).zip(columns) {
            let mut held = load(bytes, bits / 8) >> (bits % 8);
            for (byte, &code) in bytes_of_key.iter_mut().zip(codes) {
                let entry = self.entries[usize::from(code)][held as usize % (1 << LENGTH_MAX)];
                *byte = entry.byte;
                held >>= entry.bits;
                bits += usize::from(entry.bits);
            }
        }
        let is_filled_up = || bits.is_multiple_of(8) || bytes[bits / 8] >> (bits % 8) == 0;
        bits.div_ceil(8) == record.end && is_filled_up()
    }
}

/// Packs words into a record.
struct CodeWordPacker<'a> {
    filled: u64,
    bits: u32,
    end: usize,
    out: &'a mut [u8],
}

impl CodeWordPacker<'_> {
    #[inline(always)]
    fn push(&mut self, word: CodeWord) {
        self.filled |= u64::from(word as u16) << self.bits;
        self.bits += word >> 16;
    }

    /// Writes the whole bytes. The caller calls it before there are more than 64 bits.
    #[inline(always)]
    fn store(&mut self) {
        LittleEndian::write_u64(&mut self.out[self.end..self.end + STORE_BYTES], self.filled);
        self.end += (self.bits / 8) as usize;
        self.filled >>= self.bits & !7;
        self.bits &= 7;
    }

    fn finish(self) -> usize {
        self.end + usize::from(self.bits > 0)
    }
}

/// Returns the eight bytes of `bytes` at `at`, with zeros after its end.
#[inline(always)]
fn load(bytes: &[u8], at: usize) -> u64 {
    match bytes.get(at..at + STORE_BYTES) {
        Some(whole) => LittleEndian::read_u64(whole),
        None => load_last(bytes, at),
    }
}

fn load_last(bytes: &[u8], at: usize) -> u64 {
    let left = bytes.len().saturating_sub(at);
    match bytes.last_chunk::<STORE_BYTES>() {
        _ if left == 0 => 0,
        Some(last) => u64::from_le_bytes(*last) >> (8 * (STORE_BYTES - left)),
        None => LittleEndian::read_uint(&bytes[at..], left),
    }
}

/// Groups similar columns: the same most frequent byte, with equal frequency up to an eighth. If there are too many
/// groups, the remaining columns share the last.
fn group(counts: &[[u64; SYMBOLS]]) -> Vec<u16> {
    let likeness = |counts: &[u64; SYMBOLS]| {
        let most = (0..SYMBOLS).max_by_key(|&byte| (counts[byte], SYMBOLS - byte)).unwrap_or(0);
        let all = counts.iter().sum::<u64>().max(1);
        (most, u128::from(counts[most]) * 8 / u128::from(all))
    };
    let mut groups: BTreeMap<_, u64> = BTreeMap::new();
    counts.iter().for_each(|counts| *groups.entry(likeness(counts)).or_default() += 1);
    let mut largest: Vec<_> = groups.into_iter().collect();
    largest.sort_by_key(|&(_, columns)| std::cmp::Reverse(columns));
    let numbers: BTreeMap<_, u16> = largest
        .iter()
        .enumerate()
        .map(|(at, (likeness, _))| (*likeness, at.min(CODES_MAX - 1) as u16))
        .collect();
    counts.iter().map(|counts| numbers[&likeness(counts)]).collect()
}

/// Returns the words of a canonical code, first bit lowest.
fn canonical(lengths: &[u8]) -> [CodeWord; SYMBOLS] {
    let mut order: Vec<usize> = (0..SYMBOLS).collect();
    order.sort_by_key(|&byte| (lengths[byte], byte));
    let mut words = [0; SYMBOLS];
    let mut next = 0u32;
    for byte in order {
        let length = u32::from(lengths[byte]);
        let word = next >> (LENGTH_MAX as u32 - length);
        words[byte] = word.reverse_bits() >> (32 - length) | length << 16;
        next += 1 << (LENGTH_MAX as u32 - length);
    }
    words
}

/// Returns, for each number of 12 bits, the byte whose word is a prefix of it, from the lowest bit.
fn entries(words: &[CodeWord; SYMBOLS]) -> Box<[DecodeEntry; 1 << LENGTH_MAX]> {
    let mut entries = Box::new([DecodeEntry::default(); 1 << LENGTH_MAX]);
    for (byte, &word) in words.iter().enumerate() {
        let length = word >> 16;
        for entry in entries[usize::from(word as u16)..].iter_mut().step_by(1 << length) {
            *entry = DecodeEntry { byte: byte as u8, bits: length as u8 };
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_example_is_encoded_and_decoded() {
        // The other 254 bytes share a quarter: two words of 9 bits, the others of 10.
        let lengths = (0..SYMBOLS).map(|byte| match byte {
            0 | 1 => byte as u8 + 1,
            2 | 3 => 9,
            _ => 10,
        });
        let huffman = HuffmanCode::restore(4, &[0; 4], &[lengths.collect()]).unwrap();
        let (mut record, mut key) = (Vec::new(), [7; 4]);
        huffman.encode(&[1, 0, 0, 1], &mut record);
        assert_eq!(record, [0x11]);
        assert!(huffman.decode(&record, &mut key));
        assert_eq!(key, [1, 0, 0, 1]);
    }
}
