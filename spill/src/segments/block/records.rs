//! Blocks of records: writing, and searching without decoding.
//!
//! The records of a block are those of its keys, in key order. The order of records has no meaning, so candidates are
//! found among them by hashing. The candidates' records are entered in a small table, and each record of the block is
//! looked up.
//!
//! For the keys `00 00 07` and `05 05 05` the run-length code gives the records `02 00 01 07` and `03 05`. A record
//! takes up to six bytes, so a length takes one:
//!
//! ```text
//! 04 | 02               lengths
//! 02 00 01 07 | 03 05   records
//! ```

use super::header::BlockHeader;
use crate::codec::Codec;
use crate::keys::hash;
use byteorder::{ByteOrder, LittleEndian};
use std::ops::Range;

/// The records of a block.
#[derive(Debug, Default)]
pub(crate) struct BlockRecords {
    /// The codec of the records. All records of a block, and all records searched in it, have the same codec.
    pub(super) codec: Codec,
    /// The records, one after another.
    bytes: Vec<u8>,
    /// The end of each record: ascending, the last at the end of `bytes`.
    ends: Vec<u32>,
}

impl BlockRecords {
    /// Returns the number of records.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns one record.
    pub(crate) fn get(&self, at: usize) -> &[u8] {
        &self.bytes[self.range(at)]
    }

    fn range(&self, at: usize) -> Range<usize> {
        let start = if at == 0 { 0 } else { self.ends[at - 1] as usize };
        start..self.ends[at] as usize
    }

    /// Replaces the records with those of `keys`.
    pub(crate) fn encode(&mut self, width: usize, keys: &[u8]) {
        self.codec.encode_all(width, keys, &mut self.bytes, &mut self.ends);
    }

    /// Writes lengths of `length_bytes` bytes each, then the records, into `raw`, which is empty.
    pub(super) fn write(&self, length_bytes: usize, raw: &mut Vec<u8>) {
        for at in 0..self.len() {
            raw.extend_from_slice(&(self.get(at).len() as u32).to_le_bytes()[..length_bytes]);
        }
        raw.extend_from_slice(&self.bytes);
    }

    /// Reads the records of a block from `raw`, and checks only their lengths.
    pub(super) fn read(&mut self, raw: &[u8], header: &BlockHeader, width: usize) -> Option<()> {
        let length_bytes = header.coding.gap_bytes;
        let (lengths, bytes) = raw.split_at_checked(header.count * length_bytes)?;
        self.ends.clear();
        if length_bytes == 0 {
            self.ends.extend((1..=header.count).map(|key| (key * width) as u32));
        } else {
            let mut end = 0u32;
            self.ends.extend(lengths.chunks_exact(length_bytes).map(|length| {
                end = end.saturating_add(LittleEndian::read_uint(length, length.len()) as u32);
                end
            }));
        }
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        (self.ends.last() == Some(&(bytes.len() as u32))).then_some(())
    }

    /// Appends the key of one record to `out`; returns false if the record is invalid.
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

/// Candidates to be found among the records of blocks.
#[derive(Debug, Default)]
pub(crate) struct RecordLookup {
    /// The records of the candidates.
    records: BlockRecords,
    /// Numbers of records plus one, by hash; 0 for an empty slot. The number of slots is a power of two, at most half
    /// of them used, so that every search ends.
    table: Vec<u32>,
    /// For each candidate, whether its record was found.
    known: Vec<bool>,
}

impl RecordLookup {
    /// Returns, for each of `candidates`, which are distinct, whether its record is in `block`.
    pub(crate) fn find_known(
        &mut self,
        width: usize,
        candidates: &[u8],
        block: &BlockRecords,
    ) -> &[bool] {
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
