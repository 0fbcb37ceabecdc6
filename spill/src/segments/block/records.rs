//! Blocks of records: written, and looked into without being decoded.
//!
//! The records of a block are those of its keys, in key order. Since their own order means nothing,
//! candidates are found among them by hashing: the candidates' records are entered in a small table,
//! and each record of the block is looked up.

use crate::codec::Codec;
use crate::keys::hash;
use std::ops::Range;

/// The records of a block.
#[derive(Debug, Default)]
pub(crate) struct Records {
    pub(crate) codec: Codec,
    pub(crate) bytes: Vec<u8>,
    /// Where each ends.
    pub(crate) ends: Vec<u32>,
}

impl Records {
    /// The number of records.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// One of the records.
    pub(crate) fn get(&self, at: usize) -> &[u8] {
        &self.bytes[self.range(at)]
    }

    fn range(&self, at: usize) -> Range<usize> {
        let start = if at == 0 { 0 } else { self.ends[at - 1] as usize };
        start..self.ends[at] as usize
    }

    /// Replaces them by those of `keys`.
    pub(crate) fn encode(&mut self, width: usize, keys: &[u8]) {
        self.codec.encode_all(width, keys, &mut self.bytes, &mut self.ends);
    }

    /// Appends the key of one of the records to `out`; false if it is of none.
    pub(crate) fn decode(&self, at: usize, width: usize, out: &mut Vec<u8>) -> bool {
        let start = out.len();
        out.resize(start + width, 0);
        let key = &mut out[start..];
        match &self.codec {
            Codec::Huffman(huffman) => huffman.decode_from(&self.bytes, self.range(at), key),
            codec => codec.decode(self.get(at), key),
        }
    }
}

/// Candidates, to be found among the records of blocks.
#[derive(Debug, Default)]
pub(crate) struct Sought {
    records: Records,
    /// Numbers of records plus one, by hash; 0 where there is none.
    table: Vec<u32>,
    known: Vec<bool>,
}

impl Sought {
    /// For each of `candidates`, which differ, whether its record is in `block`.
    pub(crate) fn known(&mut self, width: usize, candidates: &[u8], block: &Records) -> &[bool] {
        self.records.codec = block.codec.clone();
        self.records.encode(width, candidates);
        let count = self.records.len();
        self.table.clear();
        self.table.resize((2 * count).next_power_of_two(), 0);
        for at in 0..count {
            let mut place = self.place(self.records.get(at));
            while self.table[place] != 0 {
                place = self.after(place);
            }
            self.table[place] = at as u32 + 1;
        }
        self.known.clear();
        self.known.resize(count, false);
        for at in 0..block.len() {
            if let Some(found) = self.find(block.get(at)) {
                self.known[found] = true;
            }
        }
        &self.known
    }

    fn find(&self, record: &[u8]) -> Option<usize> {
        let mut place = self.place(record);
        while let Some(at) = (self.table[place] as usize).checked_sub(1) {
            if self.records.get(at) == record {
                return Some(at);
            }
            place = self.after(place);
        }
        None
    }

    fn place(&self, record: &[u8]) -> usize {
        hash(record) as usize & (self.table.len() - 1)
    }

    fn after(&self, place: usize) -> usize {
        (place + 1) & (self.table.len() - 1)
    }
}
